class_name NavigationRewards
extends RefCounted
## What a decision was worth, by term, and how comfortable it was.

const TERMS: PackedStringArray = [
	"goal", "progress", "smooth", "comfort", "collision", "fall", "timeout", "teleport"
]

## What the last decision was worth, in the order of [constant TERMS].
var terms := PackedFloat32Array()
## Comfort at the end of the last decision.
var comfort: float = 1.0
## Decisions of this round with a comfort warning.
var warnings: int = 0
## Collisions of this round.
var collisions: int = 0

var _weights: NavigationSettings.Rewards
var _comfort: NavigationSettings.Comfort
var _settings: NavigationSettings
var _remaining_m: float
var _least_m: float
var _last_action := PackedFloat64Array([0.0, 0.0, 0.0])
# Since the last decision.
var _bumps: int
var _jumps: int


func _init(settings: NavigationSettings) -> void:
	_settings = settings
	_weights = settings.rewards
	_comfort = settings.comfort
	terms.resize(TERMS.size())


func begin_round(world: NavigationWorld) -> void:
	terms.fill(0.0)
	comfort = 1.0
	warnings = 0
	collisions = 0
	_remaining_m = world.remaining_m()
	_least_m = _remaining_m
	_last_action.fill(0.0)
	_bumps = 0
	_jumps = 0


## The walker bumped into something.
func note_collision() -> void:
	_bumps += 1
	collisions += 1


## The view jumped this often.
func note_jumps(count: int) -> void:
	_jumps += count


## The decision is over.
func settle(world: NavigationWorld) -> void:
	var remaining_m: float = world.remaining_m()
	var new_ground_m: float = maxf(_least_m - remaining_m, 0.0)
	comfort = comfort_of(world.walker, _settings)
	var warning: float = 0.0
	if comfort < _comfort.warn_below:
		warnings += 1
		warning = _weights.comfort_warning
	terms[0] = _weights.goal if world.winner == &"walker" else 0.0
	terms[1] = _weights.progress_per_m * (_remaining_m - remaining_m)
	var smooth: float = _weights.smooth + _weights.smooth_per_m * new_ground_m
	terms[2] = smooth * _smoothness(world.walker.action)
	var comfortable: float = _weights.comfort + _weights.comfort_per_m * new_ground_m
	terms[3] = comfortable * comfort + warning
	terms[4] = _weights.collision * _bumps
	terms[5] = _weights.fall if world.winner == &"gap" else 0.0
	terms[6] = _weights.timeout if world.winner == &"clock" else 0.0
	terms[7] = _weights.teleport * _jumps
	_remaining_m = remaining_m
	_least_m = minf(_least_m, remaining_m)
	_bumps = 0
	_jumps = 0
	for number in 3:
		_last_action[number] = world.walker.action[number]


## How comfortable it is to be [param walker] now, from 0 to 1.
static func comfort_of(walker: Walker, settings: NavigationSettings) -> float:
	var limits: NavigationSettings.Comfort = settings.comfort
	var felt: float = 1.0
	if settings.motion.turn == "smooth" and absf(walker.smoothed[2]) > limits.turn_share:
		felt -= limits.turn_loss
	var speed_mps: float = Vector2(walker.velocity.x, walker.velocity.z).length()
	if speed_mps > limits.speed_share * settings.motion.speed_mps:
		felt -= limits.speed_loss
	if absf(walker.roll_rad) > limits.roll_rad:
		felt -= limits.roll_loss
	return felt


func _smoothness(action: PackedFloat64Array) -> float:
	var change: float = 0.0
	for number in 3:
		change += absf(action[number] - _last_action[number])
	return maxf(0.0, 1.0 - change * 0.5)
