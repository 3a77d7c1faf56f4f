# Every check that fails leaves its function at once.
# gdlint: disable=max-returns
class_name CourseData
extends RefCounted
## A course as data: what is solid, where rounds begin and the marks to walk to.
##
## Read one with [method load_named] or [method from_dict] and look at [member error] before using
## it.


## A solid, axis-aligned box.
class Box:
	extends RefCounted
	var position: Vector3
	var size: Vector3
	## [code]floor[/code], [code]bridge[/code], [code]platform[/code], [code]wall[/code],
	## [code]block[/code] or [code]step[/code].
	var kind: StringName


## An area where rounds begin.
class Start:
	extends RefCounted
	var position: Vector3
	## Along x and z.
	var size: Vector2
	var yaw_rad: float
	var spread_rad: float


const FOLDER := "res://games/navigation/courses"
const VERSION := 1
## Boxes, the steps of ramps among them.
const MAX_BOXES := 64
const MAX_LIST := 32
const KINDS: PackedStringArray = ["floor", "bridge", "platform", "wall", "block"]
const LOOKS: PackedStringArray = ["indoor", "outdoor"]
const TOWARD: Dictionary[String, Vector3] = {
	"+x": Vector3.RIGHT, "-x": Vector3.LEFT, "+z": Vector3.BACK, "-z": Vector3.FORWARD
}
const _NAME := "[A-Za-z0-9_-]{1,40}"
const _TITLE := "[^%s]{1,40}" % DojoUntrustedText.UNSEEN
const _FARTHEST_M := 100.0

## Short name, as in its file's name.
var name: String
## Name for people.
var title: String
## [code]indoor[/code] or [code]outdoor[/code].
var look: String
## Everything solid, the steps of ramps last.
var boxes: Array[Box] = []
var starts: Array[Start] = []
## Marks on the ground to walk to; the last one is the goal.
var routes: Array[PackedVector3Array] = []
## Why the course was refused, in one line; empty when it is good.
var error: String


## Names of the hand-made courses: the files in their folder.
static func hand_made() -> PackedStringArray:
	var names: PackedStringArray = []
	for file in DirAccess.get_files_at(FOLDER):
		if file.get_extension() == "json":
			names.append(file.get_basename())
	names.sort()
	return names


## A hand-made course by its name.
static func load_named(course_name: String) -> CourseData:
	var known: PackedStringArray = hand_made()
	if not known.has(course_name):
		var refused := CourseData.new()
		var asked: String = DojoUntrustedText.quoted(course_name)
		refused.error = "%s: no such course; known: %s" % [asked, " ".join(known)]
		return refused
	var json: DojoSafeJson = DojoSafeJson.read(
		FileAccess.get_file_as_string("%s/%s.json" % [FOLDER, course_name])
	)
	return from_dict(json.data, course_name)


## Checks a course given as a [Dictionary] of the file's shape; [param source] names it in
## complaints.
static func from_dict(fields: Variant, source: String = "course") -> CourseData:
	var course := CourseData.new()
	var complaint: String = course._read(fields)
	if not complaint.is_empty():
		course.error = "%s: %s" % [DojoUntrustedText.quoted(source), complaint]
	return course


## How long the way of [param route] is from the middle of [param start] to its mark number
## [param mark].
func way_m(route: PackedVector3Array, start: Start, mark: int) -> float:
	var length_m: float = start.position.distance_to(route[0])
	for number in mark:
		length_m += route[number].distance_to(route[number + 1])
	return length_m


func _read(entry: Variant) -> String:
	var complaint: String = _unless_keys(
		entry, ["version", "name", "title", "look", "boxes", "ramps", "starts", "routes"]
	)
	if not complaint.is_empty():
		return complaint
	var fields: Dictionary = entry
	if not fields["version"] is float and not fields["version"] is int:
		return "version: must be %d" % VERSION
	if fields["version"] != VERSION:
		return "version: must be %d" % VERSION
	for text: Array in [["name", _NAME], ["title", _TITLE], ["look", "|".join(LOOKS)]]:
		var value: Variant = fields[text[0]]
		if not value is String or not DojoUntrustedText.is_like(value as String, text[1] as String):
			return "%s: must be like %s" % text
	name = fields["name"]
	title = fields["title"]
	look = fields["look"]
	for list: Array in [
		["boxes", 1, _read_box],
		["ramps", 0, _read_ramp],
		["starts", 1, _read_start],
		["routes", 1, _read_route]
	]:
		complaint = _read_list(fields, list)
		if not complaint.is_empty():
			return complaint
	return "" if boxes.size() <= MAX_BOXES else "boxes: more than %d, with ramps" % MAX_BOXES


func _read_list(fields: Dictionary, list: Array) -> String:
	var key: String = list[0]
	if not fields[key] is Array:
		return "%s: must be a list" % key
	var entries: Array = fields[key]
	if entries.size() < list[1] or entries.size() > (MAX_BOXES if key == "boxes" else MAX_LIST):
		return "%s: too few or too many entries (%d)" % [key, entries.size()]
	for index in entries.size():
		var complaint: String = (list[2] as Callable).call(entries[index])
		if not complaint.is_empty():
			return "%s[%d]: %s" % [key, index, complaint]
	return ""


