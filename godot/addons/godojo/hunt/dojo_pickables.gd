class_name DojoPickables
extends RefCounted
## Areas and solids that listen to the mouse, in 2D and 3D: the elements of menus in the scene.

const _SIGNALS: Array[StringName] = [&"input_event", &"mouse_entered"]
const _OTHER_SIGNALS: Array[StringName] = [
	&"body_entered", &"body_exited", &"area_entered", &"area_exited", &"body_shape_entered"
]
const _MOST := 256
const _SORTED_TICKS := 60

var _nodes: Array[Node] = []
# Those that are meant to be clicked, and until which tick that holds.
var _meant: Array[Node] = []
var _sorted_until: int = 0


func add(node: Node) -> void:
	if _nodes.size() < _MOST and (node is Area3D or node is StaticBody3D or node is Area2D):
		_nodes.append(node)
		_sorted_until = 0


func remove(node: Node) -> void:
	if node is CollisionObject3D or node is CollisionObject2D:
		_nodes.erase(node)
		_meant.erase(node)


## Those that a click can hit now: that listen, or that seem to be meant to.
func clickable() -> Array[Node]:
	var now: int = Engine.get_physics_frames()
	if now >= _sorted_until:
		_sorted_until = now + _SORTED_TICKS
		_meant = _sorted_out()
	return _meant.filter(
		func(node: Node) -> bool:
			return is_instance_valid(node) and node.is_inside_tree() and _is_on_screen(node)
	)


func _sorted_out() -> Array[Node]:
	var kinds: Dictionary[Array, int] = {}
	for node in _nodes:
		if is_instance_valid(node) and is_heard(node):
			kinds[_kind(node)] = kinds.get(_kind(node), 0) + 1
	if kinds.is_empty():
		return []
	return _nodes.filter(
		func(node: Node) -> bool:
			if not is_instance_valid(node) or not kinds.has(_kind(node)):
				return false
			return is_heard(node) or (kinds[_kind(node)] >= 2 and not _has_other_use(node))
	)


## Whether it is there for something else: it meets bodies.
static func _has_other_use(node: Node) -> bool:
	for signal_name in _OTHER_SIGNALS:
		if node.has_signal(signal_name) and node.get_signal_connection_list(signal_name).size() > 0:
			return true
	return false


## Whether anything but a hunt would notice a click on it.
static func is_heard(node: Node) -> bool:
	if node.get_script() != null and node.has_method(&"_input_event"):
		return true
	for signal_name in _SIGNALS:
		for connection in node.get_signal_connection_list(signal_name):
			if not (connection["callable"] as Callable).get_object() is DojoUiDetector:
				return true
	return false


## Where it is on the screen, in pixels.
static func point_of(node: Node) -> Vector2:
	if node is Node3D:
		var camera: Camera3D = node.get_viewport().get_camera_3d()
		return camera.unproject_position((node as Node3D).global_position)
	return (node as Node2D).get_global_transform_with_canvas().origin


## What siblings that are meant for the same have in common; solids also begin with the same name.
static func _kind(node: Node) -> Array:
	var kind: Array = [node.get_class(), node.get_script(), node.get_parent()]
	if not node is Area3D and not node is Area2D:
		kind.append(str(node.name).rstrip("0123456789"))
	return kind


static func _is_on_screen(node: Node) -> bool:
	if not node.call(&"is_visible_in_tree"):
		return false
	if node is CollisionObject3D:
		var camera: Camera3D = node.get_viewport().get_camera_3d()
		if camera == null or not (node as CollisionObject3D).input_ray_pickable:
			return false
		if camera.is_position_behind((node as Node3D).global_position):
			return false
	elif not (node as CollisionObject2D).input_pickable:
		return false
	return node.get_viewport().get_visible_rect().has_point(point_of(node))
