class_name RaycastSensor3D
extends Node3D
## Rays in a cone, made when the scene starts; each is seen as its closeness, from 0 to 1.

@export_flags_3d_physics var collision_mask = 1
@export var n_rays_width := 6.0
@export var n_rays_height := 2.0
@export var ray_length := 10.0
@export var cone_width := 120.0
@export var cone_height := 40.0

var rays := []


func _ready():
	var step_w = cone_width / n_rays_width
	var step_h = cone_height / n_rays_height
	for i in n_rays_width:
		for j in n_rays_height:
			var ray = RayCast3D.new()
			var angle_w = deg_to_rad(step_w / 2 - cone_width / 2 + i * step_w)
			var angle_h = deg_to_rad(step_h / 2 - cone_height / 2 + j * step_h)
			ray.target_position = (
				Vector3(sin(angle_w) * cos(angle_h), sin(angle_h), -cos(angle_w) * cos(angle_h))
				* ray_length
			)
			ray.collision_mask = collision_mask
			ray.enabled = false
			add_child(ray)
			rays.append(ray)


func get_observation() -> Array:
	var result = []
	for ray in rays:
		ray.force_raycast_update()
		result.append(_closeness(ray))
	return result


func _closeness(ray) -> float:
	if not ray.is_colliding():
		return 0.0
	var distance = global_position.distance_to(ray.get_collision_point())
	return (ray_length - clamp(distance, 0.0, ray_length)) / ray_length
