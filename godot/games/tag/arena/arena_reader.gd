# Every check that fails leaves its function at once.
# gdlint: disable=max-returns
class_name ArenaReader
extends RefCounted
## Turns an arena file into [ArenaData], or says in one line what is wrong with it.

## Format of the files.
const VERSION := 1
## Boxes besides floor and outer walls.
const MAX_BOXES := 16
## Spawn areas.
const MAX_SPAWNS := 32
## Longest file that is read.
const MAX_BYTES := 65536
## Extent of an arena along x and z.
const SIZE_LIMITS_M := Vector2(4.0, 60.0)
## Thinnest box.
const MIN_EDGE_M := 0.1
## Heights that look equal but are not would trip bodies: what is closer than this is taken for
## touching.
const TOUCHING_M := 0.0001
## Kinds of boxes.
const KINDS: PackedStringArray = ["tall", "low", "platform"]
## What a name looks like, and a title.
const NAME := "[A-Za-z0-9_ -]{1,40}"
const TITLE := "[^%s]{1,40}" % DojoUntrustedText.UNSEEN
## Longest part of a source's name that is repeated in complaints.
const MOST_SOURCE := 400
## Roles that spawn areas are for.
const ROLES: PackedStringArray = ["seeker", "hider"]

const _KEYS: PackedStringArray = ["version", "name", "title", "size_m", "boxes", "spawns"]
const _BOX_KEYS: PackedStringArray = ["position_m", "size_m", "kind"]
const _SPAWN_KEYS: PackedStringArray = ["position_m", "size_m", "roles"]

var _source: String
var _body_m: float
var _tall_m: float
var _apart_m: float
var _top_m: float
var _arena := ArenaData.new()


## [param source] is the file's path, or a name for complaints.
func _init(source: String, settings: TagSettings = null) -> void:
	_source = source
	var measure: TagSettings = settings if settings != null else TagSettings.load_defaults()
	_body_m = measure.body.size_m
	# It stands a skin above the ground, and nothing may touch its head.
	_tall_m = _body_m + 2.0 * measure.motion.skin_m
	_apart_m = TagSpawns.apart_m(measure)
	_top_m = measure.arena.collider_height_m


## Reads the file named at the start.
func read_file() -> ArenaData:
	var file: FileAccess = FileAccess.open(_source, FileAccess.READ)
	if file == null:
		return _refuse("file", error_string(FileAccess.get_open_error()))
	if file.get_length() > MAX_BYTES:
		return _refuse("file", "longer than %d bytes" % MAX_BYTES)
	var bytes: PackedByteArray = file.get_buffer(file.get_length())
	if not DojoUntrustedText.is_utf8(bytes):
		return _refuse("file", "is no text")
	var json: DojoSafeJson = DojoSafeJson.read(bytes.get_string_from_utf8())
	if not json.error.is_empty():
		return _refuse("file", json.error)
	if not json.data is Dictionary:
		return _refuse("file", "must hold an object")
	return read(json.data as Dictionary)


## Reads an arena from [param fields].
func read(fields: Dictionary) -> ArenaData:
	if not _has_exactly(fields, _KEYS, "arena"):
		return _arena
	if not _is_number(fields["version"]) or fields["version"] != VERSION:
		return _refuse("version", "must be %d" % VERSION)
	if not _is_text(fields["name"], NAME):
		return _refuse("name", "must be 1 to 40 of a-z A-Z 0-9 _ - and space")
	if not _is_text(fields["title"], TITLE):
		return _refuse("title", "must be a text of 1 to 40 visible letters")
	_arena.name = fields["name"]
	_arena.title = fields["title"]
	if not _is_numbers(fields["size_m"], 2, "size_m"):
		return _arena
	_arena.size_m = _vector2(fields["size_m"])
	for edge: float in [_arena.size_m.x, _arena.size_m.y]:
		if edge < SIZE_LIMITS_M.x or edge > SIZE_LIMITS_M.y:
			return _refuse("size_m", "must be from %s to %s" % [SIZE_LIMITS_M.x, SIZE_LIMITS_M.y])
	for list: Array in [["boxes", 0, MAX_BOXES, _read_box], ["spawns", 1, MAX_SPAWNS, _read_spawn]]:
		if not _read_list(fields, list):
			return _arena
	for role in ROLES:
		if not _arena.spawns.any(
			func(area: SpawnArea) -> bool: return area.roles.has(StringName(role))
		):
			return _refuse("spawns", "no area for a %s" % role)
	_check_opponents_apart(_arena.spawns)
	return _arena


