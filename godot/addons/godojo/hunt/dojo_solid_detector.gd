class_name DojoSolidDetector
extends RefCounted
## Finds played bodies that are inside of a solid, and those that pass through one.
##
## A solid is what stands still and stops the body; and what is drawn and does not stop it although
## others of its kind would, or although it stops others of the body's kind.

## Bodies that are watched in every tick.
const _WATCHED := 4
const _MOST_ALIKE := 64
const _EVERYTHING := 0xFFFFFFFF
const _TRIES := 3
## Times that a wall is higher than wide.
const _WALL := 2.0
## Ticks in a part of a solid that is only drawn.
const _OPEN_TICKS := 5

var _state: DojoProbeState
var _statics: Array[Node] = []
var _fresh: Array[Node] = []
# What carries or stops people while it moves, by its name.
var _carriers := RegEx.create_from_string("(?i)platform|lift|elevator|bridge|floor|raft|wall")
var _fresh_carriers: Array[Node] = []
var _ghosts := DojoGhostSolids.new()
var _open_ticks: int = 0
# By body: where it was in the last tick, and where it went into something.
var _places: Dictionary[Node, Vector3] = {}
var _entries: Dictionary[Node, Dictionary] = {}
# By body: decisions in a row that it has been inside of something.
var _inside: Dictionary[Node, int] = {}
# By the id of a body, its mask when it was first followed; by that of a solid, its first layer.
var _first_bits: Dictionary[int, int] = {}
# By the id of a shape: half of its least extent.
var _sizes: Dictionary[int, float] = {}
var _ray := PhysicsRayQueryParameters3D.new()
var _flat_ray := PhysicsRayQueryParameters2D.new()


func _init(state: DojoProbeState) -> void:
	_state = state
	_ray.collide_with_areas = false
	_flat_ray.collide_with_areas = false
	_ray.hit_from_inside = false
	_flat_ray.hit_from_inside = false
	_ray.hit_back_faces = false


func begin() -> void:
	_statics.clear()
	_ghosts.begin()
	_open_ticks = 0
	_places.clear()
	_entries.clear()
	_inside.clear()
	_sizes.clear()
	_first_bits.clear()


func add(node: Node) -> void:
	if is_static(node):
		_fresh.append(node)
	elif node is AnimatableBody3D or node is AnimatableBody2D:
		if _carriers.search(str(node.name)) != null:
			_fresh_carriers.append(node)
	else:
		_ghosts.add(node)


func remove(node: Node) -> void:
	if node is StaticBody3D or node is StaticBody2D:
		_statics.erase(node)
	elif _places.has(node) or _inside.has(node):
		_places.erase(node)
		_entries.erase(node)
		_inside.erase(node)


## Bodies that went into a solid farther than they are large.
func look_at_tick(followed: Array[Node]) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	for index in mini(followed.size(), _WATCHED):
		var body: Node = followed[index]
		if is_instance_valid(body) and body.is_inside_tree():
			_follow(body, found)
	if not followed.is_empty() and is_instance_valid(followed[0]):
		_look_at_open(followed[0], found)
	return found


## Whether what is played falls or walks through a part of a solid that is only drawn.
func _look_at_open(body: Node, found: Array[Dictionary]) -> void:
	var mask: Variant = body.get("collision_mask")
	var solid: Node = null
	if mask is int and mask != 0 and not _has_changed(body, "collision_mask"):
		solid = _ghosts.open_around(DojoProbeState.place_of(body), mask as int)
	_open_ticks = _open_ticks + 1 if solid != null and _state.has_player([body]) else 0
	if _open_ticks == _OPEN_TICKS and (is_static(solid) or _is_odd(solid, body)):
		var message: String = "it passes through a part of %s" % solid.name
		found.append(DojoProbeState.event("inside_solid", message, body))


## Bodies whose middle has been in a solid for [param patience] decisions.
func look_at_decision(followed: Array[Node], patience: int) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	_sort_in()
	for body in followed:
		var solid: Object = _solid_around(body)
		if solid == null:
			_inside.erase(body)
			continue
		_inside[body] = _inside.get(body, 0) + 1
		if _inside[body] == patience:
			var where: String = str((solid as Node).name) if solid is Node else "a solid"
			found.append(DojoProbeState.event("inside_solid", "it is inside of %s" % where, body))
	return found


