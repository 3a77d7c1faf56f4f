class_name DojoScriptText
extends RefCounted
## What can be read in the sources of a game's scripts and scenes; nothing in an exported game.

const _OWN := "res://addons/"
const _MOST_FILES := 600
const _COUNTS := "DojoCoverage\\.hit\\(\\d+\\); "
const _NOTHING := '^(pass|return|print\\w*\\(.*\\)|push_warning\\(.*\\)|".*")?$'

# By script and method: its statements. By word: in how many places it is.
static var _bodies: Dictionary[String, PackedStringArray] = {}
static var _mentions: Dictionary[String, int] = {}
static var _texts: PackedStringArray = []


## Whether a script is the game's own.
static func is_own(script: Script) -> bool:
	return script.resource_path.begins_with("res://") and not script.resource_path.begins_with(_OWN)


## Who hears a signal, without the hunt and without methods that do nothing.
static func listeners(node: Object, signal_name: StringName) -> int:
	var count: int = 0
	for connection in node.get_signal_connection_list(signal_name):
		var callable: Callable = connection["callable"]
		var object: Object = callable.get_object()
		if object is DojoUiDetector or object is DojoSignalDetector:
			continue
		count += int(not is_empty(object, callable.get_method()))
	return count


## Whether a method of a script does nothing, as far as its source shows it.
static func is_empty(object: Object, method: StringName) -> bool:
	var script: Script = object.get_script() if object != null else null
	while script != null:
		var body: PackedStringArray = _body(script, method)
		if not body.is_empty():
			var nothing := RegEx.create_from_string(_NOTHING)
			for statement in body:
				if nothing.search(statement) == null:
					return false
			return true
		script = script.get_base_script()
	return false


## Methods of a script that are called [code]_on_…[/code] and do something.
static func handlers(script: Script) -> PackedStringArray:
	var found: PackedStringArray = []
	var pattern := RegEx.create_from_string("(?m)^func (_on_\\w+)\\(")
	for method in pattern.search_all(script.source_code):
		var empty := RegEx.create_from_string(_NOTHING)
		for statement in _body(script, method.get_string(1)):
			if empty.search(statement) == null:
				found.append(method.get_string(1))
				break
	return found


## How often a word is in all scripts and scenes.
static func mentions(word: String) -> int:
	if _texts.is_empty():
		_texts = _sources()
	if not _mentions.has(word):
		var count: int = 0
		var pattern := RegEx.create_from_string("\\b%s\\b" % word)
		for text in _texts:
			count += pattern.search_all(text).size() if word in text else 0
		_mentions[word] = count
	return _mentions[word]


## The statements of a method; empty if it is not there.
static func _body(script: Script, method: StringName) -> PackedStringArray:
	var key: String = "%s:%s" % [script.resource_path, method]
	if _bodies.has(key):
		return _bodies[key]
	var found: PackedStringArray = []
	var head := RegEx.create_from_string("(?m)^(static )?func %s\\(" % method)
	var start: RegExMatch = head.search(script.source_code)
	if start != null and not str(method).is_empty():
		var counts := RegEx.create_from_string(_COUNTS)
		var lines: PackedStringArray = script.source_code.substr(start.get_start()).split("\n")
		var last: String = lines[0].get_slice("#", 0).strip_edges()
		if not last.ends_with(":"):
			found.append(last)
		for index in range(1, lines.size()):
			var line: String = lines[index]
			var words: String = counts.sub(line, "", true).strip_edges()
			if words.is_empty() or words.begins_with("#"):
				continue
			if (
				not line.begins_with("\t")
				and not line.begins_with(" ")
				and not line.begins_with(")")
			):
				break
			found.append(words)
	_bodies[key] = found
	return found


static func _sources() -> PackedStringArray:
	var found: PackedStringArray = []
	var folders: PackedStringArray = ["res://"]
	while not folders.is_empty() and found.size() < _MOST_FILES:
		var here: String = folders[folders.size() - 1]
		folders.remove_at(folders.size() - 1)
		for name in DirAccess.get_directories_at(here):
			if not name.begins_with("."):
				folders.append(here.path_join(name))
		for name in DirAccess.get_files_at(here):
			if name.get_extension() in ["gd", "tscn", "scn", "tres", "cs"]:
				found.append(FileAccess.get_file_as_string(here.path_join(name)))
	return found
