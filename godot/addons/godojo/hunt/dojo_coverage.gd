class_name DojoCoverage
extends RefCounted
## Counts which branches of a hunted game's scripts run; a hunt adds the calls to a copy of them.

## Branches that can be counted.
const MOST := 65536
## Runs of a branch that are counted since the last reset.
const MOST_RUNS := 16

static var _runs: PackedByteArray = _zeros()
static var _fresh: PackedInt32Array = []
static var _main: int = OS.get_main_thread_id()


## A branch runs. Those of other threads are not counted.
static func hit(branch: int) -> void:
	if _runs[branch] >= MOST_RUNS or OS.get_thread_caller_id() != _main:
		return
	var runs: int = _runs[branch] + 1
	_runs[branch] = runs
	if runs & (runs - 1) == 0:
		_fresh.append(branch)


## Branches that have run for the 1st, 2nd, 4th, 8th or 16th time since the last call.
static func take_fresh() -> PackedInt32Array:
	var fresh: PackedInt32Array = _fresh
	_fresh = []
	return fresh


## The game begins anew.
static func begin() -> void:
	_runs.fill(0)
	_fresh = []


static func _zeros() -> PackedByteArray:
	var zeros: PackedByteArray = []
	zeros.resize(MOST)
	return zeros
