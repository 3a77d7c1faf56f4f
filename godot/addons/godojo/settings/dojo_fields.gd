class_name DojoFields
extends RefCounted
## The fields of an object in JSON that strangers wrote, checked as they are read.
##
## The first fault is kept, see [method error]; from then on fields read as zero or empty, so it is
## enough to look at the error at the end.

var _fields: Dictionary = {}
var _path: String
# The same for all objects of a document.
var _errors: Array[String]


## [param value] must be an object with exactly [param keys]; [param path] names it in complaints.
func _init(
	value: Variant, keys: PackedStringArray, path: String = "", errors: Array[String] = []
) -> void:
	_path = path
	_errors = errors
	if not value is Dictionary:
		fail("", "must be an object")
		return
	_fields = value
	for key in keys:
		if not _fields.has(key):
			fail(key, "missing")
	for key: Variant in _fields:
		if not keys.has(str(key)):
			fail(DojoUntrustedText.quoted(key), "unknown key; known: " + " ".join(keys))


## The same for options, of which each has a default in [param defaults].
static func options(value: Dictionary, defaults: Dictionary) -> DojoFields:
	return new(value.merged(defaults), PackedStringArray(defaults.keys()))


## The first fault with the path of its field, or an empty text.
func error() -> String:
	return "" if _errors.is_empty() else _errors[0]


## Keeps a fault of the field [param key].
func fail(key: String, reason: String) -> void:
	if _errors.is_empty():
		var place: String = _path + ("." if _path and key else "") + key
		_errors.append("%s: %s" % [place, reason] if place else reason)


## Keeps a fault unless [param is_fine].
func require(is_fine: bool, key: String, reason: String) -> void:
	if not is_fine:
		fail(key, reason)


## A number within these limits.
func number(key: String, least: float, most: float) -> float:
	var value: Variant = _fields.get(key)
	if (value is float or value is int) and value >= least and value <= most:
		return value
	fail(key, "must be from %s to %s, not %s" % [least, most, DojoUntrustedText.quoted(value)])
	return 0.0


## A text like the regular expression [param pattern]; [param reason] says what it must be.
func text(key: String, pattern: String, reason: String) -> String:
	var value: Variant = _fields.get(key)
	if value is String and DojoUntrustedText.is_like(value as String, pattern):
		return value
	fail(key, reason)
	return ""


## One of these texts.
func choice(key: String, known: PackedStringArray) -> String:
	var value: Variant = _fields.get(key)
	if value is String and known.has(value as String):
		return value
	fail(key, "must be one of " + " ".join(known))
	return ""


## Two numbers, none beyond [param most].
func vector2(key: String, most: float = 1.0e6) -> Vector2:
	var found: Array = _numbers(key, _fields.get(key), 2, most)
	return Vector2(found[0] as float, found[1] as float)


## Three numbers, none beyond [param most].
func vector3(key: String, most: float = 1.0e6) -> Vector3:
	var found: Array = _numbers(key, _fields.get(key), 3, most)
	return Vector3(found[0] as float, found[1] as float, found[2] as float)


## A list of points in space.
func points(key: String, least: int, most: int, farthest: float = 1.0e6) -> PackedVector3Array:
	var all := PackedVector3Array()
	for point: Variant in list(key, least, most):
		var found: Array = _numbers(key, point, 3, farthest)
		all.append(Vector3(found[0] as float, found[1] as float, found[2] as float))
	return all


## A list of [param least] to [param most] entries.
func list(key: String, least: int, most: int) -> Array:
	if not _fields.get(key) is Array:
		fail(key, "must be a list")
		return []
	var entries: Array = _fields[key]
	if entries.size() >= least and entries.size() <= most:
		return entries
	fail(key, "must have %d to %d entries, not %d" % [least, most, entries.size()])
	return []


## A list of objects with exactly these keys.
func objects(key: String, least: int, most: int, keys: PackedStringArray) -> Array[DojoFields]:
	var found: Array[DojoFields] = []
	for entry: Variant in list(key, least, most):
		found.append(new(entry, keys, "%s[%d]" % [key, found.size()], _errors))
	return found


func _numbers(key: String, value: Variant, count: int, most: float) -> Array:
	if not value is Array or (value as Array).size() != count:
		fail(key, "must be a list of %d numbers" % count)
		return [0.0, 0.0, 0.0]
	for each: Variant in value as Array:
		if not (each is float or each is int) or not absf(each as float) <= most:
			var quoted: String = DojoUntrustedText.quoted(each)
			fail(key, "must hold finite numbers, not %s (limit: %s)" % [quoted, most])
			return [0.0, 0.0, 0.0]
	return value
