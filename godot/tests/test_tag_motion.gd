extends TagTest
## How bodies move: the numbers of docs/games/tag-motion.md.

const TICK_S := TagAgent.TICK_S


func test_motion_follows_the_closed_form() -> void:
	_compare([], 3000)


func test_motion_follows_the_closed_form_at_four_times_the_speed() -> void:
	var fast: PackedStringArray = [
		"motion.seeker_speed_mps=26",
		"motion.hider_speed_mps=24",
		"motion.seeker_acceleration_mps2=160",
		"motion.hider_acceleration_mps2=120",
		"motion.jump_speed_mps=16",
	]
	_compare(fast, 3000)


func test_free_fall_is_within_one_percent() -> void:
	var world: TagWorld = make_world(plain_arena(), ["motion.fall_speed_mps=60"])
	var agent: TagAgent = put(world, 0, Vector3.UP * 15.0)
	var start_m: float = agent.position.y
	drive(world, 60)
	var gravity: float = world.settings.motion.gravity_mps2
	check_near(start_m - agent.position.y, 0.5 * gravity, 0.005 * gravity, "fall in one second")
	check_near(agent.velocity.y, -gravity, 0.01 * gravity, "speed after one second")


func test_fall_speed_is_limited() -> void:
	var world: TagWorld = make_world(plain_arena(), ["motion.fall_speed_mps=10"])
	var agent: TagAgent = put(world, 0, Vector3.UP * 18.0)
	drive(world, 60)
	check_near(agent.velocity.y, -10.0, 1e-4, "limited speed")


func test_jump_apex_is_within_two_percent() -> void:
	for jump: float in [6.0, 8.0, 12.0]:
		var world: TagWorld = make_world(plain_arena(), ["motion.jump_speed_mps=%f" % jump])
		var agent: TagAgent = put(world, 0, Vector3.ZERO)
		var ground_m: float = agent.position.y
		var apex_m: float = 0.0
		drive(world, 1, Vector2.ZERO, 1.0)
		while not agent.grounded and world.tick_number < 200:
			apex_m = maxf(apex_m, agent.position.y - ground_m)
			drive(world, 1)
		var expected_m: float = jump * jump / (2.0 * world.settings.motion.gravity_mps2)
		check_near(apex_m, expected_m, expected_m * 0.02, "apex at %s m/s" % jump)
		check_near(agent.position.y, ground_m, 0.001, "height after landing")


func test_top_speed_of_both_roles() -> void:
	var world: TagWorld = make_world(plain_arena())
	for index in 2:
		put(world, index, Vector3(-5.0, 0.0, index * 4.0))
	for _tick in 60:
		for index in 2:
			world.set_action(index, 3.0, 0.0, -1.0)
		world.tick()
	var motion: TagSettings.Motion = world.settings.motion
	check_near(world.agents[0].velocity.x, motion.seeker_speed_mps, 1e-4, "seeker")
	check_near(world.agents[1].velocity.x, motion.hider_speed_mps, 1e-4, "hider")
	drive(world, 60, Vector2(1.0, 1.0))
	check_near(world.agents[0].velocity.length(), motion.seeker_speed_mps, 1e-4, "diagonal")


func test_time_to_top_speed_and_stopping_distance() -> void:
	var world: TagWorld = make_world(plain_arena())
	var agent: TagAgent = put(world, 0, Vector3(-10.0, 0.0, 0.0))
	var motion: TagSettings.Motion = world.settings.motion
	var rise: int = ceili(motion.seeker_speed_mps / motion.seeker_acceleration_mps2 / TICK_S)
	drive(world, rise - 1, Vector2.RIGHT)
	check(agent.velocity.x < motion.seeker_speed_mps - 1e-3, "top speed too early")
	drive(world, 1, Vector2.RIGHT)
	check_near(agent.velocity.x, motion.seeker_speed_mps, 1e-4, "top speed")
	var start_m: float = agent.position.x
	drive(world, 60)
	# Speed falls before the body moves: the sum over ticks, half a tick short of v^2 / 2a.
	var ideal_m: float = motion.seeker_speed_mps ** 2 / (2.0 * motion.deceleration_mps2)
	var expected_m: float = ideal_m - motion.seeker_speed_mps * TICK_S * 0.5
	check_near(agent.position.x - start_m, expected_m, 0.005, "stopping distance")
	check_equal(agent.velocity.x, 0.0, "speed after stopping")


func test_a_resting_body_does_not_move_at_all() -> void:
	for arena_name in ArenaData.hand_made():
		var world: TagWorld = make_world(named(arena_name))
		drive(world, 2)
		var before: Array[Vector3] = []
		for agent in world.agents:
			before.append(agent.position)
		drive(world, 120)
		for agent in world.agents:
			check_equal(agent.position, before[agent.index], "a body at rest in " + arena_name)
			check(agent.grounded, "a body at rest stands on something in " + arena_name)


