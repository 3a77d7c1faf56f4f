class_name Controller
extends Node
## What the games' agents have in common: the methods that [Sync] calls, and episodes that follow
## each other.

@export var policy_name := "shared_policy"
## An episode that reaches this many ticks is over.
@export var reset_after := 480

var heuristic := "human"
var n_steps := 0
var reward := 0.0
var done := false
var needs_reset := false
var is_success := false


func _ready() -> void:
	add_to_group("AGENT")
	reset()


func _physics_process(delta: float) -> void:
	if needs_reset:
		reset()
		return
	n_steps += 1
	play(delta)
	if n_steps >= reset_after:
		finish(false)


## One tick of the game.
func play(_delta: float) -> void:
	pass


## The game's own beginning of an episode.
func begin() -> void:
	pass


func get_obs() -> Dictionary:
	return {"obs": []}


func get_action_space() -> Dictionary:
	return {}


func set_action(_action: Dictionary) -> void:
	pass


func finish(success: bool) -> void:
	done = true
	is_success = success
	reset()


func reset() -> void:
	n_steps = 0
	needs_reset = false
	begin()


func get_obs_space() -> Dictionary:
	return {"obs": {"size": [get_obs()["obs"].size()], "space": "box"}}


func get_info() -> Dictionary:
	return {"is_success": is_success} if done else {}


func get_reward() -> float:
	return reward


func zero_reward() -> void:
	reward = 0.0


func get_done() -> bool:
	return done


func set_done_false() -> void:
	done = false
