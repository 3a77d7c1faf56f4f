class_name TagTruth
extends RefCounted
## What no eyes see of a game of tag, for oracles and judges.
##
## src/godojo/games/tag/truth.py reads it.

## Numbers of an agent: position 3, velocity 3, heading, grounded, active, chases.
const PER_AGENT := 10

# Used again for every agent, since making an array takes time.
static var _numbers: PackedFloat32Array = _empty_numbers()


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
		_numbers[0] = at.x
		_numbers[1] = at.y
		_numbers[2] = at.z
		_numbers[3] = speed.x
		_numbers[4] = speed.y
		_numbers[5] = speed.z
		_numbers[6] = agent.heading_rad
		_numbers[7] = float(agent.grounded)
		_numbers[8] = float(agent.active)
		_numbers[9] = float(agent.is_seeker_like)
		into.append_array(_numbers)
	into.append(arena_place)


static func _empty_numbers() -> PackedFloat32Array:
	var numbers := PackedFloat32Array()
	numbers.resize(PER_AGENT)
	return numbers
