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
const _KEYS: PackedStringArray = [
	"version", "name", "title", "look", "boxes", "ramps", "starts", "routes"
]
const _START_KEYS: PackedStringArray = ["position_m", "size_m", "yaw_deg", "spread_deg"]
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


func _read(source: Variant) -> String:
	var fields := DojoFields.new(source, _KEYS)
	fields.number("version", VERSION, VERSION)
	name = fields.text("name", _NAME, "must be like " + _NAME)
	title = fields.text("title", _TITLE, "must be a text of 1 to 40 visible letters")
	look = fields.choice("look", LOOKS)
	for entry in fields.objects("boxes", 1, MAX_BOXES, ["position_m", "size_m", "kind"]):
		var at: Vector3 = entry.vector3("position_m", _FARTHEST_M)
		_add_box(entry, at, entry.vector3("size_m", _FARTHEST_M), entry.choice("kind", KINDS))
	for entry in fields.objects("ramps", 0, MAX_LIST, ["position_m", "size_m", "toward", "steps"]):
		_read_ramp(entry)
	for entry in fields.objects("starts", 1, MAX_LIST, _START_KEYS):
		var start := Start.new()
		start.position = entry.vector3("position_m", _FARTHEST_M)
		start.size = entry.vector2("size_m", _FARTHEST_M)
		start.yaw_rad = deg_to_rad(entry.number("yaw_deg", -360.0, 360.0))
		start.spread_rad = deg_to_rad(entry.number("spread_deg", -360.0, 360.0))
		starts.append(start)
	for entry in fields.objects("routes", 1, MAX_LIST, ["marks_m"]):
		routes.append(entry.points("marks_m", 1, MAX_LIST, _FARTHEST_M))
	fields.require(
		boxes.size() <= MAX_BOXES, "boxes", "more than %d, with the steps of ramps" % MAX_BOXES
	)
	return fields.error()


func _read_ramp(fields: DojoFields) -> void:
	var foot: Vector3 = fields.vector3("position_m", _FARTHEST_M)
	var size: Vector3 = fields.vector3("size_m", _FARTHEST_M)
	var toward: Vector3 = TOWARD.get(
		fields.choice("toward", PackedStringArray(TOWARD.keys())), Vector3.ZERO
	)
	var steps: int = int(fields.number("steps", 1, MAX_BOXES))
	var length: Vector3 = size * toward.abs()
	for number in steps:
		var part: float = 1.0 / steps
		var height: float = size.y * (number + 1) * part
		var step: Vector3 = size - length + length * part
		step.y = height
		var ahead: Vector3 = length * toward * ((number + 0.5) * part - 0.5)
		_add_box(fields, foot + ahead + Vector3.UP * height * 0.5, step, "step")


func _add_box(fields: DojoFields, at: Vector3, edges: Vector3, kind: String) -> void:
	if minf(edges.x, minf(edges.y, edges.z)) < 0.01:
		fields.fail("size_m", "every edge must be at least 1 cm")
	var box := Box.new()
	box.position = at
	box.size = edges
	box.kind = StringName(kind)
	boxes.append(box)
