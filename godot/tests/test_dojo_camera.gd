extends EngineTest
## What a camera sensor really sees.
## needs: rendering


func test_a_camera_sees_what_is_before_it() -> void:
	var carrier := Node3D.new()
	var eye := DojoCameraSensor.new()
	eye.size = Vector2i(16, 16)
	eye.add_child(Camera3D.new())
	carrier.add_child(eye)
	add_child(carrier)
	add_child(_red_box(Vector3(3.0, 0.0, 0.0)))
	await _drawn()
	check(_redness(eye) < 0.5, "looking past it: %f" % _redness(eye))
	carrier.rotate_y(-PI / 2.0)
	await _drawn()
	check(_redness(eye) > 0.9, "looking at it: %f" % _redness(eye))
	eye.is_grey = true
	check_equal(eye.read().size(), 256, "numbers in grey")
	check_near(eye.read()[136], 0.213, 0.1, "red in grey")


func test_a_flat_camera_sees_the_flat_world() -> void:
	var carrier := Node2D.new()
	var eye := DojoCameraSensor.new()
	eye.size = Vector2i(16, 16)
	var camera := Camera2D.new()
	camera.process_callback = Camera2D.CAMERA2D_PROCESS_PHYSICS
	eye.add_child(camera)
	carrier.add_child(eye)
	add_child(carrier)
	var red := Polygon2D.new()
	red.color = Color.RED
	red.polygon = [Vector2(200, 200), Vector2(300, 200), Vector2(300, 300), Vector2(200, 300)]
	add_child(red)
	await _drawn()
	check(_redness(eye) < 0.5, "looking past it: %f" % _redness(eye))
	carrier.position = Vector2(250, 250)
	await _drawn()
	check(_redness(eye) > 0.9, "looking at it: %f" % _redness(eye))


func _drawn() -> void:
	for _frame in 3:
		await RenderingServer.frame_post_draw


func _redness(eye: DojoCameraSensor) -> float:
	var seen: PackedFloat32Array = eye.read()
	var middle: int = (8 * 16 + 8) * 3
	return seen[middle] - seen[middle + 1] - seen[middle + 2]


func _red_box(place: Vector3) -> MeshInstance3D:
	var paint := StandardMaterial3D.new()
	paint.albedo_color = Color.RED
	paint.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	var box := BoxMesh.new()
	box.size = Vector3.ONE * 3.0
	box.material = paint
	var look := MeshInstance3D.new()
	look.mesh = box
	look.position = place
	return look
