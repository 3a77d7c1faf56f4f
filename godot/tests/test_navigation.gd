extends EngineTest
## The game of navigation in the real engine: its courses, its motion, its ends and its rewards.

const TICK_S := Walker.TICK_S


func test_every_course_can_be_walked_from_its_middle() -> void:
	for course_name in CourseData.hand_made():
		var course: CourseData = CourseData.load_named(course_name)
		check_equal(course.error, "", course_name)
		for number in course.routes.size():
			var world: NavigationWorld = _world(_only_route(course, number))
			while not world.round_over:
				var action: Vector3 = ScriptedWalker.act(world)
				world.set_action(action.x, action.y, action.z)
				world.tick()
			var what: String = "%s, route %d" % [course_name, number]
			check_equal(world.winner, &"walker", "%s: who won" % what)
			check_equal(world.rewards.collisions, 0, "%s: collisions" % what)
			check(world.tick_number < 3000, "%s took %d ticks" % [what, world.tick_number])


func test_speed_and_turn_rate_are_those_of_the_settings() -> void:
	var world: NavigationWorld = _world(_plain())
	_drive(world, Vector3(1.0, 1.0, 0.0), 60)
	var speed: Vector3 = world.walker.velocity
	check_near(Vector2(speed.x, speed.z).length(), 2.0, 0.01, "speed on the diagonal")
	_drive(world, Vector3(0.0, 0.0, 1.0), 60)
	check_near(world.walker.yaw_rate_radps, -PI / 2.0, 0.01, "turning right")


func test_smoothing_follows_its_closed_form() -> void:
	var world: NavigationWorld = _world(_plain())
	_drive(world, Vector3(0.0, 1.0, 0.0), 9)
	var expected: float = 1.0 - exp(-9.0 * TICK_S / world.settings.motion.smoothing_s)
	check_near(world.walker.smoothed[1], expected, 1e-12, "share after nine ticks")
	check_near(-world.walker.velocity.z, 2.0 * expected, 1e-5, "speed ahead")


func test_step_is_climbed_and_a_wall_is_not() -> void:
	var steps := CourseData.new()
	var complaint: String = steps._read(
		_fields([{"position_m": [0, 1, -6], "size_m": [8, 2, 0.5], "kind": "wall"}], true)
	)
	check_equal(complaint, "", "the course")
	var world: NavigationWorld = _world(steps)
	_drive(world, Vector3(0.0, 1.0, 0.0), 120)
	check_near(world.walker.feet().y, 0.5, 0.003, "height on the ramp's end")
	check_equal(world.rewards.collisions, 0, "collisions with steps")
	_drive(world, Vector3(0.0, 1.0, 0.0), 90)
	check(world.walker.position.z > -6.0 + 0.5, "stops before the wall")
	check(world.walker.position.z < -6.0 + 0.51, "comes up to the wall")
	check_equal(world.rewards.collisions, 1, "one contact is one collision")
	_drive(world, Vector3(0.0, 1.0, 0.0), 60)
	check_equal(world.rewards.collisions, 2, "a contact that lasts counts again")


func test_a_gap_is_fallen_into() -> void:
	var world: NavigationWorld = _world(_plain())
	var terms := PackedFloat32Array()
	for _tick in 600:
		world.set_action(0.0, 1.0, 0.0)
		world.tick()
		if world.round_over:
			terms = world.rewards.terms
			break
	check_equal(world.winner, &"gap", "who won")
	check_near(terms[5], -50.0, 1e-6, "what a fall costs")


func test_the_clock_ends_a_round() -> void:
	var world: NavigationWorld = _world(_plain(), ["rules.round_s=0.5"])
	_drive(world, Vector3.ZERO, 31)
	check_equal(world.winner, &"clock", "who won")
	check_equal(world.tick_number, 30, "ticks")
	check_near(world.rewards.terms[6], -20.0, 1e-6, "what running out of time costs")


