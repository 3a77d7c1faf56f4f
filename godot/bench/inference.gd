extends SceneTree
## Measures how long policies take to decide, and prints one line of JSON.
##
## [codeblock]
## godot --headless --path godot --script res://bench/inference.gd --
## --seconds=1 --crowd=64 FILE.dojo ...
## [/codeblock]
## Of each file: microseconds of one decision of one agent, alone and in a crowd that decides at
## once, turn by turn; and how long the file took to load. A complaint exits with 2.

## Decisions between two looks at the clock, alone; a crowd decides as often together.
const CHUNK := 8
## Observations, drawn beforehand and used in turn.
const RING := 16

var _seconds: float = 1.0
var _crowd: int = 64


func _initialize() -> void:
	var files: PackedStringArray = []
	for word in OS.get_cmdline_user_args():
		var value: String = word.get_slice("=", 1)
		if word.begins_with("--seconds=") and value.is_valid_float():
			_seconds = value.to_float()
		elif word.begins_with("--crowd=") and value.is_valid_int():
			_crowd = maxi(value.to_int(), 1)
		elif word.begins_with("--"):
			_give_up("unknown option %s; options: --seconds=S --crowd=N" % word)
			return
		else:
			files.append(word)
	var found: Array[Dictionary] = []
	for file in files:
		var started_us: int = Time.get_ticks_usec()
		var policy: DojoPolicy = DojoPolicyReader.load_file(file)
		var load_us: int = Time.get_ticks_usec() - started_us
		if not policy.error.is_empty():
			_give_up(policy.error)
			return
		found.append(
			{"load_us": load_us, "alone_us": _alone(policy), "crowd_us": _together(policy)}
		)
	print(JSON.stringify(found))
	quit(0)


func _alone(policy: DojoPolicy) -> PackedFloat32Array:
	var mind := DojoPolicyRunner.new(policy)
	var ring: Array[PackedFloat32Array] = _observations(policy, 1)
	return _turns(
		CHUNK,
		func() -> void:
			for turn in CHUNK:
				mind.decide(ring[turn % RING])
	)


func _together(policy: DojoPolicy) -> PackedFloat32Array:
	var crowd := DojoBatchInference.new(policy, _crowd)
	var ring: Array[PackedFloat32Array] = _observations(policy, _crowd)
	return _turns(_crowd, func() -> void: crowd.decide(ring[randi() % RING]))


## Microseconds a decision, of each turn.
func _turns(decisions: int, play: Callable) -> PackedFloat32Array:
	play.call()
	var found := PackedFloat32Array()
	var begun_us: int = Time.get_ticks_usec()
	var now_us: int = begun_us
	while now_us - begun_us < _seconds * 1e6:
		var before_us: int = now_us
		play.call()
		now_us = Time.get_ticks_usec()
		found.append(float(now_us - before_us) / decisions)
	return found


func _observations(policy: DojoPolicy, agents: int) -> Array[PackedFloat32Array]:
	var ring: Array[PackedFloat32Array] = []
	for _set in RING:
		var numbers := PackedFloat32Array()
		for _number in agents * policy.net.inputs:
			numbers.append(randf_range(-1.0, 1.0))
		ring.append(numbers)
	return ring


func _give_up(complaint: String) -> void:
	print(complaint)
	quit(2)
