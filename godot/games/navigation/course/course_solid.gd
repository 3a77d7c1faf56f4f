class_name CourseSolid
extends Node3D
## What is solid of a course, in the engine's space, and the rays that look at it.
##
## It has to stand at the origin. Walkers are no bodies: they ask how far they can go, so many of
## them can be here without meeting each other.

const LAYER := 1

## The engine's space, to ask what is where.
var space: PhysicsDirectSpaceState3D

var _rays: Array[RayCast3D] = []
var _eye := Node3D.new()
var _range_m: float


func _notification(what: int) -> void:
	if what == NOTIFICATION_ENTER_WORLD:
		space = get_world_3d().direct_space_state


## Puts up the bodies of [param course] and the rays.
func build(course: CourseData, settings: NavigationSettings) -> void:
	for box in course.boxes:
		_add_body(box)
	_range_m = settings.sight.range_m
	_eye.top_level = true
	_eye.physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	add_child(_eye)
	for direction in ray_directions(settings.sight):
		var ray := RayCast3D.new()
		ray.enabled = false
		ray.collision_mask = LAYER
		ray.target_position = direction * _range_m
		_eye.add_child(ray)
		_rays.append(ray)


## Unit vectors of the rays in the rig's frame, row by row, each row from the left.
static func ray_directions(sight: NavigationSettings.Sight) -> PackedVector3Array:
	var found := PackedVector3Array()
	for row in sight.rows:
		var fov: float = deg_to_rad(row.fov_deg)
		var up: float = deg_to_rad(row.elevation_deg)
		for column in row.columns:
			var share: float = 0.5 if row.columns == 1 else float(column) / (row.columns - 1)
			var side: float = fov * (0.5 - share)
			found.append(Vector3(-sin(side) * cos(up), sin(up), -cos(side) * cos(up)))
	return found


## Writes into [param distances_m], from [param first] on, how far each ray gets from [param eye].
func look(eye: Vector3, yaw_rad: float, distances_m: PackedFloat32Array, first: int) -> void:
	_eye.transform = Transform3D(Basis(Vector3.UP, yaw_rad), eye)
	var place: int = first
	for ray in _rays:
		ray.force_raycast_update()
		distances_m[place] = (
			eye.distance_to(ray.get_collision_point()) if ray.is_colliding() else _range_m
		)
		place += 1


func _add_body(box: CourseData.Box) -> void:
	var body := StaticBody3D.new()
	body.collision_layer = LAYER
	body.collision_mask = 0
	body.position = box.position
	var shape := BoxShape3D.new()
	shape.size = box.size
	shape.margin = 0.0
	var collider := CollisionShape3D.new()
	collider.shape = shape
	body.add_child(collider)
	add_child(body)
