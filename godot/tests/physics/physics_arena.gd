extends "res://tests/physics/physics_recorder.gd"
## A scene of random bodies with characters in it.

var _wishes: Array[Vector3] = []


func _build() -> void:
	_wishes = []
	_scene["gravity"] = ProjectSettings.get_setting("physics/3d/default_gravity")
	_scene["physics"] = ProjectSettings.get_setting("physics/3d/physics_engine")
	var floor_body: StaticBody3D = StaticBody3D.new()
	_add(floor_body, _shape("box", Vector3(24, 1, 24)), Vector3(0, -0.5, 0), Basis.IDENTITY)
	for number: int in 14:
		var at: Vector3 = Vector3(
			_chance.randf_range(-6, 6), _chance.randf_range(0, 1.2), _chance.randf_range(-6, 6)
		)
		_add(StaticBody3D.new(), _random_obstacle(), at, _random_basis())
	for number: int in 3 if _kind in ["crowd", "areas"] else 1:
		_add_mover(Vector3(number * 2.0 - 2.0, 4.0, 0.0))
	if _kind == "areas":
		for number: int in 6:
			var area: Area3D = Area3D.new()
			var at: Vector3 = Vector3(
				_chance.randf_range(-6, 6), _chance.randf_range(0, 2), _chance.randf_range(-6, 6)
			)
			_add(area, _random_obstacle(), at, _random_basis())
			_watch(area)
	if _kind == "rigid":
		for number: int in 3:
			_add_rigid(number)


func _random_basis() -> Basis:
	match _kind:
		"flat", "areas":
			return Basis.IDENTITY
		"yaw", "crowd", "rigid":
			return Basis(Vector3.UP, _chance.randf_range(0, TAU))
	var axis: Vector3 = Vector3(
		_chance.randf_range(-1, 1), _chance.randf_range(-1, 1), _chance.randf_range(-1, 1)
	)
	return Basis(axis.normalized(), _chance.randf_range(0, TAU))


func _random_obstacle() -> Shape3D:
	var size: Vector3 = Vector3(
		_chance.randf_range(0.5, 4), _chance.randf_range(0.3, 2), _chance.randf_range(0.5, 4)
	)
	var kinds: Array[String] = ["box"]
	if _kind in ["mixed", "crowd", "areas", "bodies", "rigid"]:
		kinds = ["box", "box", "sphere", "capsule", "cylinder"]
	if _kind == "hulls":
		kinds = ["convex", "box"]
	if _kind == "meshes":
		kinds = ["mesh"]
	return _shape(kinds[_chance.randi_range(0, kinds.size() - 1)], size)


func _shape(kind: String, size: Vector3) -> Shape3D:
	match kind:
		"box":
			var box: BoxShape3D = BoxShape3D.new()
			box.size = size
			return box
		"sphere":
			var sphere: SphereShape3D = SphereShape3D.new()
			sphere.radius = size.x / 2.0
			return sphere
		"capsule":
			var capsule: CapsuleShape3D = CapsuleShape3D.new()
			capsule.radius = minf(size.x, size.z) / 4.0
			capsule.height = 2.0 * capsule.radius + size.y
			return capsule
		"cylinder":
			var cylinder: CylinderShape3D = CylinderShape3D.new()
			cylinder.radius = size.x / 2.0
			cylinder.height = size.y
			return cylinder
		"convex":
			var convex: ConvexPolygonShape3D = ConvexPolygonShape3D.new()
			var points: PackedVector3Array = []
			for number: int in 12:
				points.append(
					(
						Vector3(_chance.randfn(), _chance.randfn(), _chance.randfn()).normalized()
						* size
						* 0.5
					)
				)
			convex.points = points
			return convex
	var mesh: BoxMesh = BoxMesh.new()
	mesh.size = size
	return mesh.create_trimesh_shape()


