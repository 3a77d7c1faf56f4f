extends TagTest
## Eyes: real distances, real types, real occlusion.

## The ray in the middle of a row of 21.
const MIDDLE := 10
const EYES: PackedStringArray = ['sight.rows=[{"elevation_deg": 0, "columns": 21}]']


func test_distance_to_a_wall_is_within_a_millimetre() -> void:
	var world: TagWorld = make_world(plain_arena([[0, 1.5, 6, 8, 3, 1]]), EYES)
	for z: float in [-9.0, -3.3, 0.0, 4.9]:
		put(world, 0, Vector3(0.0, 0.0, z))
		var expected_m: float = 5.5 - z
		check_near(_seen_m(world, MIDDLE), expected_m, 0.001, "distance from z = %s" % z)


func test_every_ray_agrees_with_arithmetic() -> void:
	for arena_name in ArenaData.hand_made():
		var world: TagWorld = make_world(named(arena_name))
		for _round in 10:
			world.reset()
			var agent: TagAgent = world.agents[0]
			var sight: TagSight = world.sight_of(0)
			for ray in sight.kinds.size():
				var way: Vector3 = sight.directions[ray].rotated(Vector3.UP, agent.heading_rad)
				var expected_m: float = _first_hit_m(world, sight.eye_of(agent), way)
				check_near(sight.distances_m[ray], expected_m, 0.001, "ray %d" % ray)
		drop(world)


func test_an_agent_is_seen_with_its_distance_and_role() -> void:
	var world: TagWorld = make_world(plain_arena(), EYES)
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.0, 0.0, 7.0), PI)
	check_equal(world.sight_of(0).kinds[MIDDLE], TagSight.Kind.HIDER, "what the seeker sees")
	check_near(world.sight_of(0).distances_m[MIDDLE], 6.55, 0.001, "how far the hider is")
	check_equal(world.sight_of(1).kinds[MIDDLE], TagSight.Kind.SEEKER, "what the hider sees")


func test_it_and_the_others_look_different_in_classic_tag() -> void:
	var world: TagWorld = make_world(
		plain_arena(), EYES + PackedStringArray(["rules.mode=classic"])
	)
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.0, 0.0, 7.0), PI)
	for index in 2:
		var other_is_it: bool = world.agents[1 - index].is_seeker_like
		var expected: int = TagSight.Kind.SEEKER if other_is_it else TagSight.Kind.HIDER
		check_equal(world.sight_of(index).kinds[MIDDLE], expected, "what agent %d sees" % index)


func test_nothing_is_seen_through_a_box() -> void:
	var world: TagWorld = make_world(plain_arena([[0, 1.5, 3, 2, 3, 0.1]]), EYES)
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.0, 0.0, 5.0))
	check(not _sees_agent(world, 0), "seen through a box")
	check_near(world.sight_of(0).distances_m[MIDDLE], 2.95, 0.001, "distance of the box")
	put(world, 1, Vector3(3.0, 0.0, 4.0))
	check(_sees_agent(world, 0), "not seen beside the box")


func test_nothing_is_seen_behind_or_beyond_the_cone() -> void:
	var world: TagWorld = make_world(plain_arena(), EYES)
	var half_fov: float = deg_to_rad(world.settings.sight.fov_deg * 0.5)
	put(world, 0, Vector3.ZERO, 0.4)
	for step in 72:
		var angle: float = step * TAU / 72.0
		put(world, 1, Vector3(sin(0.4 + angle), 0.0, cos(0.4 + angle)) * 5.0)
		var off: float = absf(wrapf(angle, -PI, PI))
		if off < half_fov:
			check(_sees_agent(world, 0), "not seen %.0f degrees off" % rad_to_deg(off))
		elif off > half_fov + 0.15:
			check(not _sees_agent(world, 0), "seen %.0f degrees off" % rad_to_deg(off))


func test_nothing_is_seen_beyond_the_range() -> void:
	var world: TagWorld = make_world(plain_arena(), EYES + PackedStringArray(["sight.range_m=5"]))
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.0, 0.0, 5.5))
	check_equal(world.sight_of(0).kinds[MIDDLE], TagSight.Kind.NOTHING, "beyond the range")
	check_near(world.sight_of(0).distances_m[MIDDLE], 5.0, 1e-6, "distance of nothing")
	put(world, 1, Vector3(0.0, 0.0, 5.4))
	check_equal(world.sight_of(0).kinds[MIDDLE], TagSight.Kind.HIDER, "within the range")


func test_one_above_is_seen_by_the_upper_rays_only() -> void:
	var rows := 'sight.rows=[{"elevation_deg":0,"columns":21},{"elevation_deg":15,"columns":21}]'
	var world: TagWorld = make_world(plain_arena([[0, 0.7, 6, 3, 1.4, 3]]), [rows])
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.0, 1.4, 6.0))
	check_equal(world.sight_of(0).kinds[MIDDLE], TagSight.Kind.WALL, "level ray")
	check_equal(world.sight_of(0).kinds[21 + MIDDLE], TagSight.Kind.HIDER, "upper ray")


