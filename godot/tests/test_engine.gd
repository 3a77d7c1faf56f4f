extends EngineTest
## The engine itself is the one the games are written for.


func test_version_is_supported() -> void:
	var version: Dictionary = Engine.get_version_info()
	var found: int = version["major"] * 100 + version["minor"]
	check(found >= 404, "Godot 4.4 or newer is needed, this is %s" % version["string"])


func test_physics_is_jolt_at_sixty_ticks() -> void:
	check_equal(
		ProjectSettings.get_setting("physics/3d/physics_engine"), "Jolt Physics", "physics engine"
	)
	check_equal(Engine.physics_ticks_per_second, 60, "ticks per second")


func test_a_free_body_falls_as_gravity_says() -> void:
	var body := RigidBody3D.new()
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	body.add_child(shape)
	body.linear_damp_mode = RigidBody3D.DAMP_MODE_REPLACE
	add_child(body)
	await ticks(2)
	var start_m: float = body.position.y
	var start_mps: float = body.linear_velocity.y
	await ticks(30)
	var gravity_mps2: float = ProjectSettings.get_setting("physics/3d/default_gravity")
	var expected_m: float = start_mps * 0.5 - 0.5 * gravity_mps2 * 0.25
	check_near(
		body.position.y - start_m, expected_m, absf(expected_m) * 0.05, "fall in half a second"
	)
