class_name Arena
extends Node3D
## The solid part of an arena: still bodies in the engine's space.
##
## Everything solid is an axis-aligned box with sharp edges, since bodies move along one axis at a
## time and a twin has to follow them exactly, see docs/games/tag-motion.md.

## Physics layer of everything that stands still.
const WALL_LAYER := 1
## No body moves farther in a tick.
const MAX_STEP_M := 1.0

## Everything solid, floor, ceiling and outer walls first.
var solids: Array[ArenaBox] = []
## The engine's space, to ask what is where; see [method locate].
var space: PhysicsDirectSpaceState3D
## Where its middle is in that space.
var origin: Vector3


func _init() -> void:
	set_notify_transform(true)


func _notification(what: int) -> void:
	if what == NOTIFICATION_ENTER_WORLD or what == NOTIFICATION_TRANSFORM_CHANGED:
		locate()


## Puts up the bodies for [param data].
func build(data: ArenaData, settings: TagSettings) -> void:
	solids = data.solids(settings.arena)
	for box in solids:
		_add_body(box)


## Notes where the arena is now: the engine tells of a move only at the end of a frame, and to ask
## at every step of a body would take time.
func locate() -> void:
	space = get_world_3d().direct_space_state
	origin = global_position


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
