class_name TagSettings
extends RefCounted
## Every number of the game of tag, typed and checked.
##
## The defaults live in [code]settings.json[/code] and nowhere else. Single values are changed with
## [method apply_override]; whole structures come and go as a [Dictionary] of the same shape as the
## file.


## How a round is played.
class Rules:
	extends RefCounted
	## [code]hide_and_seek[/code] or [code]classic[/code].
	var mode: StringName
	## Seekers in hide and seek.
	var seekers: int
	## Hiders in hide and seek.
	var hiders: int
	## Players in classic tag.
	var players: int
	## Length of a round of hide and seek.
	var round_s: float
	## Length of a round of classic tag.
	var classic_round_s: float
	## How long both parties of a classic tag can neither tag nor be tagged.
	var immunity_s: float
	## Gap between two bodies that still counts as a touch.
	var touch_reach_m: float
	## Physics ticks from one action to the next.
	var ticks_per_decision: int


## The agents' bodies.
class Body:
	extends RefCounted
	## Edge of the cube.
	var size_m: float


## How agents move.
class Motion:
	extends RefCounted
	## Top speed of a seeker, and of "it".
	var seeker_speed_mps: float
	## Top speed of a hider, and of whoever is not "it".
	var hider_speed_mps: float
	## Change of a seeker's horizontal speed on the ground, and of "it".
	var seeker_acceleration_mps2: float
	## Change of a hider's horizontal speed on the ground, and of whoever is not "it".
	var hider_acceleration_mps2: float
	## Change of horizontal speed in the air.
	var air_acceleration_mps2: float
	## Change of horizontal speed on the ground when there is no wish to move.
	var deceleration_mps2: float
	## How fast the heading follows the wish.
	var turn_rate_radps: float
	## Pull downwards.
	var gravity_mps2: float
	## Speed upwards at the start of a jump.
	var jump_speed_mps: float
	## Nobody falls faster.
	var fall_speed_mps: float
	## How long after leaving the ground a jump is still possible.
	var coyote_s: float
	## A wish shorter than this is no wish.
	var dead_zone: float
	## How strongly overlapping bodies that cannot tag each other drift apart.
	var push_acceleration_mps2: float
	## Gap that a stopped body keeps from what stopped it.
	var skin_m: float


## A row of rays.
class SightRow:
	extends RefCounted
	## Angle above the horizon.
	var elevation_deg: float
	## Rays, spread evenly over the field of view.
	var columns: int


## The agents' eyes.
class SightCone:
	extends RefCounted
	## Angle between the outermost rays of a row.
	var fov_deg: float
	## Length of a ray.
	var range_m: float
	## Height of the eye above the body's centre.
	var eye_height_m: float
	## The rays, row by row.
	var rows: Array[SightRow] = []


## Where rounds begin.
class Spawns:
	extends RefCounted
	## Wanted distance between opponents.
	var distance_m: float
	## Random placings looked at before the best one is taken.
	var tries: int


## Weights of the four terms of one role's reward.
class RewardWeights:
	extends RefCounted
	## Per metre by which the nearest opponent got farther away.
	var distance_per_m: float
	## Per decision.
	var time_per_decision: float
	## Per tag made (seeker) or suffered (hider).
	var tag: float
	## Once, when the clock runs out.
	var survival: float


## Weights for both roles.
class Rewards:
	extends RefCounted
	## For seekers, and for "it".
	var seeker := RewardWeights.new()
	## For hiders, and for whoever is not "it".
	var hider := RewardWeights.new()


## What all arenas share.
class ArenaShell:
	extends RefCounted
	## Visible height of the outer walls; scales heights in the observation.
	var wall_height_m: float
	## Height of the solid outer walls, and of the ceiling that nobody sees.
	var collider_height_m: float
	## Thickness of floor, ceiling and outer walls.
	var thickness_m: float


## Where the defaults live.
const DEFAULTS_PATH := "res://games/tag/settings.json"

