class_name TagAgent
extends Node3D
## A player's body: a cube that never turns, moved one axis at a time.
##
## Jolt decides where it can go; what rays meet in its place belongs to [TagEyes]. The heading is a
## number; only what is drawn turns. Forward is [code](sin h, 0, cos h)[/code]. How it moves is
## written down in docs/games/tag-motion.md.

## A jump began.
signal jumped
## The body reached the ground, falling at [param speed_mps].
signal landed(speed_mps: float)
## The body was put somewhere else.
signal respawned

## Length of a physics tick.
const TICK_S := 1.0 / 60.0
## Bodies move along one axis after the other, upwards or downwards last.
const AXES: Array[int] = [Vector3.AXIS_X, Vector3.AXIS_Z, Vector3.AXIS_Y]

## Place in the world's list.
var index: int
## [code]seeker[/code], [code]hider[/code] or [code]player[/code].
var role: StringName
## Whether it chases: a seeker, or "it" in classic tag.
var is_seeker_like: bool
## Metres a second.
var velocity: Vector3
## Where it looks and heads.
var heading_rad: float
## Whether it stood on something at the end of the last tick.
var grounded: bool
## Whether it takes part; a caught hider does not.
var active: bool = true
## Whether it can neither tag nor be tagged.
var immune: bool
## Wanted movement along x and z, at most 1 long.
var wish: Vector2:
	set = _set_wish
## Whether it wants to jump.
var jump_wish: bool
## Ticks in which a jump is still possible.
var coyote_ticks: int
## How far it wanted to move in the last tick.
var last_motion: Vector3
## Half the body's edge.
var half_m: float

var _arena: Arena
var _cast := PhysicsShapeQueryParameters3D.new()
var _is_wished: bool
var _wished_heading_rad: float
# Changes of speed and heading in a tick, and other numbers of the motion that never change.
var _dead_zone: float
var _seeker_step: float
var _hider_step: float
var _air_step: float
var _brake_step: float
var _turn_step: float
var _fall_step: float
var _fall_speed_mps: float
var _jump_speed_mps: float
var _seeker_speed_mps: float
var _hider_speed_mps: float
var _coyote_ticks: int
var _skin_m: float


## Gives the body its shape and numbers.
func setup(agent_index: int, agent_role: StringName, settings: TagSettings) -> void:
	index = agent_index
	role = agent_role
	is_seeker_like = role == &"seeker"
	half_m = settings.body.size_m * 0.5
	var motion: TagSettings.Motion = settings.motion
	_dead_zone = motion.dead_zone
	_seeker_step = motion.seeker_acceleration_mps2 * TICK_S
	_hider_step = motion.hider_acceleration_mps2 * TICK_S
	_air_step = motion.air_acceleration_mps2 * TICK_S
	_brake_step = motion.deceleration_mps2 * TICK_S
	_turn_step = motion.turn_rate_radps * TICK_S
	_fall_step = motion.gravity_mps2 * TICK_S
	_fall_speed_mps = motion.fall_speed_mps
	_coyote_ticks = roundi(motion.coyote_s / TICK_S)
	_jump_speed_mps = motion.jump_speed_mps
	_seeker_speed_mps = motion.seeker_speed_mps
	_hider_speed_mps = motion.hider_speed_mps
	_skin_m = motion.skin_m
	var shape := BoxShape3D.new()
	shape.margin = 0.0
	shape.size = Vector3.ONE * settings.body.size_m
	_cast.shape = shape
	_cast.collision_mask = Arena.WALL_LAYER


## Puts the body onto the ground at [param ground], at rest.
func respawn(ground: Vector3, heading: float, arena: Arena) -> void:
	_arena = arena
	position = ground + Vector3.UP * (half_m + _skin_m)
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


## Top speed in its present role.
func top_speed_mps() -> float:
	return _seeker_speed_mps if is_seeker_like else _hider_speed_mps


## Unit vector along the heading.
func forward() -> Vector3:
	return Vector3(sin(heading_rad), 0.0, cos(heading_rad))


## Moves for one tick. [param push] is added to the horizontal velocity.
##
## Jolt is asked how far the body can go along each axis; where it finds something solid within a
## skin of the wanted distance, the body stops about a skin from it, and never goes backwards. This
## is where a game spends most of its time, so it is one function without calls to others.
func step(push: Vector2) -> void:
	var speed: Vector3 = velocity
	var change: float = _air_step
	if grounded and _is_wished:
		change = _seeker_step if is_seeker_like else _hider_step
	elif grounded:
		change = _brake_step
	var flat := Vector2(speed.x, speed.z)
	if _is_wished:
		var top_mps: float = _seeker_speed_mps if is_seeker_like else _hider_speed_mps
		flat = flat.move_toward(wish * top_mps, change) + push
		var turn: float = angle_difference(heading_rad, _wished_heading_rad)
		heading_rad = wrapf(heading_rad + clampf(turn, -_turn_step, _turn_step), -PI, PI)
	else:
		flat = flat.move_toward(Vector2.ZERO, change) + push
	var speed_y: float = speed.y
	var was_grounded: bool = grounded
	if grounded:
		coyote_ticks = _coyote_ticks
	elif coyote_ticks > 0:
		coyote_ticks -= 1
	if jump_wish and (grounded or coyote_ticks > 0):
		speed_y = _jump_speed_mps
		coyote_ticks = 0
		was_grounded = false
		jumped.emit()
	var next_y: float = maxf(speed_y - _fall_step, -_fall_speed_mps)
	speed = Vector3(flat.x, next_y, flat.y)
	var motion: Vector3 = Vector3(flat.x, (speed_y + next_y) * 0.5, flat.y) * TICK_S
	motion = motion.clampf(-Arena.MAX_STEP_M, Arena.MAX_STEP_M)
	last_motion = motion
	grounded = false
	var at: Vector3 = position
	var origin: Vector3 = _arena.origin
	var space: PhysicsDirectSpaceState3D = _arena.space
	for axis: int in AXES:
		var distance: float = motion[axis]
		if distance == 0.0:
			continue
		var length: float = absf(distance)
		var reach: float = length + _skin_m
		var cast := Vector3.ZERO
		cast[axis] = reach if distance > 0.0 else -reach
		_cast.transform = Transform3D(Basis.IDENTITY, origin + at)
		_cast.motion = cast
		var safe: float = space.cast_motion(_cast)[0]
		if safe >= 1.0:
			at[axis] += distance
			continue
		var free: float = clampf(safe * reach - _skin_m, 0.0, length)
		at[axis] += free * signf(distance)
		if free < length:
			speed[axis] = 0.0
			grounded = axis == Vector3.AXIS_Y and distance < 0.0
	velocity = speed
	position = at
	if grounded and not was_grounded:
		landed.emit(-next_y)


func _set_wish(wanted: Vector2) -> void:
	wish = wanted
	_is_wished = wanted.length() >= _dead_zone
	_wished_heading_rad = atan2(wanted.x, wanted.y)