func test_goals_within_reach() -> void:
	var course: CourseData = CourseData.load_named("course")
	for within: Array in [[10.0, 2], [20.0, 4], [30.0, 6], [0.0, 6]]:
		var world: NavigationWorld = _world(course, ["rules.goal_within_m=%s" % within[0]])
		check_equal(world.marks.size(), within[1] as int, "marks within %s m" % within[0])


func test_snap_turns_jump_once_and_cost() -> void:
	var world: NavigationWorld = _world(_plain(), ["motion.turn=snap"])
	_drive(world, Vector3(0.0, 0.0, 1.0), 40)
	check_near(world.walker.yaw_rad, -deg_to_rad(30.0), 1e-9, "one snap while the stick is held")
	_drive(world, Vector3.ZERO, 40)
	_drive(world, Vector3(0.0, 0.0, 1.0), 16)
	check_near(world.walker.yaw_rad, -deg_to_rad(60.0), 1e-9, "another after it was let go")


func test_a_teleport_jumps_once_and_stops_before_what_is_solid() -> void:
	var platform: CourseData = CourseData.from_dict(_fields([], false))
	var world: NavigationWorld = _world(platform, ["motion.teleport_m=2"])
	world.set_action(0.0, 0.0, 0.0, 1.0)
	for _tick in world.settings.rules.ticks_per_decision:
		world.tick()
	check_near(world.walker.position.z, -2.0, 1e-3, "two metres ahead")
	check_near(world.rewards.terms[7], -1.0, 1e-6, "what it costs")
	for _tick in world.settings.rules.ticks_per_decision:
		world.tick()
	check_near(world.rewards.terms[7], 0.0, 1e-6, "nothing while it is held")
	_drive(world, Vector3.ZERO, 4)
	world.set_action(0.0, 0.0, 0.0, 1.0)
	world.tick()
	check_near(world.walker.position.z, -2.7, 1e-3, "stops before the platform at 3 m")


func test_smoothness_and_comfort_are_paid_at_every_decision() -> void:
	var world: NavigationWorld = _world(_plain())
	_drive(world, Vector3.ZERO, world.settings.rules.ticks_per_decision)
	check_near(world.rewards.terms[2], 0.1, 1e-6, "smooth")
	check_near(world.rewards.terms[3], 2.0, 1e-6, "comfort")


func test_comfort_loses_what_it_should() -> void:
	var world: NavigationWorld = _world(_plain(45.0))
	check_near(NavigationRewards.comfort_of(world.walker, world.settings), 1.0, 1e-9, "at rest")
	_drive(world, Vector3(0.0, 0.0, 1.0), 60)
	check_near(world.rewards.comfort, 0.7, 1e-9, "turning fast")
	_drive(world, Vector3(0.0, 1.0, 0.0), 60)
	check_near(world.rewards.comfort, 0.8, 1e-9, "walking fast")
	_drive(world, Vector3(0.0, 1.0, 1.0), 60)
	check_near(world.rewards.comfort, 0.3, 1e-9, "everything at once")


func test_observation_is_what_the_table_says() -> void:
	var world: NavigationWorld = _world(_plain())
	_drive(world, Vector3(0.3, 0.5, 0.4), 20)
	var observed := PackedFloat32Array()
	NavigationObservation.append(world, observed)
	check_equal(observed.size(), 48, "numbers")
	check_equal(NavigationObservation.layout.size(world.settings), 48, "parts")
	var walker: Walker = world.walker
	check_near(observed[1], walker.feet().y + 1.6, 1e-5, "eye height")
	check_near(
		observed[4], sin(walker.yaw_rad / 2.0) * cos(walker.roll_rad / 2.0), 1e-6, "rotation"
	)
	check_near(observed[9], -2.0 * walker.smoothed[1], 1e-4, "ahead is -z of the rig")
	# Ray 5 of the first row looks straight ahead, ray 13 down onto the floor.
	check_near(observed[13 + 5], 5.0, 1e-5, "nothing ahead")
	check_near(observed[13 + 13], 0.9 / sin(deg_to_rad(35.0)), 0.01, "the floor")
	var way := Vector3(observed[41], observed[42], observed[43])
	check_near(way.length(), observed[44], 1e-4, "distance")
	check_near(observed[47] * observed[44], observed[43], 1e-4, "direction")


