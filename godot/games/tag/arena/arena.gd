class_name Arena
extends Node3D
## The solid part of an arena: still bodies, and how far something among them can go.
##
## Everything solid is an axis-aligned box with sharp edges, since bodies move along one axis at a
## time and a twin has to follow them exactly, see docs/games/tag-motion.md.

## Physics layer of everything that stands still.
const WALL_LAYER := 1
## No body moves farther in a tick.
const MAX_STEP_M := 1.0

## Everything solid, floor, ceiling and outer walls first.
var solids: Array[ArenaBox] = []

var _query := PhysicsShapeQueryParameters3D.new()
var _skin_m: float


## Puts up the bodies for [param data].
func build(data: ArenaData, settings: TagSettings) -> void:
	solids = data.solids(settings.arena)
	for box in solids:
		_add_body(box)
	_skin_m = settings.motion.skin_m
	var body := BoxShape3D.new()
	body.size = Vector3.ONE * settings.body.size_m
	body.margin = 0.0
	_query.shape = body
	_query.collision_mask = WALL_LAYER


## How far a body at [param at] can go along [param axis], of [param distance] at most: less when
## the engine finds something solid in the way, and then to about a skin from it. Never backwards.
func free_m(at: Vector3, axis: int, distance: float) -> float:
	var reach: float = absf(distance) + _skin_m
	var motion := Vector3.ZERO
	motion[axis] = reach if distance > 0.0 else -reach
	_query.transform.origin = global_position + at
	_query.motion = motion
	var safe: float = get_world_3d().direct_space_state.cast_motion(_query)[0]
	if safe >= 1.0:
		return absf(distance)
	return clampf(safe * reach - _skin_m, 0.0, absf(distance))


func _add_body(box: ArenaBox) -> void:
	var body := StaticBody3D.new()
	body.collision_layer = WALL_LAYER
	body.collision_mask = 0
	body.position = box.position
	var shape := BoxShape3D.new()
	shape.size = box.size
	shape.margin = 0.0
	var collider := CollisionShape3D.new()
	collider.shape = shape
	body.add_child(collider)
	add_child(body)
