class_name SettingsSchema
extends RefCounted
## What each setting of tag may be: its type and its limits.

## Most agents in one world.
const MAX_AGENTS := 8
## Most rays of one agent.
const MAX_RAYS := 256
## Rules a round can be played by.
const MODES: PackedStringArray = ["hide_and_seek", "classic"]
## Path of a setting: its type, its least and its greatest value. Texts and lists have checks of
## their own.
const LIMITS: Dictionary = {
	"rules.mode": [TYPE_STRING],
	"rules.seekers": [TYPE_INT, 1, 7],
	"rules.hiders": [TYPE_INT, 1, 7],
	"rules.players": [TYPE_INT, 2, 8],
	"rules.round_s": [TYPE_FLOAT, 0.1, 3600.0],
	"rules.classic_round_s": [TYPE_FLOAT, 0.1, 3600.0],
	"rules.immunity_s": [TYPE_FLOAT, 0.0, 60.0],
	"rules.touch_reach_m": [TYPE_FLOAT, 0.003, 0.09],
	"rules.ticks_per_decision": [TYPE_INT, 1, 60],
	"body.size_m": [TYPE_FLOAT, 0.3, 1.5],
	"motion.seeker_speed_mps": [TYPE_FLOAT, 0.1, 60.0],
	"motion.hider_speed_mps": [TYPE_FLOAT, 0.1, 60.0],
	"motion.ground_acceleration_mps2": [TYPE_FLOAT, 0.1, 10000.0],
	"motion.air_acceleration_mps2": [TYPE_FLOAT, 0.0, 10000.0],
	"motion.deceleration_mps2": [TYPE_FLOAT, 0.1, 10000.0],
	"motion.turn_rate_radps": [TYPE_FLOAT, 0.1, 1000.0],
	"motion.gravity_mps2": [TYPE_FLOAT, 1.0, 200.0],
	"motion.jump_speed_mps": [TYPE_FLOAT, 0.0, 60.0],
	"motion.fall_speed_mps": [TYPE_FLOAT, 1.0, 60.0],
	"motion.coyote_s": [TYPE_FLOAT, 0.0, 1.0],
	"motion.dead_zone": [TYPE_FLOAT, 0.0, 0.9],
	"motion.push_acceleration_mps2": [TYPE_FLOAT, 0.0, 1000.0],
	"motion.skin_m": [TYPE_FLOAT, 0.001, 0.005],
	"sight.fov_deg": [TYPE_FLOAT, 1.0, 360.0],
	"sight.range_m": [TYPE_FLOAT, 1.0, 200.0],
	"sight.eye_height_m": [TYPE_FLOAT, -0.7, 0.7],
	"sight.rows": [TYPE_ARRAY],
	"spawns.distance_m": [TYPE_FLOAT, 0.0, 100.0],
	"spawns.tries": [TYPE_INT, 1, 10000],
	"rewards.seeker.distance_per_m": [TYPE_FLOAT, -1000.0, 1000.0],
	"rewards.seeker.time_per_decision": [TYPE_FLOAT, -1000.0, 1000.0],
	"rewards.seeker.tag": [TYPE_FLOAT, -1000.0, 1000.0],
	"rewards.seeker.survival": [TYPE_FLOAT, -1000.0, 1000.0],
	"rewards.hider.distance_per_m": [TYPE_FLOAT, -1000.0, 1000.0],
	"rewards.hider.time_per_decision": [TYPE_FLOAT, -1000.0, 1000.0],
	"rewards.hider.tag": [TYPE_FLOAT, -1000.0, 1000.0],
	"rewards.hider.survival": [TYPE_FLOAT, -1000.0, 1000.0],
	"arena.wall_height_m": [TYPE_FLOAT, 0.5, 20.0],
	"arena.collider_height_m": [TYPE_FLOAT, 5.0, 200.0],
	"arena.thickness_m": [TYPE_FLOAT, 0.5, 20.0],
}


## Spreads a tree of settings into [param values], keyed by path. Returns what is wrong, or an empty
## text.
static func flatten(tree: Dictionary, values: Dictionary, prefix: String = "") -> String:
	for key: Variant in tree:
		if not key is String:
			return "settings: the key %s is no text" % key
		var path: String = prefix + (key as String)
		var value: Variant = tree[key]
		if value is Dictionary and path.count(".") < 2:
			var complaint: String = flatten(value as Dictionary, values, path + ".")
			if not complaint.is_empty():
				return complaint
		elif LIMITS.has(path):
			values[path] = value
		else:
			return unknown(path)
	return ""


## Checks that [param values] has every setting, each within its limits, and turns whole numbers
## into integers. Returns what is wrong, or an empty text.
static func check_all(values: Dictionary) -> String:
	for path: String in LIMITS:
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
	for candidate: String in LIMITS:
		if candidate.begins_with(section + "."):
			known.append(candidate)
	if known.is_empty():
		return "%s: no such setting; sections: rules body motion sight spawns rewards arena" % path
	return "%s: no such setting; known: %s" % [path, " ".join(known)]


static func _check(path: String, values: Dictionary) -> String:
	var limits: Array = LIMITS[path]
	var value: Variant = values[path]
	match limits[0]:
		TYPE_STRING:
			if not value is String or not MODES.has(value as String):
				return "must be one of %s, not %s" % [", ".join(MODES), value]
		TYPE_ARRAY:
			return _check_rows(value)
		_:
			return _check_number(limits, path, values)
	return ""


static func _check_number(limits: Array, path: String, values: Dictionary) -> String:
	var value: Variant = values[path]
	if not (value is float or value is int) or not is_finite(value as float):
		return "must be a number, not %s" % value
	var number: float = value
	if limits[0] == TYPE_INT:
		if number != floorf(number):
			return "must be a whole number, not %s" % value
		values[path] = int(number)
	else:
		values[path] = number
	if number < limits[1] or number > limits[2]:
		return "must be from %s to %s, not %s" % [limits[1], limits[2], value]
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
			_check_number([TYPE_FLOAT, -89.0, 89.0], "elevation_deg", fields),
			_check_number([TYPE_INT, 1, MAX_RAYS], "columns", fields),
		]:
			if not complaint.is_empty():
				return complaint
		rays += fields["columns"] as int
	return "" if rays <= MAX_RAYS else "more than %d rays" % MAX_RAYS
