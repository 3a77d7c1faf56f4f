class_name NavigationObservation
extends RefCounted
## The walker's observation, in metres, seconds and radians.
##
## [code]observation.json[/code] declares the parts; docs/games/navigation.md explains them.

static var layout := DojoObservationLayout.read("res://games/navigation/observation.json")

static var _position: int = layout.start("camera_position")
static var _rotation: int = layout.start("camera_rotation")
static var _velocity: int = layout.start("camera_velocity")
static var _angular_velocity: int = layout.start("camera_angular_velocity")
static var _rays: int = layout.start("rays")
static var _hands: PackedInt32Array = [
	layout.start("left_position"), layout.start("right_position")
]
static var _hand_velocities: PackedInt32Array = [
	layout.start("left_velocity"), layout.start("right_velocity")
]
static var _goal: int = layout.start("goal_position")
static var _goal_distance: int = layout.start("goal_distance")
static var _goal_direction: int = layout.start("goal_direction")
# Reused for every observation, since allocation takes time.
static var _numbers: PackedFloat32Array = layout.zeros()


## Appends the observation of the walker of [param world] to [param into].
static func append(world: NavigationWorld, into: PackedFloat32Array) -> void:
	var walker: Walker = world.walker
	var feet: Vector3 = walker.feet()
	_put(_position, walker.eyes())
	var rotation: Quaternion = walker.rotation()
	_numbers[_rotation] = rotation.x
	_numbers[_rotation + 1] = rotation.y
	_numbers[_rotation + 2] = rotation.z
	_numbers[_rotation + 3] = rotation.w
	_put(_velocity, walker.own(walker.velocity))
	_put(_angular_velocity, Vector3(0.0, walker.yaw_rate_radps, walker.roll_rate_radps))
	var eyes: Vector3 = feet + Vector3.UP * world.settings.sight.height_m
	world.solid.look(eyes, walker.yaw_rad, _numbers, _rays)
	for hand in 2:
		_put(_hands[hand], walker.hands[hand])
		_put(_hand_velocities[hand], walker.hand_velocities[hand])
	var way: Vector3 = walker.own(world.next_mark() - feet)
	var distance_m: float = way.length()
	_put(_goal, way)
	_numbers[_goal_distance] = distance_m
	_put(_goal_direction, way / distance_m if distance_m >= 0.001 else Vector3.ZERO)
	into.append_array(_numbers)


static func _put(place: int, vector: Vector3) -> void:
	_numbers[place] = vector.x
	_numbers[place + 1] = vector.y
	_numbers[place + 2] = vector.z
