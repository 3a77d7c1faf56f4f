class_name TagAgent
extends CharacterBody3D
## A player's body: a cube that never turns, moved one axis at a time.
##
## The heading is a number; only what is drawn turns. Forward is [code](sin h, 0, cos h)[/code]. How
## it moves is written down in docs/games/tag-motion.md.

## A jump began.
signal jumped
## The body reached the ground, falling at [param speed_mps].
signal landed(speed_mps: float)
## The body was put somewhere else.
signal respawned

## Physics layer of active agents.
const AGENT_LAYER := 2
## Length of a physics tick.
const TICK_S := 1.0 / 60.0

## Place in the world's list.
var index: int
## [code]seeker[/code], [code]hider[/code] or [code]player[/code].
var role: StringName
## Whether it chases: a seeker, or "it" in classic tag.
var is_seeker_like: bool
## Where it looks and heads.
var heading_rad: float
## Whether it stood on something at the end of the last tick.
var grounded: bool
## Whether it takes part; a caught hider does not.
var active: bool = true
## Whether it can neither tag nor be tagged.
var immune: bool
## Wanted movement along x and z, at most 1 long.
var wish: Vector2
## Whether it wants to jump.
var jump_wish: bool
## Ticks in which a jump is still possible.
var coyote_ticks: int
## How far it wanted to move in the last tick.
var last_motion: Vector3

var _settings: TagSettings
var _arena: Arena
var _half_m: float
var _at: Vector3


func _init() -> void:
	collision_layer = AGENT_LAYER
	collision_mask = Arena.WALL_LAYER
	# A still body's new place is seen by rays at once, a kinematic body's only after the next physics
	# step.
	PhysicsServer3D.body_set_mode(get_rid(), PhysicsServer3D.BODY_MODE_STATIC)


## Gives the body its shape and numbers.
func setup(agent_index: int, agent_role: StringName, settings: TagSettings) -> void:
	index = agent_index
	role = agent_role
	is_seeker_like = role == &"seeker"
	_settings = settings
	_half_m = settings.body.size_m * 0.5
	var shape := BoxShape3D.new()
	shape.margin = 0.0
	shape.size = Vector3.ONE * settings.body.size_m
	var collider := CollisionShape3D.new()
	collider.shape = shape
	add_child(collider)


## Puts the body onto the ground at [param ground], at rest.
func respawn(ground: Vector3, heading: float, arena: Arena) -> void:
	_arena = arena
	position = ground + Vector3.UP * (_half_m + _settings.motion.skin_m)
	velocity = Vector3.ZERO
	heading_rad = heading
	grounded = true
	coyote_ticks = 0
	immune = false
	wish = Vector2.ZERO
	jump_wish = false
	set_active(true)
	if is_inside_tree():
		reset_physics_interpolation()
	respawned.emit()


## Takes the body into or out of the game; out of it, nobody sees or touches it.
func set_active(takes_part: bool) -> void:
	active = takes_part
	collision_layer = AGENT_LAYER if takes_part else 0


## Top speed in its present role.
func top_speed_mps() -> float:
	var motion: TagSettings.Motion = _settings.motion
	return motion.seeker_speed_mps if is_seeker_like else motion.hider_speed_mps


## Unit vector along the heading.
func forward() -> Vector3:
	return Vector3(sin(heading_rad), 0.0, cos(heading_rad))


## Moves for one tick. [param push] is added to the horizontal velocity.
func step(push: Vector2) -> void:
	var motion: TagSettings.Motion = _settings.motion
	_steer(motion, push)
	var speed_y: float = velocity.y
	coyote_ticks = roundi(motion.coyote_s / TICK_S) if grounded else maxi(coyote_ticks - 1, 0)
	if jump_wish and (grounded or coyote_ticks > 0):
		speed_y = motion.jump_speed_mps
		coyote_ticks = 0
		grounded = false
		jumped.emit()
	var next_y: float = maxf(speed_y - motion.gravity_mps2 * TICK_S, -motion.fall_speed_mps)
	var was_grounded: bool = grounded
	last_motion = Vector3(velocity.x, (speed_y + next_y) * 0.5, velocity.z) * TICK_S
	last_motion = last_motion.clampf(-Arena.MAX_STEP_M, Arena.MAX_STEP_M)
	_at = position
	if _move(Vector3.AXIS_X):
		velocity.x = 0.0
	if _move(Vector3.AXIS_Z):
		velocity.z = 0.0
	grounded = false
	velocity.y = next_y
	if _move(Vector3.AXIS_Y):
		grounded = last_motion.y < 0.0
		velocity.y = 0.0
	position = _at
	if grounded and not was_grounded:
		landed.emit(-next_y)


func _steer(motion: TagSettings.Motion, push: Vector2) -> void:
	var wished: bool = wish.length() >= motion.dead_zone
	var rate: float = motion.air_acceleration_mps2
	if grounded:
		rate = motion.ground_acceleration_mps2 if wished else motion.deceleration_mps2
	var target: Vector2 = wish * top_speed_mps() if wished else Vector2.ZERO
	var speed: Vector2 = Vector2(velocity.x, velocity.z).move_toward(target, rate * TICK_S) + push
	velocity.x = speed.x
	velocity.z = speed.y
	if wished:
		var turn: float = angle_difference(heading_rad, atan2(wish.x, wish.y))
		var most: float = motion.turn_rate_radps * TICK_S
		heading_rad = wrapf(heading_rad + clampf(turn, -most, most), -PI, PI)


## Moves along one axis as far as possible. Returns whether something was in the way.
func _move(axis: int) -> bool:
	var distance: float = last_motion[axis]
	if distance == 0.0:
		return false
	var free: float = _arena.free_m(_at, axis, distance)
	_at[axis] += free * signf(distance)
	return free < absf(distance)
