extends "res://tests/physics/physics_recorder.gd"
## A 2D scene of random bodies with characters in it. Lengths are pixels; down is +y.

const _GRAVITY := 980.0

var _wishes: Array[Vector2] = []


func _build() -> void:
	_wishes = []
	_scene["gravity"] = ProjectSettings.get_setting("physics/2d/default_gravity")
	var ground: Shape2D = _shape("RectangleShape2D", Vector2(2400, 100))
	if _kind == "boundary_2d":
		ground = WorldBoundaryShape2D.new()
	_add(StaticBody2D.new(), ground, Vector2(0, 0 if _kind == "boundary_2d" else 50), 0.0)
	for number: int in 14:
		var at: Vector2 = Vector2(_chance.randf_range(-600, 600), _chance.randf_range(-300, 0))
		var obstacle: Node2D = _add(StaticBody2D.new(), _random_shape(), at, _random_angle())
		if _kind == "one_way_2d" and number % 2 == 0:
			(obstacle.get_child(0) as CollisionShape2D).one_way_collision = true
			((_scene["bodies"] as Array)[-1] as Dictionary)["one_way"] = 1
	for number: int in 3 if _kind in ["crowd_2d", "areas_2d"] else 1:
		_add_mover(Vector2(number * 150.0 - 150.0, -450.0))
	if _kind == "areas_2d":
		for number: int in 6:
			var at: Vector2 = Vector2(_chance.randf_range(-600, 600), _chance.randf_range(-300, 0))
			_watch(_add(Area2D.new(), _random_shape(), at, _random_angle()))
	if _kind == "rigid_2d":
		for number: int in 3:
			_add_rigid(number)


func _random_angle() -> float:
	if _kind in ["flat_2d", "areas_2d", "one_way_2d"]:
		return 0.0
	return _chance.randf_range(0, TAU)


func _random_shape() -> Shape2D:
	var kinds: Array[String] = ["RectangleShape2D"]
	if _kind in ["mixed_2d", "crowd_2d", "areas_2d", "bodies_2d", "boundary_2d", "floating_2d"]:
		kinds = [
			"RectangleShape2D",
			"CircleShape2D",
			"CapsuleShape2D",
			"ConvexPolygonShape2D",
			"SegmentShape2D"
		]
	var size: Vector2 = Vector2(_chance.randf_range(30, 300), _chance.randf_range(20, 150))
	return _shape(kinds[_chance.randi_range(0, kinds.size() - 1)], size)


func _shape(kind: String, size: Vector2) -> Shape2D:
	match kind:
		"RectangleShape2D":
			var rectangle: RectangleShape2D = RectangleShape2D.new()
			rectangle.size = size
			return rectangle
		"CircleShape2D":
			var circle: CircleShape2D = CircleShape2D.new()
			circle.radius = size.y / 2.0
			return circle
		"CapsuleShape2D":
			var capsule: CapsuleShape2D = CapsuleShape2D.new()
			capsule.radius = size.y / 4.0
			capsule.height = 2.0 * capsule.radius + size.x
			return capsule
		"SegmentShape2D":
			var segment: SegmentShape2D = SegmentShape2D.new()
			segment.a = -size / 2.0
			segment.b = size / 2.0
			return segment
	var convex: ConvexPolygonShape2D = ConvexPolygonShape2D.new()
	var points: PackedVector2Array = []
	for number: int in 9:
		points.append(Vector2.from_angle(_chance.randf_range(0, TAU)) * size * 0.5)
	convex.points = Geometry2D.convex_hull(points).slice(1)
	return convex


func _add_mover(at: Vector2) -> void:
	var mover: CharacterBody2D = CharacterBody2D.new()
	var shape: Shape2D = _shape("CapsuleShape2D", Vector2(40, 64))
	if _kind == "bodies_2d":
		var kinds: Array[String] = ["RectangleShape2D", "CircleShape2D", "ConvexPolygonShape2D"]
		shape = _shape(kinds[_chance.randi_range(0, 2)], Vector2(50, 70))
	if _kind == "floating_2d":
		mover.motion_mode = CharacterBody2D.MOTION_MODE_FLOATING
	_choose_settings(mover)
	_add(mover, shape, at, _random_angle() if _kind == "bodies_2d" else 0.0)
	_movers.append(mover)
	_wishes.append(Vector2.ZERO)


func _add_rigid(number: int) -> void:
	var body: RigidBody2D = RigidBody2D.new()
	body.mass = _chance.randf_range(0.5, 3.0)
	body.gravity_scale = _chance.randf_range(-0.2, 0.2)
	body.linear_damp = _chance.randf_range(0.0, 0.5)
	body.angular_damp = _chance.randf_range(0.0, 0.5)
	body.can_sleep = false
	body.collision_layer = 0
	body.collision_mask = 0
	_add(body, _shape("RectangleShape2D", Vector2(60, 30)), Vector2(number * 100.0, -900.0), 0.3)
	body.linear_velocity = Vector2(_chance.randf_range(-200, 200), 0.0)
	body.angular_velocity = _chance.randf_range(-3, 3)
	var entry: Dictionary = (_scene["bodies"] as Array)[-1]
	for property: String in ["mass", "gravity_scale", "linear_damp", "angular_damp"]:
		entry[property] = body.get(property)


