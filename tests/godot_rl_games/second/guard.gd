extends Node
## Looks one of four ways and pushes; sees more than it declares; never ends.

@export var policy_name := "guard"

var look := 0
var push := 0.0
var clock := 0
var needs_reset := false


func _ready() -> void:
	add_to_group("AGENT")


func _physics_process(_delta: float) -> void:
	clock = 0 if needs_reset else clock + 1
	needs_reset = false


func get_obs_space() -> Dictionary:
	return {
		"obs": {"size": [2], "space": "box", "low": -5, "high": 5},
		"grid": {"size": [2, 2], "space": "box"},
		"way": {"size": 4, "space": "discrete"},
	}


func get_action_space() -> Dictionary:
	return {
		"look": {"size": 4, "action_type": "discrete"},
		"push": {"size": 1, "action_type": "continuous"},
		"duck": {"size": 2, "action_type": "discrete"},
	}


func get_obs() -> Dictionary:
	return {
		"not_declared": "anything",
		"way": look,
		"grid": [[look == 0, look == 1], [look == 2, look == 3]],
		"obs": [push, clock / 1000.0],
	}


func set_action(action: Dictionary) -> void:
	look = action["look"]
	push = action["push"][0] + 2 * action["duck"]


func take_reward() -> int:
	return look


func take_done() -> bool:
	return false
