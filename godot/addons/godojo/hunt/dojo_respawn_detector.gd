class_name DojoRespawnDetector
extends RefCounted
## Finds places that a walking player is put back to although nobody can stand there: inside of a
## solid or without ground below. He dies at once, and is put there again.

## Ticks within which he is put there again.
const AGAIN := 240
## Ticks for which he must have stood somewhere before, as players do who walk.
const STOOD := 60
## Farther in a tick than he moves is put.
const _REACH_M := 0.75
const _REACH_PX := 24.0
const _TICK_S := 1.0 / 60.0
## How far below there must be ground.
const _DEEP_M := 200.0
const _DEEP_PX := 6000.0

var _player: Node
var _place := Vector3.ZERO
var _stood: int = 0
# Where he was put last, when, and whether he has stood since; not finite: nowhere.
var _put := Vector3.INF
var _put_at: int = 0
var _is_bad: bool = false


func begin() -> void:
	_player = null
	_stood = 0
	_put = Vector3.INF


## Once a physics tick; [param player] is what is played.
func look(player: Node) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	if not (player is CharacterBody2D or player is CharacterBody3D):
		return found
	var place: Vector3 = DojoProbeState.place_of(player)
	if player != _player or not place.is_finite():
		_player = player
		_stood = 0
		_put = Vector3.INF
		_place = place
		return found
	var reach: float = _REACH_M if player is Node3D else _REACH_PX
	var far: float = place.distance_to(_place)
	_place = place
	if player.call(&"is_on_floor"):
		_stood += 1
		_put = Vector3.INF
	if far < reach or far < 4.0 * DojoProbeState.velocity_of(player).length() * _TICK_S:
		return found
	var tick: int = Engine.get_physics_frames()
	var is_again: bool = _put.is_finite() and _put.distance_to(place) < reach / 4.0
	if is_again and tick - _put_at < AGAIN and _is_bad and _stood >= STOOD:
		var message: String = "it is put again to where nobody can stand"
		found.append(DojoProbeState.event("respawn", message, player))
	_put = place
	_put_at = tick
	_is_bad = not _has_ground(player, place)
	return found


## Whether there is ground below and none around.
func _has_ground(player: Node, place: Vector3) -> bool:
	if player is CharacterBody3D:
		var body: CharacterBody3D = player
		var space: PhysicsDirectSpaceState3D = body.get_world_3d().direct_space_state
		var point := PhysicsPointQueryParameters3D.new()
		point.position = place
		point.collision_mask = body.collision_mask
		point.exclude = [body.get_rid()]
		if not space.intersect_point(point, 1).is_empty():
			return false
		var down: Vector3 = place - body.up_direction * _DEEP_M
		var ray := PhysicsRayQueryParameters3D.create(place, down, body.collision_mask)
		ray.exclude = [body.get_rid()]
		return not space.intersect_ray(ray).is_empty()
	var flat: CharacterBody2D = player
	var plane: PhysicsDirectSpaceState2D = flat.get_world_2d().direct_space_state
	var here := Vector2(place.x, place.y)
	var spot := PhysicsPointQueryParameters2D.new()
	spot.position = here
	spot.collision_mask = flat.collision_mask
	spot.exclude = [flat.get_rid()]
	if not plane.intersect_point(spot, 1).is_empty():
		return false
	var below: Vector2 = here - flat.up_direction * _DEEP_PX
	var line := PhysicsRayQueryParameters2D.create(here, below, flat.collision_mask)
	line.exclude = [flat.get_rid()]
	return not plane.intersect_ray(line).is_empty()
