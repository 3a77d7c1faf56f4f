extends SceneTree
## Plays the training scene's worlds as fast as this process can, with nobody connected, and says
## how fast that was.
##
## [codeblock]
## godot --headless --fixed-fps 60 --path godot --script res://games/tag/bench/free_worlds.gd --
## --worlds=64 --seconds=2
## [/codeblock]
## The worlds are the very ones that a trainer drives ([TagWorlds]); each physics frame is a
## decision, as it is with a trainer. Prints one line of JSON, or a complaint and exits with 2.

## Decisions that are played before the clock starts.
const WARM_UP := 20
## Sets of random actions, drawn beforehand and used in turn.
const RING := 16

var _seconds: float = 2.0
var _worlds: int = 64


func _initialize() -> void:
	for word in OS.get_cmdline_user_args():
		var value: String = word.get_slice("=", 1)
		if word.begins_with("--seconds=") and value.is_valid_float():
			_seconds = value.to_float()
		elif word.begins_with("--worlds=") and value.is_valid_int():
			_worlds = value.to_int()
		else:
			_give_up("unknown option %s; options: --seconds=S --worlds=N" % word)
			return
	_run.call_deferred()


func _run() -> void:
	var worlds := TagWorlds.new()
	root.add_child(worlds)
	var complaint: String = worlds.configure(
		{"worlds": _worlds, "ticks_per_decision": null, "options": {}}
	)
	if not complaint.is_empty():
		_give_up(complaint)
		return
	await physics_frame
	worlds.reset(1)
	var agents: int = worlds.collect().flags.size()
	var ring: Array[PackedFloat32Array] = []
	for _set in RING:
		ring.append(_random_actions(agents))
	for decision in WARM_UP:
		_decide(worlds, ring[decision % RING])
		await physics_frame
	var decisions: int = 0
	var started_us: int = Time.get_ticks_usec()
	var passed_s: float = 0.0
	while passed_s < _seconds:
		_decide(worlds, ring[decisions % RING])
		await physics_frame
		decisions += 1
		passed_s = (Time.get_ticks_usec() - started_us) * 1e-6
	print(JSON.stringify({"agent_steps": decisions * agents, "seconds": passed_s}))
	quit(0)


func _decide(worlds: TagWorlds, actions: PackedFloat32Array) -> void:
	worlds.act(actions)
	worlds.advance()
	worlds.collect()


func _random_actions(agents: int) -> PackedFloat32Array:
	var actions := PackedFloat32Array()
	for _number in agents * 3:
		actions.append(randf_range(-1.0, 1.0))
	return actions


func _give_up(complaint: String) -> void:
	print(complaint)
	quit(2)
