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
