class_name LandingSettings
extends DojoSettings
## Every number of the game of landing; docs/games/landing.md explains them.


## When a landing is good, and when a round ends.
class Rules:
	extends RefCounted
	var max_ticks: int
	var ticks_per_decision: int
	var soft_mps: float
	var rough_mps: float
	var pad_radius_m: float
	var low_altitude_m: float
	var low_speed_mps: float
	var lowest_altitude_m: float
	var observed_fuel: int


## Where rounds begin.
class Start:
	extends RefCounted
	var min_altitude_m: float
	var max_altitude_m: float
	var offset_m: float
	var drift_mps: float
	var sink_mps: float


## The spacecraft.
class Craft:
	extends RefCounted
	var mass_kg: float
	var inertia_kgm2: float
	var thrust_n: float
	var torque_nm: float
	var fuel_s: float
	var gravity_mps2: float
	var linear_damp: float
	var angular_damp: float
	var hull_radius_m: float
	var foot_radius_m: float
	var foot_out_m: float
	var foot_down_m: float


## What counts.
class Rewards:
	extends RefCounted
	var distance: float
	var slow: float
	var soft: float
	var rough: float
	var crash: float
	var pad: float
	var timeout: float
	var progress_per_m: float
	var approach: float
	var braking_per_mps: float
	var upright_per_rad: float
	var fuel_per_s: float


var rules := Rules.new()
var start := Start.new()
var craft := Craft.new()
var rewards := Rewards.new()


## The settings as shipped.
static func load_defaults() -> LandingSettings:
	var settings := LandingSettings.new()
	settings.reset()
	return settings


## Where the craft's centre is when it stands in the middle of the pad.
func pad() -> Vector3:
	return Vector3(0.0, craft.foot_down_m + craft.foot_radius_m, 0.0)


func _folder() -> String:
	return "res://games/landing"


func _check_together(values: Dictionary) -> String:
	if values["start.min_altitude_m"] > values["start.max_altitude_m"]:
		return "start.min_altitude_m must not be above start.max_altitude_m"
	return ""
