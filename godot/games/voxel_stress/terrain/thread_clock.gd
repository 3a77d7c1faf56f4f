class_name ThreadClock
extends RefCounted
## Measures work of the calling thread in milliseconds.
##
## On Linux the time a thread waits for a processor is not counted, so that other programs on a busy
## machine do not look like a slow game. Elsewhere it is the time on the wall.

const _SCHEDULER_FILE := "/proc/thread-self/schedstat"

var _start_us: int
var _waited_us: int


func _init() -> void:
	_waited_us = _waited()
	_start_us = Time.get_ticks_usec()


## Milliseconds of work since this clock was made, by the same thread.
func elapsed_ms() -> float:
	var wall_us: int = Time.get_ticks_usec() - _start_us
	return maxf(wall_us - (_waited() - _waited_us), 0.0) * 1e-3


static func _waited() -> int:
	var file := FileAccess.open(_SCHEDULER_FILE, FileAccess.READ)
	if file == null:
		return 0
	var fields: PackedStringArray = file.get_line().split(" ")
	return fields[1].to_int() / 1000 if fields.size() == 3 else 0