static func is_static(node: Node) -> bool:
	if node is StaticBody3D:
		return not node is AnimatableBody3D
	return node is StaticBody2D and not node is AnimatableBody2D


## The body's place in this tick, and whether the way to it led through something.
func _follow(body: Node, found: Array[Dictionary]) -> void:
	var middle: Node = DojoGhostSolids.enabled_shape(body)
	if middle == null or body.get("collision_mask") == 0:
		_places.erase(body)
		_entries.erase(body)
		return
	_has_changed(body, "collision_mask")
	var place: Vector3 = DojoProbeState.place_of(middle)
	var before: Vector3 = _places.get(body, place)
	_places[body] = place
	var moved: float = place.distance_to(before)
	var size: float = _size_of(middle)
	if not place.is_finite() or not before.is_finite() or moved > size:
		_entries.erase(body)
		return
	if not _entries.has(body):
		if moved > 1e-3 * size:
			_note_entry(body, before, place)
		return
	var entry: Dictionary = _entries[body]
	var solid: Node = instance_from_id(entry["solid"] as int) as Node
	if solid == null or not solid.is_inside_tree() or solid.get("global_transform") != entry["at"]:
		_entries.erase(body)
		return
	var depth: float = ((entry["place"] as Vector3) - place).dot(entry["normal"] as Vector3)
	if depth < 0.0:
		_entries.erase(body)
	elif depth > size:
		_entries.erase(body)
		var message: String = "it passes through %s" % solid.name
		found.append(DojoProbeState.event("inside_solid", message, body))


func _note_entry(body: Node, before: Vector3, place: Vector3) -> void:
	for mask: int in [body.get("collision_mask") as int, _EVERYTHING]:
		var hit: Dictionary = _met(body, before, place, mask)
		if not hit.is_empty():
			var solid: Node = hit["collider"]
			_entries[body] = {
				"solid": solid.get_instance_id(),
				"at": solid.get("global_transform"),
				"place": DojoGhostSolids.deep(hit["position"]),
				"normal": DojoGhostSolids.deep(hit["normal"]),
			}
			return


## The first solid that is met on the way, as the engine's rays report it; none: empty.
func _met(body: Node, before: Vector3, place: Vector3, mask: int) -> Dictionary:
	var left_out: Array[RID] = [(body as Node).call(&"get_rid") as RID]
	for _try in _TRIES:
		var hit: Dictionary = {}
		if body is PhysicsBody3D:
			_ray.from = before
			_ray.to = place
			_ray.collision_mask = mask
			_ray.exclude = left_out
			hit = (body as PhysicsBody3D).get_world_3d().direct_space_state.intersect_ray(_ray)
		else:
			_flat_ray.from = Vector2(before.x, before.y)
			_flat_ray.to = Vector2(place.x, place.y)
			_flat_ray.collision_mask = mask
			_flat_ray.exclude = left_out
			hit = (body as PhysicsBody2D).get_world_2d().direct_space_state.intersect_ray(_flat_ray)
		if (
			hit.is_empty()
			or (_is_solid(hit, body) and DojoGhostSolids.deep(hit["normal"]) != Vector3.ZERO)
		):
			return hit
		left_out.append(hit["rid"] as RID)
	return {}


## Whether what a query has found should stop the body.
func _is_solid(hit: Dictionary, body: Node) -> bool:
	var solid: Object = hit["collider"]
	if not solid is Node or not is_static(solid as Node) or _is_one_sided(hit):
		return false
	if (solid.call(&"get_collision_exceptions") as Array).has(body):
		return false
	if (body.call(&"get_collision_exceptions") as Array).has(solid):
		return false
	if (solid.get("collision_layer") as int) & (body.get("collision_mask") as int) != 0:
		return true
	# What changes them on purpose lets things pass on purpose.
	if _has_changed(solid, "collision_layer") or _has_changed(body, "collision_mask"):
		return false
	return DojoGhostSolids.is_drawn(solid as Node) and _is_odd(solid as Node, body)


func _has_changed(body: Object, bits: String) -> bool:
	var id: int = body.get_instance_id()
	if not _first_bits.has(id):
		_first_bits[id] = body.get(bits)
	return _first_bits[id] != body.get(bits)


