extends Logger
## Hears every line that the game prints; threads print, too. Godot 4.5 and newer have such loggers.

const _MAX_LINES := 1000

var _lock := Mutex.new()
var _lines := PackedStringArray()


## What was printed since this was last called.
func take() -> PackedStringArray:
	_lock.lock()
	var lines: PackedStringArray = _lines
	_lines = PackedStringArray()
	_lock.unlock()
	return lines


func _log_message(message: String, _error: bool) -> void:
	_note(message.strip_edges())


func _log_error(
	_function: String,
	_file: String,
	_line: int,
	code: String,
	rationale: String,
	_editor_notify: bool,
	_error_type: int,
	_script_backtraces: Array[ScriptBacktrace]
) -> void:
	_note(rationale if not rationale.is_empty() else code)


func _note(text: String) -> void:
	_lock.lock()
	if _lines.size() < _MAX_LINES:
		_lines.append(text)
	_lock.unlock()