func test_a_caught_hider_is_not_seen() -> void:
	var world: TagWorld = make_world(plain_arena(), EYES)
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.0, 0.0, 5.0))
	check(_sees_agent(world, 0), "not seen before")
	world.agents[1].set_active(false)
	world.place(world.agents[0], Vector3.ZERO, 0.0)
	check(not _sees_agent(world, 0), "seen though out of the game")


func test_sight_is_of_this_tick_not_of_the_last_step() -> void:
	var world: TagWorld = make_world(plain_arena(), EYES)
	put(world, 0, Vector3.ZERO)
	for _tick in 10:
		await ticks(1)
		var other: TagAgent = put(world, 1, Vector3(0.0, 0.0, 4.0 + _tick))
		check_near(_seen_m(world, MIDDLE), other.position.z - 0.45, 0.001, "after being put there")
		world.set_action(1, 0.0, 1.0, -1.0)
		world.tick()
		check_near(_seen_m(world, MIDDLE), other.position.z - 0.45, 0.001, "after a tick")


func test_no_stale_sight_after_a_reset() -> void:
	var world: TagWorld = make_world(named("open"))
	for _round in 40:
		await ticks(1)
		world.reset()
		var eye: Vector3 = world.sight_of(0).eye_of(world.agents[0])
		var body := Vector3.ONE * world.settings.body.size_m
		for ray in world.sight_of(0).kinds.size():
			if world.sight_of(0).kinds[ray] == TagSight.Kind.HIDER:
				var place: Vector3 = world.sight_of(0).end_of(world.agents[0], ray)
				var seen := AABB(world.agents[1].position - body * 0.5, body).grow(0.002)
				check(seen.has_point(place), "a hider seen at %s from %s" % [place, eye])
		check(world.sight_of(0).kinds.size() == 48, "rays")


func test_no_stale_walls_after_a_change_of_arena() -> void:
	var world: TagWorld = make_world(plain_arena([[0, 1.5, 6, 8, 3, 1]]), EYES)
	put(world, 0, Vector3.ZERO)
	check_near(_seen_m(world, MIDDLE), 5.5, 0.001, "first arena")
	check_equal(world.change_arena(plain_arena([[0, 1.5, 9, 8, 3, 1]])), "", "change")
	put(world, 0, Vector3.ZERO)
	check_near(_seen_m(world, MIDDLE), 8.5, 0.001, "second arena")


func test_worlds_side_by_side_do_not_see_each_other() -> void:
	var near: TagWorld = make_world(plain_arena([], 10.0), EYES)
	var far: TagWorld = make_world(plain_arena([], 10.0), EYES)
	far.position.z = 15.0
	put(near, 0, Vector3.ZERO)
	put(near, 1, Vector3(0.0, 0.0, -4.0))
	put(far, 1, Vector3.ZERO)
	check_near(_seen_m(near, MIDDLE), 5.0, 0.001, "the wall between two worlds")


func _seen_m(world: TagWorld, ray: int) -> float:
	return world.sight_of(0).distances_m[ray]


func _sees_agent(world: TagWorld, index: int) -> bool:
	var kinds: PackedByteArray = world.sight_of(index).kinds
	return kinds.has(TagSight.Kind.HIDER) or kinds.has(TagSight.Kind.SEEKER)


## Distance to the nearest box or other agent along a ray, by arithmetic.
func _first_hit_m(world: TagWorld, eye: Vector3, way: Vector3) -> float:
	var nearest_m: float = world.settings.sight.range_m
	var targets: Array[AABB] = []
	for box in world.solids():
		targets.append(box.aabb())
	var body := Vector3.ONE * world.settings.body.size_m
	targets.append(AABB(world.agents[1].position - body * 0.5, body))
	for target in targets:
		nearest_m = minf(nearest_m, _slab_m(target, eye, way))
	return nearest_m


## Distance at which a ray enters a box; infinite when it misses.
func _slab_m(box: AABB, eye: Vector3, way: Vector3) -> float:
	var enter: float = 0.0
	var leave: float = INF
	for axis in 3:
		if absf(way[axis]) < 1e-9:
			if eye[axis] < box.position[axis] or eye[axis] > box.end[axis]:
				return INF
			continue
		var one: float = (box.position[axis] - eye[axis]) / way[axis]
		var two: float = (box.end[axis] - eye[axis]) / way[axis]
		enter = maxf(enter, minf(one, two))
		leave = minf(leave, maxf(one, two))
	return enter if enter <= leave else INF
