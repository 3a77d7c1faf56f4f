# Every check that fails leaves its function at once.
# gdlint: disable=max-returns
class_name DojoSceneWhitelist
extends RefCounted
## The scenes that clients may load, read from [constant PATH]. No other scene can be loaded.
##
## The file lists names and paths, [code]{"scenes": {"maze": "res://maze.tscn"}}[/code], or paths
## alone, [code]{"scenes": ["res://maze.tscn"]}[/code], each named after its file. Without the file
## no scene may be loaded.

const PATH := "res://config/scene_whitelist.json"
const MAX_SCENES := 1024

## Paths by name.
var scenes: Dictionary[String, String] = {}
## What is wrong with the file, in one line that names it; empty when all is well.
var error: String = ""


## Reads and checks the file at [param path].
static func read(path: String = PATH) -> DojoSceneWhitelist:
	var whitelist := new()
	if FileAccess.file_exists(path):
		var complaint: String = whitelist._take(FileAccess.get_file_as_bytes(path))
		if not complaint.is_empty():
			whitelist.scenes.clear()
			whitelist.error = "%s: %s" % [path, complaint]
	return whitelist


## Name of the scene at [param path], or null.
func name_of(path: String) -> Variant:
	return scenes.find_key(path)


## What to do about a scene that may not be loaded.
func advice() -> String:
	if scenes.is_empty():
		return "list the scenes that may be loaded in %s" % PATH
	return "%s allows: %s" % [PATH, ", ".join(scenes.keys())]


func _take(bytes: PackedByteArray) -> String:
	if not DojoUntrustedText.is_utf8(bytes):
		return "must be UTF-8 text"
	var json: DojoSafeJson = DojoSafeJson.read(bytes.get_string_from_utf8())
	if not json.error.is_empty():
		return "must be JSON (%s)" % json.error
	var listed: Variant = (
		(json.data as Dictionary).get("scenes") if json.data is Dictionary else null
	)
	if not (listed is Dictionary or listed is Array):
		return 'must be like {"scenes": {"maze": "res://maze.tscn"}}'
	var paths: Array = (listed as Dictionary).values() if listed is Dictionary else listed as Array
	if paths.size() > MAX_SCENES:
		return "may list at most %d scenes" % MAX_SCENES
	for index in paths.size():
		var path: Variant = paths[index]
		var complaint: String = _complaint(path)
		if not complaint.is_empty():
			return complaint
		var name: String = (path as String).get_file().get_basename()
		if listed is Dictionary:
			name = (listed as Dictionary).keys()[index]
		if scenes.has(name):
			return "lists two scenes named %s; give names" % DojoUntrustedText.quoted(name)
		scenes[name] = path
	return ""


static func _complaint(path: Variant) -> String:
	var quoted: String = DojoUntrustedText.quoted(path)
	if not path is String:
		return "%s must be the path of a scene" % quoted
	var text: String = path
	if not text.begins_with("res://") or text.get_extension() != "tscn" or text.contains(".."):
		return "%s must be a path like res://maze.tscn" % quoted
	if not ResourceLoader.exists(text, "PackedScene"):
		return "there is no scene %s" % quoted
	return ""
