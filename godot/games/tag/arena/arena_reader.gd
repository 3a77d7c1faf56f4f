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
		return _refuse("file: " + error_string(FileAccess.get_open_error()))
	if file.get_length() > MAX_BYTES:
		return _refuse("file: longer than %d bytes" % MAX_BYTES)
	var bytes: PackedByteArray = file.get_buffer(file.get_length())
	if not DojoUntrustedText.is_utf8(bytes):
		return _refuse("file: is no text")
	var json: DojoSafeJson = DojoSafeJson.read(bytes.get_string_from_utf8())
	if not json.error.is_empty():
		return _refuse("file: " + json.error)
	if not json.data is Dictionary:
		return _refuse("file: must hold an object")
	return read(json.data as Dictionary)


## Reads an arena from [param source].
func read(source: Dictionary) -> ArenaData:
	var fields := DojoFields.new(source, _KEYS)
	fields.number("version", VERSION, VERSION)
	_arena.name = fields.text("name", NAME, "must be 1 to 40 of a-z A-Z 0-9 _ - and space")
	_arena.title = fields.text("title", TITLE, "must be a text of 1 to 40 visible letters")
	_arena.size_m = fields.vector2("size_m")
	for edge: float in [_arena.size_m.x, _arena.size_m.y]:
		var limits: Array[float] = [SIZE_LIMITS_M.x, SIZE_LIMITS_M.y]
		var is_fine: bool = edge >= limits[0] and edge <= limits[1]
		fields.require(is_fine, "size_m", "must be from %s to %s" % limits)
	for entry in fields.objects("boxes", 0, MAX_BOXES, _BOX_KEYS):
		_read_box(entry)
	for entry in fields.objects("spawns", 1, MAX_SPAWNS, _SPAWN_KEYS):
		_read_spawn(entry)
	for role in ROLES:
		var is_for_role: Callable = func(area: SpawnArea) -> bool:
			return area.roles.has(StringName(role))
		fields.require(_arena.spawns.any(is_for_role), "spawns", "no area for a %s" % role)
	_check_opponents_apart(_arena.spawns, fields)
	return _refuse(fields.error()) if fields.error() else _arena


## Checks again, for bodies of another size, that there is room where rounds begin in [param arena].
## Returns an error message, or an empty text.
func check_spawns(arena: ArenaData) -> String:
	_arena.size_m = arena.size_m
	_arena.boxes = arena.boxes
	var errors: Array[String] = []
	for index in arena.spawns.size():
		_check_room(arena.spawns[index], DojoFields.new({}, [], "spawns[%d]" % index, errors))
	_check_opponents_apart(arena.spawns, DojoFields.new({}, [], "", errors))
	return "" if errors.is_empty() else _refuse(errors[0]).error


func _read_box(fields: DojoFields) -> void:
	var box := ArenaBox.make(
		fields.vector3("position_m"),
		fields.vector3("size_m"),
		StringName(fields.choice("kind", KINDS))
	)
	var low: Vector3 = box.position - box.size * 0.5
	var high: Vector3 = box.position + box.size * 0.5
	var half: Vector2 = _arena.size_m * 0.5 + Vector2.ONE * TOUCHING_M
	if minf(box.size.x, minf(box.size.y, box.size.z)) < MIN_EDGE_M:
		fields.fail("size_m", "every edge must be at least %s" % MIN_EDGE_M)
	if low.x < -half.x or high.x > half.x or low.z < -half.y or high.z > half.y:
		fields.fail("position_m", "the box is outside the arena")
	if low.y < -TOUCHING_M:
		fields.fail("position_m", "the box is sunk into the floor")
	if high.y > _top_m:
		fields.fail("size_m", "the box reaches above %s" % _top_m)
	for index in _arena.boxes.size():
		if box.aabb().grow(-TOUCHING_M).intersects(_arena.boxes[index].aabb()):
			fields.fail("position_m", "the box overlaps boxes[%d]" % index)
	if fields.error().is_empty():
		_arena.boxes.append(box)


func _read_spawn(fields: DojoFields) -> void:
	var area := SpawnArea.new()
	area.position = fields.vector3("position_m")
	area.size = fields.vector2("size_m")
	for role: Variant in fields.list("roles", 1, MAX_SPAWNS):
		if not role is String or not ROLES.has(role as String):
			fields.fail("roles", "must be some of " + " ".join(ROLES))
		else:
			area.roles.append(StringName(role as String))
	fields.require(area.size.x >= 0.0 and area.size.y >= 0.0, "size_m", "must not be negative")
	if fields.error().is_empty():
		_check_room(area, fields)
		_check_apart(area, fields)
		_arena.spawns.append(area)


func _check_room(area: SpawnArea, fields: DojoFields) -> void:
	var flat := Vector3(area.size.x, 0.0, area.size.y)
	var room := AABB(area.position - flat * 0.5, flat).grow(_body_m * 0.5)
	room.position.y = area.position.y + TOUCHING_M
	room.size.y = _tall_m
	var half: Vector2 = _arena.size_m * 0.5
	if maxf(-room.position.x, room.end.x) > half.x or maxf(-room.position.z, room.end.z) > half.y:
		fields.fail("position_m", "no room for a body between the area and the outer wall")
	if room.position.y < 0.0 or room.end.y > _top_m:
		fields.fail("position_m", "is not between floor and ceiling")
	var stands: bool = absf(area.position.y) <= TOUCHING_M
	for index in _arena.boxes.size():
		var box: AABB = _arena.boxes[index].aabb()
		if box.intersects(room):
			fields.fail("position_m", "a body starting here would be inside boxes[%d]" % index)
		if absf(box.end.y - area.position.y) <= TOUCHING_M:
			stands = stands or box.grow(TOUCHING_M).encloses(AABB(area.position - flat * 0.5, flat))
	fields.require(stands, "position_m", "there is no ground at that height")


func _check_apart(area: SpawnArea, fields: DojoFields) -> void:
	for index in _arena.spawns.size():
		var other: SpawnArea = _arena.spawns[index]
		var gap: Vector3 = (area.position - other.position).abs()
		var reach: Vector2 = (area.size + other.size) * 0.5
		if gap.x < reach.x and gap.z < reach.y and gap.y < _body_m:
			fields.fail("position_m", "the area overlaps spawns[%d]" % index)
		if gap.is_zero_approx():
			fields.fail("position_m", "the area is the same as spawns[%d]" % index)


## A round must not be over before it begins: somewhere a seeker and a hider have to be out of reach
## of each other, at the far ends of two areas or of one.
func _check_opponents_apart(areas: Array[SpawnArea], fields: DojoFields) -> void:
	for seeking in areas:
		for hiding in areas:
			if seeking.roles.has(&"seeker") and hiding.roles.has(&"hider"):
				var reach: Vector2 = (seeking.size + hiding.size) * 0.5
				var most: Vector3 = (seeking.position - hiding.position).abs()
				most += Vector3(reach.x, 0.0, reach.y)
				if maxf(most.x, maxf(most.y, most.z)) >= _apart_m:
					return
	fields.fail("spawns", "no area for a seeker is %s m away from one for a hider" % _apart_m)


func _refuse(reason: String) -> ArenaData:
	_arena.error = "%s: %s" % [DojoUntrustedText.quoted(_source, MOST_SOURCE), reason]
	return _arena
