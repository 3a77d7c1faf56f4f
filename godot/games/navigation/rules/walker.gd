class_name Walker
extends RefCounted
## Who walks: a cube at the feet that is moved one axis at a time, and a mock of a VR rig above it.
##
## Jolt says how far it can go. How a tick goes is written down in docs/games/navigation.md; the
## twin in Python repeats it number for number.

## Length of a physics tick.
const TICK_S := 1.0 / 60.0
const AXES: Array[int] = [Vector3.AXIS_X, Vector3.AXIS_Z, Vector3.AXIS_Y]
## The stick is pushed beyond this for a snap turn, and let go below the other.
const SNAP_ON := 0.7
const SNAP_OFF := 0.3
## The trigger teleports beyond this, once until it is let go.
const TELEPORT_ON := 0.5
## A teleport looks for ground at every such step, and so far below the height of a step.
const TELEPORT_STEP_M := 0.1
const TELEPORT_DROP_M := 0.25

## Centre of the cube.
var position: Vector3
## Metres a second.
var velocity: Vector3
var yaw_rad: float
var yaw_rate_radps: float
var roll_rad: float
var roll_rate_radps: float
## Whether it stood on something at the end of the last tick.
var grounded: bool
## What it wants: strafe, forward, rotate, teleport, each from -1 to 1.
var action := PackedFloat64Array([0.0, 0.0, 0.0, 0.0])
## The first three, smoothed: what it does.
var smoothed := PackedFloat64Array([0.0, 0.0, 0.0])
## The controllers in the rig's frame, left and right.
var hands := PackedVector3Array([Vector3.ZERO, Vector3.ZERO])
var hand_velocities := PackedVector3Array([Vector3.ZERO, Vector3.ZERO])
## Whether something stopped it on x or z in the last tick.
var blocked: bool
## How often the view jumped in the last tick: by snap turns and teleports.
var jumps: int

var _motion: NavigationSettings.Motion
var _rig: NavigationSettings.Rig
var _solid: CourseSolid
var _cast := PhysicsShapeQueryParameters3D.new()
var _half_m: float
var _follow: float
var _turn_radps: float
var _snap_rad: float
var _is_stick_free: bool
var _is_trigger_free: bool
var _phase_rad: float


func _init(settings: NavigationSettings) -> void:
	_motion = settings.motion
	_rig = settings.rig
	_half_m = _motion.body_m * 0.5
	_follow = 1.0 - exp(-TICK_S / _motion.smoothing_s) if _motion.smoothing_s > 0.0 else 1.0
	_turn_radps = deg_to_rad(_motion.turn_rate_degps)
	_snap_rad = deg_to_rad(_motion.snap_deg)
	var shape := BoxShape3D.new()
	shape.margin = 0.0
	shape.size = Vector3.ONE * _motion.body_m
	_cast.shape = shape
	_cast.collision_mask = CourseSolid.LAYER


## Puts it onto the ground at [param ground], at rest.
func place(ground: Vector3, yaw: float, solid: CourseSolid) -> void:
	_solid = solid
	position = ground + Vector3.UP * (_half_m + _motion.skin_m)
	velocity = Vector3.ZERO
	yaw_rad = wrapf(yaw, -PI, PI)
	yaw_rate_radps = 0.0
	roll_rad = 0.0
	roll_rate_radps = 0.0
	grounded = true
	action.fill(0.0)
	smoothed.fill(0.0)
	blocked = false
	jumps = 0
	_is_stick_free = true
	_is_trigger_free = true
	_phase_rad = 0.0
	_hold_hands(0.0)
	hand_velocities.fill(Vector3.ZERO)


## What it wants from now on. Values beyond -1 to 1 are cut, what is not finite counts as 0.
func set_action(strafe: float, forward: float, rotate: float, teleport: float = 0.0) -> void:
	action[0] = _sane(strafe)
	action[1] = _sane(forward)
	action[2] = _sane(rotate)
	action[3] = _sane(teleport)
	var length: float = sqrt(action[0] * action[0] + action[1] * action[1])
	if length > 1.0:
		action[0] /= length
		action[1] /= length


## Where its feet are.
func feet() -> Vector3:
	return position - Vector3.UP * _half_m


## Where its eyes are.
func eyes() -> Vector3:
	return feet() + Vector3.UP * _rig.eye_height_m


## How the camera is turned.
func rotation() -> Quaternion:
	return Quaternion(Vector3.UP, yaw_rad) * Quaternion(Vector3.BACK, roll_rad)


## How fast it walks, by what it wants, as a share of what it can.
func share() -> float:
	return sqrt(smoothed[0] * smoothed[0] + smoothed[1] * smoothed[1])


## [param vector] in the rig's frame.
func own(vector: Vector3) -> Vector3:
	var sine: float = sin(yaw_rad)
	var cosine: float = cos(yaw_rad)
	return Vector3(
		vector.x * cosine - vector.z * sine, vector.y, vector.x * sine + vector.z * cosine
	)


## Moves for one tick.
func step() -> void:
	for number in 3:
		smoothed[number] += _follow * (action[number] - smoothed[number])
	jumps = 0
	_turn()
	if _motion.teleport_m > 0.0:
		_teleport()
	_walk()
	_sway()