## How a round is played.
var rules := Rules.new()
## The agents' bodies.
var body := Body.new()
## How agents move.
var motion := Motion.new()
## The agents' eyes.
var sight := SightCone.new()
## Where rounds begin.
var spawns := Spawns.new()
## What counts.
var rewards := Rewards.new()
## What all arenas share.
var arena := ArenaShell.new()
## Rays of an agent.
var ray_count: int:
	get:
		return sight.rows.reduce(func(sum: int, row: SightRow) -> int: return sum + row.columns, 0)


## The settings as shipped.
static func load_defaults() -> TagSettings:
	var settings := TagSettings.new()
	var json: DojoSafeJson = DojoSafeJson.read(FileAccess.get_file_as_string(DEFAULTS_PATH))
	var complaint: String = json.error if json.error else settings.set_all(json.data)
	assert(complaint.is_empty(), "%s: %s" % [DEFAULTS_PATH, complaint])
	return settings


## Takes over all values from [param source], shaped like the file of defaults. Returns what is
## wrong with it, or an empty text; then, and only then, the values have changed.
func set_all(source: Variant) -> String:
	if not source is Dictionary:
		return "settings must be an object"
	var values: Dictionary = {}
	var complaint: String = SettingsSchema.flatten(source as Dictionary, values)
	if complaint.is_empty():
		complaint = SettingsSchema.check_all(values)
	if complaint.is_empty():
		for path: String in values:
			_write(path, values[path])
	return complaint


## Changes one value, as in [code]motion.gravity_mps2=20[/code]. Returns what is wrong, or an empty
## text.
func apply_override(text: String) -> String:
	var cut: int = text.find("=")
	if cut < 1:
		return "%s: an override looks like motion.gravity_mps2=20" % DojoUntrustedText.quoted(text)
	var path: String = text.left(cut).strip_edges()
	var word: String = text.substr(cut + 1).strip_edges()
	var json: DojoSafeJson = DojoSafeJson.read(word)
	var value: Variant = json.data if json.error.is_empty() else word
	var values: Dictionary = _flat()
	if not values.has(path):
		return SettingsSchema.unknown(path)
	values[path] = value
	var complaint: String = SettingsSchema.check_all(values)
	if complaint.is_empty():
		_write(path, values[path])
	return complaint


## All values, shaped like the file of defaults.
func to_dict() -> Dictionary:
	var tree: Dictionary = {}
	var values: Dictionary = _flat()
	for path: String in values:
		var branch: Dictionary = tree
		var parts: PackedStringArray = path.split(".")
		for part in parts.slice(0, -1):
			branch = branch.get_or_add(part, {})
		branch[parts[-1]] = values[path]
	return tree


## A copy that can be changed on its own.
func clone() -> TagSettings:
	var copy := TagSettings.new()
	copy.set_all(to_dict())
	return copy


## Number of agents in a world.
func agent_count() -> int:
	return rules.players if rules.mode == &"classic" else rules.seekers + rules.hiders


func _flat() -> Dictionary:
	var values: Dictionary = {}
	for path: String in SettingsSchema.limits:
		values[path] = _owner_of(path).get(path.get_slice(".", path.get_slice_count(".") - 1))
	values["rules.mode"] = String(rules.mode)
	var rows: Array[Dictionary] = []
	for row in sight.rows:
		rows.append({"elevation_deg": row.elevation_deg, "columns": row.columns})
	values["sight.rows"] = rows
	return values


func _write(path: String, value: Variant) -> void:
	if path == "sight.rows":
		sight.rows.clear()
		for source: Dictionary in value:
			var row := SightRow.new()
			row.elevation_deg = source["elevation_deg"]
			row.columns = source["columns"]
			sight.rows.append(row)
		return
	_owner_of(path).set(path.get_slice(".", path.get_slice_count(".") - 1), value)


func _owner_of(path: String) -> RefCounted:
	var owner: RefCounted = self
	for part in path.split(".").slice(0, -1):
		owner = owner.get(part)
	return owner
