class_name NavigationObservation
extends RefCounted
## What the walker is told: 48 numbers in metres, seconds and radians, see docs/games/navigation.md.

const SIZE := 48
const _RAYS := 13

# Used again for every observation, since making an array takes time.
static var _numbers: PackedFloat32Array = _empty()


## The parts in order, in the words of the wire.
static func parts(settings: NavigationSettings) -> Array[Dictionary]:
	return [
		DojoObservationLayout.numbers("camera_position", 3, -100.0, 100.0),
		DojoObservationLayout.numbers("camera_rotation", 4),
		DojoObservationLayout.numbers("camera_velocity", 3, -20.0, 20.0),
		DojoObservationLayout.numbers("camera_angular_velocity", 3, -20.0, 20.0),
		DojoObservationLayout.numbers("rays", NavigationSettings.RAYS, 0.0, settings.sight.range_m),
		DojoObservationLayout.numbers("left_position", 3, -5.0, 5.0),
		DojoObservationLayout.numbers("right_position", 3, -5.0, 5.0),
		DojoObservationLayout.numbers("left_velocity", 3, -20.0, 20.0),
		DojoObservationLayout.numbers("right_velocity", 3, -20.0, 20.0),
		DojoObservationLayout.numbers("goal_position", 3, -100.0, 100.0),
		DojoObservationLayout.numbers("goal_distance", 1, 0.0, 200.0),
		DojoObservationLayout.numbers("goal_direction", 3),
	]


## Appends what the walker of [param world] observes to [param into].
static func append(world: NavigationWorld, into: PackedFloat32Array) -> void:
	var walker: Walker = world.walker
	var feet: Vector3 = walker.feet()
	_put(0, walker.eyes())
	var rotation: Quaternion = walker.rotation()
	_numbers[3] = rotation.x
	_numbers[4] = rotation.y
	_numbers[5] = rotation.z
	_numbers[6] = rotation.w
	_put(7, walker.own(walker.velocity))
	_numbers[10] = 0.0
	_numbers[11] = walker.yaw_rate_radps
	_numbers[12] = walker.roll_rate_radps
	world.solid.look(
		feet + Vector3.UP * world.settings.sight.height_m, walker.yaw_rad, _numbers, _RAYS
	)
	_put(29, walker.hands[0])
	_put(32, walker.hands[1])
	_put(35, walker.hand_velocities[0])
	_put(38, walker.hand_velocities[1])
	var way: Vector3 = walker.own(world.next_mark() - feet)
	var distance_m: float = way.length()
	_put(41, way)
	_numbers[44] = distance_m
	_put(45, way / distance_m if distance_m >= 0.001 else Vector3.ZERO)
	into.append_array(_numbers)


static func _put(place: int, vector: Vector3) -> void:
	_numbers[place] = vector.x
	_numbers[place + 1] = vector.y
	_numbers[place + 2] = vector.z


static func _empty() -> PackedFloat32Array:
	var numbers := PackedFloat32Array()
	numbers.resize(SIZE)
	return numbers
