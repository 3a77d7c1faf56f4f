extends EngineTest
## Sensors against things whose place is known.


func test_a_cone_of_rays_in_3d() -> void:
	_box_3d(Vector3(0.0, 0.0, -5.0), "wall", 1)
	_box_3d(Vector3(4.0, 0.0, 0.0), "friend", 3)
	var body: StaticBody3D = _box_3d(Vector3.ZERO, "self", 1)
	var eyes := DojoRayCone3D.new()
	eyes.columns = 3
	eyes.width_deg = 180.0
	eyes.reach_m = 10.0
	eyes.collision_mask = 0b101
	eyes.kinds_by_group = ["wall", "friend"]
	eyes.kinds_by_layer = [3]
	body.add_child(eyes)
	await ticks(2)
	_check_numbers(eyes.read(), [1.0, 0, 0, 0, 0.45, 1, 0, 0, 0.35, 0, 1, 1], "left, ahead, right")
	check_equal(eyes.parts()[0]["shape"], [1, 3, 4], "shape")
	eyes.rotate_y(PI / 2.0)
	_check_numbers(eyes.read().slice(8), [0.45, 1, 0, 0], "the wall, after turning left")


func test_a_fan_of_rays_in_2d() -> void:
	_box_2d(Vector2(300.0, 0.0), "wall", 1)
	_box_2d(Vector2(0.0, 200.0), "friend", 2)
	var body: StaticBody2D = _box_2d(Vector2.ZERO, "self", 1)
	var eyes := DojoRayCone2D.new()
	eyes.rays = 4
	eyes.width_deg = 360.0
	eyes.collision_mask = 0b11
	eyes.kinds_by_group = ["friend"]
	body.add_child(eyes)
	await ticks(2)
	# From behind, clockwise as a screen shows it.
	_check_numbers(eyes.read(), [1.0, 0, 1, 0, 0.5, 0, 0.3, 1], "back, up, ahead, down")
	check_equal(eyes.parts()[0]["shape"], [4, 2], "shape")


func test_relative_positions_turn_along() -> void:
	var viewer := Node3D.new()
	var target := Node3D.new()
	add_child(viewer)
	add_child(target)
	viewer.position = Vector3(1.0, 0.0, 0.0)
	target.position = Vector3(1.0, 0.0, -5.0)
	var sense := DojoRelativePosition.new()
	sense.targets = [target, null]
	viewer.add_child(sense)
	_check_numbers(sense.read(), [0, 0, -1, 0.25, 0, 0, 0, 0], "straight ahead, and nobody")
	viewer.rotate_y(PI / 2.0)
	_check_numbers(sense.read().slice(0, 4), [1, 0, 0, 0.25], "to the right, after turning left")
	sense.turns_along = false
	_check_numbers(sense.read().slice(0, 4), [0, 0, -1, 0.25], "as the world sees it")
	check_equal(DojoObservationLayout.observation_size(sense.parts()), 8, "size")
	sense.targets = [target]
	target.free()
	_check_numbers(sense.read(), [0, 0, 0, 0], "a target that is gone")


func test_relative_positions_in_2d() -> void:
	var viewer := Node2D.new()
	var target := Node2D.new()
	add_child(viewer)
	add_child(target)
	target.position = Vector2(0.0, 30.0)
	viewer.rotation = PI / 2.0
	var sense := DojoRelativePosition.new()
	sense.targets = [target]
	sense.limit = 20.0
	viewer.add_child(sense)
	_check_numbers(sense.read(), [1, 0, 1], "ahead, and beyond the limit")
	check_equal(DojoObservationLayout.observation_size(sense.parts()), 3, "size")


func test_a_grid_in_3d() -> void:
	_box_3d(Vector3(-2.0, 0.0, 0.0), "wall", 1)
	_box_3d(Vector3(2.0, 0.0, 2.0), "friend", 1)
	var body: StaticBody3D = _box_3d(Vector3.ZERO, "self", 1)
	var grid := DojoGridSensor3D.new()
	grid.columns = 3
	grid.rows = 3
	grid.cell_m = Vector3(2.0, 1.0, 2.0)
	body.add_child(grid)
	await ticks(2)
	_check_numbers(grid.read(), [0, 0, 0, 1, 0, 0, 0, 0, 1], "anything")
	var kinds := DojoGridSensor3D.new()
	kinds.columns = 3
	kinds.rows = 1
	kinds.cell_m = Vector3(2.0, 1.0, 2.0)
	kinds.kinds_by_group = ["friend", "wall"]
	body.add_child(kinds)
	_check_numbers(kinds.read(), [0, 1, 0, 0, 0, 0], "kinds")


func test_a_grid_in_2d() -> void:
	_box_2d(Vector2(0.0, -52.0), "wall", 1)
	var body: StaticBody2D = _box_2d(Vector2.ZERO, "self", 1, 20.0)
	var grid := DojoGridSensor2D.new()
	grid.columns = 1
	grid.rows = 3
	body.add_child(grid)
	await ticks(2)
	# The wall is a hundred pixels wide, so that it reaches into the cell around the body too.
	_check_numbers(grid.read(), [1, 1, 0], "rows from top to bottom")


func test_a_camera_without_a_display_sees_black() -> void:
	var eye := DojoCameraSensor.new()
	eye.size = Vector2i(8, 4)
	add_child(eye)
	var seen: PackedFloat32Array = eye.read()
	check_equal(seen.size(), 96, "numbers")
	check_equal(seen.count(0.0), 96, "black ones")
	check_equal(eye.parts()[0]["shape"], [4, 8, 3], "shape")


func test_an_agent_finds_its_sensors() -> void:
	var body := Node3D.new()
	add_child(body)
	var eyes := DojoRayCone3D.new()
	eyes.name = "Eyes"
	var sense := DojoRelativePosition.new()
	sense.name = "Sense"
	sense.targets = [body]
	var agent := DojoAgent.new()
	body.add_child(agent)
	body.add_child(eyes)
	eyes.add_child(sense)
	await ticks(1)
	check_equal(agent.observe().size(), 20, "numbers")
	var names: Array = agent.observation_parts().map(
		func(part: Dictionary) -> String: return part["name"]
	)
	check_equal(names, ["Eyes", "Sense_0"], "parts")
	var twins: Array[Dictionary] = [
		DojoObservationLayout.numbers("Eyes", 1), DojoObservationLayout.numbers("Eyes", 1)
	]
	DojoObservationLayout.tell_apart(twins)
	check_equal([twins[0]["name"], twins[1]["name"]], ["Eyes", "Eyes_2"], "names of twins")


func _check_numbers(actual: PackedFloat32Array, expected: PackedFloat32Array, what: String) -> void:
	check_equal(actual.size(), expected.size(), what + ", size")
	for index in mini(actual.size(), expected.size()):
		check_near(
			actual[index], expected[index], 0.01, "%s, number %d of %s" % [what, index, actual]
		)


func _box_3d(place: Vector3, group: String, layer: int) -> StaticBody3D:
	var body := StaticBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	body.collision_layer = 1 << (layer - 1)
	body.position = place
	body.add_to_group(group)
	body.add_child(shape)
	add_child(body)
	return body


func _box_2d(place: Vector2, group: String, layer: int, size: float = 100.0) -> StaticBody2D:
	var body := StaticBody2D.new()
	var shape := CollisionShape2D.new()
	var box := RectangleShape2D.new()
	box.size = Vector2(size, size)
	shape.shape = box
	body.collision_layer = 1 << (layer - 1)
	body.position = place
	body.add_to_group(group)
	body.add_child(shape)
	add_child(body)
	return body
