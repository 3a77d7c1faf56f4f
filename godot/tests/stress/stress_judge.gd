class_name StressJudge
extends RefCounted
## Watches the agents of a world tick by tick and counts what must not happen.
##
## An agent is stuck when for a second it wished to go one way, that way was free all the time, and
## at the end it is still where it was, to a tenth of a metre. (Where it went instead does not
## matter: at four times the speed, a jumper needs more than a second to turn round in the air.)

## How long a wish must last, in ticks.
const WISH_TICKS := 60
## What counts as no progress.
const NO_PROGRESS_M := 0.1
## How far ahead a way must be free to be called free.
const FREE_M := 0.3
## Deeper than this inside anything solid is a violation.
const DEEP_M := 0.01

## Agents watched, times ticks.
var agent_ticks: int
## Deepest seen inside anything solid, by arithmetic.
var deepest_m: float
## Times the engine itself found a body, made smaller by twice [constant DEEP_M], inside something
## solid.
var engine_overlaps: int
## Agents outside the room.
var falls_out: int
## Agents with a number that is none.
var nans: int
## Agents stuck, see above.
var stuck: int

var _since := PackedInt32Array()
var _start := PackedVector3Array()
var _wish := PackedVector2Array()
var _query := PhysicsShapeQueryParameters3D.new()
var _solids: Array[AABB] = []
var _grown: Array[AABB] = []
var _room: AABB
var _size_m: float


## Gets ready for a round of [param world].
func begin_round(world: TagWorld) -> void:
	_size_m = world.settings.body.size_m
	_since.resize(world.agents.size())
	_start.resize(world.agents.size())
	_wish.resize(world.agents.size())
	_wish.fill(Vector2.ZERO)
	_solids.clear()
	_grown.clear()
	for box in world.solids():
		_solids.append(box.aabb())
		_grown.append(box.aabb().grow(_size_m * 0.5))
	var size: Vector2 = world.arena.size_m
	var height_m: float = world.settings.arena.collider_height_m
	_room = AABB(Vector3(-size.x * 0.5, 0.0, -size.y * 0.5), Vector3(size.x, height_m, size.y))
	var shape := BoxShape3D.new()
	shape.size = Vector3.ONE * (_size_m - 2.0 * DEEP_M)
	shape.margin = 0.0
	_query.shape = shape
	_query.collision_mask = Arena.WALL_LAYER


## Checks all agents after a tick.
func watch(world: TagWorld) -> void:
	for agent in world.agents:
		if agent.active:
			agent_ticks += 1
			_watch_body(world, agent)
			_watch_progress(world, agent)


## Asks the engine, which is slower.
func ask_engine(world: TagWorld) -> void:
	var space: PhysicsDirectSpaceState3D = world.get_world_3d().direct_space_state
	for agent in world.agents:
		if agent.active:
			_query.transform = Transform3D(Basis.IDENTITY, world.global_position + agent.position)
			engine_overlaps += int(not space.intersect_shape(_query, 1).is_empty())


## Whether nothing happened that must not.
func is_clean() -> bool:
	return deepest_m <= DEEP_M and engine_overlaps + falls_out + nans + stuck == 0


func _watch_body(world: TagWorld, agent: TagAgent) -> void:
	var at: Vector3 = agent.position
	if not (at.is_finite() and agent.velocity.is_finite() and is_finite(agent.heading_rad)):
		nans += 1
		world.round_over = true
		return
	if not _room.grow(DEEP_M).has_point(at):
		falls_out += 1
	for box in _grown:
		if box.has_point(at):
			var inside: Vector3 = (at - box.position).min(box.end - at)
			deepest_m = maxf(deepest_m, minf(inside.x, minf(inside.y, inside.z)))


func _watch_progress(world: TagWorld, agent: TagAgent) -> void:
	var index: int = agent.index
	var same: bool = agent.wish.length() > 0.5 and agent.wish.dot(_wish[index]) > 0.5
	if not same or not _is_free(world, agent):
		_since[index] = 0
		_start[index] = agent.position
		_wish[index] = agent.wish.normalized()
		return
	_since[index] += 1
	if _since[index] < WISH_TICKS:
		return
	var way: Vector3 = agent.position - _start[index]
	stuck += int(Vector2(way.x, way.z).length() < NO_PROGRESS_M)
	_since[index] = 0
	_start[index] = agent.position


func _is_free(world: TagWorld, agent: TagAgent) -> bool:
	var ahead := Vector3(agent.wish.x, 0.0, agent.wish.y).normalized() * FREE_M
	var half := Vector3.ONE * (_size_m * 0.5)
	var body := AABB(agent.position - half, half * 2.0)
	var path: AABB = body.merge(AABB(body.position + ahead, body.size))
	for box in _solids:
		if box.intersects(path):
			return false
	for other in world.agents:
		if other != agent and other.active:
			if AABB(other.position - half, half * 2.0).intersects(path):
				return false
	return true
