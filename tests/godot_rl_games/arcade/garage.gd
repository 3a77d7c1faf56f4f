extends Controller
## A car drives to a spot on a walled yard, around crates that it may push, but not walls.

const YARD := 8.0
const POWER := 300.0
const LOCK := 0.5

var throttle := 0.0
var wheel := 0.0
var has_crashed := false
var best := 0.0
var spot := Vector3.ZERO

@onready var yard: Node3D = get_parent()
@onready var car: VehicleBody3D = $"../Car"
@onready var crates: Array[RigidBody3D] = [$"../Crate", $"../Crate2"]
@onready var front: VehicleWheel3D = $"../Car/FrontLeft"


func begin() -> void:
	car.transform = Transform3D(Basis(Vector3.UP, randf() * TAU), Vector3(0.0, 0.45, 0.0))
	car.linear_velocity = Vector3.ZERO
	car.angular_velocity = Vector3.ZERO
	car.engine_force = 0.0
	car.steering = 0.0
	for index in crates.size():
		var at := Vector3(3.0, 0.3, 0.0).rotated(Vector3.UP, randf() * TAU)
		crates[index].transform = Transform3D(Basis.IDENTITY, at)
		crates[index].linear_velocity = Vector3.ZERO
		crates[index].angular_velocity = Vector3.ZERO
	spot = Vector3(randf_range(-6.0, 6.0), 0.0, randf_range(-6.0, 6.0))
	has_crashed = false
	best = _distance()


func play(delta: float) -> void:
	car.engine_force = throttle * POWER
	car.brake = 5.0 if absf(throttle) < 0.2 else 0.0
	car.steering = move_toward(car.steering, wheel * LOCK, delta * 2.0)
	var left := _distance()
	reward += maxf(best - left, 0.0) * 0.2
	best = minf(best, left)
	if has_crashed or car.position.y < -1.0:
		reward -= 1.0
		finish(false)
	elif left < 1.0:
		reward += 1.0
		finish(true)


func get_obs() -> Dictionary:
	var way := car.to_local(yard.to_global(spot)) / YARD
	var velocity := car.global_transform.basis.inverse() * car.linear_velocity / 5.0
	var obs := [way.x, way.z, velocity.x, velocity.z, car.angular_velocity.y, car.steering / LOCK]
	obs.append(front.get_rpm() / 200.0)
	obs.append(float(front.is_in_contact()))
	for crate in crates:
		var there := car.to_local(crate.global_position) / YARD
		obs.append_array([there.x, there.z])
	return {"obs": obs}


func get_action_space() -> Dictionary:
	return {
		"throttle": {"size": 1, "action_type": "continuous"},
		"wheel": {"size": 1, "action_type": "continuous"},
	}


func set_action(action: Dictionary) -> void:
	throttle = clampf(action["throttle"][0], -1.0, 1.0)
	wheel = clampf(action["wheel"][0], -1.0, 1.0)


func _distance() -> float:
	return Vector2(car.position.x - spot.x, car.position.z - spot.z).length()


func _on_car_body_entered(body: Node) -> void:
	if body.name == "Walls":
		has_crashed = true