func test_worlds_are_the_same_from_the_same_seed() -> void:
	var worlds := NavigationWorlds.new()
	add_child(worlds)
	var request: Dictionary = {"worlds": 5, "ticks_per_decision": null, "options": {}}
	check_equal(worlds.configure(request), "", "configure")
	await ticks(1)
	var first: PackedFloat32Array = await _played(worlds)
	var second: PackedFloat32Array = await _played(worlds)
	check_equal(first.size(), 5 * 48, "size")
	check(first == second, "the same rounds")
	for options: Dictionary in [{"speed": 1}, {"courses": []}, {"courses": [{}]}, {"settings": 3}]:
		request["options"] = options
		check(not worlds.configure(request).is_empty(), "%s is refused" % options)


func _played(worlds: NavigationWorlds) -> PackedFloat32Array:
	worlds.reset(7)
	var actions := PackedFloat32Array()
	actions.resize(15)
	for number in 15:
		actions[number] = sin(number)
	for _decision in 100:
		worlds.act(actions)
		worlds.advance()
	return worlds.collect().observation.duplicate()


func _world(course: CourseData, overrides: PackedStringArray = []) -> NavigationWorld:
	var settings: NavigationSettings = NavigationSettings.load_defaults()
	for override in overrides:
		check_equal(settings.apply_override(override), "", override)
	var solid := CourseSolid.new()
	var hall := SubViewport.new()
	hall.own_world_3d = true
	add_child(hall)
	hall.add_child(solid)
	solid.build(course, settings)
	var world := NavigationWorld.new(settings)
	world.rng.seed = 3
	world.begin_round(course, solid)
	world.walker.place(course.starts[0].position, course.starts[0].yaw_rad, solid)
	world.rewards.begin_round(world)
	return world


func _drive(world: NavigationWorld, action: Vector3, count: int) -> void:
	for _tick in count:
		world.set_action(action.x, action.y, action.z)
		world.tick()


func _only_route(course: CourseData, number: int) -> CourseData:
	var route: PackedVector3Array = course.routes[number]
	var only: CourseData = CourseData.load_named(course.name)
	only.routes = [route]
	return only


## A floor that ends [param ahead_m] before the walker, with the goal behind.
func _plain(ahead_m: float = 10.0) -> CourseData:
	var floor: Dictionary = {
		"position_m": [0, -0.5, 0], "size_m": [60, 1, ahead_m * 2.0], "kind": "floor"
	}
	var fields: Dictionary = _fields([], false)
	fields["boxes"] = [floor]
	return CourseData.from_dict(fields)


func _fields(boxes: Array, with_ramp: bool) -> Dictionary:
	var ramp: Dictionary = {
		"position_m": [0, 0, -2], "size_m": [8, 0.5, 2], "toward": "-z", "steps": 4
	}
	var ground: Array = [
		{"position_m": [0, -0.5, 0], "size_m": [20, 1, 40], "kind": "floor"},
		{"position_m": [0, 0.25, -5], "size_m": [8, 0.5, 4], "kind": "platform"},
	]
	return {
		"version": 1,
		"name": "plain",
		"title": "Plain",
		"look": "indoor",
		"boxes": ground + boxes,
		"ramps": [ramp] if with_ramp else [],
		"starts": [{"position_m": [0, 0, 0], "size_m": [0, 0], "yaw_deg": 0, "spread_deg": 0}],
		"routes": [{"marks_m": [[0, 0, 9]]}],
	}
