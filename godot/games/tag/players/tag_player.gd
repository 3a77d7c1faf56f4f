class_name TagPlayer
extends RefCounted
## Plays one agent, not from the keyboard.

## Index of the agent that is played.
var index: int


func _init(agent_index: int) -> void:
	index = agent_index


## Forgets the last round.
func begin_round() -> void:
	pass


## What the agent does at this decision: move_x, move_z, jump.
func act(_world: TagWorld) -> Vector3:
	return Vector3.ZERO


## Who it is, for people; empty for a usual player.
func title() -> String:
	return ""