## Checks again, for bodies of another size, that there is room where rounds begin in [param arena].
## Returns what is wrong, or an empty text.
func check_spawns(arena: ArenaData) -> String:
	_arena.size_m = arena.size_m
	_arena.boxes = arena.boxes
	for index in arena.spawns.size():
		if not _check_room(arena.spawns[index], "spawns[%d]" % index):
			return _arena.error
	_check_opponents_apart(arena.spawns)
	return _arena.error


func _read_list(fields: Dictionary, list: Array) -> bool:
	var key: String = list[0]
	if not fields[key] is Array:
		return _fail(key, "must be a list")
	var entries: Array = fields[key]
	if entries.size() < list[1] or entries.size() > list[2]:
		return _fail(key, "must have %d to %d entries, not %d" % [list[1], list[2], entries.size()])
	var reader: Callable = list[3]
	for index in entries.size():
		if not reader.call(entries[index], "%s[%d]" % [key, index]):
			return false
	return true


func _read_box(entry: Variant, where: String) -> bool:
	if not _has_exactly(entry, _BOX_KEYS, where):
		return false
	var fields: Dictionary = entry
	if not _is_numbers(fields["position_m"], 3, where + ".position_m"):
		return false
	if not _is_numbers(fields["size_m"], 3, where + ".size_m"):
		return false
	if not fields["kind"] is String or not KINDS.has(fields["kind"] as String):
		return _fail(where + ".kind", "must be one of " + " ".join(KINDS))
	var kind: String = fields["kind"]
	var box := ArenaBox.make(
		_vector3(fields["position_m"]), _vector3(fields["size_m"]), StringName(kind)
	)
	if minf(box.size.x, minf(box.size.y, box.size.z)) < MIN_EDGE_M:
		return _fail(where + ".size_m", "every edge must be at least %s" % MIN_EDGE_M)
	var low: Vector3 = box.position - box.size * 0.5
	var high: Vector3 = box.position + box.size * 0.5
	var half: Vector2 = _arena.size_m * 0.5 + Vector2.ONE * TOUCHING_M
	if low.x < -half.x or high.x > half.x or low.z < -half.y or high.z > half.y:
		return _fail(where + ".position_m", "the box is outside the arena")
	if low.y < -TOUCHING_M:
		return _fail(where + ".position_m", "the box is sunk into the floor")
	if high.y > _top_m:
		return _fail(where + ".size_m", "the box reaches above %s" % _top_m)
	for index in _arena.boxes.size():
		if box.aabb().grow(-TOUCHING_M).intersects(_arena.boxes[index].aabb()):
			return _fail(where + ".position_m", "the box overlaps boxes[%d]" % index)
	_arena.boxes.append(box)
	return true


func _read_spawn(entry: Variant, where: String) -> bool:
	if not _has_exactly(entry, _SPAWN_KEYS, where):
		return false
	var fields: Dictionary = entry
	if not _is_numbers(fields["position_m"], 3, where + ".position_m"):
		return false
	if not _is_numbers(fields["size_m"], 2, where + ".size_m"):
		return false
	var area := SpawnArea.new()
	area.position = _vector3(fields["position_m"])
	area.size = _vector2(fields["size_m"])
	if not fields["roles"] is Array or (fields["roles"] as Array).is_empty():
		return _fail(where + ".roles", "must be a list of roles")
	for role: Variant in fields["roles"] as Array:
		if not role is String or not ROLES.has(role as String):
			return _fail(where + ".roles", "must be some of " + " ".join(ROLES))
		area.roles.append(StringName(role as String))
	if area.size.x < 0.0 or area.size.y < 0.0:
		return _fail(where + ".size_m", "must not be negative")
	return _check_room(area, where) and _check_apart(area, where)


