extends EngineTest
## Worlds made of agents in a scene: rewards, ends, resets, and what is refused.

const StubAgent: GDScript = preload("res://tests/dojo/stub_agent.gd")

var sync: DojoSync
var worlds: DojoSceneWorlds
var agents: Array[DojoAgent] = []


func test_rewards_are_told_by_term() -> void:
	_seat(["a", "b"])
	agents[0].reward_terms = ["gem", "fall"]
	agents[1].reward_terms = ["fall", "time"]
	_begin()
	check_equal(
		worlds.describe()["reward_terms"], PackedStringArray(["gem", "fall", "time"]), "terms"
	)
	agents[0].add_reward(2.0)
	agents[0].add_reward(0.5, "fall")
	agents[1].add_reward(3.0, "time")
	agents[1].add_reward(1.0, "fall")
	check_equal(_decide().terms, PackedFloat32Array([2, 0.5, 0, 0, 1, 3]), "first decision")
	check_equal(_decide().terms, PackedFloat32Array([0, 0, 0, 0, 0, 0]), "second decision")
	agents[0].add_reward(1.0)
	agents[0].end_episode(true)
	agents[0].add_reward(100.0)
	var results: DojoResults = _decide()
	check_equal(results.final_terms[0], PackedFloat32Array([3, 0.5, 0]), "sum over the round of a")
	check_equal(results.final_terms[1], PackedFloat32Array([0, 1, 3]), "sum over the round of b")


func test_an_end_ends_the_world() -> void:
	_seat(["a", "a", "b"])
	var first: DojoResults = _begin()
	check_equal(first.flags, PackedByteArray([0, 0, 0]), "flags at the beginning")
	check_equal(_decide().flags, PackedByteArray([1, 1, 1]), "flags in between")
	agents[2].score = 4.0
	agents[2].end_episode(true)
	var last: float = agents[1].observe()[0]
	var results: DojoResults = _decide()
	check_equal(results.flags, PackedByteArray([3, 3, 3]), "everybody is terminated")
	check_equal(results.ended, PackedInt32Array([0, 2, 8, -1]), "world, winner b, ticks, arena")
	check_equal(results.final_rows[0], PackedInt32Array([0, 1]), "final rows of a")
	check_equal(results.final_observation[0].slice(2), PackedFloat32Array([last, 1]), "seen last")
	check_equal(results.final_score[1], PackedFloat32Array([4]), "score")
	check_equal(results.observation[1], 2.0, "the new round has begun")
	check_equal(_decide().flags, PackedByteArray([1, 1, 1]), "the next round goes on")


func test_agents_report_measures_of_their_round() -> void:
	_seat(["a"])
	_begin()
	var kinds: Array = worlds.describe()["roles"][0]["measures"].map(
		func(measure: Dictionary) -> String: return measure["name"] + " " + measure["kind"]
	)
	check_equal(kinds, ["success bool", "resets number", "unknown number"], "measures")
	agents[0].end_episode(true)
	var measures: PackedFloat32Array = _decide().final_measures[0]
	check_equal(measures.slice(0, 2), PackedFloat32Array([1, 1]), "before the next round begins")
	check(is_nan(measures[2]), "nothing to report")


func test_options_are_exported_variables_of_agents() -> void:
	_seat(["a", "b"])
	var request: Dictionary = {"worlds": 1, "ticks_per_decision": 4}
	check_equal(worlds.configure(request.merged({"options": {"level": 3.0}})), "", "accepted")
	check_equal(agents[1].get("level"), 3, "value")
	for wrong: Dictionary in [{"level": 2.5}, {"level": "x"}, {"place": 1.0}, {"name": "x"}]:
		var complaint: String = worlds.configure(request.merged({"options": wrong}))
		check("option %s" % wrong.keys()[0] in complaint, "refused with: %s" % complaint)
	check_equal(
		DojoSceneOptions.from_words(["--level=4", "--policy=x", "level=5"], [agents[0]]),
		{"level": "4"},
		"words"
	)


func test_an_agent_may_end_alone() -> void:
	_seat(["a", "a"])
	_begin()
	check_equal(worlds.describe()["agent_episodes"], false, "episodes of worlds")
	for agent in agents:
		agent.ends_world = false
	_begin()
	check_equal(worlds.describe()["agent_episodes"], true, "episodes of agents")
	agents[1].truncate_episode()
	agents[1].end_episode()
	var results: DojoResults = _decide()
	check_equal(
		results.flags, PackedByteArray([1, 5]), "only the second, and what came first counts"
	)
	check_equal(results.ended, PackedInt32Array(), "no world has ended")
	check_equal(results.final_rows[0], PackedInt32Array([1]), "final rows")
	check_equal([agents[0].get("resets"), agents[1].get("resets")], [2, 3], "resets")


