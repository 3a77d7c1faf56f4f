extends SceneTree
## Runs one test method of one script and exits with 0 only when it passed.
##
## [codeblock]
## godot --headless --fixed-fps 60 --path godot --script res://tests/run_test.gd -- FILE.gd TEST
## [/codeblock]
## pytest starts this once per test (see conftest.py beside it), so that a crash, a hang or an
## engine error belongs to exactly one test.


func _initialize() -> void:
	var words: PackedStringArray = OS.get_cmdline_user_args()
	if words.size() != 2:
		_finish(["usage: -- TEST_SCRIPT TEST_METHOD"])
		return
	var script: GDScript = load("res://tests/" + words[0]) as GDScript
	if script == null or not script.can_instantiate():
		_finish(["%s cannot be loaded" % words[0]])
		return
	var test: EngineTest = script.new() as EngineTest
	if test == null or not test.has_method(words[1]):
		_finish(["%s has no test %s" % [words[0], words[1]]])
		return
	root.add_child.call_deferred(test)
	await test.ready
	@warning_ignore("redundant_await", "unsafe_method_access")
	await test.call(words[1])
	_finish(test.complaints())


func _finish(complaints: PackedStringArray) -> void:
	for complaint in complaints:
		print("FAILED: ", complaint)
	quit(1 if complaints else 0)
