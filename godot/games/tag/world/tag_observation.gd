class_name TagObservation
extends RefCounted
## An agent's observation at a decision: its own state, then what its rays hit.
##
## [code]observation.json[/code] declares the parts; docs/games/tag.md explains them.

## The numbers of a ray.
enum Ray { DISTANCE, HIT }

static var layout := DojoObservationLayout.read("res://games/tag/observation.json")
## Numbers for each ray.
static var per_ray: int = layout.width("rays")

static var _position: int = layout.start("position")
static var _velocity: int = layout.start("velocity")
static var _forward: int = layout.start("forward")
static var _grounded: int = layout.start("grounded")
static var _is_seeker: int = layout.start("is_seeker")
static var _is_hider: int = layout.start("is_hider")
static var _immune: int = layout.start("immune")
static var _time_left: int = layout.start("time_left")
# Everything before the rays. Reused for every observation, since allocation takes time.
static var _own: PackedFloat32Array = layout.zeros()


## Appends the observation of agent [param index] of [param world] to [param into].
static func append(world: TagWorld, index: int, into: PackedFloat32Array) -> void:
	var agent: TagAgent = world.agents[index]
	if not agent.active:
		var nothing := PackedFloat32Array()
		nothing.resize(_own.size() + world.sight_of(index).numbers.size())
		nothing.fill(0.0)
		into.append_array(nothing)
		return
	var at: Vector3 = agent.position
	var speed: Vector3 = agent.velocity
	var room: Vector2 = world.arena.size_m
	var top_mps: float = agent.top_speed_mps()
	var heading_rad: float = agent.heading_rad
	var chases: float = float(agent.is_seeker_like)
	_own[_position] = at.x / (room.x * 0.5)
	_own[_position + 1] = at.y / world.settings.arena.wall_height_m
	_own[_position + 2] = at.z / (room.y * 0.5)
	_own[_velocity] = speed.x / top_mps
	_own[_velocity + 1] = speed.y / maxf(world.settings.motion.jump_speed_mps, 1.0)
	_own[_velocity + 2] = speed.z / top_mps
	_own[_forward] = sin(heading_rad)
	_own[_forward + 1] = cos(heading_rad)
	_own[_grounded] = float(agent.grounded)
	_own[_is_seeker] = chases
	_own[_is_hider] = 1.0 - chases
	_own[_immune] = float(agent.immune)
	_own[_time_left] = world.time_left_s / world.round_s
	into.append_array(_own)
	into.append_array(world.sight_of(index).numbers)
