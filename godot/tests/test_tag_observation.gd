extends TagTest
## The observation: its table, its values, and that it tells nothing the eyes cannot see.


func test_the_layout_adds_up() -> void:
	var settings: TagSettings = TagSettings.load_defaults()
	var rays: int = TagObservation.layout.start("rays")
	check_equal(rays, 13, "numbers before the rays")
	check_equal(TagObservation.layout.size(settings), rays + 48 * 2, "size with the default eyes")


func test_own_state() -> void:
	var world: TagWorld = make_world(plain_arena())
	var agent: TagAgent = put(world, 0, Vector3(5.0, 0.0, -10.0), PI * 0.5)
	agent.velocity = Vector3(3.25, 4.0, -6.5)
	var seen: PackedFloat32Array = _observe(world, 0)
	var expected: Array[float] = [
		0.25, 0.451 / 2.5, -0.5, 0.5, 0.5, -1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0
	]
	for place in expected.size():
		check_near(seen[place], expected[place], 1e-5, "number %d" % place)


func test_rays() -> void:
	var rows := 'sight.rows=[{"elevation_deg": 0, "columns": 3}]'
	var world: TagWorld = make_world(plain_arena([[-1, 1.5, -5, 4, 3, 1]]), [rows])
	put(world, 0, Vector3.ZERO, 0.0)
	put(world, 1, Vector3(0.0, 0.0, 5.45))
	var seen: PackedFloat32Array = _observe(world, 0)
	_check_ray(seen, 1, [5.0 / 20.0, 1], "a hider")
	_check_ray(seen, 0, [1, 0], "nothing")
	put(world, 0, Vector3.ZERO, PI)
	_check_ray(_observe(world, 0), 1, [4.5 / 20.0, 0], "a wall")
	put(world, 1, Vector3(0.0, 0.0, 5.45), PI)
	_check_ray(_observe(world, 1), 1, [5.0 / 20.0, -1], "a seeker")


func test_the_first_ray_is_on_the_left() -> void:
	var rows := 'sight.rows=[{"elevation_deg": 0, "columns": 3}]'
	var cone := "sight.fov_deg=120"
	# Looking along +z with y up, left is +x.
	var world: TagWorld = make_world(plain_arena([[6, 1.5, 3.5, 2, 3, 2]]), [rows, cone])
	put(world, 0, Vector3.ZERO, 0.0)
	var seen: PackedFloat32Array = _observe(world, 0)
	_check_ray(seen, 2, [1, 0], "nothing on the right")
	check(seen[TagObservation.layout.start("rays")] < 0.5, "something on the left")


func test_what_cannot_be_seen_changes_nothing() -> void:
	var world: TagWorld = make_world(plain_arena([[0, 1.5, 3, 4, 3, 0.5]]))
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.0, 0.0, 5.0))
	var hidden: PackedFloat32Array = _observe(world, 0).duplicate()
	for place: Vector3 in [
		Vector3(0, 0, 6), Vector3(0.5, 0, 5), Vector3(0, 0, -5), Vector3(-3, 0, -9)
	]:
		put(world, 1, place)
		world.agents[1].velocity = Vector3(1, 2, 3)
		check_equal(_observe(world, 0), hidden, "observation with the other at %s" % place)


func test_numbers_stay_within_reason() -> void:
	for arena_name in ArenaData.hand_made():
		var world: TagWorld = make_world(named(arena_name))
		var random := RandomOpponent.new(3)
		for _tick in 300:
			for agent in world.agents:
				var action: Vector3 = random.act(world, agent)
				world.set_action(agent.index, action.x, action.y, action.z)
			world.tick()
			for number in _observe(world, 0):
				if not absf(number) <= 2.5:
					check(false, "%f in %s" % [number, arena_name])
		check(true, "")
		drop(world)


func test_whoever_is_out_observes_zeros() -> void:
	var world: TagWorld = make_world(roomy_arena(), ["rules.hiders=2"])
	world.agents[1].set_active(false)
	var seen: PackedFloat32Array = _observe(world, 1)
	check_equal(seen.count(0.0), seen.size(), "zeros")


func test_observations_are_appended_one_behind_the_other() -> void:
	var world: TagWorld = make_world(plain_arena())
	var size: int = TagObservation.layout.size(world.settings)
	var both := PackedFloat32Array([-7.0])
	TagObservation.append(world, 0, both)
	TagObservation.append(world, 1, both)
	check_equal(both.size(), 1 + 2 * size, "size")
	check_equal(both[0], -7.0, "before")
	check_equal(both.slice(1, 1 + size), _observe(world, 0), "first")
	check_equal(both.slice(1 + size), _observe(world, 1), "second")


func _observe(world: TagWorld, index: int) -> PackedFloat32Array:
	var into := PackedFloat32Array()
	TagObservation.append(world, index, into)
	return into


func _check_ray(seen: PackedFloat32Array, ray: int, expected: Array, what: String) -> void:
	for place in expected.size():
		var at: int = TagObservation.layout.start("rays") + ray * TagObservation.per_ray + place
		check_near(seen[at], expected[place] as float, 1e-4, what)
