class_name TagObservation
extends RefCounted
## What an agent is told at a decision: its own state, then what its eyes see. Nothing else.
##
## [method layout] is the one home of the order; docs/games/tag.md shows it as a table.

## Numbers before the first ray.
const OWN := 13
## Numbers for each ray.
const PER_RAY := 4


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


## Rays of an agent.
static func ray_count(settings: TagSettings) -> int:
	var rays: int = 0
	for row in settings.sight.rows:
		rays += row.columns
	return rays


## Length of an observation.
static func size(settings: TagSettings) -> int:
	return OWN + ray_count(settings) * PER_RAY


## Writes what agent [param index] of [param world] observes into [param into], from [param offset]
## on.
static func write(world: TagWorld, index: int, into: PackedFloat32Array, offset: int = 0) -> void:
	var agent: TagAgent = world.agents[index]
	if not agent.active:
		for place in size(world.settings):
			into[offset + place] = 0.0
		return
	var motion: TagSettings.Motion = world.settings.motion
	var top_mps: float = agent.top_speed_mps()
	into[offset] = agent.position.x / (world.arena.size_m.x * 0.5)
	into[offset + 1] = agent.position.y / world.settings.arena.wall_height_m
	into[offset + 2] = agent.position.z / (world.arena.size_m.y * 0.5)
	into[offset + 3] = agent.velocity.x / top_mps
	into[offset + 4] = agent.velocity.y / maxf(motion.jump_speed_mps, 1.0)
	into[offset + 5] = agent.velocity.z / top_mps
	into[offset + 6] = sin(agent.heading_rad)
	into[offset + 7] = cos(agent.heading_rad)
	into[offset + 8] = float(agent.grounded)
	into[offset + 9] = float(agent.is_seeker_like)
	into[offset + 10] = float(not agent.is_seeker_like)
	into[offset + 11] = float(agent.immune)
	into[offset + 12] = world.time_left_s / world.rules.round_s(world.settings)
	_write_rays(world.sight_of(index), world.settings.sight.range_m, into, offset + OWN)


static func _write_rays(
	sight: TagSight, range_m: float, into: PackedFloat32Array, start: int
) -> void:
	var place: int = start
	for ray in sight.kinds.size():
		var kind: int = sight.kinds[ray]
		into[place] = sight.distances_m[ray] / range_m
		into[place + 1] = float(kind == TagSight.Kind.WALL)
		into[place + 2] = float(kind == TagSight.Kind.SEEKER)
		into[place + 3] = float(kind == TagSight.Kind.HIDER)
		place += PER_RAY
