extends EngineTest
## Agents in a scene that are played by policy files, without a trainer.

const StubAgent: GDScript = preload("res://tests/dojo/stub_agent.gd")

var sync: DojoSync
var agents: Array[DojoAgent] = []
var files: PackedStringArray = []


func _exit_tree() -> void:
	for path in files:
		DirAccess.remove_absolute(path)


func test_a_policy_plays_its_agent_and_holds_its_action() -> void:
	_seat(["a"])
	agents[0].policy = MadePolicy.policy(0.25, 2)
	check_equal(agents[0].policy.error, "", "the made policy")
	var acts: Array[PackedFloat32Array] = await _watch(0, 17)
	check_equal(acts.size(), 5, "decisions in 17 ticks, of 4 each")
	for index in acts.size():
		check_near(acts[index][0], 0.25 + _place_at(index * 4), 1e-6, "decision %d" % index)
		check_equal(acts[index][1], 2.0, "choice %d" % index)


func test_it_may_think_at_every_third_decision_only() -> void:
	_seat(["a"])
	agents[0].think_every = 3
	agents[0].policy = MadePolicy.policy(0.0, 1)
	var acts: Array[PackedFloat32Array] = await _watch(0, 25)
	check_equal(acts.size(), 7, "decisions")
	for index in acts.size():
		var thought: int = floori(index / 3.0) * 3
		check_near(acts[index][0], _place_at(thought * 4), 1e-6, "decision %d" % index)


func test_several_policies_and_a_person_in_one_scene() -> void:
	_seat(["a", "a", "b", "c"])
	agents[0].policy = MadePolicy.policy(-0.5, 0)
	agents[1].policy = agents[0].policy
	sync.policies = {"b": MadePolicy.policy(0.5, 1)}
	agents[3].set("wanted", PackedFloat32Array([0.125, 2.0]))
	await ticks(3)
	check_equal(agents[0].get("last_action"), PackedFloat32Array([-0.5, 0]), "first of a crowd")
	check_equal(agents[1].get("last_action"), PackedFloat32Array([-0.5, 0]), "second of it")
	check_equal(agents[2].get("last_action"), PackedFloat32Array([0.5, 1]), "by the sync's policy")
	check_equal(agents[3].get("last_action"), PackedFloat32Array([0.125, 2]), "the person")


func test_policies_are_swapped_while_the_game_runs() -> void:
	_seat(["a", "b"])
	await ticks(2)
	check_equal(agents[0].get("last_action"), PackedFloat32Array([0, 0]), "by hand")
	check_equal(agents[0].set_policy(_file("one", 0.5, 1)), "", "complaint")
	await ticks(5)
	check_equal(agents[0].get("last_action"), PackedFloat32Array([0.5, 1]), "the first")
	check_equal(agents[0].set_policy(_file("two", -0.25, 2)), "", "complaint")
	await ticks(5)
	check_equal(agents[0].get("last_action"), PackedFloat32Array([-0.25, 2]), "the second")
	var broken: PackedByteArray = MadePolicy.bytes(1.0, 0)
	broken.resize(broken.size() - 1)
	files.append(MadePolicy.write("broken", broken))
	check("cut off" in agents[0].set_policy(files[-1]), "a broken one is refused")
	check("cannot be read" in agents[0].set_policy("user://none.dojo"), "a missing one is refused")
	await ticks(5)
	check_equal(agents[0].get("last_action"), PackedFloat32Array([-0.25, 2]), "the second goes on")
	check_equal(sync.set_policy("b", files[0]), "", "complaint")
	await ticks(5)
	check_equal(agents[1].get("last_action"), PackedFloat32Array([0.5, 1]), "for a whole role")
	agents[0].policy = null
	await ticks(2)
	check_equal(agents[0].get("last_action"), PackedFloat32Array([0, 0]), "by hand again")


func test_a_policy_that_does_not_fit_is_refused() -> void:
	_seat(["a"])
	sync.game_name = "stub"
	var other: Array[Dictionary] = [DojoObservationLayout.numbers("observation", 3)]
	agents[0].policy = MadePolicy.policy(1.0, 0, other)
	await ticks(2)
	check_equal(agents[0].get("last_action"), PackedFloat32Array([0, 0]), "played by hand")
	var complaint: String = sync.complaint_about(agents[0].policy, agents[0])
	check("observation (3)" in complaint and "observation (2)" in complaint, complaint)
	agents[0].policy = MadePolicy.policy(0.5, 1)
	await ticks(5)
	check_equal(agents[0].get("last_action"), PackedFloat32Array([0.5, 1]), "one that fits")
	agents[0].policy = MadePolicy.policy(1.0, 0, other)
	await ticks(5)
	check_equal(agents[0].get("last_action"), PackedFloat32Array([0.5, 1]), "goes on")
	sync.game_name = "chess"
	check("it plays stub, not chess" in sync.set_policy("a", _file("game", 1.0, 0)), "wrong game")


