extends TagTest
## Tags, immunity, the clock and the scores.


func test_a_touch_ends_a_round_of_one_against_one() -> void:
	var world: TagWorld = make_world(plain_arena())
	var ended: Array[StringName] = []
	world.round_ended.connect(func(winner: StringName) -> void: ended.append(winner))
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(3.0, 0.0, 0.0))
	drive(world, 60, Vector2.RIGHT)
	check(world.round_over, "the round goes on after a touch")
	check_equal(ended, [&"seeker"] as Array[StringName], "who won")
	check_equal(world.scores[0], 1.0, "the seeker's score")
	check(not world.agents[1].active, "the caught hider still plays")


func test_how_near_a_touch_is() -> void:
	var world: TagWorld = make_world(plain_arena())
	var reach_m: float = world.settings.body.size_m + world.settings.rules.touch_reach_m
	for axis in 3:
		for off_m: float in [-0.002, 0.002]:
			world.reset()
			var away := Vector3.ZERO
			away[axis] = reach_m + off_m
			put(world, 0, Vector3.UP * 5.0)
			put(world, 1, Vector3.UP * 5.0 + away)
			world.tick()
			check_equal(world.round_over, off_m < 0.0, "axis %d, %f m off" % [axis, off_m])


func test_no_tag_through_a_wall() -> void:
	var world: TagWorld = make_world(plain_arena([[0, 1.5, 0, 0.1, 3, 10]]))
	put(world, 0, Vector3(-2.0, 0.0, 0.0))
	put(world, 1, Vector3(2.0, 0.0, 0.0))
	for _tick in 120:
		world.set_action(0, 1.0, 0.0, 1.0)
		world.set_action(1, -1.0, 0.0, 1.0)
		world.tick()
	check(not world.round_over, "tagged through a thin wall")


func test_nobody_passes_through_anybody_at_four_times_the_speed() -> void:
	var fast: PackedStringArray = ["motion.seeker_speed_mps=26", "motion.hider_speed_mps=24"]
	for offset in 20:
		var world: TagWorld = make_world(plain_arena(), fast)
		put(world, 0, Vector3(-15.0, 0.0, 0.0))
		put(world, 1, Vector3(15.0 + offset * 0.05, 0.0, 0.8))
		for _tick in 120:
			world.set_action(0, 1.0, 0.0, -1.0)
			world.set_action(1, -1.0, 0.0, -1.0)
			world.tick()
		check_equal(world.winner, &"seeker", "who won at offset %d" % offset)
		drop(world)


func test_the_clock_wins_for_the_hider() -> void:
	var world: TagWorld = make_world(plain_arena(), ["rules.round_s=2.5"])
	drive(world, 149)
	check(not world.round_over, "over before the clock ran out")
	check_near(world.time_left_s, 1.0 / 60.0, 1e-5, "time left")
	drive(world, 1)
	check(world.round_over, "not over when the clock ran out")
	check_equal(world.winner, &"hider", "who won")
	check_near(world.scores[1], 2.5, 1e-4, "seconds the hider lasted")
	world.tick()
	check_equal(world.tick_number, 150, "ticks after the end")


func test_the_default_round_lasts_ten_seconds() -> void:
	var world: TagWorld = make_world(plain_arena())
	drive(world, 599)
	check(not world.round_over, "over before ten seconds")
	drive(world, 1)
	check(world.round_over, "longer than ten seconds")


func test_all_hiders_must_be_caught() -> void:
	var world: TagWorld = make_world(plain_arena(), ["rules.hiders=3"])
	for index: int in [1, 2, 3]:
		check(not world.round_over, "over with %d caught" % (index - 1))
		put(world, 0, Vector3(index * 4.0, 0.0, 0.0))
		put(world, index, Vector3(index * 4.0 + 0.5, 0.0, 0.0))
		world.tick()
		check(not world.agents[index].active, "hider %d was not caught" % index)
	check_equal(world.winner, &"seeker", "who won")


