class_name NavigationSettings
extends RefCounted
## Every number of the game of navigation, typed and checked.
##
## The defaults live in [code]settings.json[/code], the limits in [code]settings_limits.json[/code],
## and nowhere else; the twin in Python reads the same files. What each number means is told in
## docs/games/navigation.md.


## How a round is played.
class Rules:
	extends RefCounted
	var round_s: float
	var ticks_per_decision: int
	var goal_within_m: float
	var mark_radius_m: float
	var mark_height_m: float
	var fall_below_m: float
	var collision_again_s: float


## How the walker moves.
class Motion:
	extends RefCounted
	var turn: String
	var speed_mps: float
	var turn_rate_degps: float
	var smoothing_s: float
	var snap_deg: float
	var gravity_mps2: float
	var fall_speed_mps: float
	var body_m: float
	var step_up_m: float
	var skin_m: float


## Where head and hands are.
class Rig:
	extends RefCounted
	var eye_height_m: float
	var lean_rad: float
	var hand_side_m: float
	var hand_height_m: float
	var hand_ahead_m: float
	var swing_m: float
	var lift_m: float
	var stride_radpm: float


## The rays.
class Sight:
	extends RefCounted
	var height_m: float
	var range_m: float
	## Rows of rays: [code]elevation_deg[/code], [code]fov_deg[/code], [code]columns[/code].
	var rows: Array


## What comfort loses, and from where on.
class Comfort:
	extends RefCounted
	var turn_share: float
	var turn_loss: float
	var speed_share: float
	var speed_loss: float
	var roll_rad: float
	var roll_loss: float
	var warn_below: float


## What counts.
class Rewards:
	extends RefCounted
	var goal: float
	var progress_per_m: float
	var smooth_per_m: float
	var comfort_per_m: float
	var comfort_warning: float
	var collision: float
	var fall: float
	var timeout: float
	var teleport: float


const DEFAULTS_PATH := "res://games/navigation/settings.json"
const LIMITS_PATH := "res://games/navigation/settings_limits.json"
## The sections, by name.
const SECTIONS: PackedStringArray = ["rules", "motion", "rig", "sight", "comfort", "rewards"]
## How a walker can turn.
const TURNS: PackedStringArray = ["smooth", "snap"]
## An observation has room for so many.
const RAYS := 16
const _TURN := "motion.turn"
const _ROWS := "sight.rows"
const _WHOLE := "rules.ticks_per_decision"

## Path of every setting that is a number: its least and its greatest value.
static var limits: Dictionary = JSON.parse_string(FileAccess.get_file_as_string(LIMITS_PATH))

var rules := Rules.new()
var motion := Motion.new()
var rig := Rig.new()
var sight := Sight.new()
var comfort := Comfort.new()
var rewards := Rewards.new()


## The settings as shipped.
static func load_defaults() -> NavigationSettings:
	var settings := NavigationSettings.new()
	var json: DojoSafeJson = DojoSafeJson.read(FileAccess.get_file_as_string(DEFAULTS_PATH))
	var complaint: String = json.error if json.error else settings.set_all(json.data)
	assert(complaint.is_empty(), "%s: %s" % [DEFAULTS_PATH, complaint])
	return settings


## Takes over all values from [param source], shaped like the file of defaults. Returns what is
## wrong with it, or an empty text; then, and only then, the values have changed.
func set_all(source: Variant) -> String:
	if not source is Dictionary:
		return "settings: must be an object"
	var values: Dictionary = {}
	var tree: Dictionary = source
	for section: Variant in tree:
		if not section is String or not SECTIONS.has(section as String):
			return "settings: no such section %s" % DojoUntrustedText.quoted(section)
		if not tree[section] is Dictionary:
			return "settings: %s must be an object" % section
		var fields: Dictionary = tree[section]
		for key: Variant in fields:
			values["%s.%s" % [section, key]] = fields[key]
	return _take(values)


## Changes one value, as in [code]motion.speed_mps=1.5[/code]. Returns what is wrong, or an empty
## text.
func apply_override(text: String) -> String:
	var cut: int = text.find("=")
	if cut < 1:
		return "%s: an override looks like motion.speed_mps=1.5" % DojoUntrustedText.quoted(text)
	var path: String = text.left(cut).strip_edges()
	var word: String = text.substr(cut + 1).strip_edges()
	var json: DojoSafeJson = DojoSafeJson.read(word)
	var values: Dictionary = _flat()
	values[path] = json.data if json.error.is_empty() else word
	return _take(values)


## All values, shaped like the file of defaults.
func to_dict() -> Dictionary:
	var tree: Dictionary = {}
	var values: Dictionary = _flat()
	for path: String in values:
		var section: Dictionary = tree.get_or_add(path.get_slice(".", 0), {})
		section[path.get_slice(".", 1)] = values[path]
	return tree


## Ticks of a round.
func round_ticks() -> int:
	return maxi(roundi(rules.round_s / Walker.TICK_S), 1)


func _take(values: Dictionary) -> String:
	var known: Array = limits.keys() + [_TURN, _ROWS]
	for path: String in values:
		if not known.has(path):
			return (
				"%s: no such setting; known: %s" % [DojoUntrustedText.quoted(path), " ".join(known)]
			)
	for path: String in known:
		if not values.has(path):
			return "%s: missing" % path
		var complaint: String = _complaint_about(path, values[path])
		if not complaint.is_empty():
			return "%s: %s" % [path, complaint]
	for path: String in values:
		(get(path.get_slice(".", 0)) as RefCounted).set(path.get_slice(".", 1), values[path])
	return ""


func _flat() -> Dictionary:
	var values: Dictionary = {}
	for path: String in limits.keys() + [_TURN, _ROWS]:
		values[path] = (get(path.get_slice(".", 0)) as RefCounted).get(path.get_slice(".", 1))
	return values


static func _complaint_about(path: String, value: Variant) -> String:
	match path:
		_TURN:
			if not value is String or not TURNS.has(value as String):
				return (
					"must be one of %s, not %s"
					% [", ".join(TURNS), DojoUntrustedText.quoted(value)]
				)
			return ""
		_ROWS:
			return _complaint_about_rows(value)
	var between: Array = limits[path]
	var complaint: String = _unless_between(value, between[0] as float, between[1] as float)
	if complaint.is_empty() and path == _WHOLE and value != floorf(value as float):
		return "must be a whole number, not %s" % DojoUntrustedText.quoted(value)
	return complaint


static func _complaint_about_rows(value: Variant) -> String:
	if not value is Array:
		return "must be a list of rows"
	var rays: int = 0
	for row: Variant in value as Array:
		if not row is Dictionary or (row as Dictionary).size() != 3:
			return "a row has exactly elevation_deg, fov_deg and columns"
		var fields: Dictionary = row
		for complaint: String in [
			_unless_between(fields.get("elevation_deg"), -89.0, 89.0),
			_unless_between(fields.get("fov_deg"), 1.0, 360.0),
			_unless_between(fields.get("columns"), 1, RAYS),
		]:
			if not complaint.is_empty():
				return complaint
		if fields["columns"] != floorf(fields["columns"] as float):
			return "columns must be a whole number"
		rays += int(fields["columns"] as float)
	return "" if rays == RAYS else "there must be %d rays, not %d" % [RAYS, rays]


static func _unless_between(value: Variant, least: float, most: float) -> String:
	if not (value is float or value is int) or not is_finite(value as float):
		return "must be a number, not %s" % DojoUntrustedText.quoted(value)
	if value < least or value > most:
		return "must be from %s to %s, not %s" % [least, most, DojoUntrustedText.quoted(value)]
	return ""
