extends EngineTest
## The scenes of navigation: the rig follows the walker, and the vignette what the walker does.


func test_every_scene_is_walked_by_its_script() -> void:
	for course_name in NavigationScene.SCENES:
		var scene: NavigationScene = await _scene(course_name)
		check_equal(scene.course_name, course_name, "which course")
		await ticks(90)
		var walker: Walker = scene.world.walker
		var rig: NavigationRig = scene.rig
		check(scene.world.tick_number > 60, "the script walks")
		check_near(rig.global_position.distance_to(walker.feet()), 0.0, 1e-4, "origin")
		check_near(rig.camera.global_position.distance_to(walker.eyes()), 0.0, 1e-4, "camera")
		check_near(rig.left.position.distance_to(walker.hands[0]), 0.0, 1e-5, "left controller")
		check_near(rig.right.position.distance_to(walker.hands[1]), 0.0, 1e-5, "right controller")
		var ahead: Vector3 = -rig.camera.global_basis.z
		check_near(ahead.x, -sin(walker.yaw_rad), 1e-4, "the camera looks where it walks")
		scene.queue_free()
		await ticks(1)


func test_the_vignette_closes_in_turns_and_opens_again() -> void:
	var scene: NavigationScene = await _scene("course")
	scene.set_physics_process(false)
	for share: float in [1.0, 0.0]:
		for _tick in 60:
			scene.world.set_action(0.0, 0.0, share)
			scene.world.tick()
			scene.rig.follow(scene.world)
		if share > 0.0:
			check(scene.rig.vignette > 0.8, "closed while turning: %f" % scene.rig.vignette)
		else:
			check(scene.rig.vignette < 0.2, "open at rest: %f" % scene.rig.vignette)


func test_options() -> void:
	var words: PackedStringArray = ["--course=maze", "--turn=snap", "--seed=4", "--http-port=0"]
	var options: NavigationOptions = NavigationOptions.parse(words)
	check_equal(options.error, "", "good words")
	check_equal(options.settings.motion.turn, "snap", "turn")
	for bad: String in [
		"--course=../x", "--turn=spin", "--seed=a", "--set=motion.speed_mps=99", "-x"
	]:
		var complaint: String = NavigationOptions.parse([bad]).error
		check(complaint.contains(": ") and complaint.length() < 4000, "%s: %s" % [bad, complaint])


func _scene(course_name: String) -> NavigationScene:
	var packed: PackedScene = load(NavigationScene.SCENES[course_name])
	var scene: NavigationScene = packed.instantiate()
	scene.arguments = ["--demo"]
	add_child(scene)
	await ticks(3)
	return scene