func test_a_tag_in_the_last_tick_counts() -> void:
	var world: TagWorld = make_world(plain_arena(), ["rules.round_s=1"])
	drive(world, 59)
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.5, 0.0, 0.0))
	world.tick()
	check_equal(world.winner, &"seeker", "who won")


func test_every_split_up_to_eight() -> void:
	for seekers in range(1, 8):
		for hiders in range(1, 9 - seekers):
			var split: PackedStringArray = [
				"rules.seekers=1", "rules.hiders=%d" % hiders, "rules.seekers=%d" % seekers
			]
			var world: TagWorld = make_world(named("open"), split)
			check_equal(world.agents.size(), seekers + hiders, "agents")
			for agent in world.agents:
				var expected: StringName = &"seeker" if agent.index < seekers else &"hider"
				check_equal(agent.role, expected, "role of agent %d" % agent.index)
			drop(world)


func test_it_passes_by_touch() -> void:
	var world: TagWorld = _classic(2)
	var it: TagAgent = _it(world)
	var other: TagAgent = world.agents[1 - it.index]
	_meet(world, it, other)
	check(other.is_seeker_like and not it.is_seeker_like, "it was not passed on")
	check(other.immune and it.immune, "both are immune after a tag")
	check(not world.round_over, "classic tag goes on")


func test_no_ping_pong() -> void:
	var world: TagWorld = _classic(2)
	var tags: Array[int] = []
	world.tagged.connect(func(_a: TagAgent, _b: TagAgent) -> void: tags.append(world.tick_number))
	_meet(world, world.agents[0], world.agents[1])
	for _tick in 240:
		# Held together by force.
		for index in 2:
			world.place(world.agents[index], Vector3(index * 0.3, 0.0, 0.0), 0.0)
			world.agents[index].immune = _immune_before(world, tags)
		world.tick()
	var immunity: int = roundi(world.settings.rules.immunity_s * 60.0)
	check(tags.size() > 2, "no tag after immunity")
	for place in range(1, tags.size()):
		check_equal(tags[place] - tags[place - 1], immunity + 1, "ticks between tags")


func test_one_tag_a_tick_and_one_it() -> void:
	var world: TagWorld = _classic(8)
	var tags: Array[int] = [0]
	world.tagged.connect(func(_a: TagAgent, _b: TagAgent) -> void: tags[0] += 1)
	for index in 8:
		put(world, index, Vector3(index * 0.2, 0.0, 0.0))
	world.tick()
	check_equal(tags[0], 1, "tags in a crowd in one tick")
	var its: int = 0
	for agent in world.agents:
		its += int(agent.is_seeker_like)
	check_equal(its, 1, "how many are it")


func test_classic_score_is_time_not_being_it() -> void:
	var world: TagWorld = _classic(3)
	while not world.round_over:
		world.tick()
	var sum_s: float = 0.0
	for score in world.scores:
		sum_s += score
	check_near(sum_s, 2.0 * world.settings.rules.classic_round_s, 0.01, "sum of scores")
	check_near(world.scores[_it(world).index], 0.0, 1e-6, "score of it")


func _classic(players: int) -> TagWorld:
	return make_world(plain_arena(), ["rules.mode=classic", "rules.players=%d" % players])


func _it(world: TagWorld) -> TagAgent:
	for agent in world.agents:
		if agent.is_seeker_like:
			return agent
	return null


func _meet(world: TagWorld, one: TagAgent, other: TagAgent) -> void:
	put(world, one.index, Vector3.ZERO)
	put(world, other.index, Vector3(0.3, 0.0, 0.0))
	world.tick()


## Placing an agent anew takes its immunity; give it back as the rules would have it.
func _immune_before(world: TagWorld, tags: Array[int]) -> bool:
	var immunity: int = roundi(world.settings.rules.immunity_s * 60.0)
	return not tags.is_empty() and world.tick_number - tags[-1] < immunity
