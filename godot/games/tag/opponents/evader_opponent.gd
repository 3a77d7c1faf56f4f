class_name EvaderOpponent
extends ScriptedOpponent
## Keeps something solid between itself and who chases it; looks around when it has nobody to fear.

## How long it fears a chaser it no longer sees.
const FEAR_S := 2.5
## Places it thinks about at each decision.
const IDEAS := 24
## What being out of sight is worth, in metres of distance.
const COVER_M := 5.0
## What staying with the present plan is worth.
const LOYALTY_M := 1.5

var _memory := SightMemory.new()
var _goal := Vector3.INF


func begin_round() -> void:
	super()
	_memory.clear()
	_goal = Vector3.INF


func act(world: TagWorld, agent: TagAgent) -> Vector3:
	_memory.update(world, agent, world.settings.rules.ticks_per_decision * TagAgent.TICK_S)
	if not _memory.known or _memory.age_s > FEAR_S:
		_goal = Vector3.INF
		return _look_around(agent)
	var threat: Vector3 = _memory.guess(0.6)
	var best_worth: float = -INF
	if _goal.is_finite() and _flat(_goal - agent.position).length() > ARRIVED_M:
		best_worth = _worth(world, agent, threat, _goal) + LOYALTY_M
	else:
		_goal = agent.position
	for _idea in IDEAS:
		var point: Vector3 = _idea_near(world, agent)
		if not point.is_finite():
			continue
		var worth: float = _worth(world, agent, threat, point)
		if worth > best_worth:
			best_worth = worth
			_goal = point
	if _flat(_goal - agent.position).length() < ARRIVED_M:
		return _look_around(agent)
	return _walk_to(world, agent, _goal)


## How good a place is, in metres: far from the threat, hidden from it, near to us, and not behind
## it.
func _worth(world: TagWorld, agent: TagAgent, threat: Vector3, point: Vector3) -> float:
	var eye_m: float = world.settings.body.size_m * 0.5 + world.settings.sight.eye_height_m
	var at: Vector3 = Vector3(point.x, world.map().height_at(point) + eye_m, point.z)
	var ours_m: float = _flat(at - agent.position).length()
	var theirs_m: float = _flat(at - threat).length()
	var worth: float = minf(theirs_m, 12.0) - 0.4 * ours_m
	if world.arena.blocks_sight(threat + Vector3.UP * world.settings.sight.eye_height_m, at):
		worth += COVER_M
	worth -= maxf(ours_m + 1.0 - theirs_m, 0.0) * 2.0
	var to_threat: Vector2 = _flat(threat - agent.position)
	if to_threat.length() < 6.0 and ours_m > 0.1:
		var toward: float = _flat(at - agent.position).normalized().dot(to_threat.normalized())
		worth -= maxf(toward, 0.0) * (6.0 - to_threat.length()) * 2.0
	return worth


func _idea_near(world: TagWorld, agent: TagAgent) -> Vector3:
	var away: Vector2 = Vector2.from_angle(_rng.randf_range(-PI, PI)) * _rng.randf_range(1.5, 9.0)
	var point: Vector3 = agent.position + Vector3(away.x, 0.0, away.y)
	var side: Vector2 = world.arena.size_m * 0.5 - Vector2.ONE * world.settings.body.size_m * 0.5
	point.x = clampf(point.x, -side.x + 0.1, side.x - 0.1)
	point.z = clampf(point.z, -side.y + 0.1, side.y - 0.1)
	var feet_m: float = agent.position.y - world.settings.body.size_m * 0.5
	if world.map().height_at(point) > feet_m + 1.1:
		return Vector3.INF
	point.y = world.map().height_at(point)
	return point
