class_name ClimberController
extends AIController3D

@export var sensor: RaycastSensor3D

var move := 0.0
var turn := 0.0
var jump := false
var is_success = false


func get_obs() -> Dictionary:
	var level = _player.level
	var obs = []
	for target in [level.goal, level.next_coin()]:
		var to_target = _player.to_local(target.global_position)
		var distance = to_target.length()
		to_target = to_target.normalized() if distance > 0.01 else Vector3.ZERO
		obs.append_array([to_target.x, to_target.y, to_target.z, clampf(distance / 20.0, 0.0, 1.0)])
	var local_velocity: Vector3 = _player.global_transform.basis.inverse() * _player.velocity
	obs.append_array([local_velocity.x / 10.0, local_velocity.y / 10.0, local_velocity.z / 10.0])
	obs.append(_player.is_on_floor())
	obs.append(float(n_steps) / reset_after)
	obs.append_array(sensor.get_observation())
	return {"obs": obs}


func get_action_space() -> Dictionary:
	return {
		"move": {"size": 2, "action_type": "continuous"},
		"jump": {"size": 2, "action_type": "discrete"},
	}


func set_action(action) -> void:
	move = clampf(action["move"][0], -1.0, 1.0)
	turn = clampf(action["move"][1], -1.0, 1.0)
	jump = action["jump"] == 1


func get_info() -> Dictionary:
	if done:
		return {"is_success": is_success}
	return {}


func reset():
	super.reset()
	move = 0.0
	turn = 0.0
	jump = false


func _physics_process(delta):
	super._physics_process(delta)
	if needs_reset:
		is_success = false
		done = true
