class_name AIController3D
extends Node3D
## What a game extends to have an agent; [Sync] calls its methods.

enum ControlModes { INHERIT_FROM_SYNC, HUMAN, TRAINING }

@export var control_mode: ControlModes = ControlModes.INHERIT_FROM_SYNC
## Physics ticks after which an episode is over.
@export var reset_after := 1000
@export var policy_name: String = "shared_policy"

var heuristic := "human"
var done := false
var reward := 0.0
var n_steps := 0
var needs_reset := false

var _player: Node3D


func _ready():
	add_to_group("AGENT")


func init(player: Node3D):
	_player = player


func _physics_process(_delta):
	n_steps += 1
	if n_steps > reset_after:
		needs_reset = true


func get_obs() -> Dictionary:
	assert(false, "get_obs is not written")
	return {"obs": []}


func get_reward() -> float:
	return reward


func get_action_space() -> Dictionary:
	assert(false, "get_action_space is not written")
	return {}


func set_action(_action) -> void:
	assert(false, "set_action is not written")


func get_info() -> Dictionary:
	return {}


func get_obs_space():
	var obs = get_obs()
	return {"obs": {"size": [len(obs["obs"])], "space": "box"}}


func reset():
	n_steps = 0
	needs_reset = false


func set_heuristic(h):
	heuristic = h


func get_done():
	return done


func set_done_false():
	done = false


func zero_reward():
	reward = 0.0