func _add_mover(at: Vector3) -> void:
	var mover: CharacterBody3D = CharacterBody3D.new()
	var shape: Shape3D = _shape("capsule", Vector3(1.6, 1.0, 1.6))
	if _kind == "bodies":
		var kinds: Array[String] = ["sphere", "box", "cylinder"]
		shape = _shape(kinds[_chance.randi_range(0, 2)], Vector3(0.8, 1.0, 0.6))
	_choose_settings(mover)
	_add(mover, shape, at, Basis(Vector3.UP, _chance.randf_range(0, TAU)))
	_movers.append(mover)
	_wishes.append(Vector3.ZERO)


func _add_rigid(number: int) -> void:
	var ball: RigidBody3D = RigidBody3D.new()
	var material: PhysicsMaterial = PhysicsMaterial.new()
	material.friction = _chance.randf_range(0.1, 1.0)
	material.bounce = _chance.randf_range(0.0, 0.8) if _chance.randf() < 0.5 else 0.0
	ball.physics_material_override = material
	ball.mass = _chance.randf_range(0.5, 3.0)
	ball.gravity_scale = _chance.randf_range(0.5, 1.5)
	ball.linear_damp = _chance.randf_range(0.0, 0.5)
	ball.can_sleep = false
	# Balls pass through each other.
	ball.collision_layer = 2
	var at: Vector3 = Vector3(-9.0 + number, 2.0, -9.0)
	_add(ball, _shape("sphere", Vector3(0.8, 0.8, 0.8)), at, Basis.IDENTITY)
	ball.linear_velocity = Vector3(_chance.randf_range(-3, 3), 0.0, _chance.randf_range(-3, 3))
	ball.angular_velocity = Vector3(_chance.randf_range(-3, 3), _chance.randf_range(-3, 3), 0.0)
	var entry: Dictionary = (_scene["bodies"] as Array)[-1]
	entry["mass"] = ball.mass
	entry["gravity_scale"] = ball.gravity_scale
	entry["linear_damp"] = ball.linear_damp
	entry["friction"] = material.friction
	entry["bounce"] = material.bounce
	entry["linear_velocity"] = _list(ball.linear_velocity)
	entry["angular_velocity"] = _list(ball.angular_velocity)


func _add(body: CollisionObject3D, shape: Shape3D, at: Vector3, basis_of_it: Basis) -> void:
	var node: CollisionShape3D = CollisionShape3D.new()
	node.shape = shape
	body.add_child(node)
	body.transform = Transform3D(basis_of_it, at)
	add_child(body)
	_bodies.append(body)
	var entry: Dictionary = {"class": body.get_class(), "transform": _transform(body)}
	entry["layer"] = body.collision_layer
	entry["mask"] = body.collision_mask
	entry["shape"] = shape.get_class()
	entry["margin"] = shape.margin
	if shape is BoxShape3D:
		entry["size"] = _list((shape as BoxShape3D).size)
	elif shape is ConvexPolygonShape3D:
		entry["points"] = _points((shape as ConvexPolygonShape3D).points)
	elif shape is ConcavePolygonShape3D:
		entry["points"] = _points((shape as ConcavePolygonShape3D).get_faces())
	else:
		entry["radius"] = shape.get("radius")
		entry["height"] = shape.get("height")
	(_scene["bodies"] as Array).append(entry)


## Every second a static body jumps to another place.
func _move_others(frame: Dictionary) -> void:
	frame["moved"] = []
	if _kind != "crowd" or _tick % 60 != 30:
		return
	var index: int = _chance.randi_range(1, 14)
	var body: Node3D = _bodies[index]
	body.position = Vector3(_chance.randf_range(-6, 6), 0.5, _chance.randf_range(-6, 6))
	frame["moved"] = [index, _transform(body)]


