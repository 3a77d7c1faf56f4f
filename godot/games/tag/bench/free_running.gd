extends SceneTree
## Plays tag as fast as this process can, with nobody connected, and says how fast that was.
##
## [codeblock]
## godot --headless --fixed-fps 60 --path godot --script res://games/tag/bench/free_running.gd --
## --arena=FILE.json --seconds=2
## [/codeblock]
## Two agents act at random; each decision is its ticks and both agents' observations. Rounds follow
## each other without a pause. Prints one line of JSON, or a complaint and exits with 2.

## Decisions that are played before the clock starts.
const WARM_UP := 200
## Decisions between looks at the clock.
const CHUNK := 50

var _seconds: float = 2.0
var _seed: int = 1
var _arena_path: String = "res://games/tag/arenas/mixed.json"


func _initialize() -> void:
	for word in OS.get_cmdline_user_args():
		var value: String = word.get_slice("=", 1)
		if word.begins_with("--seconds=") and value.is_valid_float():
			_seconds = value.to_float()
		elif word.begins_with("--seed=") and value.is_valid_int():
			_seed = value.to_int()
		elif word.begins_with("--arena="):
			_arena_path = value
		else:
			print("unknown option %s; options: --arena=FILE --seconds=S --seed=N" % word)
			quit(2)
			return
	_run.call_deferred()


func _run() -> void:
	var world := TagWorld.new()
	root.add_child(world)
	var settings: TagSettings = TagSettings.load_defaults()
	var complaint: String = world.configure(settings, ArenaData.load_file(_arena_path), _seed)
	if not complaint.is_empty():
		print(complaint)
		quit(2)
		return
	# Bodies are in the engine's space from the first physics frame on.
	await physics_frame
	var observation := PackedFloat32Array()
	for _decision in WARM_UP:
		_decide(world, observation)
	var decisions: int = 0
	var started_us: int = Time.get_ticks_usec()
	var passed_s: float = 0.0
	while passed_s < _seconds:
		for _decision in CHUNK:
			_decide(world, observation)
		decisions += CHUNK
		passed_s = (Time.get_ticks_usec() - started_us) * 1e-6
	var agent_steps: int = decisions * world.agents.size()
	print(JSON.stringify({"agent_steps": agent_steps, "seconds": passed_s}))
	quit(0)


func _decide(world: TagWorld, observation: PackedFloat32Array) -> void:
	if world.round_over:
		world.reset()
	for index in world.agents.size():
		world.set_action(
			index, randf_range(-1.0, 1.0), randf_range(-1.0, 1.0), randf_range(-1.0, 1.0)
		)
	for _tick in world.settings.rules.ticks_per_decision:
		world.tick()
	observation.clear()
	for index in world.agents.size():
		TagObservation.append(world, index, observation)