func _add(body: CollisionObject2D, shape: Shape2D, at: Vector2, angle: float) -> Node2D:
	var node: CollisionShape2D = CollisionShape2D.new()
	node.shape = shape
	body.add_child(node)
	body.position = at
	body.rotation = angle
	add_child(body)
	_bodies.append(body)
	var entry: Dictionary = {"class": body.get_class(), "transform": _transform(body)}
	entry["layer"] = body.collision_layer
	entry["mask"] = body.collision_mask
	entry["shape"] = shape.get_class()
	for property: String in ["radius", "height", "distance"]:
		if property in shape:
			entry[property] = shape.get(property)
	for property: String in ["size", "a", "b", "normal"]:
		if property in shape:
			entry[property] = _list(shape.get(property) as Vector2)
	if shape is ConvexPolygonShape2D:
		entry["points"] = Array((shape as ConvexPolygonShape2D).points).map(_list)
	(_scene["bodies"] as Array).append(entry)
	return body


## Every second a static body jumps to another place.
func _move_others(frame: Dictionary) -> void:
	frame["moved"] = []
	if _kind != "crowd_2d" or _tick % 60 != 30:
		return
	var index: int = _chance.randi_range(1, 14)
	var body: Node2D = _bodies[index]
	body.position = Vector2(_chance.randf_range(-600, 600), _chance.randf_range(-300, 0))
	frame["moved"] = [index, _transform(body)]


func _move(place: int, delta: float) -> Dictionary:
	var mover: CharacterBody2D = _movers[place]
	if _chance.randf() < 0.05:
		_wishes[place] = Vector2(_chance.randf_range(-500, 500), _chance.randf_range(-300, 300))
	var wish: Vector2 = _wishes[place]
	var velocity: Vector2 = mover.velocity
	velocity.x = move_toward(velocity.x, wish.x, 2000.0 * delta)
	if mover.motion_mode == CharacterBody2D.MOTION_MODE_FLOATING:
		velocity.y = move_toward(velocity.y, wish.y, 2000.0 * delta)
	else:
		velocity.y += _GRAVITY * delta
		if mover.is_on_floor() and _chance.randf() < 0.03:
			velocity.y = -500.0
	if mover.position.y > 600.0 or absf(mover.position.x) > 1000.0 or mover.position.y < -900.0:
		mover.position = Vector2(_chance.randf_range(-600, 600), -450.0)
		velocity = Vector2.ZERO
	mover.velocity = velocity
	var row: Dictionary = {"from": _list(mover.position), "wanted": _list(velocity)}
	row["collided"] = int(mover.move_and_slide())
	row["to"] = _list(mover.position)
	row["velocity"] = _list(mover.velocity)
	row["floor"] = int(mover.is_on_floor())
	row["wall"] = int(mover.is_on_wall())
	row["ceiling"] = int(mover.is_on_ceiling())
	row["floor_normal"] = _list(mover.get_floor_normal())
	row["wall_normal"] = _list(mover.get_wall_normal())
	row["colliders"] = []
	for number: int in mover.get_slide_collision_count():
		var slide: KinematicCollision2D = mover.get_slide_collision(number)
		(row["colliders"] as Array).append(
			[_bodies.find(slide.get_collider()), slide.get_depth()] + _list(slide.get_normal())
		)
	return row


func _rigid(body: Node) -> Dictionary:
	var rigid: RigidBody2D = body
	var push: Vector2 = Vector2(_chance.randf_range(-90, 90), _chance.randf_range(-90, 90))
	rigid.apply_central_force(push)
	return {
		"body": _bodies.find(body),
		"transform": _transform(rigid),
		"velocity": _list(rigid.linear_velocity),
		"spin": rigid.angular_velocity,
		"push": _list(push),
	}


func _rays() -> Array:
	var results: Array = []
	var space: PhysicsDirectSpaceState2D = get_viewport().world_2d.direct_space_state
	for number: int in 4:
		var mover: CharacterBody2D = _movers[_chance.randi_range(0, _movers.size() - 1)]
		var start: Vector2 = mover.position
		var end: Vector2 = start + Vector2.from_angle(_chance.randf_range(0, TAU)) * 400.0
		var query: PhysicsRayQueryParameters2D = PhysicsRayQueryParameters2D.create(start, end)
		if number % 2 == 0:
			query.exclude = [mover.get_rid()]
		query.collide_with_areas = _kind == "areas_2d" and number % 2 == 1
		query.hit_from_inside = number == 3
		var hit: Dictionary = space.intersect_ray(query)
		var row: Dictionary = {"from": _list(start), "to": _list(end), "body": -1}
		row["exclude"] = _bodies.find(mover) if number % 2 == 0 else -1
		row["areas"] = int(query.collide_with_areas)
		row["inside"] = int(query.hit_from_inside)
		if not hit.is_empty():
			row["body"] = _bodies.find(hit["collider"])
			row["position"] = _list(hit["position"] as Vector2)
			row["normal"] = _list(hit["normal"] as Vector2)
		results.append(row)
	return results


func _list(value: Vector2) -> Array:
	return [value.x, value.y]


func _transform(node: Node2D) -> Array:
	var frame: Transform2D = node.global_transform
	return _list(frame.x) + _list(frame.y) + _list(frame.origin)