func _check_room(area: SpawnArea, where: String) -> bool:
	var flat := Vector3(area.size.x, 0.0, area.size.y)
	var room := AABB(area.position - flat * 0.5, flat).grow(_body_m * 0.5)
	room.position.y = area.position.y + TOUCHING_M
	room.size.y = _tall_m
	var half: Vector2 = _arena.size_m * 0.5
	if maxf(-room.position.x, room.end.x) > half.x or maxf(-room.position.z, room.end.z) > half.y:
		return _fail(
			where + ".position_m", "no room for a body between the area and the outer wall"
		)
	if room.position.y < 0.0 or room.end.y > _top_m:
		return _fail(where + ".position_m", "is not between floor and ceiling")
	var stands: bool = absf(area.position.y) <= TOUCHING_M
	for index in _arena.boxes.size():
		var box: AABB = _arena.boxes[index].aabb()
		if box.intersects(room):
			return _fail(
				where + ".position_m", "a body starting here would be inside boxes[%d]" % index
			)
		if absf(box.end.y - area.position.y) <= TOUCHING_M:
			stands = stands or box.grow(TOUCHING_M).encloses(AABB(area.position - flat * 0.5, flat))
	if not stands:
		return _fail(where + ".position_m", "there is no ground at that height")
	return true


func _check_apart(area: SpawnArea, where: String) -> bool:
	for index in _arena.spawns.size():
		var other: SpawnArea = _arena.spawns[index]
		var gap: Vector3 = (area.position - other.position).abs()
		var reach: Vector2 = (area.size + other.size) * 0.5
		if gap.x < reach.x and gap.z < reach.y and gap.y < _body_m:
			return _fail(where + ".position_m", "the area overlaps spawns[%d]" % index)
		if gap.is_zero_approx():
			return _fail(where + ".position_m", "the area is the same as spawns[%d]" % index)
	_arena.spawns.append(area)
	return true


## A round must not be over before it begins: somewhere a seeker and a hider have to be out of reach
## of each other, at the far ends of two areas or of one.
func _check_opponents_apart(areas: Array[SpawnArea]) -> bool:
	for seeking in areas:
		for hiding in areas:
			if seeking.roles.has(&"seeker") and hiding.roles.has(&"hider"):
				var reach: Vector2 = (seeking.size + hiding.size) * 0.5
				var most: Vector3 = (seeking.position - hiding.position).abs()
				most += Vector3(reach.x, 0.0, reach.y)
				if maxf(most.x, maxf(most.y, most.z)) >= _apart_m:
					return true
	return _fail("spawns", "no area for a seeker is %s m away from one for a hider" % _apart_m)


func _has_exactly(entry: Variant, keys: PackedStringArray, where: String) -> bool:
	if not entry is Dictionary:
		return _fail(where, "must be an object")
	var fields: Dictionary = entry
	for key in keys:
		if not fields.has(key):
			return _fail(key if where == "arena" else "%s.%s" % [where, key], "missing")
	for key: Variant in fields:
		if not keys.has(str(key)):
			var name: String = DojoUntrustedText.quoted(key)
			return _fail(name if where == "arena" else "%s.%s" % [where, name], "unknown key")
	return true


func _is_numbers(value: Variant, count: int, where: String) -> bool:
	if not value is Array or (value as Array).size() != count:
		return _fail(where, "must be a list of %d numbers" % count)
	for number: Variant in value as Array:
		if not _is_number(number):
			return _fail(
				where, "must hold finite numbers, not %s" % DojoUntrustedText.quoted(number)
			)
	return true


func _is_text(value: Variant, pattern: String) -> bool:
	return value is String and DojoUntrustedText.is_like(value as String, pattern)


func _is_number(value: Variant) -> bool:
	return (value is float or value is int) and absf(value as float) < 1.0e6


func _vector2(value: Array) -> Vector2:
	return Vector2(value[0] as float, value[1] as float)


func _vector3(value: Array) -> Vector3:
	return Vector3(value[0] as float, value[1] as float, value[2] as float)


func _fail(key: String, reason: String) -> bool:
	_arena.error = "%s: %s: %s" % [DojoUntrustedText.quoted(_source, MOST_SOURCE), key, reason]
	return false


func _refuse(key: String, reason: String) -> ArenaData:
	_fail(key, reason)
	return _arena
