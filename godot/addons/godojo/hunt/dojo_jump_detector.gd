class_name DojoJumpDetector
extends RefCounted
## Finds players who walk and can jump without ground, again and again, until they are above the
## level. Those who fly do not jump: they do not stand first, or have no such input action.

## Jumps in a row without touching anything.
const MOST := 6
## Ticks for which one must have stood.
const STOOD := 60
const _LEAST_M := 5.0
const _LEAST_PX := 300.0

var _player: Node
var _stood: int = 0
var _speed: float = 0.0
# The speed of a jump from the ground; 0: none was seen.
var _jump: float = 0.0
var _was_on_floor: bool = false
var _jumps: int = 0


func begin() -> void:
	_player = null


## Once a physics tick; [param player] is what is played.
func look(player: Node, bounds: DojoLevelBounds) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	if not (player is CharacterBody2D or player is CharacterBody3D):
		return found
	if player != _player:
		_player = player
		_stood = 0
		_jump = 0.0
		_jumps = 0
	var up: Vector3 = DojoGhostSolids.deep(player.get("up_direction"))
	var before: float = _speed
	_speed = DojoProbeState.velocity_of(player).dot(up)
	var is_on_floor: bool = player.call(&"is_on_floor")
	if is_on_floor or player.call(&"is_on_wall") or player.call(&"is_on_ceiling"):
		_stood += int(is_on_floor)
		_jumps = 0
	elif _was_on_floor and _speed > 0.0:
		_jump = maxf(_jump, _speed)
	elif _jump > 0.0 and _speed - before > _jump / 2.0:
		_jumps += 1
		if _jumps == MOST and _stood >= STOOD and _is_above(player, bounds) and _has_jump():
			var message: String = "it jumps in mid-air, and out of the level"
			found.append(DojoProbeState.event("out_of_world", message, player))
		elif _jumps == MOST:
			_jumps -= 1
	_was_on_floor = is_on_floor
	return found


static func _is_above(player: Node, bounds: DojoLevelBounds) -> bool:
	if not bounds.is_known or bounds.is_endless:
		return false
	var place: Vector3 = DojoProbeState.place_of(player)
	if player is Node3D:
		return place.y > bounds.box.end.y + _LEAST_M
	return place.y < bounds.box.position.y - _LEAST_PX


static func _has_jump() -> bool:
	return InputMap.get_actions().any(
		func(action: StringName) -> bool: return "jump" in str(action).to_lower()
	)
