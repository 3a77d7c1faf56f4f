extends Node
## Counts its ticks and shows them as a picture; tells how an episode ended and what was seen last.

const ROWS := 2
const COLUMNS := 3
const CHANNELS := 3

## An episode that reaches this many ticks is over by the rules.
@export var ends_at := 1000
## An episode that reaches this many ticks is cut short.
@export var cut_at := 1000
@export var has_eye := true
@export var policy_name := "shared_policy"

var clock := 0
var choice := 0
var reward := 0.0
var done := false
var truncated := false
var needs_reset := false
var last_seen := {}


func _ready() -> void:
	add_to_group("AGENT")


func _physics_process(_delta: float) -> void:
	if needs_reset:
		reset()
		return
	clock += 1
	reward += 1.0 if choice == 1 else 0.0
	if clock >= mini(ends_at, cut_at):
		truncated = cut_at < ends_at
		last_seen = get_obs()
		done = true
		reset()


func reset() -> void:
	clock = 0
	needs_reset = false


func get_obs_space() -> Dictionary:
	var space := {"obs": {"size": [1], "space": "box"}}
	if has_eye:
		# As the plugin's cameras do: channels first, in floats, while the bytes are rows of pixels.
		space["eye_2d"] = {"size": [float(CHANNELS), float(ROWS), float(COLUMNS)], "space": "box"}
	return space


func get_action_space() -> Dictionary:
	return {"choice": {"size": 3, "action_type": "discrete"}}


func get_obs() -> Dictionary:
	var seen := {"obs": [clock]}
	if has_eye:
		var pixels := PackedByteArray()
		for row in ROWS:
			for column in COLUMNS:
				pixels.append_array([row * 100, column * 100, clock])
		seen["eye_2d"] = pixels.hex_encode()
	return seen


func get_info() -> Dictionary:
	if not done:
		return {}
	return {
		"TimeLimit.truncated": truncated,
		"terminal_observation": last_seen,
		"is_success": not truncated
	}


func set_action(action: Dictionary) -> void:
	choice = int(action["choice"])


func take_reward() -> float:
	var earned := reward
	reward = 0.0
	return earned


func take_done() -> bool:
	var was_done := done
	done = false
	return was_done
