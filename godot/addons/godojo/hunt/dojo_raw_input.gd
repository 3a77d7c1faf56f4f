class_name DojoRawInput
extends RefCounted
## Finds the keys and mouse buttons that a project's scripts ask for by name, beside its input map.

const MOST_KEYS := 16
const _MOST_FILES := 400
const _LEFT_OUT: PackedStringArray = ["NONE", "ESCAPE", "SPECIAL", "UNKNOWN"]


## Keys of [code]KEY_[/code] constants in scripts under [param folder] that no action is mapped to.
static func keys(folder: String = "res://") -> Array[Key]:
	var found: Array[Key] = []
	var mapped: Dictionary[int, bool] = _mapped_keys()
	var pattern := RegEx.create_from_string("\\bKEY_([A-Z0-9_]+)\\b")
	for text in _sources(folder):
		for word in pattern.search_all(text):
			var name: String = word.get_string(1)
			if _LEFT_OUT.has(name) or name.begins_with("MASK") or found.size() >= MOST_KEYS:
				continue
			var key: Key = OS.find_keycode_from_string(name.replace("_", " "))
			if key != KEY_NONE and not mapped.has(key) and not found.has(key):
				found.append(key)
	found.sort()
	return found


## Whether a script asks for the right mouse button.
static func uses_right_button(folder: String = "res://") -> bool:
	return _sources(folder).any(func(text: String) -> bool: return "MOUSE_BUTTON_RIGHT" in text)


static func _mapped_keys() -> Dictionary[int, bool]:
	var found: Dictionary[int, bool] = {}
	for action in InputMap.get_actions():
		for event in InputMap.action_get_events(action):
			if event is InputEventKey:
				found[(event as InputEventKey).keycode] = true
				found[(event as InputEventKey).physical_keycode] = true
	return found


## The project's own scripts; none in an exported game.
static func _sources(folder: String) -> Array[String]:
	var found: Array[String] = []
	var folders: PackedStringArray = [folder]
	while not folders.is_empty() and found.size() < _MOST_FILES:
		var here: String = folders[folders.size() - 1]
		folders.remove_at(folders.size() - 1)
		for name in DirAccess.get_directories_at(here):
			if name != "addons" and not name.begins_with("."):
				folders.append(here.path_join(name))
		for name in DirAccess.get_files_at(here):
			if name.get_extension() == "gd":
				found.append(FileAccess.get_file_as_string(here.path_join(name)))
	return found
