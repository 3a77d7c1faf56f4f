class_name Pursuit
extends Node3D
## The rules: who runs how fast, and when a round is over.

var rules: Dictionary[String, float] = _read_rules()

var _ticks: int = 0

@onready var _pursuer: Runner = $Pursuer
@onready var _evader: Runner = $Evader


func _ready() -> void:
	_pursuer.other = _evader
	_evader.other = _pursuer


func reset_world(chance: RandomNumberGenerator) -> void:
	_ticks = 0
	for runner: Runner in [_pursuer, _evader]:
		runner.place_m = (
			Vector2(chance.randf_range(-1, 1), chance.randf_range(-1, 1)) * rules["half_m"]
		)


func time_left() -> float:
	return 1.0 - _ticks / (60.0 * rules["round_s"])


func _physics_process(_delta: float) -> void:
	var before_m: float = _pursuer.place_m.distance_to(_evader.place_m)
	_run(_pursuer, rules["pursuer_mps"])
	_run(_evader, rules["evader_mps"])
	var after_m: float = _pursuer.place_m.distance_to(_evader.place_m)
	_ticks += 1
	_reward(0.1 * (before_m - after_m), "distance")
	if after_m <= rules["reach_m"]:
		_reward(1.0, "caught")
		_end(_pursuer, _evader)
	elif time_left() <= 0.0:
		_end(_evader, _pursuer)


func _read_rules() -> Dictionary[String, float]:
	var text: String = FileAccess.get_file_as_string("res://settings.json")
	var tree: Dictionary = JSON.parse_string(text)
	return Dictionary(tree["rules"], TYPE_STRING, "", null, TYPE_FLOAT, "", null)


func _run(runner: Runner, speed_mps: float) -> void:
	var half := Vector2.ONE * rules["half_m"]
	runner.place_m = (runner.place_m + runner.wish * speed_mps / 60.0).clamp(-half, half)


func _reward(amount: float, term: String) -> void:
	_pursuer.add_reward(amount, term)
	_evader.add_reward(-amount, term)


func _end(winner: Runner, loser: Runner) -> void:
	winner.end_episode(true)
	loser.end_episode()
