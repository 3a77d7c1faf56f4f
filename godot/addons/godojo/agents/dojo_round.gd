class_name DojoRound
extends RefCounted
## One agent's round as it is counted: rewards, ticks and how it ended. [DojoSceneWorlds] keeps it.

enum End {
	## It is not over.
	NONE,
	## It came to its end by the rules.
	TERMINATED,
	## It was cut short from outside.
	TRUNCATED,
}

## What the decision under way has brought so far, by term.
var reward := PackedFloat32Array()
## What earlier decisions of the round brought, by term.
var total := PackedFloat32Array()
## Physics ticks since it began, in whole decisions.
var ticks: int = 0
## How it ended.
var end: End = End.NONE
## Whether the agent won, if it ended.
var has_won: bool = false


## A round in which there are this many reward terms.
func _init(terms: int = 0) -> void:
	reward.resize(terms)
	total.resize(terms)


## Ends it; what came first counts.
func finish(how: End, won: bool) -> bool:
	if end != End.NONE:
		return false
	end = how
	has_won = won
	return true


## The reward of the decision, which is added to the total and begins anew.
func take_reward() -> PackedFloat32Array:
	var taken: PackedFloat32Array = reward.duplicate()
	reward.fill(0.0)
	for term in taken.size():
		total[term] += taken[term]
	return taken