func _move(place: int, delta: float) -> Dictionary:
	var mover: CharacterBody3D = _movers[place]
	if _chance.randf() < 0.05:
		var way: Vector3 = Vector3(_chance.randf_range(-1, 1), 0.0, _chance.randf_range(-1, 1))
		_wishes[place] = way.normalized() * _chance.randf_range(1.0, 7.0)
	var wish: Vector3 = _wishes[place]
	var velocity: Vector3 = mover.velocity
	if mover.motion_mode == CharacterBody3D.MOTION_MODE_GROUNDED or _chance.randf() < 0.5:
		velocity.y -= 9.8 * delta
	velocity.x = move_toward(velocity.x, wish.x, 20.0 * delta)
	velocity.z = move_toward(velocity.z, wish.z, 20.0 * delta)
	if mover.is_on_floor() and _chance.randf() < 0.03:
		velocity.y = 5.0
	var teleported: bool = mover.position.y < -6.0
	if teleported:
		mover.position = Vector3(_chance.randf_range(-6, 6), 4.0, _chance.randf_range(-6, 6))
		velocity = Vector3.ZERO
	mover.velocity = velocity
	var row: Dictionary = {"from": _list(mover.position), "wanted": _list(velocity)}
	var collided: bool = mover.move_and_slide()
	row["collided"] = int(collided)
	row["to"] = _list(mover.position)
	row["velocity"] = _list(mover.velocity)
	row["floor"] = int(mover.is_on_floor())
	row["wall"] = int(mover.is_on_wall())
	row["ceiling"] = int(mover.is_on_ceiling())
	row["floor_normal"] = _list(mover.get_floor_normal())
	row["wall_normal"] = _list(mover.get_wall_normal())
	row["slides"] = mover.get_slide_collision_count()
	row["platform"] = _list(mover.get_platform_velocity())
	row["colliders"] = []
	for number: int in mover.get_slide_collision_count():
		var slide: KinematicCollision3D = mover.get_slide_collision(number)
		for contact: int in slide.get_collision_count():
			(row["colliders"] as Array).append(
				(
					[number, _bodies.find(slide.get_collider(contact)), slide.get_depth()]
					+ _list(slide.get_normal(contact))
				)
			)
	return row


func _rigid(body: Node) -> Dictionary:
	var ball: RigidBody3D = body
	var push: Vector3 = _push()
	if not push.is_zero_approx():
		ball.apply_central_force(push)
	return {
		"body": _bodies.find(ball),
		"transform": _transform(ball),
		"velocity": _list(ball.linear_velocity),
		"spin": _list(ball.angular_velocity),
		"push": _list(push),
	}


func _push() -> Vector3:
	var push: Vector3 = Vector3(_chance.randf_range(-9, 9), 0.0, _chance.randf_range(-9, 9))
	return Vector3.ZERO if _tick % 20 >= 10 else push


func _rays() -> Array:
	var results: Array = []
	var space: PhysicsDirectSpaceState3D = get_viewport().world_3d.direct_space_state
	for number: int in 4:
		var mover: CharacterBody3D = _movers[_chance.randi_range(0, _movers.size() - 1)]
		var start: Vector3 = mover.position
		var way: Vector3 = Vector3(
			_chance.randf_range(-8, 8), _chance.randf_range(-4, 4), _chance.randf_range(-8, 8)
		)
		var query: PhysicsRayQueryParameters3D = PhysicsRayQueryParameters3D.create(
			start, start + way
		)
		if number % 2 == 0:
			query.exclude = [mover.get_rid()]
		query.collide_with_areas = _kind == "areas" and number % 2 == 1
		query.hit_from_inside = number == 3
		var hit: Dictionary = space.intersect_ray(query)
		var row: Dictionary = {"from": _list(start), "to": _list(start + way)}
		row["exclude"] = _bodies.find(mover) if number % 2 == 0 else -1
		row["areas"] = int(query.collide_with_areas)
		row["inside"] = int(query.hit_from_inside)
		row["body"] = -1
		if not hit.is_empty():
			row["body"] = _bodies.find(hit["collider"])
			row["position"] = _list(hit["position"] as Vector3)
			row["normal"] = _list(hit["normal"] as Vector3)
		results.append(row)
	return results


func _list(value: Vector3) -> Array:
	return [value.x, value.y, value.z]


func _points(values: PackedVector3Array) -> Array:
	var result: Array = []
	for value: Vector3 in values:
		result.append(_list(value))
	return result


func _transform(node: Node3D) -> Array:
	var frame: Transform3D = node.global_transform
	var result: Array = []
	for row: int in 3:
		result.append_array([frame.basis.x[row], frame.basis.y[row], frame.basis.z[row]])
	return result + _list(frame.origin)
