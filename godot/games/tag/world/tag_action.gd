class_name TagAction
extends RefCounted
## What an agent can do at a decision: where to go along the arena's axes, and whether to jump.

## Pairs of numbers along the arena's axes.
const ALONG_AXES := [[0, 1]]


## The three numbers, in the words of the wire.
static func parts() -> Array[Dictionary]:
	return [
		DojoObservationLayout.move("move_x", 1),
		DojoObservationLayout.move("move_z", 1),
		DojoObservationLayout.move("jump", 1, -1.0)
	]
