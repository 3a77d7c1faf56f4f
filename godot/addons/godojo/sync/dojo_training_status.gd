class_name DojoTrainingStatus
extends RefCounted
## How a training goes, as its server reports it once a second: [signal DojoSync.training_reported].

## Most roles, and most points of a curve, that are read.
const MAX_ROLES := 8
const MAX_POINTS := 1024

## What the trainer does: [code]preparing[/code]; in each epoch [code]playing[/code],
## [code]submitting[/code] and [code]training[/code]; at last [code]done training[/code].
var phase: String
## Who plays or learns, in words, such as the name of the run.
var title: String
## The roles that learn now.
var learns: PackedStringArray = []
## Rollouts that have been trained on so far.
var epoch: int
## Rounds that have ended in the training.
var episode: int
## Seconds of training.
var seconds: float
## How much of the training is over, from 0 to 1.
var progress: float
## Decisions of all agents per second.
var steps_per_s: float
## Of each role, the share of the latest rounds that it has won.
var win_rates: Dictionary[String, float] = {}
## Of each role, the mean reward of its latest rounds.
var rewards: Dictionary[String, float] = {}
## When the points of [member curves] were measured, in seconds of training.
var curve_s: PackedFloat32Array = []
## Of each role, its win rates at these times.
var curves: Dictionary[String, PackedFloat32Array] = {}
## Of each role, its mean rewards at these times.
var reward_curves: Dictionary[String, PackedFloat32Array] = {}


## What a message says, as far as it can be understood: it comes from outside.
static func read(message: Dictionary) -> DojoTrainingStatus:
	var status: DojoTrainingStatus = new()
	status.phase = _text(message.get("phase"), 32)
	status.title = _text(message.get("title"), 64)
	if message.get("learns") is Array:
		for role: Variant in (message["learns"] as Array).slice(0, MAX_ROLES):
			status.learns.append(_text(role, 32))
	status.epoch = int(clampf(_number(message.get("epoch")), 0.0, 1e15))
	status.episode = int(clampf(_number(message.get("episode")), 0.0, 1e15))
	status.seconds = maxf(_number(message.get("seconds")), 0.0)
	status.progress = clampf(_number(message.get("progress")), 0.0, 1.0)
	status.steps_per_s = maxf(_number(message.get("steps_per_s")), 0.0)
	var rates: Dictionary = _object(message.get("win_rates"))
	for role: String in rates.keys().slice(0, MAX_ROLES):
		status.win_rates[role.left(32)] = clampf(_number(rates[role]), 0.0, 1.0)
	var means: Dictionary = _object(message.get("rewards"))
	for role: String in means.keys().slice(0, MAX_ROLES):
		status.rewards[role.left(32)] = _number(means[role])
	var curve: Dictionary = _object(message.get("curve"))
	status.curve_s = _numbers(curve.get("seconds"))
	status.curves = status._lines(curve.get("win_rates"))
	status.reward_curves = status._lines(curve.get("rewards"))
	return status


## Curves by role, of as many points as [member curve_s].
func _lines(value: Variant) -> Dictionary[String, PackedFloat32Array]:
	var found: Dictionary[String, PackedFloat32Array] = {}
	var lines: Dictionary = _object(value)
	for role: String in lines.keys().slice(0, MAX_ROLES):
		var line: PackedFloat32Array = _numbers(lines[role])
		if line.size() == curve_s.size():
			found[role.left(32)] = line
	return found


static func _text(value: Variant, length: int) -> String:
	return (value as String).left(length) if value is String else ""


static func _number(value: Variant) -> float:
	return float(value) if (value is float or value is int) and is_finite(float(value)) else 0.0


static func _object(value: Variant) -> Dictionary:
	return value if value is Dictionary else {}


static func _numbers(value: Variant) -> PackedFloat32Array:
	var numbers: PackedFloat32Array = []
	if value is Array:
		for number: Variant in (value as Array).slice(0, MAX_POINTS):
			numbers.append(_number(number))
	return numbers