## Whether it stops bodies from one side only, or has no other side.
static func _is_one_sided(hit: Dictionary) -> bool:
	var solid: Object = hit["collider"]
	var owner: int = solid.call(&"shape_find_owner", hit["shape"] as int)
	if solid is StaticBody2D:
		var flat: StaticBody2D = solid
		if not flat.is_shape_owner_one_way_collision_enabled(owner):
			return false
		# A platform lets pass from below; a wall lets nobody pass.
		var size: Vector2 = flat.shape_owner_get_shape(owner, 0).get_rect().size
		return size.y < _WALL * size.x
	return (solid as StaticBody3D).shape_owner_get_shape(owner, 0) is WorldBoundaryShape3D


## Whether most others like the solid stop the body, or whether it stops others like the body.
func _is_odd(solid: Node, body: Node) -> bool:
	var mask: int = body.get("collision_mask")
	var stopping: int = 0
	var others: int = 0
	for other in _statics:
		if other != solid and is_instance_valid(other) and DojoGhostSolids.is_drawn(other):
			others += 1
			stopping += int((other.get("collision_layer") as int) & mask != 0)
	if others > 0 and stopping * 2 > others:
		return true
	var layer: int = solid.get("collision_layer")
	var stopped: int = 0
	var alike: int = 0
	for other in _state.bodies:
		if alike >= _MOST_ALIKE:
			break
		if is_instance_valid(other) and other != body and other.get_class() == body.get_class():
			if other.get_script() == body.get_script() and other.get_parent() == body.get_parent():
				alike += 1
				stopped += int((other.get("collision_mask") as int) & layer != 0)
	return stopped >= 2 and stopped * 4 >= alike


func _solid_around(body: Node) -> Object:
	if not body is PhysicsBody3D and not body is PhysicsBody2D:
		return null
	var middle: Node = DojoGhostSolids.enabled_shape(body)
	if middle == null or body.get("collision_mask") == 0:
		return null
	var place: Vector3 = DojoProbeState.place_of(middle)
	if not place.is_finite():
		return null
	for hit in _at_point(body, place):
		if _is_solid(hit, body) and not _is_hollow(hit):
			return hit["collider"]
	return _ghosts.around(place)


func _at_point(body: Node, place: Vector3) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	if body is PhysicsBody3D:
		var query := PhysicsPointQueryParameters3D.new()
		query.position = place
		query.exclude = [(body as PhysicsBody3D).get_rid()]
		var space: PhysicsDirectSpaceState3D = (
			(body as PhysicsBody3D).get_world_3d().direct_space_state
		)
		found.assign(space.intersect_point(query, 4))
	else:
		var query := PhysicsPointQueryParameters2D.new()
		query.position = Vector2(place.x, place.y)
		query.exclude = [(body as PhysicsBody2D).get_rid()]
		var space: PhysicsDirectSpaceState2D = (
			(body as PhysicsBody2D).get_world_2d().direct_space_state
		)
		found.assign(space.intersect_point(query, 4))
	return found


## Whether a point may be within it without being inside: triangles and height maps.
static func _is_hollow(hit: Dictionary) -> bool:
	var solid: Object = hit["collider"]
	if not solid is StaticBody3D:
		return false
	var owner: int = (solid as StaticBody3D).shape_find_owner(hit["shape"] as int)
	var shape: Shape3D = (solid as StaticBody3D).shape_owner_get_shape(owner, 0)
	return shape is ConcavePolygonShape3D or shape is HeightMapShape3D


## Sorts in what has come since the last call: solids, and those that only seem to be.
func _sort_in() -> void:
	for node in _fresh:
		if is_instance_valid(node) and node.is_inside_tree():
			_statics.append(node)
			_has_changed(node, "collision_layer")
	_ghosts.sort_in(_fresh, _statics)
	_fresh.clear()
	for node in _fresh_carriers:
		if is_instance_valid(node) and node.is_inside_tree():
			_ghosts.add_layered(node)
	_fresh_carriers.clear()


## How far its middle is from its ends, the shortest way.
func _size_of(middle: Node) -> float:
	var id: int = middle.get_instance_id()
	if not _sizes.has(id):
		var size: Vector3 = DojoGhostSolids.box_of_shape(middle).size
		var least: float = minf(size.x, size.y)
		_sizes[id] = (minf(least, size.z) if middle is Node3D else least) / 2.0
	return _sizes[id]
