class_name DojoPlaces
extends RefCounted
## Where a player may want to go: areas, solids, other bodies and the ends of the level.

const MOST := 96
## Decisions between two readings.
const EVERY := 30
const _MOST_NODES := 512

var _nodes: Array[Node] = []
var _shown: Array = []
var _since: int = EVERY


func begin() -> void:
	_shown = []
	_since = EVERY


func add(node: Node) -> void:
	if _nodes.size() < _MOST_NODES:
		if node is CollisionObject3D or node is CollisionObject2D:
			_nodes.append(node)


func remove(node: Node) -> void:
	if node is CollisionObject3D or node is CollisionObject2D:
		_nodes.erase(node)


## Paths and positions without those of [param player], if they have changed; else nothing.
func changes(player: Node, bounds: DojoLevelBounds) -> Array:
	_since += 1
	if _since < EVERY:
		return []
	_since = 0
	var found: Array = []
	for node in _nodes:
		if found.size() >= MOST:
			break
		if not is_instance_valid(node) or node == player or not node.is_inside_tree():
			continue
		if player == null or player.is_ancestor_of(node) or not node.call(&"is_visible_in_tree"):
			continue
		if (node is Node3D) == (player is Node3D):
			found.append(_place(str(node.get_path()), _middle_of(node), node is Node3D))
	if player != null and bounds.is_known and not bounds.is_endless:
		for corner in 8 if player is Node3D else 4:
			var point: Vector3 = bounds.box.get_endpoint(corner * (1 if player is Node3D else 2))
			found.append(_place("corner%d" % corner, point, player is Node3D))
	if found == _shown:
		return []
	_shown = found
	return found


## Where on the screen the nearest other body or area is, as a pointer's action has it; NaN without
## one. [param followed]: the first of them is what is played.
func aim(followed: Array[Node]) -> Vector2:
	if followed.is_empty() or not is_instance_valid(followed[0]):
		return Vector2(NAN, NAN)
	var player: Node = followed[0]
	var here: Vector3 = DojoProbeState.place_of(player)
	var nearest: Node = null
	var least: float = INF
	for node in _nodes:
		if node == player or not is_instance_valid(node) or not is_target(node):
			continue
		if player.is_ancestor_of(node) or not node.is_inside_tree():
			continue
		var far: float = DojoProbeState.place_of(node).distance_squared_to(here)
		if far < least and node.call(&"is_visible_in_tree"):
			nearest = node
			least = far
	return Vector2(NAN, NAN) if nearest == null else point_of(nearest)


## Whether it is something that moves by itself or is in nobody's way: what one aims at.
static func is_target(node: Node) -> bool:
	return DojoProbeState.is_moving(node) and not DojoProbeState.velocity_of(node).is_zero_approx()


## Where a node is on the screen, both numbers from -1 to 1; NaN behind the camera.
static func point_of(node: Node) -> Vector2:
	var viewport: Viewport = node.get_viewport()
	var point: Vector2
	if node is Node2D:
		point = (node as Node2D).get_global_transform_with_canvas().origin
	else:
		var camera: Camera3D = viewport.get_camera_3d()
		var place: Vector3 = (node as Node3D).global_position
		if camera == null or camera.is_position_behind(place):
			return Vector2(NAN, NAN)
		point = camera.unproject_position(place)
	var size: Vector2 = viewport.get_visible_rect().size.max(Vector2.ONE)
	return point / size * 2.0 - Vector2.ONE


## The middle of its first shape: the body itself may be anywhere.
static func _middle_of(node: Node) -> Vector3:
	for child in node.get_children():
		if child is CollisionShape3D or child is CollisionShape2D:
			return DojoProbeState.place_of(child)
	return DojoProbeState.place_of(node)


static func _place(path: String, point: Vector3, is_deep: bool) -> Array:
	var step: float = 0.25 if is_deep else 8.0
	if not point.is_finite():
		point = Vector3.ZERO
	return [path, snappedf(point.x, step), snappedf(point.y, step), snappedf(point.z, step)]
