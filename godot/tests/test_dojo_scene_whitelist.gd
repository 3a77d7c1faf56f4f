extends EngineTest
## The list of scenes that clients may load: what it takes, and what it says about a wrong file.

const PATH := "user://scene_whitelist_test.json"
const MAZE := "res://games/navigation/maze.tscn"


func test_names_and_paths() -> void:
	for text: String in ['{"scenes": {"maze": "%s"}}' % MAZE, '{"scenes": ["%s"]}' % MAZE]:
		var whitelist: DojoSceneWhitelist = _read(text)
		check_equal(whitelist.error, "", "error")
		check_equal(whitelist.scenes, {"maze": MAZE} as Dictionary[String, String], "scenes")
		check_equal(whitelist.name_of(MAZE), "maze", "name")
		check_equal(
			whitelist.name_of("res://games/tag/tag.tscn"), null, "a scene that is not listed"
		)


func test_the_projects_own_file() -> void:
	var whitelist: DojoSceneWhitelist = DojoSceneWhitelist.read()
	check_equal(whitelist.error, "", "error")
	check_equal(whitelist.scenes.keys(), ["course", "obstacle_course", "maze"], "names")


func test_without_a_file_nothing_may_be_loaded() -> void:
	var whitelist: DojoSceneWhitelist = DojoSceneWhitelist.read("res://config/no_such_file.json")
	check_equal(whitelist.error, "", "error")
	check(whitelist.scenes.is_empty(), "no scenes")
	check(whitelist.advice().contains(DojoSceneWhitelist.PATH), "the advice names the file")


func test_a_wrong_file_is_named() -> void:
	var wrong: Dictionary[String, String] = {
		"{": "must be JSON",
		'["%s"]' % MAZE: "must be like",
		'{"scenes": "%s"}' % MAZE: "must be like",
		'{"scenes": ["maze.tscn"]}': "maze.tscn must be a path like res://",
		'{"scenes": {"a": "res://../maze.tscn"}}': "must be a path like res://",
		'{"scenes": {"a": "user://maze.tscn"}}': "must be a path like res://",
		'{"scenes": {"a": "res://games/tag/tag.gd"}}': "must be a path like res://",
		'{"scenes": {"a": null}}': "must be the path of a scene",
		'{"scenes": ["res://gone.tscn"]}': "there is no scene res://gone.tscn",
		'{"scenes": ["%s", "%s"]}' % [MAZE, MAZE]: "lists two scenes named maze",
	}
	for text in wrong:
		var whitelist: DojoSceneWhitelist = _read(text)
		check(whitelist.error.begins_with(PATH + ": "), "%s names the file" % text)
		check(whitelist.error.contains(wrong[text]), "%s: %s" % [text, whitelist.error])
		check(not whitelist.error.contains("\n"), "one line")
		check(whitelist.scenes.is_empty(), "nothing may be loaded")


func _read(text: String) -> DojoSceneWhitelist:
	var file: FileAccess = FileAccess.open(PATH, FileAccess.WRITE)
	file.store_string(text)
	file.close()
	var whitelist: DojoSceneWhitelist = DojoSceneWhitelist.read(PATH)
	DirAccess.remove_absolute(PATH)
	return whitelist
