class_name RandomOpponent
extends ScriptedOpponent
## Holds a random direction for a random while, and jumps now and then.

var _move := Vector2.ZERO
var _decisions_left: int


func begin_round() -> void:
	_decisions_left = 0


func act(_world: TagWorld, _agent: TagAgent) -> Vector3:
	_decisions_left -= 1
	if _decisions_left <= 0:
		_decisions_left = _rng.randi_range(2, 15)
		_move = Vector2.from_angle(_rng.randf_range(-PI, PI)) * _rng.randf_range(0.3, 1.0)
	return Vector3(_move.x, _move.y, 1.0 if _rng.randf() < 0.05 else -1.0)