func _turn() -> void:
	var rotate: float = smoothed[2]
	if _motion.turn == "smooth":
		yaw_rate_radps = -rotate * _turn_radps
		yaw_rad += yaw_rate_radps * TICK_S
	elif absf(rotate) > SNAP_ON and _is_stick_free:
		_is_stick_free = false
		jumps += 1
		yaw_rad -= signf(rotate) * _snap_rad
	elif absf(rotate) < SNAP_OFF:
		_is_stick_free = true
	yaw_rad = wrapf(yaw_rad, -PI, PI)


## Jumps ahead when the trigger is pulled: to the farthest ground before something solid.
func _teleport() -> void:
	if action[3] <= TELEPORT_ON:
		_is_trigger_free = true
		return
	if not (_is_trigger_free and grounded):
		return
	_is_trigger_free = false
	var up_m: float = _motion.step_up_m
	var at: Vector3 = position
	if up_m > 0.0 and _free_m(at, Vector3.AXIS_Y, up_m) >= up_m:
		at.y += up_m
	var step := Vector3(-sin(yaw_rad) * TELEPORT_STEP_M, 0.0, -cos(yaw_rad) * TELEPORT_STEP_M)
	var landing: Vector3 = position
	for _step in floori(_motion.teleport_m / TELEPORT_STEP_M + 0.5):
		var is_free: bool = true
		for axis: int in [Vector3.AXIS_X, Vector3.AXIS_Z]:
			var distance: float = step[axis]
			is_free = is_free and (distance == 0.0 or _free_m(at, axis, distance) >= absf(distance))
			at[axis] += distance
		if not is_free:
			break
		var drop_m: float = up_m + TELEPORT_DROP_M
		var free_m: float = _free_m(at, Vector3.AXIS_Y, -drop_m)
		if free_m < drop_m:
			landing = at - Vector3.UP * free_m
	if landing != position:
		position = landing
		jumps += 1


func _walk() -> void:
	var sine: float = sin(yaw_rad)
	var cosine: float = cos(yaw_rad)
	var speed_mps: float = _motion.speed_mps
	var speed_x: float = speed_mps * (smoothed[0] * cosine - smoothed[1] * sine)
	var speed_z: float = speed_mps * (-smoothed[0] * sine - smoothed[1] * cosine)
	var speed_y: float = velocity.y
	var next_y: float = maxf(speed_y - _motion.gravity_mps2 * TICK_S, -_motion.fall_speed_mps)
	var next := Vector3(speed_x, next_y, speed_z)
	var motion: Vector3 = Vector3(speed_x, (speed_y + next_y) * 0.5, speed_z) * TICK_S
	var can_step_up: bool = grounded and _motion.step_up_m > 0.0
	var at: Vector3 = position
	grounded = false
	blocked = false
	for axis in AXES:
		var distance: float = motion[axis]
		if distance == 0.0:
			continue
		var free_m: float = _free_m(at, axis, distance)
		if free_m < absf(distance):
			if axis == Vector3.AXIS_Y:
				grounded = distance < 0.0
			elif can_step_up and _can_step_up(at, axis, distance):
				can_step_up = false
				at.y += _motion.step_up_m
				motion.y -= _motion.step_up_m
				free_m = absf(distance)
			else:
				blocked = true
			if free_m < absf(distance):
				next[axis] = 0.0
				at[axis] += free_m * signf(distance)
				continue
		at[axis] += distance
	velocity = next
	position = at


## How far the cube can go from [param at] along the axis, of [param distance] at most.
func _free_m(at: Vector3, axis: int, distance: float) -> float:
	var length: float = absf(distance)
	var reach: float = length + _motion.skin_m
	var cast := Vector3.ZERO
	cast[axis] = reach if distance > 0.0 else -reach
	_cast.transform = Transform3D(Basis.IDENTITY, at)
	_cast.motion = cast
	var safe: float = _solid.space.cast_motion(_cast)[0]
	return length if safe >= 1.0 else clampf(safe * reach - _motion.skin_m, 0.0, length)


func _can_step_up(at: Vector3, axis: int, distance: float) -> bool:
	var up_m: float = _motion.step_up_m
	if _free_m(at, Vector3.AXIS_Y, up_m) < up_m:
		return false
	return _free_m(at + Vector3.UP * up_m, axis, distance) >= absf(distance)


## Head and hands of somebody who walks.
func _sway() -> void:
	var walked: float = share()
	_phase_rad += _rig.stride_radpm * _motion.speed_mps * walked * TICK_S
	var roll: float = -_rig.lean_rad * smoothed[2] * walked
	roll_rate_radps = (roll - roll_rad) / TICK_S
	roll_rad = roll
	var left: Vector3 = hands[0]
	var right: Vector3 = hands[1]
	_hold_hands(walked)
	hand_velocities[0] = (hands[0] - left) / TICK_S
	hand_velocities[1] = (hands[1] - right) / TICK_S


func _hold_hands(walked: float) -> void:
	hands = hands_of(_rig, _phase_rad, walked)


## Both hands in the rig's frame at this moment of the gait.
static func hands_of(
	rig: NavigationSettings.Rig, phase_rad: float, walked: float
) -> PackedVector3Array:
	var sway: float = rig.swing_m * sin(phase_rad) * walked
	var height_m: float = rig.hand_height_m + rig.lift_m * cos(2.0 * phase_rad) * walked
	return [
		Vector3(-rig.hand_side_m, height_m, sway - rig.hand_ahead_m),
		Vector3(rig.hand_side_m, height_m, -sway - rig.hand_ahead_m)
	]


static func _sane(value: float) -> float:
	return clampf(value, -1.0, 1.0) if is_finite(value) else 0.0
