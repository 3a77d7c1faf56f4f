class_name TagSight
extends Node3D
## An agent's eyes: a cone of rays around its heading, each with a distance and what it hit.
##
## The rays do not hang on the body, so that moving the body costs nothing; they go where it is when
## it looks.

## What a ray can hit.
enum Kind { NOTHING, WALL, SEEKER, HIDER }

## Distance of each ray's hit from the eye; the range where nothing was hit.
var distances_m := PackedFloat32Array()
## What each ray hit, a [enum Kind].
var kinds := PackedByteArray()
## Unit direction of each ray in the body's frame, where +z is forward.
var directions := PackedVector3Array()

var _rays: Array[RayCast3D] = []
var _range_m: float
var _eye := Vector3.ZERO


## The rays' directions, row by row, each row from the left of the field of view to the right as the
## agent sees it (from +x to -x in its own frame, where +z is forward and +y up).
static func ray_directions(cone: TagSettings.SightCone) -> PackedVector3Array:
	var found := PackedVector3Array()
	var fov: float = deg_to_rad(cone.fov_deg)
	for row in cone.rows:
		var up: float = deg_to_rad(row.elevation_deg)
		for column in row.columns:
			var share: float = 0.5 if row.columns == 1 else float(column) / (row.columns - 1)
			var side: float = fov * (0.5 - share)
			found.append(Vector3(sin(side) * cos(up), sin(up), cos(side) * cos(up)))
	return found


## Makes the rays for [param agent].
func setup(agent: TagAgent, cone: TagSettings.SightCone) -> void:
	_range_m = cone.range_m
	_eye = Vector3.UP * cone.eye_height_m
	directions = ray_directions(cone)
	distances_m.resize(directions.size())
	kinds.resize(directions.size())
	physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	for direction in directions:
		var ray := RayCast3D.new()
		ray.enabled = false
		ray.collision_mask = Arena.WALL_LAYER | TagAgent.AGENT_LAYER
		ray.target_position = direction * _range_m
		ray.add_exception(agent)
		add_child(ray)
		_rays.append(ray)


## Point from which [param agent] sees, in the world's frame.
func eye_of(agent: TagAgent) -> Vector3:
	return agent.position + _eye


## Looks along all rays from where [param agent] is now.
func look(agent: TagAgent) -> void:
	transform = Transform3D(Basis(Vector3.UP, agent.heading_rad), eye_of(agent))
	var eye: Vector3 = global_position
	for index in _rays.size():
		var ray: RayCast3D = _rays[index]
		ray.force_raycast_update()
		if not ray.is_colliding():
			distances_m[index] = _range_m
			kinds[index] = Kind.NOTHING
			continue
		distances_m[index] = eye.distance_to(ray.get_collision_point())
		var seen: TagAgent = ray.get_collider() as TagAgent
		if seen == null:
			kinds[index] = Kind.WALL
		else:
			kinds[index] = Kind.SEEKER if seen.is_seeker_like else Kind.HIDER


## Where ray [param index] ended at the last look of [param agent], in the world's frame.
func end_of(agent: TagAgent, index: int) -> Vector3:
	var direction: Vector3 = directions[index].rotated(Vector3.UP, agent.heading_rad)
	return eye_of(agent) + direction * distances_m[index]