func test_coyote_time() -> void:
	var world: TagWorld = make_world(plain_arena([[0, 2, 0, 4, 4, 4]]))
	var coyote: int = roundi(world.settings.motion.coyote_s / TICK_S)
	for late: int in [coyote - 1, coyote]:
		var agent: TagAgent = put(world, 0, Vector3(1.5, 4.0, 0.0))
		while agent.grounded:
			drive(world, 1, Vector2.RIGHT)
		drive(world, late - 1)
		drive(world, 1, Vector2.ZERO, 1.0)
		check_equal(agent.velocity.y > 0.0, late < coyote, "jump %d ticks after the edge" % late)


func test_no_second_jump_in_the_air() -> void:
	var world: TagWorld = make_world(plain_arena())
	var agent: TagAgent = put(world, 0, Vector3.ZERO)
	var jumps: Array[int] = [0]
	agent.jumped.connect(func() -> void: jumps[0] += 1)
	drive(world, 30, Vector2.ZERO, 1.0)
	check_equal(jumps[0], 1, "jumps in half a second of asking for them")


func test_heading_turns_at_a_limited_rate() -> void:
	var world: TagWorld = make_world(plain_arena())
	var agent: TagAgent = put(world, 0, Vector3.ZERO, 0.0)
	drive(world, 6, Vector2.RIGHT)
	var rate: float = world.settings.motion.turn_rate_radps
	check_near(agent.heading_rad, rate * 0.1, 1e-4, "heading after a tenth of a second")
	drive(world, 60, Vector2.RIGHT)
	check_near(agent.heading_rad, PI * 0.5, 1e-4, "heading in the end")
	check_near(agent.forward().x, 1.0, 1e-4, "forward")
	drive(world, 30)
	check_near(agent.heading_rad, PI * 0.5, 1e-4, "heading without a wish")


func test_overlapping_teammates_drift_apart() -> void:
	var world: TagWorld = make_world(roomy_arena(), ["rules.hiders=2"])
	var one: TagAgent = put(world, 1, Vector3.ZERO)
	var two: TagAgent = put(world, 2, Vector3.ZERO)
	drive(world, 120)
	var gap: Vector3 = (one.position - two.position).abs()
	check(maxf(gap.x, gap.z) >= world.settings.body.size_m - 0.01, "still overlapping: %s" % gap)


func test_actions_that_are_no_numbers_do_nothing() -> void:
	var world: TagWorld = make_world(plain_arena())
	var agent: TagAgent = put(world, 0, Vector3.ZERO)
	var before: Vector3 = agent.position
	for nonsense: float in [NAN, INF, -INF]:
		for _tick in 20:
			world.set_action(0, nonsense, nonsense, NAN)
			world.tick()
	check(agent.position.is_equal_approx(before), "moved by nonsense to %s" % agent.position)


func test_a_moved_world_behaves_the_same() -> void:
	var here: TagWorld = make_world(named("mixed"))
	var there: TagWorld = make_world(named("mixed"))
	there.position = Vector3(200.0, 0.0, -300.0)
	await ticks(1)
	var rng := RandomNumberGenerator.new()
	for _tick in 300:
		var action := Vector3(rng.randf_range(-1, 1), rng.randf_range(-1, 1), rng.randf() - 0.8)
		for world: TagWorld in [here, there]:
			world.set_action(0, action.x, action.y, action.z)
			world.tick()
	var apart_m: float = there.agents[0].position.distance_to(here.agents[0].position)
	check(apart_m < 0.01, "the moved world's body is %f m off" % apart_m)


func _compare(overrides: PackedStringArray, count: int) -> void:
	var off: int = 0
	var worst_m: float = 0.0
	for arena_name in ArenaData.hand_made():
		var world: TagWorld = make_world(
			named(arena_name), overrides + PackedStringArray(["rules.round_s=60"])
		)
		var random := RandomOpponent.new(7)
		for tick in count:
			if tick % 4 == 0:
				for agent in world.agents:
					var action: Vector3 = random.act(world, agent)
					world.set_action(agent.index, action.x, action.y, action.z + 0.9)
			if world.round_over:
				world.reset()
			var before: Array[Vector3] = []
			for agent in world.agents:
				before.append(agent.position)
			world.tick()
			for agent in world.agents:
				var at: Vector3 = before[agent.index]
				for axis: int in [0, 2, 1]:
					at[axis] += closed_form(world, at, axis, agent.last_motion[axis])
				var error_m: float = at.distance_to(agent.position)
				worst_m = maxf(worst_m, error_m)
				off += int(error_m > 1e-5)
		drop(world)
	var share: float = off / (2.0 * count * ArenaData.hand_made().size())
	check(worst_m < 0.003, "a tick is off the closed form by %f m" % worst_m)
	check(share < 0.002, "%f of all ticks are off the closed form by more than 0.01 mm" % share)
