class_name BugReport
extends RefCounted
## A failure as a file: how it began, every action, and the whole state when it happened.
##
## It is enough to play the failure again, and to attach to a report.

const FORMAT := 1
## A game that fails all the time fills no disk.
const MAX_FILES := 20
const MAX_BYTES := 10_000_000
## A step is the tick in which it was taken, and four numbers of the action.
const STEP_SIZE := 5

static var _saved: int = 0

var target_bug: String = ""
var symptom: String = ""
var terrain_seed: int = 0
## Ticks from the start to the failure.
var ticks: int = 0
var position := Vector3.ZERO
var yaw: float = 0.0
var steps: Array[PackedFloat32Array] = []
var state: Dictionary = {}


func note_step(tick: int, action: PackedFloat32Array) -> void:
	var step := PackedFloat32Array([tick])
	step.append_array(action)
	steps.append(step)


## Writes a file to [param folder] and returns its path; an empty text where it cannot be written,
## or there are enough.
func save(folder: String) -> String:
	if _saved >= MAX_FILES:
		return ""
	DirAccess.make_dir_recursive_absolute(folder)
	var path: String = folder.path_join("bug-%d-%d.json" % [OS.get_process_id(), _saved + 1])
	var file := FileAccess.open(path, FileAccess.WRITE)
	if file == null:
		printerr("cannot write %s: %s" % [path, error_string(FileAccess.get_open_error())])
		return ""
	_saved += 1
	file.store_string(JSON.stringify(_content(), "  ", true, true))
	return path


func _content() -> Dictionary:
	var actions: Array[Array] = []
	for step in steps:
		actions.append(Array(step))
	return {
		"format": FORMAT,
		"game": "bug_reproduction",
		"target_bug": target_bug,
		"symptom": symptom,
		"engine": Engine.get_version_info()["string"],
		"terrain_seed": terrain_seed,
		"ticks": ticks,
		"start": {"position": [position.x, position.y, position.z], "yaw": yaw},
		"steps": actions,
		"state": state,
	}


## Reads a file that anybody may have written; null, after one line, where it is no report.
static func read(path: String) -> BugReport:
	var file := FileAccess.open(path, FileAccess.READ)
	if file == null:
		printerr("cannot read %s: %s" % [path, error_string(FileAccess.get_open_error())])
		return null
	if file.get_length() > MAX_BYTES:
		printerr("%s is no bug report: it is too large" % path)
		return null
	var parser := JSON.new()
	var report: BugReport = null
	if parser.parse(file.get_as_text()) == OK and parser.data is Dictionary:
		report = _from(parser.data as Dictionary)
	if report == null:
		printerr("%s is no bug report of format %d" % [path, FORMAT])
	return report


static func _from(content: Dictionary) -> BugReport:
	var start: Dictionary = content["start"] if content.get("start") is Dictionary else {}
	var place: Array = start["position"] if start.get("position") is Array else []
	var steps_given: Array = content["steps"] if content.get("steps") is Array else []
	var numbers: Array = [content.get("terrain_seed"), start.get("yaw")]
	if content.get("format") != FORMAT or place.size() != 3 or not _are_numbers(place + numbers):
		return null
	var report := BugReport.new()
	for step: Variant in steps_given:
		if (
			not step is Array
			or (step as Array).size() != STEP_SIZE
			or not _are_numbers(step as Array)
		):
			return null
		report.steps.append(PackedFloat32Array(step as Array))
	report.target_bug = str(content.get("target_bug", ""))
	report.symptom = str(content.get("symptom", ""))
	report.terrain_seed = int(numbers[0] as float)
	report.yaw = numbers[1]
	report.position = Vector3(place[0] as float, place[1] as float, place[2] as float)
	return report


static func _are_numbers(values: Array) -> bool:
	return values.all(
		func(value: Variant) -> bool: return value is float and is_finite(value as float)
	)
