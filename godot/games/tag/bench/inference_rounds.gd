extends SceneTree
## Plays rounds of tag between trained policies as fast as this process can, with nobody connected.
##
## [codeblock]
## godot --headless --fixed-fps 60 --path godot
## --script res://games/tag/bench/inference_rounds.gd -- PLAN.json
## [/codeblock]
## The plan has [code]worlds[/code], [code]rounds[/code] (of each world), [code]seed[/code],
## [code]options[/code] (see [TagWorldsOptions]) and [code]policies[/code], a file for each role.
## Prints one line of JSON: of each world, winner and ticks of each round. A complaint exits with 2.

var _worlds := TagWorlds.new()
var _crowds: Array[DojoBatchInference] = []
# Of each role, numbers of an observation and rows.
var _sizes := PackedInt32Array()


func _initialize() -> void:
	var words: PackedStringArray = OS.get_cmdline_user_args()
	var plan: DojoSafeJson = DojoSafeJson.read(
		FileAccess.get_file_as_string(words[0] if words else "")
	)
	if not plan.error.is_empty() or not plan.data is Dictionary:
		_give_up("usage: -- PLAN.json")
		return
	_run.call_deferred(plan.data)


func _run(plan: Dictionary) -> void:
	root.add_child(_worlds)
	var count: int = plan["worlds"]
	var request: Dictionary = {
		"worlds": count, "ticks_per_decision": null, "options": plan["options"]
	}
	var complaint: String = _worlds.configure(request)
	if complaint.is_empty():
		complaint = _seat(plan["policies"], count)
	if not complaint.is_empty():
		_give_up(complaint)
		return
	await physics_frame
	_worlds.reset(plan["seed"] as int)
	var results: DojoResults = _worlds.collect()
	var played: Array[Array] = []
	for _world in count:
		played.append([])
	var left: int = count * int(plan["rounds"] as float)
	while left > 0:
		_worlds.act(_actions(results.observation))
		_worlds.advance()
		results = _worlds.collect()
		for role in _crowds.size():
			for row in results.final_rows[role]:
				_crowds[role].forget(row)
		for at in range(0, results.ended.size(), 4):
			var rounds: Array = played[results.ended[at]]
			if rounds.size() < int(plan["rounds"] as float):
				rounds.append([results.ended[at + 1], results.ended[at + 2]])
				left -= 1
		await physics_frame
	print(JSON.stringify(played))
	quit(0)


func _seat(files: Dictionary, count: int) -> String:
	for role: Dictionary in _worlds.describe()["roles"]:
		var policy: DojoPolicy = DojoPolicyReader.load_file(files.get(role["name"], "") as String)
		var seen: Array[Dictionary] = []
		seen.assign(role["observation"] as Array)
		var complaint: String = policy.complaint_about(seen, TagAction.parts())
		if not complaint.is_empty():
			return complaint
		_crowds.append(DojoBatchInference.new(policy, count * int(role["agents"])))
		_sizes.append(_crowds[-1].count * policy.net.inputs)
	return ""


func _actions(observation: PackedFloat32Array) -> PackedFloat32Array:
	var actions := PackedFloat32Array()
	var at: int = 0
	for role in _crowds.size():
		actions.append_array(_crowds[role].decide(observation.slice(at, at + _sizes[role])))
		at += _sizes[role]
	return actions


func _give_up(complaint: String) -> void:
	print(complaint)
	quit(2)