func test_rounds_are_cut_short() -> void:
	_seat(["a"])
	agents[0].max_ticks = 10
	_begin()
	var ends: PackedInt32Array = []
	for decision in 7:
		var results: DojoResults = _decide()
		if not results.ended.is_empty():
			ends.append_array([decision, results.ended[2], results.flags[0]])
	check_equal(ends, PackedInt32Array([2, 12, 5, 5, 12, 5]), "decision, ticks, flags")


func test_a_world_is_reset_before_its_agents() -> void:
	_seat(["a"])
	var scene: Node = sync.get_parent()
	scene.set_script(load("res://tests/dojo/world_root.gd"))
	_begin()
	check_equal(scene.get("resets_seen"), [0], "the agent's resets when the world was reset")
	agents[0].end_episode()
	_decide()
	check_equal(scene.get("resets_seen"), [0, 1], "and in the next round")


func test_the_same_seed_gives_the_same_rounds() -> void:
	_seat(["a", "b"])
	var seen: Array[PackedFloat32Array] = []
	for seed_number: int in [5, 5, 6]:
		_begin(seed_number)
		agents[0].end_episode()
		var round_seen: PackedFloat32Array = _decide().observation
		seen.append([round_seen[0], round_seen[2]])
	check_equal(seen[0], seen[1], "seed 5 twice")
	check(seen[0] != seen[2], "seed 6 is another")


func test_actions_are_kept_within_bounds() -> void:
	_seat(["a", "a"])
	_begin()
	worlds.act([7.0, 9.0, -0.5, -2.0])
	check_equal(agents[0].get("last_action"), PackedFloat32Array([1, 2]), "first agent")
	check_equal(agents[1].get("last_action"), PackedFloat32Array([-0.5, 0]), "second agent")


func test_what_cannot_be_played_is_refused() -> void:
	_seat([])
	_refused(1, "there is no DojoAgent below")
	_seat(["a"])
	_refused(4, "4 worlds were asked for, but this scene is one world")
	_seat([""])
	_refused(1, "policy_name")
	_seat(["nobody"])
	_refused(1, "not be nobody")
	_seat(["a"])
	agents[0].reward_terms = []
	_refused(1, "reward_terms")
	_seat(["a", "a"])
	agents[1].set_script(load("res://tests/dojo/other_agent.gd"))
	agents[1].policy_name = "a"
	_refused(1, "another policy_name")


func test_an_agent_that_vanishes_is_named() -> void:
	_seat(["walker"])
	_begin()
	agents[0].free()
	worlds.collect()
	check("an agent walker was removed" in worlds.trouble, "trouble: " + worlds.trouble)


func test_copies_stand_apart() -> void:
	_seat([])
	sync.world_scene = load("res://games/first_agent/island.tscn")
	sync.world_spacing = 30.0
	check_equal(worlds.configure({"worlds": 5, "ticks_per_decision": 4}), "", "complaint")
	var places: Array[Vector3] = []
	for child: Node3D in worlds.get_children():
		places.append(child.position)
	check_equal(places.size(), 5, "copies")
	check_equal(places[4], Vector3(30, 0, 30), "the fifth")
	check_equal(worlds.describe()["roles"][0]["agents"], 1, "agents in a world")
	check_equal(worlds.configure({"worlds": 2, "ticks_per_decision": 4}), "", "complaint")
	var left: Array[Node] = worlds.get_children().filter(
		func(child: Node) -> bool: return not child.is_queued_for_deletion()
	)
	check_equal(left.size(), 2, "copies that are left")


func test_the_model_is_told() -> void:
	_seat(["a"])
	_begin()
	check_equal(worlds.describe()["model"], null, "no model")
	sync.model = DojoModel.new()
	check_equal(sync.model.describe(), {"algorithm": "ppo"}, "a model as it is made")
	sync.model.algorithm = DojoModel.Algorithm.SAC
	sync.model.net_arch = [128]
	sync.model.ent_coef = 0.0
	var want: Dictionary = {"algorithm": "sac", "net_arch": [128], "ent_coef": 0.0}
	check_equal(sync.model.describe(), want, "only what was set")
	check_equal(worlds.describe()["model"], want.merged({"node": String(sync.name)}), "and where")


