extends SceneTree
## Runs test methods of one script, one after another; exits with 0 only when all of them passed.
##
## [codeblock]
## godot --headless --fixed-fps 60 --path godot --script res://tests/run_test.gd -- FILE.gd TEST ...
## [/codeblock]
## Each method gets a fresh instance of the script and, as far as possible, a fresh tree. Everything
## printed between [code]@@ begins TEST[/code] and [code]@@ ends TEST[/code] belongs to that method;
## conftest.py beside this script reports the methods to pytest.


func _initialize() -> void:
	var words: PackedStringArray = OS.get_cmdline_user_args()
	if words.size() < 2:
		printerr("usage: -- TEST_SCRIPT TEST_METHOD [TEST_METHOD ...]")
		quit(2)
		return
	var script: GDScript = load("res://tests/" + words[0]) as GDScript
	if script == null or not script.can_instantiate():
		printerr("%s cannot be loaded" % words[0])
		quit(2)
		return
	var failed: bool = false
	for method in words.slice(1):
		# On standard error, where the engine's own complaints go, so that their order is kept.
		printerr("@@ begins ", method)
		var complaints: PackedStringArray = await _run(script, method)
		for complaint in complaints:
			printerr("FAILED: ", complaint)
		printerr("@@ ends ", method, " failed" if complaints else " passed")
		failed = failed or not complaints.is_empty()
	quit(1 if failed else 0)


func _run(script: GDScript, method: String) -> PackedStringArray:
	var test: EngineTest = script.new() as EngineTest
	if test == null or not test.has_method(method):
		return ["there is no test %s" % method]
	var kept: Array[Node] = root.get_children()
	await physics_frame  # every method begins at the same point of a frame
	root.add_child.call_deferred(test)
	await test.ready
	@warning_ignore("redundant_await", "unsafe_method_access")
	await test.call(method)
	var complaints: PackedStringArray = test.complaints()
	for node in root.get_children():
		if node not in kept:
			node.queue_free()
	await process_frame  # by then they are gone
	return complaints
