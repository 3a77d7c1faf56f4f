class_name DojoJumpDetector
extends RefCounted
## Finds players who walk and can jump without ground, again and again, until they are above the
## level. Those who fly do not jump: they do not stand first, or have no such input action.

## Jumps in a row without touching anything.
const MOST := 6
## Ticks for which one must have stood.
const STOOD := 60
## Ticks in which gravity takes the speed of a jump, at least; a jet gains it as slowly.
const _SUDDEN := 8.0
const _LEAST_M := 5.0
const _LEAST_PX := 300.0

var _player: Node
var _stood: int = 0
# Upwards, and what a tick has taken of it.
var _speed: float = 0.0
var _lost: float = 0.0
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
	elif _speed > 0.9 * _jump and _speed - before > 0.1 * _jump and _jump > _SUDDEN * _lost:
		_jumps += int(_jump > 0.0 and _lost > 0.0)
		if _jumps == MOST and _stood >= STOOD and _is_above(player, bounds) and _has_jump():
			var message: String = "it jumps in mid-air, and out of the level"
			found.append(DojoProbeState.event("out_of_world", message, player))
		elif _jumps == MOST:
			_jumps -= 1
	_lost = before - _speed
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