func test_lots_are_drawn_by_the_seed() -> void:
	var seen: Array[Array] = []
	for seed_number: int in [3, 3, 4]:
		_seat(["a", "a"])
		sync.policy_seed = seed_number
		for agent in agents:
			agent.stochastic = true
			agent.policy = MadePolicy.policy(0.0, 1)
		seen.append(await _watch(1, 21))
	check_equal(seen[0], seen[1], "the same seed")
	check(seen[0] != seen[2], "another seed")
	check(seen[0][0] != seen[0][1], "lots differ from decision to decision")


func test_lots_follow_the_policy() -> void:
	var chance := RandomNumberGenerator.new()
	chance.seed = 11
	var policy: DojoPolicy = MadePolicy.policy(0.1, 1)
	var crowd := DojoBatchInference.new(policy, 8, chance)
	var seen := PackedFloat32Array()
	seen.resize(16)
	var sum: float = 0.0
	var squares: float = 0.0
	var picks: PackedInt32Array = [0, 0, 0]
	for _decision in 500:
		var actions: PackedFloat32Array = crowd.decide(seen)
		for agent in 8:
			sum += actions[agent * 2]
			squares += actions[agent * 2] ** 2
			picks[int(actions[agent * 2 + 1])] += 1
	var mean: float = sum / 4000
	check_near(mean, 0.1, 0.02, "mean of the numbers")
	check_near(sqrt(squares / 4000 - mean ** 2), exp(-1.0), 0.02, "spread of the numbers")
	check_near(
		picks[1] / 4000.0, exp(1.0) / (exp(1.0) + 2.0), 0.03, "share of the likeliest choice"
	)
	check_near(picks[0] / 4000.0, 1.0 / (exp(1.0) + 2.0), 0.03, "share of another")


func test_rounds_begin_with_a_decision() -> void:
	_seat(["a"])
	agents[0].policy = MadePolicy.policy(0.0, 1)
	await ticks(2)
	agents[0].end_episode()
	await ticks(1)
	check_equal(agents[0].get("resets"), 1, "the decision goes on")
	await ticks(3)
	check_equal(agents[0].get("resets"), 2, "the next one begins a round")


func test_files_load_as_resources() -> void:
	var good := load(_file("good", 0.5, 1)) as DojoPolicy
	check(good != null and good.error.is_empty(), "a sound file")
	check_equal(good.role, "a", "role")
	check(ResourceLoader.load(files[0], "DojoPolicy") is DojoPolicy, "asked for by its type")
	files.append(MadePolicy.write("bad", "DOJO and nothing more".to_ascii_buffer()))
	var bad := load(files[-1]) as DojoPolicy
	check(bad != null and "cut off" in bad.error, "a damaged file says why")
	check(not DojoPolicy.new().error.is_empty(), "one from nowhere cannot be played")


func test_the_key_shows_what_agents_see() -> void:
	_seat(["a", "b"])
	agents[0].policy = MadePolicy.policy(0.5, 1)
	await ticks(3)
	var views: Array[DojoView] = sync.worlds.views()
	check_equal(views.size(), 2, "agents")
	check("100 decisions" in views[0].policy, views[0].policy)
	check_equal(views[0].action, PackedFloat32Array([0.5, 1]), "action")
	check_equal(views[0].observation.size(), 2, "observation")
	check_equal(views[1].policy, "no policy", "the person")
	check(_overlay() == null, "it is off")
	_press(false)
	check(_overlay() != null and _overlay().visible, "the key shows it")
	_press(true)
	await get_tree().process_frame
	check_equal(_overlay().shown, 1, "with Shift the next")
	_press(false)
	check(not _overlay().visible, "the key hides it")


func _press(with_shift: bool) -> void:
	var event := InputEventKey.new()
	event.keycode = KEY_F3
	event.pressed = true
	event.shift_pressed = with_shift
	get_viewport().push_input(event)


func _overlay() -> DojoOverlay:
	for child in sync.get_children():
		if child is DojoOverlay:
			return child
	return null


## A scene with agents of these names, and its sync.
func _seat(names: PackedStringArray) -> void:
	if sync != null:
		sync.get_parent().free()
	var scene := Node.new()
	agents = []
	for policy_name in names:
		var agent: DojoAgent = StubAgent.new()
		agent.policy_name = policy_name
		agent.round_began.connect(func() -> void: agent.set("place", 0.0))
		agents.append(agent)
		scene.add_child(agent)
	sync = DojoSync.new()
	sync.mode = DojoSync.Mode.INFERENCE
	scene.add_child(sync)
	add_child(scene)


## What this agent does within so many ticks, decision by decision; it moves on in each tick.
func _watch(index: int, count: int) -> Array[PackedFloat32Array]:
	var acts: Array[PackedFloat32Array] = []
	agents[index].acted.connect(
		func(action: PackedFloat32Array) -> void: acts.append(action.duplicate())
	)
	for tick in count:
		await get_tree().physics_frame
		await get_tree().process_frame
		agents[index].set("place", _place_at(tick + 1))
	return acts


func _place_at(tick: int) -> float:
	return tick * 0.01


func _file(name: String, go: float, pick: int) -> String:
	files.append(MadePolicy.file(name, go, pick))
	return files[-1]
