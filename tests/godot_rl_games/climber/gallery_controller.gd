class_name GalleryController
extends AIController3D

var turn := 0.0
var ahead := 0.0
var fires := false


func get_obs() -> Dictionary:
	var at = _player.gunner.position
	var obs = [at.x, at.z, _player.gunner.rotation.y, _player.hits, _player.shots]
	var nearest = null
	for thing in _player.shelf.get_children():
		if thing.is_queued_for_deletion():
			continue
		if nearest == null or at.distance_to(thing.position) < at.distance_to(nearest.position):
			nearest = thing
	var where = _player.to_local(nearest.global_position) if nearest != null else Vector3.ZERO
	obs.append_array([where.x, where.z, _player.shelf.get_child_count()])
	obs.append(get_tree().get_nodes_in_group("bolts").size())
	obs.append(1.0 if is_instance_valid(_player.last_hit) else 0.0)
	return {"obs": obs}


func get_action_space() -> Dictionary:
	return {
		"turn": {"size": 1, "action_type": "continuous"},
		"ahead": {"size": 1, "action_type": "continuous"},
		"fire": {"size": 2, "action_type": "discrete"},
	}


func set_action(action) -> void:
	turn = action["turn"][0]
	ahead = action["ahead"][0]
	fires = action["fire"] == 1
