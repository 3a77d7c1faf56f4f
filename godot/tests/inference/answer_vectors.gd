extends SceneTree
## Answers test vectors (docs/dojo-file.md) with policies, each agent by itself and all at once.
##
## [codeblock]
## godot --headless --path godot --script res://tests/inference/answer_vectors.gd -- FOLDER ...
## [/codeblock]
## Each folder holds policy.dojo and vectors.bin; minds.bin gets the actions and then what is
## remembered, by a mind for each agent, and crowd.bin the first actions of one crowd.

## Decisions of the crowd.
const CROWD_STEPS := 160


func _initialize() -> void:
	for folder in OS.get_cmdline_user_args():
		var policy: DojoPolicy = DojoPolicyReader.load_file(folder.path_join("policy.dojo"))
		if not policy.error.is_empty():
			printerr(policy.error)
			quit(2)
			return
		_answer(policy, folder)
	quit(0)


func _answer(policy: DojoPolicy, folder: String) -> void:
	var bytes: PackedByteArray = FileAccess.get_file_as_bytes(folder.path_join("vectors.bin"))
	var steps: int = bytes.decode_u32(4)
	var agents: int = bytes.decode_u32(8)
	var size: int = bytes.decode_u32(12)
	var numbers: PackedFloat32Array = bytes.slice(20).to_float32_array()
	var seen_at: int = steps * agents
	var crowd := DojoBatchInference.new(policy, agents)
	var minds: Array[DojoPolicyRunner] = []
	for _agent in agents:
		minds.append(DojoPolicyRunner.new(policy))
	var actions := PackedFloat32Array()
	var memories := PackedFloat32Array()
	var crowd_actions := PackedFloat32Array()
	for step in steps:
		for agent in agents:
			if numbers[step * agents + agent] > 0.0:
				minds[agent].forget()
				crowd.forget(agent)
		var first: int = seen_at + step * agents * size
		if step < CROWD_STEPS:
			crowd_actions.append_array(crowd.decide(numbers.slice(first, first + agents * size)))
		for agent in agents:
			var at: int = first + agent * size
			actions.append_array(minds[agent].decide(numbers.slice(at, at + size)))
			memories.append_array(minds[agent].remembered())
	_write(folder.path_join("minds.bin"), actions.to_byte_array() + memories.to_byte_array())
	_write(folder.path_join("crowd.bin"), crowd_actions.to_byte_array())


func _write(path: String, bytes: PackedByteArray) -> void:
	FileAccess.open(path, FileAccess.WRITE).store_buffer(bytes)
