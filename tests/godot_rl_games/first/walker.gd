extends Node
## Walks along a line as it is told; an episode has 40 ticks, and ends itself.

const LENGTH_TICKS := 40

var place := 0.0
var clock := 0
var steer := 0.0
var jump := 0
var reward := 0.0
var done := false
var needs_reset := false


func _ready() -> void:
	add_to_group("AGENT")


func _physics_process(_delta: float) -> void:
	if needs_reset:
		reset()
		return
	clock += 1
	place += steer * 0.01
	reward += 0.1 + jump
	if clock >= LENGTH_TICKS:
		done = true
		reset()


func reset() -> void:
	place = 0.0
	clock = 0
	needs_reset = false


func get_obs_space() -> Dictionary:
	return {"obs": {"size": [4.0], "space": "box"}, "level": {"size": 3.0, "space": "discrete"}}


func get_action_space() -> Dictionary:
	return {
		"steer": {"size": 1.0, "action_type": "continuous"},
		"jump": {"size": 2.0, "action_type": "discrete"},
	}


func get_obs() -> Dictionary:
	return {"obs": [place, clock / 100.0, place > 0.0, jump], "level": clock % 3}


func set_action(action: Dictionary) -> void:
	steer = action["steer"][0]
	jump = int(action["jump"])


func take_reward() -> float:
	var earned := reward
	reward = 0.0
	return earned


func take_done() -> bool:
	var was_done := done
	done = false
	return was_done
