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


func test_a_round_lasts_ten_seconds() -> void:
	var world: TagWorld = make_world(plain_arena())
	drive(world, 599)
	check(not world.round_over, "over before ten seconds")
	drive(world, 1)
	check(world.round_over, "longer than ten seconds")


func test_all_hiders_must_be_caught() -> void:
	var world: TagWorld = make_world(roomy_arena(), ["rules.hiders=3"])
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
	# A third one, who is not immune, gets nothing from who is.
	for players: int in [2, 3]:
		var world: TagWorld = _classic(players)
		var tags: Array[int] = []
		world.tagged.connect(
			func(_it: TagAgent, _other: TagAgent) -> void: tags.append(world.tick_number)
		)
		for _tick in 300:
			_hold_together(world)
			world.tick()
		check_equal(tags, [1, 92, 183, 274] as Array[int], "ticks of tags among %d" % players)
		drop(world)


func test_both_parties_are_immune_for_as_long_as_the_settings_say() -> void:
	for ticks_immune: int in [0, 1, 30]:
		var world: TagWorld = _classic(3)
		world.settings.rules.immunity_s = ticks_immune / 60.0
		var it: TagAgent = _it(world)
		var other: TagAgent = world.agents[(it.index + 1) % 3]
		var third: TagAgent = world.agents[(it.index + 2) % 3]
		_meet(world, it, other)
		check(other.is_seeker_like and not it.is_seeker_like, "it was not passed on")
		for tick in 40:
			var what: String = "immune %d ticks after the tag, of %d" % [tick, ticks_immune]
			check_equal(it.immune, tick < ticks_immune, "who tagged, " + what)
			check_equal(other.immune, tick < ticks_immune, "who was tagged, " + what)
			check(not third.immune, "who had no part in it is immune")
			# Out of each other's reach, so that there is no further tag.
			it.position.x = -5.0
			other.position.x = 5.0
			world.tick()
		drop(world)


func test_a_new_round_ends_immunity() -> void:
	var world: TagWorld = _classic(2)
	_meet(world, world.agents[0], world.agents[1])
	check(world.agents[0].immune, "immune after a tag")
	world.reset()
	world.tick()
	for index in 2:
		check(not world.agents[index].immune, "immune from the last round")
	_meet(world, world.agents[0], world.agents[1])
	check(world.agents[0].immune and world.agents[1].immune, "no tag in the next round")


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
	return make_world(roomy_arena(), ["rules.mode=classic", "rules.players=%d" % players])


func _it(world: TagWorld) -> TagAgent:
	for agent in world.agents:
		if agent.is_seeker_like:
			return agent
	return null


func _meet(world: TagWorld, one: TagAgent, other: TagAgent) -> void:
	put(world, one.index, Vector3.ZERO)
	put(world, other.index, Vector3(0.3, 0.0, 0.0))
	world.tick()


## Moves everybody into each other's reach and leaves all else as the rules have it.
func _hold_together(world: TagWorld) -> void:
	for agent in world.agents:
		agent.position = Vector3(agent.index * 0.3, agent.position.y, 0.0)
		agent.velocity = Vector3.ZERO
