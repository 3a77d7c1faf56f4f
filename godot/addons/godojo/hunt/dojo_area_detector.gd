class_name DojoAreaDetector
extends RefCounted
## Finds areas that do not notice a body in them: nobody listens, or they look at other layers.
##
## An area counts if others of its kind notice the body, or if it listens and there is nothing at
## all that it could notice.

## Ticks that the body must have been in it, and between two looks at who listens.
const PATIENCE := 3
const EVERY := 10
const STRANGER_PATIENCE := 2
const _STRANGERS := 16
const _MOST := 256
const _SIGNALS: Array[StringName] = [
	&"body_entered", &"body_exited", &"body_shape_entered", &"body_shape_exited"
]
const _ANY_SIGNALS: Array[StringName] = [&"area_entered", &"area_exited", &"area_shape_entered"]

var _state: DojoProbeState
var _areas: Array[Node] = []
# Those that have never noticed the player, and those that have: who hears once is not deaf.
var _deaf: Array[Node] = []
var _hearing: Dictionary[Node, bool] = {}
# Those that look at layers that nothing is on.
var _blind: Array[Node] = []
# By area, ticks that a body has been in it.
var _inside: Dictionary[Node, int] = {}
# All layers that bodies were seen on.
var _layers: int = 0
var _ticks: int = 0
var _player: Node


func _init(state: DojoProbeState) -> void:
	_state = state


func begin() -> void:
	_inside.clear()
	_hearing.clear()
	_deaf.clear()
	_layers = 0
	_ticks = 0


func add(node: Node) -> void:
	if (node is Area3D or node is Area2D) and _areas.size() < _MOST:
		_areas.append(node)
	elif node is CollisionObject3D or node is CollisionObject2D:
		_layers |= node.get("collision_layer") as int


func remove(node: Node) -> void:
	if node is Area3D or node is Area2D:
		_areas.erase(node)
		_deaf.erase(node)
		_inside.erase(node)
		_hearing.erase(node)


func look_at_tick(followed: Array[Node]) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	if followed.is_empty() or not is_instance_valid(followed[0]):
		return found
	_player = followed[0]
	if _ticks % EVERY == 0:
		_sort_in()
	_ticks += 1
	for area in _blind:
		_look_for_strangers(area, found)
	for area in _deaf:
		if not area.is_inside_tree() or not _has_inside(area, _player):
			continue
		_inside[area] = _inside.get(area, 0) + 1
		if _inside[area] == PATIENCE and not _notices(area, _player) and _is_meant(area, _player):
			var message: String = "it does not notice %s" % _player.name
			found.append(DojoProbeState.event("dead_area", message, area))
	return found


## What looks at layers that nothing is on, and goes through a body.
func _look_for_strangers(area: Node, found: Array[Dictionary]) -> void:
	if not is_instance_valid(area) or not area.is_inside_tree() or not area.get("monitoring"):
		return
	for index in mini(_state.bodies.size(), _STRANGERS):
		var body: Node = _state.bodies[index]
		if not is_instance_valid(body) or body == _player or (body is Node3D) != (area is Node3D):
			continue
		if body == area.get_parent() or not (_has_inside(area, body) or _has_inside(body, area)):
			continue
		_inside[area] = _inside.get(area, 0) + 1
		if _inside[area] == STRANGER_PATIENCE:
			found.append(DojoProbeState.event("dead_area", "it notices nothing", area))


func _sort_in() -> void:
	_deaf.clear()
	_blind.clear()
	for area in _areas:
		if is_instance_valid(area) and _is_heard(area, _SIGNALS):
			var mask: int = area.get("collision_mask")
			if mask & _layers == 0 and not _is_heard(area, _ANY_SIGNALS):
				_blind.append(area)
	if not _player is PhysicsBody3D and not _player is PhysicsBody2D:
		return
	if not _state.has_player([_player]):
		return
	for area in _areas:
		if not is_instance_valid(area) or _player.is_ancestor_of(area):
			continue
		if _notices(area, _player):
			_hearing[area] = true
		elif not _hearing.has(area) and (area is Node3D) == (_player is Node3D):
			_deaf.append(area)


## Whether somebody hears that the body comes.
static func _notices(area: Node, body: Node) -> bool:
	return _sees(area, body) and _is_heard(area, _SIGNALS)


static func _sees(area: Node, body: Node) -> bool:
	var mask: int = area.get("collision_mask")
	return mask & (body.get("collision_layer") as int) != 0


static func _is_heard(area: Node, signals: Array[StringName]) -> bool:
	for signal_name in signals:
		if area.get_signal_connection_list(signal_name).size() > 0:
			return true
	return false


## Whether it is meant for the body: most of its kind notice it, or else it would notice nothing.
func _is_meant(area: Node, body: Node) -> bool:
	if not area.get("monitoring") or not area.call(&"is_visible_in_tree"):
		return false
	var alike: int = 0
	var noticing: int = 0
	for other in _areas:
		if other != area and is_instance_valid(other) and _is_alike(area, other):
			alike += 1
			noticing += int(_notices(other, body))
	if noticing >= 2 and noticing * 2 > alike:
		return true
	if _sees(area, body) or not _is_heard(area, _SIGNALS) or _is_heard(area, _ANY_SIGNALS):
		return false
	return (area.get("collision_mask") as int) & _layers == 0


static func _is_alike(area: Node, other: Node) -> bool:
	if area.get_class() != other.get_class() or area.get_parent() != other.get_parent():
		return false
	if area.get_script() != other.get_script():
		return false
	return area.get_script() != null or _stem(area) == _stem(other)


static func _stem(node: Node) -> String:
	return str(node.name).rstrip("0123456789")


## Whether the middle of the body is in one of the area's shapes.
static func _has_inside(area: Node, body: Node) -> bool:
	var place: Vector3 = DojoProbeState.place_of(body)
	for child in area.get_children():
		if child is CollisionShape3D:
			var solid: CollisionShape3D = child
			if solid.shape != null and not solid.disabled:
				var box: AABB = solid.shape.get_debug_mesh().get_aabb()
				if box.has_point(solid.to_local(place)):
					return true
		elif child is CollisionShape2D:
			var flat: CollisionShape2D = child
			if flat.shape != null and not flat.disabled:
				if flat.shape.get_rect().has_point(flat.to_local(Vector2(place.x, place.y))):
					return true
	return false
