class_name DojoWorldDetectors
extends RefCounted
## Detectors of a hunted game that need the scene: bodies, invariants and buttons.
##
## An event is a Dictionary with [code]detector[/code], [code]message[/code], [code]node[/code] and
## [code]position[/code]; [code]pattern[/code] replaces the message where events are compared.

## Bodies that are looked at in a decision, besides those that are followed.
const _AT_ONCE := 32

var _state: DojoProbeState
var _settings: Dictionary = {}
var _bounds := DojoLevelBounds.new()
var _ui: DojoUiDetector
var _invariants: Array[DojoInvariant] = []
var _broken: Dictionary[int, bool] = {}
var _next: int = 0
# By body: decisions in a row that it has been outside or inside; those that have been in the level.
var _outside: Dictionary[Node, int] = {}
var _inside: Dictionary[Node, int] = {}
var _has_been_in: Dictionary[Node, bool] = {}


## [param settings]: JSON with what Python's [code]DetectorSettings[/code] have.
func _init(state: DojoProbeState, settings: String) -> void:
	_state = state
	var parsed: Variant = JSON.parse_string(settings) if not settings.is_empty() else null
	if parsed is Dictionary:
		_settings = parsed
	_ui = DojoUiDetector.new(state)


## The scene begins anew.
func begin() -> void:
	_bounds.clear()
	_ui.begin()
	_broken.clear()
	_outside.clear()
	_inside.clear()
	_has_been_in.clear()


func add(node: Node) -> void:
	_bounds.add(node)
	_ui.add(node)
	if node is DojoInvariant:
		_invariants.append(node)


func remove(node: Node) -> void:
	_outside.erase(node)
	_inside.erase(node)
	_has_been_in.erase(node)
	_ui.remove(node)
	if node is DojoInvariant:
		_invariants.erase(node)


## What is looked at in every physics tick.
func look_at_tick() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	if _wants("invariants"):
		for invariant in _invariants:
			_check_invariant(invariant, found)
	return found


## What is looked at once a decision.
func look_at_decision(followed: Array[Node]) -> Array[Dictionary]:
	var found: Array[Dictionary] = look_at_tick()
	_bounds.update()
	for body in followed + _others(followed):
		var place: Vector3 = DojoProbeState.place_of(body)
		if not place.is_finite() or not DojoProbeState.velocity_of(body).is_finite():
			if _wants("nan"):
				found.append(_event("nan", "the position or velocity is not a number", body))
		elif _wants("out_of_world"):
			_check_outside(body, place, found)
	if _wants("inside_solid"):
		for body in followed:
			_check_inside(body, found)
	if _wants("dead_ui"):
		found.append_array(_ui.look())
	return found


func _wants(detector: String) -> bool:
	return _settings.get(detector, true)


func _others(followed: Array[Node]) -> Array[Node]:
	var found: Array[Node] = []
	var count: int = _state.bodies.size()
	for offset in mini(_AT_ONCE, count):
		var body: Node = _state.bodies[(_next + offset) % count]
		if is_instance_valid(body) and not followed.has(body):
			found.append(body)
	_next = (_next + _AT_ONCE) % maxi(count, 1)
	return found


func _check_invariant(invariant: DojoInvariant, found: Array[Dictionary]) -> void:
	var id: int = invariant.get_instance_id()
	if invariant.holds():
		if not invariant.problem().is_empty() and not _broken.has(id):
			_broken[id] = true
			var why: String = "its expression cannot be evaluated: %s" % invariant.problem()
			found.append(_event("invariant", why, invariant))
		elif invariant.problem().is_empty():
			_broken.erase(id)
	elif not _broken.has(id):
		_broken[id] = true
		found.append(_event("invariant", invariant.title(), invariant))


