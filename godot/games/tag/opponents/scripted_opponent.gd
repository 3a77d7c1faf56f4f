class_name ScriptedOpponent
extends RefCounted
## A player that follows a script. Knows the arena's plan, what its eyes show it, and what it
## remembers.

## Closer than this to a point counts as there.
const ARRIVED_M := 0.6

var _rng := RandomNumberGenerator.new()
var _way := PackedVector3Array()
var _way_goal := Vector3.INF


## Same seed, same whims.
func _init(game_seed: int = 0) -> void:
	_rng.seed = game_seed


## The usual opponent: a pursuer for who chases, an evader for who flees.
static func for_role(chases: bool, game_seed: int = 0) -> ScriptedOpponent:
	return PursuerOpponent.new(game_seed) if chases else EvaderOpponent.new(game_seed)


## Forgets the last round.
func begin_round() -> void:
	_way.clear()
	_way_goal = Vector3.INF


## What [param agent] does at this decision: move_x, move_z, jump.
func act(_world: TagWorld, _agent: TagAgent) -> Vector3:
	return Vector3.ZERO


## One step of walking and jumping along the way to [param goal].
func _walk_to(world: TagWorld, agent: TagAgent, goal: Vector3) -> Vector3:
	var map: ArenaMap = world.map()
	var feet: Vector3 = agent.position + Vector3.DOWN * world.settings.body.size_m * 0.5
	if _way.is_empty() or _way_goal.distance_to(goal) > ArenaMap.CELL_M or _strayed(feet):
		_way = map.way(feet, goal)
		_way_goal = goal
	while _way.size() > 1 and _flat(_way[0] - feet).length() < ARRIVED_M:
		if _way[0].y > feet.y + ArenaMap.LEVEL_M:
			break
		_way.remove_at(0)
	while _way.size() > 1 and map.is_straight(feet, _way[1], feet.y):
		_way.remove_at(0)
	if _way.is_empty():
		return Vector3.ZERO
	var next: Vector3 = _way[0]
	if _way.size() == 1 and map.is_straight(feet, goal, feet.y):
		next = goal
	var move: Vector2 = _flat(next - feet).limit_length(1.0)
	if move.length() > 0.05:
		move = move.normalized()
	var climbs: bool = next.y > feet.y + ArenaMap.LEVEL_M
	return Vector3(move.x, move.y, 1.0 if climbs else -1.0)


## Turns on the spot, near enough.
func _look_around(agent: TagAgent) -> Vector3:
	var aim: Vector2 = Vector2.from_angle(PI * 0.5 - agent.heading_rad - 0.6) * 0.12
	return Vector3(aim.x, aim.y, -1.0)


func _strayed(feet: Vector3) -> bool:
	return _flat(_way[0] - feet).length() > 3.0 and _way.size() > 2


func _flat(vector: Vector3) -> Vector2:
	return Vector2(vector.x, vector.z)
