class_name TagSettings
extends DojoSettings
## Every number of the game of tag, typed and checked.


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
	## Top speed of a hider, and of players who are not "it".
	var hider_speed_mps: float
	## Change of a seeker's horizontal speed on the ground, and of "it".
	var seeker_acceleration_mps2: float
	## Change of a hider's horizontal speed on the ground, and of players who are not "it".
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
	## Wanted distance between opponents, at least.
	var distance_m: float
	## Wanted distance between opponents, at most.
	var farthest_m: float
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
	## For hiders, and for players who are not "it".
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


## Most agents in one world; surface.gdshaderinc says it once more for the shaders.
const MAX_AGENTS := 8
## Most rays of one agent.
const MAX_RAYS := 256

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
## Bound of positions in the observation: x and z are within 1, y is scaled by the visible walls.
var position_bound: float:
	get:
		return ceilf(maxf(arena.collider_height_m / arena.wall_height_m, 1.0))
## Bound of velocities in the observation, however agents jostle.
var velocity_bound: float:
	get:
		# Pushing across a whole body gives a push its most; who pushes may have been pushed itself.
		var others: int = agent_count() - 1
		var push_mps: float = (
			others * sqrt(2.0 * motion.push_acceleration_mps2 * others * body.size_m)
		)
		var most_mps: float = maxf(motion.seeker_speed_mps, motion.hider_speed_mps) + push_mps
		var fall: float = motion.fall_speed_mps / maxf(motion.jump_speed_mps, 1.0)
		var least_mps: float = minf(motion.seeker_speed_mps, motion.hider_speed_mps)
		return ceilf(maxf(most_mps / least_mps, maxf(fall, 1.0)))
## Rays of an agent.
var ray_count: int:
	get:
		return sight.rows.reduce(func(sum: int, row: SightRow) -> int: return sum + row.columns, 0)


## The settings as shipped.
static func load_defaults() -> TagSettings:
	var settings := TagSettings.new()
	settings.reset()
	return settings


## A copy that can be changed on its own.
func clone() -> TagSettings:
	var copy := TagSettings.new()
	copy.set_all(to_dict())
	return copy


## Number of agents in a world.
func agent_count() -> int:
	return rules.players if rules.mode == &"classic" else rules.seekers + rules.hiders


func _folder() -> String:
	return "res://games/tag"


func _check_together(values: Dictionary) -> String:
	if values["rules.seekers"] + values["rules.hiders"] > MAX_AGENTS:
		return "rules.hiders: more than %d agents in all" % MAX_AGENTS
	if absf(values["sight.eye_height_m"]) >= values["body.size_m"] * 0.5:
		return "sight.eye_height_m: the eye must be inside the body"
	var rays: int = 0
	for row: Dictionary in values["sight.rows"]:
		rays += row["columns"] as int
	return "" if rays <= MAX_RAYS else "sight.rows: more than %d rays" % MAX_RAYS
