@icon("res://addons/godojo/icons/ray_cone.svg")
class_name DojoRayCone3D
extends Node3D
## Eyes in 3D: rays in a cone around this node's -Z axis.
##
## Each ray gives its distance, from 0 (touching) to 1 (nothing within reach), then one number for
## each kind of thing, 1 if it hit one. The body the node sits on is not seen. Rows of rays come
## from top to bottom, each from left to right.

## Rays in a row.
@export_range(1, 128) var columns: int = 16
## Rows, one above the other.
@export_range(1, 32) var rows: int = 1
## How wide the cone is, in degrees.
@export_range(0.0, 360.0, 1.0) var width_deg: float = 120.0
## How high the cone is, in degrees.
@export_range(0.0, 180.0, 1.0) var height_deg: float = 0.0
## How far the rays reach, in metres.
@export_range(0.1, 1000.0, 0.1, "or_greater") var reach_m: float = 20.0
## Physics layers that stop a ray.
@export_flags_3d_physics var collision_mask: int = 1
## Whether areas stop a ray too.
@export var sees_areas: bool = false
## Kinds of things, by group.
@export var kinds_by_group: PackedStringArray = PackedStringArray()
## Kinds of things, by the number of their physics layer, 1 to 32.
@export var kinds_by_layer: PackedInt32Array = PackedInt32Array()

var _rays: Array[RayCast3D] = []
@onready var _hits := DojoRayHits.new(kinds_by_group, kinds_by_layer, true)


func _ready() -> void:
	var body: CollisionObject3D = DojoSensors.body_of(self) as CollisionObject3D
	for pitch in DojoSensors.fan(rows, height_deg):
		for yaw in DojoSensors.fan(columns, width_deg):
			var ray := RayCast3D.new()
			ray.enabled = false
			ray.collision_mask = collision_mask
			ray.collide_with_areas = sees_areas
			ray.target_position = (
				Basis.from_euler(Vector3(-pitch, -yaw, 0.0)) * Vector3(0.0, 0.0, -reach_m)
			)
			if body != null:
				ray.add_exception(body)
			add_child(ray, false, Node.INTERNAL_MODE_BACK)
			_rays.append(ray)


## Distances and kinds of what the rays hit now.
func read() -> PackedFloat32Array:
	_hits.clear(_rays.size())
	for index in _rays.size():
		var ray: RayCast3D = _rays[index]
		ray.force_raycast_update()
		if ray.is_colliding():
			var distance_m: float = global_position.distance_to(ray.get_collision_point())
			_hits.hit_ray(index, distance_m / reach_m, ray.get_collider())
	return _hits.numbers


## What the numbers are: rows, columns, then distance and kinds.
func parts() -> Array[Dictionary]:
	var kinds: int = kinds_by_group.size() + kinds_by_layer.size()
	return [DojoObservationLayout.grid(name.left(64), [rows, columns, 1 + kinds])]
