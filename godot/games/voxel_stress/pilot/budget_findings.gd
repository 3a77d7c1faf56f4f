class_name BudgetFindings
extends RefCounted
## Which patterns of movement broke which budgets, how often and how badly; kept as a JSON file.

## A budget that breaks again within this time is the same event.
const PAUSE_TICKS := 90
const FORMAT := 1

## By pattern and budget: how often, the worst value, and when it was first seen.
var found: Dictionary[String, Dictionary] = {}
## Ticks played altogether.
var ticks: int = 0

var _last_tick: Dictionary[String, int] = {}


## Notes that a budget is broken now; returns the pattern of a new event, or an empty text.
func note(budget: String, value: float, movement: MovementLog) -> String:
	var is_new: bool = ticks - _last_tick.get(budget, -PAUSE_TICKS) >= PAUSE_TICKS
	_last_tick[budget] = ticks
	if not is_new:
		return ""
	var pattern: String = movement.pattern()
	var finding: Dictionary = found.get_or_add(
		"%s: %s" % [pattern, budget],
		{"pattern": pattern, "budget": budget, "events": 0, "worst": 0.0, "first_tick": ticks}
	)
	finding["events"] += 1
	finding["worst"] = maxf(finding["worst"] as float, value)
	return pattern


## Writes a file of this process to [param folder]; false, after one line, where that fails.
func save(folder: String) -> bool:
	DirAccess.make_dir_recursive_absolute(folder)
	var path: String = folder.path_join("findings-%d.json" % OS.get_process_id())
	var file := FileAccess.open(path, FileAccess.WRITE)
	if file == null:
		printerr("cannot write %s: %s" % [path, error_string(FileAccess.get_open_error())])
		return false
	var content: Dictionary = {"format": FORMAT, "ticks": ticks, "findings": found.values()}
	file.store_string(JSON.stringify(content, "  "))
	return true
