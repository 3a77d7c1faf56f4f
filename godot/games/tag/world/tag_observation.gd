class_name TagObservation
extends RefCounted
## What an agent is told at a decision: its own state, then what its eyes see. Nothing else.
##
## [method layout] is the one home of the order; docs/games/tag.md shows it as a table.

## Numbers before the first ray.
const OWN := 13
## Numbers for each ray.
const PER_RAY := 2
## Where the heading is, and which pairs of numbers are along the arena's axes: position and
## velocity in the observation, the wish to move in the action.
const HEADING := {"forward": [6, 7], "observed": [[0, 2], [3, 5]], "acted": [[0, 1]]}

# Used again for every observation, since making an array takes time.
static var _own: PackedFloat32Array = _empty_own()


## Names and lengths of the parts, in order.
static func layout(settings: TagSettings) -> Array[Dictionary]:
	var rays: int = ray_count(settings)
	return [
		{"name": "position", "size": 3},
		{"name": "velocity", "size": 3},
		{"name": "forward", "size": 2},
		{"name": "grounded", "size": 1},
		{"name": "is_seeker", "size": 1},
		{"name": "is_hider", "size": 1},
		{"name": "immune", "size": 1},
		{"name": "time_left", "size": 1},
		{"name": "rays", "size": rays * PER_RAY},
	]


## The same in the words of the wire, with the limits of each part.
static func parts(settings: TagSettings) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	for part in layout(settings):
		var length: int = part["size"]
		var name: String = part["name"]
		if name == "rays":
			found.append(DojoObservationLayout.grid(name, [length / PER_RAY, PER_RAY], -1.0))
		elif length > 1:
			found.append(DojoObservationLayout.numbers(name, length, -2.0, 2.0))
		else:
			found.append(DojoObservationLayout.numbers(name, length, 0.0, 1.0))
	return found


## Rays of an agent.
static func ray_count(settings: TagSettings) -> int:
	var rays: int = 0
	for row in settings.sight.rows:
		rays += row.columns
	return rays


## Length of an observation.
static func size(settings: TagSettings) -> int:
	return OWN + ray_count(settings) * PER_RAY


## Appends what agent [param index] of [param world] observes to [param into].
static func append(world: TagWorld, index: int, into: PackedFloat32Array) -> void:
	var agent: TagAgent = world.agents[index]
	if not agent.active:
		var nothing := PackedFloat32Array()
		nothing.resize(size(world.settings))
		nothing.fill(0.0)
		into.append_array(nothing)
		return
	var at: Vector3 = agent.position
	var speed: Vector3 = agent.velocity
	var room: Vector2 = world.arena.size_m
	var top_mps: float = agent.top_speed_mps()
	var heading_rad: float = agent.heading_rad
	var chases: float = float(agent.is_seeker_like)
	_own[0] = at.x / (room.x * 0.5)
	_own[1] = at.y / world.settings.arena.wall_height_m
	_own[2] = at.z / (room.y * 0.5)
	_own[3] = speed.x / top_mps
	_own[4] = speed.y / maxf(world.settings.motion.jump_speed_mps, 1.0)
	_own[5] = speed.z / top_mps
	_own[6] = sin(heading_rad)
	_own[7] = cos(heading_rad)
	_own[8] = float(agent.grounded)
	_own[9] = chases
	_own[10] = 1.0 - chases
	_own[11] = float(agent.immune)
	_own[12] = world.time_left_s / world.round_s
	into.append_array(_own)
	into.append_array(world.sight_of(index).numbers)


static func _empty_own() -> PackedFloat32Array:
	var own := PackedFloat32Array()
	own.resize(OWN)
	return own
