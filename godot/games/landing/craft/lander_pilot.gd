class_name LanderPilot
extends DojoAgent
## Flies a [Lander]: its observation, its action and the rules of a round.
##
## [code]observation.json[/code] declares the observation; docs/games/landing.md explains it.

## How rounds end, by number.
const OUTCOMES: PackedStringArray = ["nobody", "pilot", "off_pad", "rough", "crash", "clock"]
const ACTIONS: PackedStringArray = ["thrust_x", "thrust_y", "thrust_z", "pitch", "roll"]
## The action that does nothing.
const REST: PackedFloat32Array = [0.0, -1.0, 0.0, 0.0, 0.0]
const ALTITUDE_SCALE_M := 1000.0
const SPEED_SCALE_MPS := 50.0
const DISTANCE_SCALE_M := 1000.0
const RAY_M := 100.0
## Shaping wants no more speed than even braking at [constant BRAKING_MPS2] brings down to
## [constant TOUCHDOWN_MPS] by the edge of the pad.
const TOUCHDOWN_MPS := 1.0
const BRAKING_MPS2 := 3.0

static var layout := DojoObservationLayout.read("res://games/landing/observation.json")

## Number of how the last round ended, see [constant OUTCOMES].
var outcome: int = 0
## Physics ticks since the round began.
var ticks: int = 0

var _potential: float = 0.0
var _ray := PhysicsRayQueryParameters3D.new()

@onready var lander: Lander = get_parent()


func _ready() -> void:
	_ray.collision_mask = LandingTerrain.LAYER


func _physics_process(_delta: float) -> void:
	settle()
	if not is_over() and not lander.freeze:
		lander.push()


func observation_parts() -> Array[Dictionary]:
	var parts: Array[Dictionary] = layout.parts(lander.settings)
	return parts.slice(0, parts.size() - 1 + lander.settings.rules.observed_fuel)


func action_parts() -> Array[Dictionary]:
	var parts: Array[Dictionary] = []
	for place in ACTIONS.size():
		parts.append(DojoObservationLayout.move(ACTIONS[place], 1, REST[place]))
	return parts


func observe() -> PackedFloat32Array:
	var at: Vector3 = lander.pose.origin
	var basis: Basis = lander.pose.basis
	var away_m: float = lander.pad_distance()
	var way: Vector3 = (lander.settings.pad() - at) / maxf(away_m, 1e-6)
	var velocity: Vector3 = lander.velocity / SPEED_SCALE_MPS
	var numbers: PackedFloat32Array = [
		at.y / ALTITUDE_SCALE_M,
		velocity.x,
		velocity.y,
		velocity.z,
		lander.spin.x,
		lander.spin.y,
		lander.spin.z,
		asin(clampf(-basis.z.y, -1.0, 1.0)) / PI,
		atan2(basis.x.y, basis.y.y) / PI,
		way.x,
		way.y,
		way.z,
		away_m / DISTANCE_SCALE_M,
		ground_distance() / RAY_M,
	]
	if lander.settings.rules.observed_fuel:
		numbers.append(lander.fuel_left())
	return numbers


## How far the ground is, straight down; [constant RAY_M] if it is farther.
func ground_distance() -> float:
	_ray.from = lander.pose.origin
	_ray.to = lander.pose.origin + Vector3.DOWN * RAY_M
	var met: Dictionary = lander.get_world_3d().direct_space_state.intersect_ray(_ray)
	return RAY_M if met.is_empty() else _ray.from.y - (met["position"] as Vector3).y


func apply_action(action: PackedFloat32Array) -> void:
	var wanted := Vector3(action[0], 0.5 * (1.0 + action[1]), action[2])
	lander.thrust = wanted.limit_length(1.0)
	lander.torque = Vector3(action[3], 0.0, action[4]) * lander.settings.craft.torque_nm


