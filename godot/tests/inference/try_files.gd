extends SceneTree
## Loads policy files, whose paths are the lines of a list, and prints what is wrong with each.
##
## [codeblock]
## godot --headless --path godot --script res://tests/inference/try_files.gd -- LIST
## [/codeblock]
## A policy that loads must also decide.


func _initialize() -> void:
	var list: String = FileAccess.get_file_as_string(OS.get_cmdline_user_args()[0])
	for path in list.split("\n", false):
		var policy: DojoPolicy = DojoPolicyReader.load_file(path)
		if policy.error.is_empty():
			var observation := PackedFloat32Array()
			observation.resize(policy.net.inputs)
			var action: PackedFloat32Array = DojoPolicyRunner.new(policy).decide(observation)
			print("sound %d" % action.size())
		else:
			print("refused ", policy.error.trim_prefix(path + ": "))
	quit(0)