func test_every_property_of_a_model_is_told() -> void:
	var model := DojoModel.new()
	var names: PackedStringArray = model.declared_properties()
	check(names.size() > 20, "properties: %s" % names)
	for property in names:
		var default: Variant = model.get(property)
		match typeof(default):
			TYPE_INT:
				model.set(property, 1)
			TYPE_FLOAT:
				model.set(property, 0.5)
			TYPE_STRING:
				model.set(property, "relu")
			TYPE_PACKED_INT32_ARRAY:
				model.set(property, PackedInt32Array([3]))
		check(model.get(property) != default, "%s was set" % property)
		check(model.describe().has(property), "%s is told" % property)
	check_equal(model.describe().size(), names.size(), "and nothing else")


func test_agents_declare_models_of_their_own() -> void:
	_seat(["a", "b", "b"])
	agents[2].model = DojoModel.new()
	agents[2].model.net_arch = [8]
	_begin()
	var roles: Array = worlds.describe()["roles"]
	check(not roles[0].has("model"), "a declares nothing")
	check_equal(roles[1]["model"]["net_arch"], [8], "one of the agents b is enough")
	check_equal(roles[1]["model"]["node"], String(agents[2].name), "its node")
	agents[1].model = DojoModel.new()
	_refused(1, "declare different models, but learn one policy: both have the policy_name b")
	agents[1].model.net_arch = [8]
	_begin()
	check_equal(worlds.fixed_count, 1, "the scene around the sync is the one world")


func test_without_a_trainer_people_play() -> void:
	_seat(["a"])
	sync.mode = DojoSync.Mode.HUMAN
	agents[0].set("wanted", PackedFloat32Array([0.5, 1.0]))
	await ticks(2)
	check_equal(agents[0].get("last_action"), PackedFloat32Array([0.5, 1]), "what the person wants")
	check_equal(agents[0].get("resets"), 1, "a round has begun")
	agents[0].end_episode()
	await ticks(2)
	check_equal(agents[0].get("resets"), 2, "and another")


func test_play_by_hand_is_recorded_where_the_inspector_says() -> void:
	var path: String = "user://demo-%d.jsonl" % OS.get_process_id()
	_seat(["a", "b"])
	sync.demo_path = path
	sync.ticks_per_decision = 2
	await ticks(7)
	agents[1].add_reward(3.0)
	agents[1].end_episode()
	await ticks(4)
	var lines: PackedStringArray = FileAccess.get_file_as_string(path).split("\n", false)
	DirAccess.remove_absolute(path)
	check_equal(lines.size(), 3, "a header and an episode of each agent")
	var header: Dictionary = JSON.parse_string(lines[0])
	check_equal(header["format"], "godojo-demo/1", "format")
	check_equal(header["ticks_per_decision"], 2.0, "ticks")
	check_equal((header["roles"] as Array).size(), 2, "roles")
	var episode: Dictionary = JSON.parse_string(lines[2])
	check_equal(episode["role"], "b", "role")
	check_equal(episode["reward"], 3.0, "reward")
	check_equal(episode["end"], "terminated", "end")
	var seen: PackedByteArray = Marshalls.base64_to_raw(episode["observation"] as String)
	var numbers: int = agents[1].observe().size()
	check_equal(seen.size(), int(episode["steps"] as float) * numbers * 4, "observations")


## A scene with agents of these policies, and its sync.
func _seat(policies: PackedStringArray) -> void:
	if sync != null:
		sync.get_parent().free()
	var scene := Node.new()
	agents = []
	for policy in policies:
		var agent: DojoAgent = StubAgent.new()
		agent.policy_name = policy
		agents.append(agent)
		scene.add_child(agent)
	sync = DojoSync.new()
	sync.mode = DojoSync.Mode.HUMAN
	scene.add_child(sync)
	add_child(scene)
	worlds = sync.worlds


func _begin(seed_number: int = 1) -> DojoResults:
	check_equal(worlds.configure({"worlds": 1, "ticks_per_decision": 4}), "", "complaint")
	worlds.reset(seed_number)
	return worlds.collect()


func _decide() -> DojoResults:
	var actions := PackedFloat32Array()
	actions.resize(agents.size() * 2)
	worlds.act(actions)
	return worlds.collect()


func _refused(count: int, why: String) -> void:
	var complaint: String = worlds.configure({"worlds": count, "ticks_per_decision": 4})
	check(why in complaint, "refused with: %s" % complaint)