func _read_box(entry: Variant) -> String:
	var complaint: String = _unless_keys(entry, ["position_m", "size_m", "kind"])
	if complaint.is_empty():
		complaint = _unless_numbers(entry, "position_m", 3)
	if complaint.is_empty():
		complaint = _unless_numbers(entry, "size_m", 3)
	if not complaint.is_empty():
		return complaint
	var fields: Dictionary = entry
	if not fields["kind"] is String or not KINDS.has(fields["kind"] as String):
		return "kind: must be one of " + " ".join(KINDS)
	return _add_box(
		_vector3(fields["position_m"]), _vector3(fields["size_m"]), fields["kind"] as String
	)


func _read_ramp(entry: Variant) -> String:
	var complaint: String = _unless_keys(entry, ["position_m", "size_m", "toward", "steps"])
	if complaint.is_empty():
		complaint = _unless_numbers(entry, "position_m", 3)
	if complaint.is_empty():
		complaint = _unless_numbers(entry, "size_m", 3)
	if not complaint.is_empty():
		return complaint
	var fields: Dictionary = entry
	if not fields["toward"] is String or not TOWARD.has(fields["toward"] as String):
		return "toward: must be one of " + " ".join(TOWARD.keys())
	var steps: Variant = fields["steps"]
	if not (steps is float or steps is int) or not (steps >= 1 and steps <= MAX_BOXES):
		return "steps: must be from 1 to %d" % MAX_BOXES
	var foot: Vector3 = _vector3(fields["position_m"])
	var size: Vector3 = _vector3(fields["size_m"])
	var toward: Vector3 = TOWARD[fields["toward"]]
	var part: float = 1.0 / int(steps as float)
	var length: Vector3 = size * toward.abs()
	for number in int(steps as float):
		var height: float = size.y * (number + 1) * part
		var step: Vector3 = size - length + length * part
		step.y = height
		var ahead: Vector3 = length * toward * ((number + 0.5) * part - 0.5)
		complaint = _add_box(foot + ahead + Vector3.UP * height * 0.5, step, "step")
		if not complaint.is_empty():
			return complaint
	return ""


func _read_start(entry: Variant) -> String:
	var complaint: String = _unless_keys(entry, ["position_m", "size_m", "yaw_deg", "spread_deg"])
	for count: Array in [["position_m", 3], ["size_m", 2]]:
		if complaint.is_empty():
			complaint = _unless_numbers(entry, count[0] as String, count[1] as int)
	if not complaint.is_empty():
		return complaint
	var fields: Dictionary = entry
	var start := Start.new()
	start.position = _vector3(fields["position_m"])
	start.size = Vector2(fields["size_m"][0] as float, fields["size_m"][1] as float)
	for key: String in ["yaw_deg", "spread_deg"]:
		var angle: Variant = fields[key]
		if not (angle is float or angle is int) or not absf(angle as float) <= 360.0:
			return "%s: must be from -360 to 360" % key
	start.yaw_rad = deg_to_rad(fields["yaw_deg"] as float)
	start.spread_rad = deg_to_rad(fields["spread_deg"] as float)
	starts.append(start)
	return ""


func _read_route(entry: Variant) -> String:
	var complaint: String = _unless_keys(entry, ["marks_m"])
	if not complaint.is_empty():
		return complaint
	if not entry["marks_m"] is Array:
		return "marks_m: must be a list"
	var list: Array = entry["marks_m"]
	if list.is_empty() or list.size() > MAX_LIST:
		return "marks_m: must have 1 to %d marks" % MAX_LIST
	var marks := PackedVector3Array()
	for mark: Variant in list:
		complaint = _unless_numbers({"mark": mark}, "mark", 3)
		if not complaint.is_empty():
			return complaint
		marks.append(_vector3(mark))
	routes.append(marks)
	return ""


func _add_box(at: Vector3, edges: Vector3, kind: String) -> String:
	if minf(edges.x, minf(edges.y, edges.z)) < 0.01:
		return "size_m: every edge must be at least 1 cm"
	var box := Box.new()
	box.position = at
	box.size = edges
	box.kind = StringName(kind)
	boxes.append(box)
	return ""


static func _unless_keys(entry: Variant, keys: PackedStringArray) -> String:
	if not entry is Dictionary:
		return "must be an object"
	var fields: Dictionary = entry
	for key in keys:
		if not fields.has(key):
			return "%s: missing" % key
	for key: Variant in fields:
		if not keys.has(str(key)):
			return "%s: unknown key" % DojoUntrustedText.quoted(key)
	return ""


static func _unless_numbers(entry: Dictionary, key: String, count: int) -> String:
	var value: Variant = entry[key]
	if not value is Array or (value as Array).size() != count:
		return "%s: must be a list of %d numbers" % [key, count]
	for number: Variant in value as Array:
		if not (number is float or number is int) or not absf(number as float) <= _FARTHEST_M:
			return "%s: must hold numbers up to %s" % [key, _FARTHEST_M]
	return ""


static func _vector3(value: Array) -> Vector3:
	return Vector3(value[0] as float, value[1] as float, value[2] as float)
