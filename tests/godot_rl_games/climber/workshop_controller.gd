class_name WorkshopController
extends AIController3D

var move := Vector2.ZERO
var cut := false


func get_obs() -> Dictionary:
	var at = _player.walker.position
	var aim = _player.turret.global_transform.basis.z
	var obs = [at.x, at.y, at.z, aim.x, aim.y, aim.z, _player.hits, _player.counted]
	obs.append_array([_player.inside, _player.noise, _player.stunned, _player.door.process_mode])
	obs.append_array(
		[_player.clock.time_left, _player.visits.size(), _player.get_node("%Lamp").position.x]
	)
	obs.append_array(_player.words if _player.words.size() > 0 else [0.0, 0.0, 0.0, 0.0])
	return {"obs": obs}


func get_action_space() -> Dictionary:
	return {"move": {"size": 2, "action_type": "continuous"}}


func set_action(action) -> void:
	move = Vector2(action.move[0], action.move[1])


func get_info() -> Dictionary:
	if done:
		return {"is_success": _player.hits > 3, "TimeLimit.truncated": cut}
	return {}
