class_name NavigationSettings
extends DojoSettings
## Every number of the game of navigation; docs/games/navigation.md explains them.


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
	var teleport_m: float
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


## A row of rays.
class SightRow:
	extends RefCounted
	var elevation_deg: float
	var fov_deg: float
	var columns: int


## The rays.
class Sight:
	extends RefCounted
	var height_m: float
	var range_m: float
	var rows: Array[SightRow] = []


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
	var smooth: float
	var smooth_per_m: float
	var comfort: float
	var comfort_per_m: float
	var comfort_warning: float
	var collision: float
	var fall: float
	var timeout: float
	var teleport: float


var rules := Rules.new()
var motion := Motion.new()
var rig := Rig.new()
var sight := Sight.new()
var comfort := Comfort.new()
var rewards := Rewards.new()


## The settings as shipped.
static func load_defaults() -> NavigationSettings:
	var settings := NavigationSettings.new()
	settings.reset()
	return settings


## Ticks of a round.
func round_ticks() -> int:
	return maxi(roundi(rules.round_s / Walker.TICK_S), 1)


func _folder() -> String:
	return "res://games/navigation"


func _check_together(values: Dictionary) -> String:
	var room: int = NavigationObservation.layout.width("rays")
	var rays: int = 0
	for row: Dictionary in values["sight.rows"]:
		rays += row["columns"] as int
	return "" if rays == room else "sight.rows: there must be %d rays, not %d" % [room, rays]
