class_name SettingsSchema
extends RefCounted
## What each setting of tag may be: its type and its limits.

## Most agents in one world; surface.gdshaderinc says it once more for the shaders.
const MAX_AGENTS := 8
## Most rays of one agent.
const MAX_RAYS := 256
## Rules a round can be played by.
const MODES: PackedStringArray = ["hide_and_seek", "classic"]
## Settings that are no single number, and have checks of their own.
const MODE := "rules.mode"
const ROWS := "sight.rows"
## Settings that must be whole numbers.
const WHOLE: PackedStringArray = [
	"rules.seekers", "rules.hiders", "rules.players", "rules.ticks_per_decision", "spawns.tries"
]
## Where the limits live; the twin in Python reads the same file.
const LIMITS_PATH := "res://games/tag/settings_limits.json"

## Path of every setting: its least and its greatest value, nothing where it is no single number.
static var limits: Dictionary = _read_limits()


## Spreads a tree of settings into [param values], keyed by path. Returns what is wrong, or an empty
## text.
static func flatten(tree: Dictionary, values: Dictionary, prefix: String = "") -> String:
	for key: Variant in tree:
		if not key is String:
			return "settings: the key %s is no text" % DojoUntrustedText.quoted(key)
		var path: String = prefix + (key as String)
		var value: Variant = tree[key]
		if value is Dictionary and path.count(".") < 2:
			var complaint: String = flatten(value as Dictionary, values, path + ".")
			if not complaint.is_empty():
				return complaint
		elif limits.has(path):
			values[path] = value
		else:
			return unknown(path)
	return ""


## Checks that [param values] has every setting, each within its limits, and turns whole numbers
## into integers. Returns what is wrong, or an empty text.
static func check_all(values: Dictionary) -> String:
	for path: String in limits:
		if not values.has(path):
			return "%s: missing" % path
		var complaint: String = _check(path, values)
		if not complaint.is_empty():
			return "%s: %s" % [path, complaint]
	if values["rules.seekers"] + values["rules.hiders"] > MAX_AGENTS:
		return "rules.hiders: more than %d agents in all" % MAX_AGENTS
	if absf(values["sight.eye_height_m"]) >= values["body.size_m"] * 0.5:
		return "sight.eye_height_m: the eye must be inside the body"
	return ""


## The answer to a setting that does not exist.
static func unknown(path: String) -> String:
	var section: String = path.get_slice(".", 0)
	var known: PackedStringArray = []
	for candidate: String in limits:
		if candidate.begins_with(section + "."):
			known.append(candidate)
	if known.is_empty():
		known = ["rules", "body", "motion", "sight", "spawns", "rewards", "arena"]
	var asked: String = DojoUntrustedText.quoted(path)
	return "%s: no such setting; known: %s" % [asked, " ".join(known)]


static func _read_limits() -> Dictionary:
	var found: Dictionary = JSON.parse_string(FileAccess.get_file_as_string(LIMITS_PATH))
	found[MODE] = []
	found[ROWS] = []
	return found


static func _check(path: String, values: Dictionary) -> String:
	var value: Variant = values[path]
	match path:
		MODE:
			if not value is String or not MODES.has(value as String):
				return (
					"must be one of %s, not %s"
					% [", ".join(MODES), DojoUntrustedText.quoted(value)]
				)
			return ""
		ROWS:
			return _check_rows(value)
	return _check_number(limits[path] as Array, WHOLE.has(path), path, values)


static func _check_number(
	least_and_most: Array, is_whole: bool, path: String, values: Dictionary
) -> String:
	var value: Variant = values[path]
	if not (value is float or value is int) or not is_finite(value as float):
		return "must be a number, not %s" % DojoUntrustedText.quoted(value)
	var number: float = value
	if number < least_and_most[0] or number > least_and_most[1]:
		return "must be from %s to %s, not %s" % [least_and_most[0], least_and_most[1], value]
	if is_whole and number != floorf(number):
		return "must be a whole number, not %s" % DojoUntrustedText.quoted(value)
	values[path] = int(number) if is_whole else number
	return ""


static func _check_rows(value: Variant) -> String:
	if not value is Array or (value as Array).is_empty():
		return "must be a list of rows"
	var rays: int = 0
	for row: Variant in value as Array:
		if not row is Dictionary:
			return "a row must be an object"
		var fields: Dictionary = row
		if fields.size() != 2 or not fields.has_all(["elevation_deg", "columns"]):
			return "a row has exactly elevation_deg and columns"
		for complaint: String in [
			_check_number([-89.0, 89.0], false, "elevation_deg", fields),
			_check_number([1, MAX_RAYS], true, "columns", fields),
		]:
			if not complaint.is_empty():
				return complaint
		rays += fields["columns"] as int
	return "" if rays <= MAX_RAYS else "more than %d rays" % MAX_RAYS
