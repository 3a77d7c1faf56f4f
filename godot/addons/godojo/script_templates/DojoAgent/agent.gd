# meta-name: Agent
# meta-description: A learning agent: observations, actions and rewards
# meta-default: true
extends _BASE_

var _move := Vector2.ZERO

@onready var body: Node = get_parent()


## What the agent sees now, best as numbers from -1 to 1. Leave this out to read sensors instead.
func observe() -> PackedFloat32Array:
	return [_move.x, _move.y]


## What it can do: numbers from -1 to 1 (move) or one of several choices (choice).
func action_parts() -> Array[Dictionary]:
	return [DojoObservationLayout.move("move", 2)]


## Does it. Called once a decision; keep what the ticks in between need.
func apply_action(action: PackedFloat32Array) -> void:
	_move = Vector2(action[0], action[1])


## The same from the keyboard, to play by hand.
func human_action() -> PackedFloat32Array:
	var keys: Vector2 = Input.get_vector("ui_left", "ui_right", "ui_up", "ui_down")
	return [keys.x, keys.y]


## Puts everything where a round begins. Draw from `chance` only, so that rounds can be repeated.
func reset() -> void:
	_move = Vector2.ZERO


func _physics_process(_delta: float) -> void:
	# Move the body, call add_reward() for what is good or bad, and end_episode() when it is over.
	pass
