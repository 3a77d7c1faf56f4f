class_name LocomotionRoom
extends Node3D
## A room with obstacles and a waypoint, all of them elsewhere in each round.

## Waypoints are uniform within this much of the middle, where the walker starts.
const WAYPOINT_WITHIN_M := 10.0
const OBSTACLE_WITHIN_M := 9.0
## Between the middles of an obstacle and of the room, another obstacle, and the waypoint.
const START_CLEAR_M := 2.4
const OBSTACLES_APART_M := 3.6
const WAYPOINT_CLEAR_M := 1.9
const TRIES := 200

@onready var waypoint: Node3D = $Waypoint
@onready var _obstacles: Array[Node] = $Obstacles.get_children()


## [DojoSceneWorlds] calls it when a round begins.
func reset_world(chance: RandomNumberGenerator) -> void:
	var taken := PackedVector3Array()
	for obstacle: Node3D in _obstacles:
		obstacle.position = _free_place(chance, OBSTACLE_WITHIN_M, OBSTACLES_APART_M, taken)
		obstacle.basis = Basis(Vector3.UP, chance.randf_range(-PI, PI))
		obstacle.force_update_transform()
		obstacle.reset_physics_interpolation()
		taken.append(obstacle.position)
	waypoint.position = _free_place(chance, WAYPOINT_WITHIN_M, WAYPOINT_CLEAR_M, taken, 0.0)
	waypoint.reset_physics_interpolation()


func _free_place(
	chance: RandomNumberGenerator,
	within_m: float,
	apart_m: float,
	taken: PackedVector3Array,
	start_clear_m: float = START_CLEAR_M
) -> Vector3:
	var place := Vector3.ZERO
	for _try in TRIES:
		var x: float = chance.randf_range(-within_m, within_m)
		place = Vector3(x, 0.0, chance.randf_range(-within_m, within_m))
		var is_free: bool = place.length() >= start_clear_m
		for other in taken:
			is_free = is_free and place.distance_to(other) >= apart_m
		if is_free:
			break
	return place