func human_action() -> PackedFloat32Array:
	return [
		_keys(KEY_A, KEY_D),
		1.0 if Input.is_physical_key_pressed(KEY_SPACE) else -1.0,
		_keys(KEY_W, KEY_S),
		_keys(KEY_UP, KEY_DOWN),
		_keys(KEY_RIGHT, KEY_LEFT),
	]


func reset() -> void:
	var start: LandingSettings.Start = lander.settings.start
	var at := Vector3(
		chance.randf_range(-start.offset_m, start.offset_m),
		chance.randf_range(start.min_altitude_m, start.max_altitude_m),
		chance.randf_range(-start.offset_m, start.offset_m)
	)
	var velocity := Vector3(
		chance.randf_range(-start.drift_mps, start.drift_mps),
		chance.randf_range(-start.sink_mps, 0.0),
		chance.randf_range(-start.drift_mps, start.drift_mps)
	)
	lander.begin(at, velocity)
	outcome = 0
	ticks = 0
	_potential = _potential_now()


## Counts the physics tick that has passed, if one has.
func settle() -> void:
	var fuel_s: float = lander.fuel_s
	if is_over() or not lander.settle():
		return
	ticks += 1
	var rules: LandingSettings.Rules = lander.settings.rules
	var rewards: LandingSettings.Rewards = lander.settings.rewards
	var away_m: float = lander.pad_distance()
	add_reward(rewards.fuel_per_s * (fuel_s - lander.fuel_s), "fuel")
	add_reward(rewards.distance / maxf(away_m, 1.0), "distance")
	if (
		lander.pose.origin.y < rules.low_altitude_m
		and absf(lander.velocity.y) < rules.low_speed_mps
	):
		add_reward(rewards.slow, "slow")
	var potential: float = _potential_now()
	add_reward(potential - _potential, "shaping")
	_potential = potential
	score = lander.fuel_left()
	if lander.has_landed:
		_touch_down(away_m <= rules.pad_radius_m)
	elif lander.pose.origin.y < rules.lowest_altitude_m:
		add_reward(rewards.crash, "touchdown")
		_end("crash")
	elif ticks >= rules.max_ticks:
		add_reward(rewards.timeout, "timeout")
		_end("clock")


func _touch_down(is_on_pad: bool) -> void:
	var rules: LandingSettings.Rules = lander.settings.rules
	var rewards: LandingSettings.Rewards = lander.settings.rewards
	var speed_mps: float = lander.velocity.length()
	if is_on_pad:
		add_reward(rewards.pad, "pad")
	if speed_mps < rules.soft_mps:
		add_reward(rewards.soft, "touchdown")
		_end("pilot" if is_on_pad else "off_pad")
	elif speed_mps < rules.rough_mps:
		add_reward(rewards.rough, "touchdown")
		_end("rough")
	else:
		add_reward(rewards.crash, "touchdown")
		_end("crash")


func _end(how: String) -> void:
	outcome = OUTCOMES.find(how)
	end_episode(how == "pilot")


## What shaping rewards the change of: near the pad, slow enough to stop there and upright are
## better.
func _potential_now() -> float:
	var rewards: LandingSettings.Rewards = lander.settings.rewards
	var away_m: float = lander.pad_distance()
	var tilt_rad: float = acos(clampf(lander.pose.basis.y.y, -1.0, 1.0))
	var brakes_m: float = maxf(away_m - lander.settings.rules.pad_radius_m, 0.0)
	var most_mps: float = TOUCHDOWN_MPS + sqrt(2.0 * BRAKING_MPS2 * brakes_m)
	return -(
		rewards.progress_per_m * away_m
		+ rewards.approach * log(1.0 + away_m)
		+ rewards.braking_per_mps * maxf(lander.velocity.length() - most_mps, 0.0)
		+ rewards.upright_per_rad * tilt_rad
	)


static func _keys(less: Key, more: Key) -> float:
	return float(Input.is_physical_key_pressed(more)) - float(Input.is_physical_key_pressed(less))
