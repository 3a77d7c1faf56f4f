class_name PursuerOpponent
extends ScriptedOpponent
## Runs where its prey is going; searches when it has lost sight of it.
##
## Searching means going where it has not looked for longest, the near before the far, beginning
## where the prey was last seen.

## Edge of the squares it remembers having looked at.
const SQUARE_M := 2.0
## How far ahead it reckons with the prey's course.
const LEAD_S := 0.5
## How long it follows the course of a prey out of sight.
const TRUST_S := 2.5
## Seconds of not having looked at a square that make up for a metre of way.
const WAY_WEIGHT := 0.35

var _memory := SightMemory.new()
var _looked_s := PackedFloat32Array()
var _columns: int
var _clock_s: float
var _goal := Vector3.INF


func begin_round() -> void:
	super()
	_memory.clear()
	_looked_s.clear()
	_clock_s = 0.0
	_goal = Vector3.INF


func act(world: TagWorld, agent: TagAgent) -> Vector3:
	var passed_s: float = world.settings.rules.ticks_per_decision * TagAgent.TICK_S
	_clock_s += passed_s
	_memory.update(world, agent, passed_s)
	_note_looks(world, agent)
	if _memory.visible:
		_goal = Vector3.INF
		return _chase(world, agent)
	if _memory.known and _memory.age_s < TRUST_S:
		var guess: Vector3 = _inside(world, _memory.guess(0.8))
		if _flat(guess - agent.position).length() > 1.0:
			return _walk_to(world, agent, guess)
		_memory.age_s = TRUST_S
	if not _goal.is_finite() or _flat(_goal - agent.position).length() < 1.0 or _is_fresh(_goal):
		_goal = _next_square(world, agent)
	return _walk_to(world, agent, _goal)


func _chase(world: TagWorld, agent: TagAgent) -> Vector3:
	var distance_m: float = _flat(_memory.place - agent.position).length()
	var lead_s: float = minf(distance_m / agent.top_speed_mps(), LEAD_S)
	var target: Vector3 = _inside(world, _memory.place + _memory.speed * lead_s)
	var action: Vector3 = _walk_to(world, agent, target)
	if distance_m < 2.5:
		# So close the grid is too coarse: straight at it, jumping when it is above.
		var straight: Vector2 = _flat(target - agent.position).normalized()
		var above: bool = _memory.place.y > agent.position.y + world.settings.body.size_m * 0.6
		var feet: Vector3 = agent.position + Vector3.DOWN * world.settings.body.size_m * 0.5
		if world.map().is_straight(feet, target, feet.y):
			action = Vector3(straight.x, straight.y, 1.0 if above else -1.0)
	return action


func _note_looks(world: TagWorld, agent: TagAgent) -> void:
	_columns = ceili(world.arena.size_m.x / SQUARE_M)
	var rows: int = ceili(world.arena.size_m.y / SQUARE_M)
	if _looked_s.size() != _columns * rows:
		_looked_s.resize(_columns * rows)
		_looked_s.fill(-5.0)
	var sight: TagSight = world.sight_of(agent.index)
	var eye: Vector3 = sight.eye_of(agent)
	for ray in world.settings.sight.rows[0].columns:
		var reach: Vector3 = sight.end_of(agent, ray) - eye
		var steps: int = floori(sight.distances_m[ray] / SQUARE_M)
		for step in steps + 1:
			_looked_s[_square_at(world, eye + reach * (float(step) / maxi(steps + 1, 1)))] = _clock_s


func _next_square(world: TagWorld, agent: TagAgent) -> Vector3:
	var best := agent.position
	var best_worth: float = -INF
	var origin: Vector3 = _memory.place if _memory.known and _memory.age_s < 6.0 else agent.position
	for square in _looked_s.size():
		var point: Vector3 = _middle(world, square)
		if (
			not is_finite(world.map().height_at(point))
			or _flat(point - agent.position).length() < 1.5
		):
			continue
		var worth: float = minf(_clock_s - _looked_s[square], 8.0) + _rng.randf() * 0.5
		worth -= _flat(point - origin).length() * WAY_WEIGHT
		if worth > best_worth:
			best_worth = worth
			best = point
	return best


func _is_fresh(point: Vector3) -> bool:
	var column: int = floori(point.x / SQUARE_M + _columns * 0.5)
	@warning_ignore("integer_division")
	var row: int = floori(point.z / SQUARE_M + _looked_s.size() / _columns * 0.5)
	return _clock_s - _looked_s[row * _columns + column] < 0.3


func _square_at(world: TagWorld, point: Vector3) -> int:
	var half: Vector2 = world.arena.size_m * 0.5
	var rows: int = ceili(world.arena.size_m.y / SQUARE_M)
	var column: int = clampi(floori((point.x + half.x) / SQUARE_M), 0, _columns - 1)
	return clampi(floori((point.z + half.y) / SQUARE_M), 0, rows - 1) * _columns + column


func _middle(world: TagWorld, square: int) -> Vector3:
	var half: Vector2 = world.arena.size_m * 0.5
	@warning_ignore("integer_division")
	var row: int = square / _columns
	var x: float = (square % _columns + 0.5) * SQUARE_M - half.x
	return Vector3(x, 0.0, (row + 0.5) * SQUARE_M - half.y)


func _inside(world: TagWorld, point: Vector3) -> Vector3:
	var side: Vector2 = world.arena.size_m * 0.5 - Vector2.ONE * world.settings.body.size_m * 0.5
	return Vector3(clampf(point.x, -side.x, side.x), point.y, clampf(point.z, -side.y, side.y))
