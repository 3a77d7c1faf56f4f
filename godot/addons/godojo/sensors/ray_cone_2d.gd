@icon("res://addons/godojo/icons/ray_cone.svg")
class_name DojoRayCone2D
extends Node2D
## Eyes in 2D: rays in a fan around this node's X axis.
##
## Each ray gives its distance, from 0 (touching) to 1 (nothing within reach), then one number for
## each kind of thing, 1 if it hit one. The body the node sits on is not seen.

## How many rays there are.
@export_range(1, 128) var rays: int = 16
## How wide the fan is, in degrees.
@export_range(0.0, 360.0, 1.0) var width_deg: float = 120.0
## How far the rays reach, in pixels.
@export_range(1.0, 10000.0, 1.0, "or_greater") var reach_px: float = 500.0
## Physics layers that stop a ray.
@export_flags_2d_physics var collision_mask: int = 1
## Whether areas stop a ray too.
@export var sees_areas: bool = false
## Kinds of things, by group.
@export var kinds_by_group: PackedStringArray = PackedStringArray()
## Kinds of things, by the number of their physics layer, 1 to 32.
@export var kinds_by_layer: PackedInt32Array = PackedInt32Array()

var _rays: Array[RayCast2D] = []
@onready var _hits := DojoRayHits.new(kinds_by_group, kinds_by_layer, true)


func _ready() -> void:
	var body: CollisionObject2D = DojoSensors.body_of(self) as CollisionObject2D
	for angle in DojoSensors.fan(rays, width_deg):
		var ray := RayCast2D.new()
		ray.enabled = false
		ray.collision_mask = collision_mask
		ray.collide_with_areas = sees_areas
		ray.target_position = Vector2(reach_px, 0.0).rotated(angle)
		if body != null:
			ray.add_exception(body)
		add_child(ray, false, Node.INTERNAL_MODE_BACK)
		_rays.append(ray)


## Distances and kinds of what the rays hit now.
func read() -> PackedFloat32Array:
	_hits.clear(_rays.size())
	for index in _rays.size():
		var ray: RayCast2D = _rays[index]
		ray.force_raycast_update()
		if ray.is_colliding():
			var distance_px: float = global_position.distance_to(ray.get_collision_point())
			_hits.hit_ray(index, distance_px / reach_px, ray.get_collider())
	return _hits.numbers


## What the numbers are: rays, then distance and kinds.
func parts() -> Array[Dictionary]:
	var kinds: int = kinds_by_group.size() + kinds_by_layer.size()
	return [DojoObservationLayout.grid(name.left(64), [rays, 1 + kinds])]
