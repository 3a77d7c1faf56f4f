class_name TagTruth
extends RefCounted
## The true state of a game of tag, for oracles and evaluation.
##
## src/godojo/games/tag/truth.py reads it.

## Numbers of an agent: position 3, velocity 3, heading, grounded, active, chases.
const PER_AGENT := 10


## The parts of a world's true state, in the words of the wire.
static func parts(agents: int) -> Array[Dictionary]:
	return [
		DojoObservationLayout.grid("agents", [agents, PER_AGENT], -1e4, 1e4),
		DojoObservationLayout.numbers("arena", 1, 0.0, 1e4),
	]


## Appends the state of [param world], which is played in the arena at this place among those that
## the trainer sent, to [param into].
static func append(world: TagWorld, arena_place: int, into: PackedFloat32Array) -> void:
	for agent in world.agents:
		var at: Vector3 = agent.position
		var speed: Vector3 = agent.velocity
		into.append_array([at.x, at.y, at.z, speed.x, speed.y, speed.z, agent.heading_rad])
		for flag: bool in [agent.grounded, agent.active, agent.is_seeker_like]:
			into.append(float(flag))
	into.append(arena_place)
