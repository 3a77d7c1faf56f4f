extends EngineTest
## What trainers of godot_rl receive, and what they may send.

const TRUNCATED_END := DojoResults.ACTED | DojoResults.TRUNCATED

var _answer: Dictionary


## Two worlds of one role with a picture between its numbers, and a choice beside a direction.
func _wire() -> DojoGodotRlWire:
	var wire := DojoGodotRlWire.new()
	var seen: Array[Dictionary] = [
		DojoObservationLayout.numbers("near", 1),
		DojoObservationLayout.picture("eye", 1, 2, 3),
		DojoObservationLayout.numbers("far", 2),
	]
	var role: Dictionary = {
		"name": "scout",
		"agents": 1,
		"observation": seen,
		"action": [DojoObservationLayout.move("go", 2), DojoObservationLayout.choice("hide", 3)],
	}
	var description: Dictionary = {"worlds": 2, "roles": [role], "reward_terms": ["a", "b"]}
	_answer = wire.set_description(description)
	return wire


func _results(flags: PackedByteArray) -> DojoResults:
	var results := DojoResults.new(1)
	for world in 2:
		results.observation.append_array([world, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 7.0, 8.0])
	results.terms = [1.0, 0.5, -2.0, 0.25]
	results.flags = flags
	return results


func test_spaces_are_told_as_its_own_plugin_tells_them() -> void:
	_wire()
	check_equal(_answer["n_agents"], 2, "agents")
	check_equal(_answer["agent_policy_names"], ["scout", "scout"] as Array[String], "policies")
	var space: Dictionary = _answer["observation_space"][1]
	check_equal(space.keys(), ["obs", "eye_2d"], "keys")
	check_equal(space["obs"], {"size": [3], "space": "box"}, "numbers")
	check_equal(Array(space["eye_2d"]["size"]), [1, 2, 3], "picture, as its bytes lie")
	check_equal(
		_answer["action_space"][0],
		{
			"go": {"size": 2, "action_type": "continuous"},
			"hide": {"size": 3, "action_type": "discrete"},
		},
		"actions"
	)


func test_pictures_are_bytes_and_the_rest_numbers() -> void:
	var wire: DojoGodotRlWire = _wire()
	var said: Dictionary = wire.write_reset(_results([0, 0]))
	check_equal(said["type"], "reset", "type")
	check_equal(said["obs"][1]["obs"], PackedFloat32Array([1.0, 7.0, 8.0]), "numbers")
	check_equal(said["obs"][1]["eye_2d"], "00336699ccff", "picture")
	check_equal(said["info"], [{}, {}] as Array[Dictionary], "info")


func test_an_end_is_told_with_its_cause_and_what_was_seen_last() -> void:
	var wire: DojoGodotRlWire = _wire()
	var results: DojoResults = _results([DojoResults.ACTED, TRUNCATED_END])
	results.final_rows[0] = PackedInt32Array([1])
	results.final_observation[0] = PackedFloat32Array([5.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 6.0, 7.0])
	var said: Dictionary = wire.write_step(results)
	check_equal(said["reward"], PackedFloat32Array([1.5, -1.75]), "rewards")
	check_equal(said["done"], [false, true] as Array[bool], "done")
	check_equal(said["info"][0], {}, "info of who goes on")
	check_equal(said["info"][1]["TimeLimit.truncated"], true, "truncated")
	var last: Dictionary = said["info"][1]["terminal_observation"]
	check_equal(last["obs"], PackedFloat32Array([5.0, 6.0, 7.0]), "last numbers")
	check_equal(last["eye_2d"], [[[0, 0, 0], [255, 255, 255]]], "last picture")
	var sent: Variant = JSON.parse_string(wire.write(said))
	check_equal(sent["info"][1]["terminal_observation"]["obs"], [5.0, 6.0, 7.0], "as JSON")


func test_an_end_by_the_rules_is_no_truncation_and_who_waits_is_told_apart() -> void:
	var wire: DojoGodotRlWire = _wire()
	var results: DojoResults = _results([0, DojoResults.ACTED | DojoResults.TERMINATED])
	results.final_rows[0] = PackedInt32Array([0, 1])
	results.final_observation[0] = results.observation
	var said: Dictionary = wire.write_step(results)
	check_equal(said["done"], [true, true] as Array[bool], "all of a world that ended are done")
	check_equal(said["info"][0]["acted"], false, "who waited")
	check_equal(said["info"][1]["TimeLimit.truncated"], false, "by the rules")
	check_equal(said["info"][1].has("acted"), false, "who acted")


func test_what_is_not_finite_is_replaced() -> void:
	var wire: DojoGodotRlWire = _wire()
	var results: DojoResults = _results([0, 0])
	results.observation[0] = NAN
	results.observation[8] = -INF
	results.terms[3] = INF
	wire.repair(results)
	check_equal([results.observation[0], results.observation[8]], [0.0, -10.0], "observation")
	check_equal(results.terms[3], 10.0, "reward")


func test_actions_come_in_the_order_of_the_roles() -> void:
	var wire: DojoGodotRlWire = _wire()
	var given: Array = [{"go": [0.5, -1.0], "hide": 2.0}, {"hide": 0.0, "go": [0.25, 3.0]}]
	check_equal(
		wire.read_actions(given), PackedFloat32Array([0.5, -1.0, 2.0, 0.25, 3.0, 0.0]), "numbers"
	)
	check_equal(wire.error, "", "error")
	for wrong: Variant in [
		null,
		[],
		[given[0]],
		[given[0], 7],
		[given[0], {"go": [0.0, 0.0]}],
		[given[0], {"go": [0.0], "hide": 0.0}],
		[given[0], {"go": [0.0, null], "hide": 0.0}],
		[given[0], {"go": [0.0, 1e39], "hide": 0.0}],
		[given[0], {"go": [0.0, 0.0], "hide": 3.0}],
		[given[0], {"go": [0.0, 0.0], "hide": -1.0}],
		[given[0], {"go": [0.0, 0.0], "hide": 0.5}],
		[given[0], {"go": [0.0, 0.0], "hide": "1"}],
	]:
		check_equal(wire.read_actions(wrong).size(), 0, "numbers of %s" % [wrong])
		check(not wire.error.is_empty(), "%s was refused" % [wrong])