## Beyond the level for long, and further than a jump over its edge. What flies over the edge is no
## matter, and neither is what has never been in the level.
func _check_outside(body: Node, place: Vector3, found: Array[Dictionary]) -> void:
	if not _bounds.is_known or _bounds.is_endless:
		return
	var share: float = _settings.get("out_of_world_margin", 0.5)
	var least: float = 5.0 if body is Node3D else 300.0
	# In 2D, up is where y is less.
	var up: float = 1.0 if body is Node3D else -1.0
	var middle: Vector3 = _bounds.box.get_center()
	var half: Vector3 = _bounds.box.size / 2.0
	var away: Vector3 = place - middle
	var height: float = away.y * up - half.y
	var sideways: Vector2 = Vector2(absf(away.x) - half.x, absf(away.z) - half.z)
	var margin: Vector3 = (_bounds.box.size * share).max(Vector3.ONE * least)
	if height > least:
		_has_been_in.erase(body)
		_outside.erase(body)
	elif sideways.x <= 0.0 and sideways.y <= 0.0 and away.y * up >= -half.y:
		_has_been_in[body] = true
		_outside.erase(body)
	elif _has_been_in.has(body):
		var is_below: bool = away.y * up < -half.y - margin.y
		if is_below or sideways.x > margin.x or sideways.y > margin.z:
			_outside[body] = _outside.get(body, 0) + 1
			if _outside[body] == int(_settings.get("out_of_world_decisions", 30)):
				found.append(_event("out_of_world", "it left the level and did not return", body))


func _check_inside(body: Node, found: Array[Dictionary]) -> void:
	var solid: Object = null
	if body is PhysicsBody3D:
		solid = _solid_around(body as PhysicsBody3D)
	elif body is PhysicsBody2D:
		solid = _flat_solid_around(body as PhysicsBody2D)
	if solid == null:
		_inside.erase(body)
		return
	_inside[body] = _inside.get(body, 0) + 1
	if _inside[body] == int(_settings.get("inside_solid_decisions", 15)):
		var where: String = str((solid as Node).name) if solid is Node else "a solid"
		found.append(_event("inside_solid", "it is inside of %s" % where, body))


func _solid_around(body: PhysicsBody3D) -> Object:
	var middle: Node3D = _enabled_shape(body, "CollisionShape3D") as Node3D
	if middle == null or body.collision_mask == 0 or not middle.global_position.is_finite():
		return null
	var query := PhysicsPointQueryParameters3D.new()
	query.position = middle.global_position
	query.collision_mask = body.collision_mask
	query.exclude = [body.get_rid()]
	for hit in body.get_world_3d().direct_space_state.intersect_point(query, 4):
		var solid: Object = hit["collider"]
		if solid is StaticBody3D and not solid is AnimatableBody3D:
			var other: StaticBody3D = solid
			var owner: int = other.shape_find_owner(hit["shape"] as int)
			var shape: Shape3D = other.shape_owner_get_shape(owner, 0)
			if not shape is ConcavePolygonShape3D and not shape is HeightMapShape3D:
				if not shape is WorldBoundaryShape3D:
					return solid
	return null


func _flat_solid_around(body: PhysicsBody2D) -> Object:
	var middle: Node2D = _enabled_shape(body, "CollisionShape2D") as Node2D
	if middle == null or body.collision_mask == 0 or not middle.global_position.is_finite():
		return null
	var query := PhysicsPointQueryParameters2D.new()
	query.position = middle.global_position
	query.collision_mask = body.collision_mask
	query.exclude = [body.get_rid()]
	for hit in body.get_world_2d().direct_space_state.intersect_point(query, 4):
		var solid: Object = hit["collider"]
		if solid is StaticBody2D and not solid is AnimatableBody2D:
			var other: StaticBody2D = solid
			var owner: int = other.shape_find_owner(hit["shape"] as int)
			if not other.is_shape_owner_one_way_collision_enabled(owner):
				return solid
	return null


static func _enabled_shape(body: Node, kind: String) -> Node:
	for child in body.get_children():
		if child.is_class(kind) and not child.get("disabled"):
			return child
	return null


static func _event(detector: String, message: String, node: Node) -> Dictionary:
	var place: Vector3 = DojoProbeState.place_of(node)
	var found: Dictionary = {
		"detector": detector,
		"message": "%s: %s" % [node.name, message],
		"pattern": message,
		"node": str(node.get_path()),
	}
	if place.is_finite() and (node is Node3D or node is Node2D):
		found["position"] = [place.x, place.y, place.z]
	return found
