extends EngineTest
## The node by which a scene drives its training.

const BOTH: PackedStringArray = ["cat", "mouse"]

var sync: DojoSync
var loop: DojoTrainingLoop


func test_it_finds_its_sync_above_or_beside() -> void:
	_make()
	check_equal(loop.sync, sync, "beside")
	check_equal(sync.loop, loop, "the sync knows it")
	remove_child(loop)
	check_equal(sync.loop, null, "it has left")
	loop.sync = null
	sync.add_child(loop)
	check_equal([loop.sync, sync.loop], [sync, loop], "below")


func test_agents_take_turns() -> void:
	_make()
	loop.describe(BOTH)
	check_equal(loop.plan(0)["deterministic"], {"cat": false, "mouse": false}, "all learn")
	loop.epochs_per_turn = 3
	var turns: PackedStringArray = []
	for epoch in 9:
		var map: Dictionary = loop.plan(epoch)["deterministic"]
		turns.append("c" if not map["cat"] else "m")
		check(map["cat"] != map["mouse"], "one at a time")
	check_equal("".join(turns), "cccmmmccc", "turns")
	check_equal(loop.epoch, 8, "the epoch under way")


func test_what_the_trainer_is_told() -> void:
	_make()
	loop.agent_names = ["mouse"]
	loop.steps_in_round = 64
	loop.train_steps_by_agent = {"mouse": 20}
	loop.checkpoint_every = 500
	var told: Dictionary = loop.describe(BOTH)
	check_equal(told["agents"], ["mouse"], "agents")
	check_equal(told["train_steps"], {"mouse": 20}, "train steps")
	check_equal([told["steps_in_round"], told["checkpoint_every"]], [64, 500], "numbers")
	check_equal(loop.complaint_about(BOTH), "", "nothing is wrong")


func test_an_agent_that_is_not_there_is_named() -> void:
	_make()
	loop.agent_names = ["dog"]
	check_equal(
		loop.complaint_about(BOTH), "Loop: there is no agent dog; the scene has cat, mouse", "dog"
	)
	loop.agent_names = []
	loop.train_steps_by_agent = {"fish": 3}
	check(loop.complaint_about(BOTH).begins_with("Loop: there is no agent fish"), "fish")
	loop.train_steps_by_agent = {}
	var strange := StrangeLoop.new()
	add_child(strange)
	strange.describe(BOTH)
	check(String(strange.plan(0)["complaint"]).contains("is_deterministic_map names bird"), "bird")
	strange.free()


func test_start_and_stop_without_a_trainer() -> void:
	_make()
	var heard: PackedStringArray = []
	loop.started.connect(func() -> void: heard.append("started"))
	loop.stopped.connect(func() -> void: heard.append("stopped"))
	check(sync.looks_for_trainer(), "it looks for a trainer")
	loop.stop()
	check(not sync.looks_for_trainer(), "it does not look for one any more")
	check_equal(loop.plan(4), {"running": false, "deterministic": {}}, "a stopped plan")
	loop.stop()
	loop.start()
	check(sync.looks_for_trainer(), "it looks again")
	loop.set(&"running", false)
	check_equal(heard, PackedStringArray(["stopped", "started", "stopped"]), "signals")


func test_who_listens_may_stop_it() -> void:
	_make()
	loop.describe(BOTH)
	loop.epoch_began.connect(func(epoch: int) -> void: loop.running = epoch < 2)
	check(loop.plan(1)["running"], "epoch 1")
	check(not loop.plan(2)["running"], "epoch 2")


func _make() -> void:
	sync = DojoSync.new()
	# Nobody listens there.
	sync.port = 9
	sync.wire = DojoConnector.WireKind.DOJO
	loop = DojoTrainingLoop.new()
	loop.name = "Loop"
	add_child(sync)
	add_child(loop)


class StrangeLoop:
	extends DojoTrainingLoop

	func is_deterministic_map(_epoch: int) -> Dictionary[String, bool]:
		return {"bird": true}
