extends SceneTree
## Says what the game thinks of arenas and settings that Python wrote, for tests of their agreement.
##
## [codeblock]
## godot --headless --path godot --script res://tests/check_arenas.gd -- QUESTIONS.json ANSWERS.json
## [/codeblock]
## The questions are an object: [code]arenas[/code], a list of texts as in arena files, and
## [code]settings[/code], a list of texts as in the file of defaults. The answers are lists of the
## same names: the complaint about each, empty where there is none.

const WORDS := 2


func _initialize() -> void:
	var words: PackedStringArray = OS.get_cmdline_user_args()
	if words.size() != WORDS:
		print("usage: -- QUESTIONS.json ANSWERS.json")
		quit(2)
		return
	var questions: Dictionary = JSON.parse_string(FileAccess.get_file_as_string(words[0]))
	var answers: Dictionary = {"arenas": [], "settings": [], "defaults": {}}
	for text: String in questions["arenas"]:
		(answers["arenas"] as Array).append(_complaint_about_arena(text))
	for text: String in questions["settings"]:
		(answers["settings"] as Array).append(_complaint_about_settings(text))
	answers["defaults"] = TagSettings.load_defaults().to_dict()
	var file: FileAccess = FileAccess.open(words[1], FileAccess.WRITE)
	file.store_string(JSON.stringify(answers))
	file.close()
	quit(0)


func _complaint_about_arena(text: String) -> String:
	var json: DojoSafeJson = DojoSafeJson.read(text)
	if not json.error.is_empty():
		return json.error
	if not json.data is Dictionary:
		return "must hold an object"
	return ArenaData.from_dict(json.data as Dictionary, "arena").error


func _complaint_about_settings(text: String) -> String:
	var json: DojoSafeJson = DojoSafeJson.read(text)
	if not json.error.is_empty():
		return json.error
	return TagSettings.new().set_all(json.data)
