extends Node
## Runs in a plane; an episode ends when it has gone far enough, or after 60 ticks.

const FAR_M := 1.0
const LENGTH_TICKS := 60

@export var policy_name := "runner"

var place := Vector2.ZERO
var clock := 0
var move := Vector2.ZERO
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
	place += move * 0.05
	reward += move.x
	if place.length() >= FAR_M or clock >= LENGTH_TICKS:
		done = true
		reset()


func reset() -> void:
	place = Vector2.ZERO
	clock = 0
	needs_reset = false


func get_obs_space() -> Dictionary:
	return {"obs": {"size": [get_obs()["obs"].size()], "space": "box"}}


func get_action_space() -> Dictionary:
	return {"move": {"size": 2, "action_type": "continuous"}}


func get_obs() -> Dictionary:
	return {"obs": [place.x, place.y, clock]}


func set_action(action: Dictionary) -> void:
	move = Vector2(action["move"][0], action["move"][1])


func take_reward() -> float:
	var earned := reward
	reward = 0.0
	return earned


func take_done() -> bool:
	var was_done := done
	done = false
	return was_done
