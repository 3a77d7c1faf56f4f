extends TagTest
## Walls and floor are solid at any speed.


func test_walls_of_open() -> void:
	_run_into_everything("open")


func test_walls_of_pillars() -> void:
	_run_into_everything("pillars")


func test_walls_of_maze() -> void:
	_run_into_everything("maze")


func test_walls_of_platforms() -> void:
	_run_into_everything("platforms")


func test_walls_of_mixed() -> void:
	_run_into_everything("mixed")


func test_corners_of_every_box() -> void:
	for arena_name in ArenaData.hand_made():
		var world: TagWorld = _fast_world(named(arena_name), 4.0)
		for box in world.solids():
			for corner: Vector2 in WAYS.slice(4):
				var target: Vector3 = box.position
				target += box.size * 0.5 * Vector3(corner.x, 0.0, corner.y)
				# Exactly at the corner, and grazing it by less than the skin on either side.
				for graze_m: float in [0.0, 0.0004, -0.0004, 0.002]:
					_graze(world, target, corner, graze_m)
		drop(world)


func test_falls_end_on_the_floor_at_top_fall_speed() -> void:
	var overrides: PackedStringArray = ["motion.gravity_mps2=200", "motion.fall_speed_mps=60"]
	var world: TagWorld = make_world(plain_arena([[4, 5, 0, 3, 0.1, 3]]), overrides)
	for x: float in [0.0, 4.0, 5.9, 5.95, 6.0]:
		var agent: TagAgent = put(world, 0, Vector3(x, 19.0, 0.0))
		var ground_m: float = 5.05 if absf(x - 4.0) < 1.95 else 0.0
		drive(world, 90)
		check_near(agent.position.y - 0.45, ground_m, 0.0011, "height after a fall at x = %s" % x)
		check(agent.grounded, "grounded after a fall at x = %s" % x)


func test_nobody_leaves_over_the_walls() -> void:
	var overrides: PackedStringArray = [
		"motion.jump_speed_mps=60", "motion.gravity_mps2=10", "rules.mode=classic"
	]
	var world: TagWorld = make_world(plain_arena(), overrides)
	for way in WAYS:
		world.reset()
		var agent: TagAgent = put(world, 0, Vector3.ZERO)
		var highest_m: float = 0.0
		for _tick in 300:
			drive(world, 1, way, 1.0)
			highest_m = maxf(highest_m, agent.position.y)
			if depth_m(world, agent) > 0.0:
				break
		check(depth_m(world, agent) <= 0.0, "solid toward %s" % way)
		check(highest_m <= world.settings.arena.collider_height_m, "height %f" % highest_m)


func test_seams_between_boxes_do_not_catch() -> void:
	var floor_boxes: Array = []
	for column in 8:
		floor_boxes.append([column * 2.0 - 7.0, 0.5, 0.0, 2.0, 1.0, 4.0])
	var world: TagWorld = make_world(plain_arena(floor_boxes))
	# Along the tops, and along the row of side faces.
	for start: Vector3 in [Vector3(-7.0, 1.0, 0.0), Vector3(-7.5, 0.0, 2.451)]:
		var agent: TagAgent = put(world, 0, start)
		drive(world, 30, Vector2(1.0, 0.0))
		for _tick in 60:
			drive(world, 1, Vector2(1.0, -0.2 if start.y == 0.0 else 0.0))
			check(agent.velocity.x > 6.0, "caught at x = %f" % agent.position.x)
			check_near(agent.position.y, start.y + 0.451, 1e-5, "height")


func test_a_gap_just_wide_enough_lets_a_body_through() -> void:
	# Wider than the body by less than two skins: no place to stand a skin from both sides.
	var world: TagWorld = make_world(
		plain_arena([[-1.4505, 1, 0, 2, 2, 2], [1.4505, 1, 0, 2, 2, 2]])
	)
	var agent: TagAgent = put(world, 0, Vector3(0.0, 0.0, -3.0))
	for tick in 120:
		drive(world, 1, Vector2([0.0, 0.05, -0.05][tick % 3], 1.0))
		check(depth_m(world, agent) <= 1e-6, "inside a wall by %f" % depth_m(world, agent))
	put(world, 0, Vector3(0.0, 0.0, -3.0))
	drive(world, 120, Vector2(0.0, 1.0))
	check(agent.position.z > 2.0, "did not get through: %s" % agent.position)


func _run_into_everything(arena_name: String) -> void:
	for factor: float in [1.0, 2.0, 4.0]:
		var world: TagWorld = _fast_world(named(arena_name), factor)
		var deepest_m: float = -INF
		var overlaps: int = 0
		var runs: int = 0
		for x in range(-9, 10, 3):
			for z in range(-9, 10, 3):
				var ground := Vector3(x, maxf(world.map().height_at(Vector3(x, 0, z)), 0.0), z)
				if not ground.is_finite():
					continue
				for way in WAYS:
					var agent: TagAgent = put(world, 0, ground)
					if depth_m(world, agent) > 0.0:
						continue
					runs += 1
					for tick in 60:
						drive(world, 1, way, 1.0 if tick % 20 > 10 else -1.0)
						deepest_m = maxf(deepest_m, depth_m(world, agent))
					agent.force_update_transform()
					overlaps += int(engine_overlaps(world, agent))
		check(runs > 200, "only %d runs at %sx" % [runs, factor])
		check(deepest_m <= 1e-6, "%f m deep at %sx" % [deepest_m, factor])
		check_equal(overlaps, 0, "overlaps the engine finds at %sx" % factor)
		drop(world)


func _graze(world: TagWorld, target: Vector3, corner: Vector2, graze_m: float) -> void:
	var half: float = world.settings.body.size_m * 0.5
	# Start beside the face, the near edge of the path graze_m past the corner.
	var start := Vector3(target.x + corner.x * (half - graze_m), 0.0, target.z + corner.y * 2.5)
	var side: Vector2 = world.arena.size_m * 0.5 - Vector2.ONE * half
	if absf(start.x) > side.x or absf(start.z) > side.y:
		return
	var agent: TagAgent = put(world, 0, start)
	if depth_m(world, agent) > 0.0:
		return
	for tick in 40:
		drive(world, 1, Vector2(-corner.x if tick > 10 else 0.0, -corner.y), 1.0)
		var deep_m: float = depth_m(world, agent)
		if deep_m > 1e-6:
			check(false, "%s: %f m deep at corner %s" % [world.arena.name, deep_m, target])
			return
	check(true, "")


func _fast_world(arena: ArenaData, factor: float) -> TagWorld:
	return make_world(
		arena,
		[
			"motion.seeker_speed_mps=%f" % (6.5 * factor),
			"motion.seeker_acceleration_mps2=%f" % (40.0 * factor),
			"motion.hider_acceleration_mps2=%f" % (40.0 * factor),
			"motion.air_acceleration_mps2=%f" % (15.0 * factor),
			"motion.hider_speed_mps=%f" % (6.5 * factor),
			# A tag must not end the round.
			"rules.mode=classic",
			"rules.classic_round_s=3600",
		]
	)
