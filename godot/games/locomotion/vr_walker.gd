class_name VrWalker
extends CharacterBody3D
## Somebody in a headset: walks by thumbstick, turns in snaps and teleports.
##
## Without a headset the node Head, a mock camera at 1.6 m, stands in for the tracked one.

const SPEED_MPS := 3.0
## The stick turns beyond this, by a snap at a time, and again after a while if it is held.
const TURNS_ON := 0.5
const SNAP_RAD := PI / 6.0
const TURN_AGAIN_S := 0.25
## The trigger teleports beyond this, straight ahead, and again after a while if it is held.
const TELEPORTS_ON := 0.5
const TELEPORT_M := 3.0
const TELEPORT_AGAIN_S := 0.5
## A teleport towards something solid ends this far before it.
const CLEARANCE_M := 0.25
## A vignette narrows the view of somebody who walks or turns beyond this share of what is possible.
const COMFORTABLE := 0.8
const FULL_VIGNETTE_PER_SHARE := 5.0
## A vignette is active beyond this strength.
const VISIBLE := 0.1
## A contact within this time after another one is the same collision.
const SAME_COLLISION_S := 0.5
const HANDS: PackedVector3Array = [Vector3(-0.25, 1.1, -0.35), Vector3(0.25, 1.1, -0.35)]

## What the player wants: strafe, walk back, turn right, teleport, each from -1 to 1.
var move := Vector2.ZERO
var rotate_stick: float = 0.0
var teleport_trigger: float = 0.0
## How it is turned in the room.
var yaw_rad: float = 0.0
## How strongly the edge of the view is darkened, from 0 to 1.
var vignette: float = 0.0
## Counts of this round.
var collisions: int = 0
var comfort_activations: int = 0
var teleports: int = 0
var snap_turns: int = 0

var look: WalkerLook

var _until_turn_s: float = 0.0
var _until_teleport_s: float = 0.0
var _until_collision_s: float = 0.0

@onready var head: Camera3D = $Head


func _ready() -> void:
	if DisplayServer.get_name() != "headless":
		look = WalkerLook.new()
		add_child(look)
		look.pose(head.position.y, 0.0, HANDS)


## Begins a round here, at rest.
func place(where: Vector3, new_yaw_rad: float) -> void:
	position = where
	_face(new_yaw_rad)
	velocity = Vector3.ZERO
	want(0.0, 0.0, 0.0, 0.0)
	vignette = 0.0
	collisions = 0
	comfort_activations = 0
	teleports = 0
	snap_turns = 0
	_until_turn_s = 0.0
	_until_teleport_s = 0.0
	_until_collision_s = 0.0


## What the player wants from now on.
func want(move_x: float, move_z: float, rotate_right: float, teleport: float) -> void:
	move = Vector2(move_x, move_z).limit_length()
	rotate_stick = rotate_right
	teleport_trigger = teleport


func is_vignette_active() -> bool:
	return vignette > VISIBLE


## Moves for one physics tick.
func step(delta: float) -> void:
	_turn(delta)
	_teleport(delta)
	_walk(delta)
	_narrow(delta)


func _turn(delta: float) -> void:
	_until_turn_s -= delta
	if absf(rotate_stick) > TURNS_ON and _until_turn_s <= 0.0:
		_until_turn_s = TURN_AGAIN_S
		snap_turns += 1
		_face(yaw_rad - signf(rotate_stick) * SNAP_RAD)


func _face(new_yaw_rad: float) -> void:
	yaw_rad = wrapf(new_yaw_rad, -PI, PI)
	basis = Basis(Vector3.UP, yaw_rad)
	force_update_transform()
	reset_physics_interpolation()


func _teleport(delta: float) -> void:
	_until_teleport_s -= delta
	if teleport_trigger <= TELEPORTS_ON or _until_teleport_s > 0.0:
		return
	_until_teleport_s = TELEPORT_AGAIN_S
	var ahead: Vector3 = -basis.z
	var hit: KinematicCollision3D = move_and_collide(ahead * TELEPORT_M, true)
	var free_m: float = TELEPORT_M
	if hit != null:
		free_m = maxf(hit.get_travel().dot(ahead) - CLEARANCE_M, 0.0)
	if free_m > 0.0:
		teleports += 1
		position += ahead * free_m
		force_update_transform()
		reset_physics_interpolation()


func _walk(delta: float) -> void:
	_until_collision_s -= delta
	velocity = basis * Vector3(move.x, 0.0, move.y) * SPEED_MPS
	if move == Vector2.ZERO:
		return
	var hit: KinematicCollision3D = move_and_collide(velocity * delta)
	if hit == null:
		return
	if _until_collision_s <= 0.0:
		collisions += 1
	_until_collision_s = SAME_COLLISION_S
	velocity = velocity.slide(hit.get_normal())
	move_and_collide(hit.get_remainder().slide(hit.get_normal()))


func _narrow(delta: float) -> void:
	var excess: float = maxf(absf(rotate_stick), move.length()) - COMFORTABLE
	var wanted: float = clampf(excess * FULL_VIGNETTE_PER_SHARE, 0.0, 1.0)
	var was_active: bool = is_vignette_active()
	vignette = NavigationRig.narrowed(vignette, wanted, delta * 60.0)
	if is_vignette_active() and not was_active:
		comfort_activations += 1
