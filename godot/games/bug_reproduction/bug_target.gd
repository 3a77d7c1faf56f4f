class_name BugTarget
extends RefCounted
## The failure to be found: a text in the log, or a condition on a number.
##
## [code]chunk generation race condition[/code] is a text. [code]active_chunk_count > 60[/code] is a
## condition: a number of the terrain, or a custom monitor of [Performance] by its name.

const _CONDITION := "^\\s*(\\S+)\\s*(>=|<=|>|<)\\s*(-?[0-9]+(?:\\.[0-9]+)?)\\s*$"
const _LOG_SCRIPT := "res://games/bug_reproduction/bug_log.gd"

static var _log: Object

## The target as it was given.
var text: String
## What is wrong with it, one line; empty when it can be looked for.
var trouble: String = ""

var _text: String = ""
var _number: String = ""
var _compares: String = ""
var _limit: float = 0.0


func _init(target_bug: String) -> void:
	text = target_bug
	var parts: RegExMatch = RegEx.create_from_string(_CONDITION).search(target_bug)
	if parts != null:
		_number = parts.get_string(1)
		_compares = parts.get_string(2)
		_limit = parts.get_string(3).to_float()
		return
	_text = target_bug.strip_edges().to_lower()
	if _text.is_empty():
		trouble = "target_bug is empty: give a text of the log, or a condition such as races > 0"
	elif not ClassDB.class_exists(&"Logger"):
		trouble = "Godot before 4.5 cannot hear its log: give a condition such as races > 0"
	elif _log == null:
		var script: GDScript = load(_LOG_SCRIPT)
		_log = script.new()
		@warning_ignore("unsafe_method_access")
		OS.call(&"add_logger", _log)


## Removes the logger, if there is one.
static func stop_listening() -> void:
	if _log != null:
		OS.call(&"remove_logger", _log)
		_log = null


## Forgets what was printed until now.
static func forget() -> void:
	if _log != null:
		_log.call(&"take")


## What shows the failure in [param terrain] now, or an empty text. To be called when the terrain
## has ticked: lines printed since the last call count as its own.
func symptom(terrain: VoxelTerrain) -> String:
	if not _text.is_empty():
		var lines: PackedStringArray = _log.call(&"take") if _log != null else PackedStringArray()
		for line in lines:
			if line.to_lower().contains(_text):
				return line
		return ""
	var value: Variant = _value(terrain)
	if value == null:
		if trouble.is_empty():
			trouble = "there is no number %s to look at" % _number
			printerr(trouble)
		return ""
	var number: float = value
	var holds: bool = (
		(_compares == ">" and number > _limit)
		or (_compares == "<" and number < _limit)
		or (_compares == ">=" and number >= _limit)
		or (_compares == "<=" and number <= _limit)
	)
	return "%s is %s" % [_number, value] if holds else ""


func _value(terrain: VoxelTerrain) -> Variant:
	var own: Dictionary = terrain.numbers()
	if own.has(_number):
		return own[_number]
	if Performance.has_custom_monitor(_number):
		return Performance.get_custom_monitor(_number)
	return null
