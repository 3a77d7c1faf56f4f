class_name HostilePlayer
extends RefCounted
## Plays to break things: holds directions, jitters, jumps without end, presses into walls and
## corners, crowds others, and sends numbers that are none. Chooses anew after a while.

## The ways it plays.
enum Style { HOLD, JITTER, CORNER, WALL, CROWD, NONSENSE }

const _NONSENSE: PackedFloat32Array = [NAN, INF, -INF, 1e30, -1e30, 0.0, 1.0, -1.0]

var _rng: RandomNumberGenerator
var _style: int
var _ticks_left: int
var _jump_chance: float
var _held := Vector2.ZERO
var _target := Vector3.ZERO


## Draws from [param rng].
func _init(rng: RandomNumberGenerator) -> void:
	_rng = rng


## Sets the action of [param agent] for the coming tick.
func play(world: TagWorld, agent: TagAgent) -> void:
	_ticks_left -= 1
	if _ticks_left <= 0:
		_choose(world)
	var jump: float = 1.0 if _rng.randf() < _jump_chance else -1.0
	match _style:
		Style.JITTER:
			_held = Vector2(_rng.randf_range(-1.0, 1.0), _rng.randf_range(-1.0, 1.0))
		Style.CORNER:
			var way: Vector3 = _target - agent.position
			_held = Vector2(way.x, way.z).normalized()
		Style.CROWD:
			var other: TagAgent = world.agents[_rng.randi_range(0, world.agents.size() - 1)]
			var way: Vector3 = other.position - agent.position
			_held = Vector2(way.x, way.z).normalized()
		Style.NONSENSE:
			world.set_action(agent.index, _nonsense(), _nonsense(), _nonsense())
			return
	world.set_action(agent.index, _held.x, _held.y, jump)


func _choose(world: TagWorld) -> void:
	_style = _rng.randi_range(0, Style.size() - 1)
	_ticks_left = _rng.randi_range(20, 150)
	_jump_chance = [0.0, 0.05, 1.0][_rng.randi_range(0, 2)]
	_held = Vector2.from_angle(_rng.randf_range(-PI, PI))
	var solids: Array[ArenaBox] = world.solids()
	var box: ArenaBox = solids[_rng.randi_range(0, solids.size() - 1)]
	var corner := Vector3(_sign(), 0.0, _sign())
	_target = box.position + box.size * 0.5 * corner
	if _style == Style.WALL:
		_held = Vector2(_sign(), 0.0) if _rng.randf() < 0.5 else Vector2(0.0, _sign())


func _sign() -> float:
	return 1.0 if _rng.randf() < 0.5 else -1.0


func _nonsense() -> float:
	return _NONSENSE[_rng.randi_range(0, _NONSENSE.size() - 1)]
