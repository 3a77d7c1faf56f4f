extends TagTest
## Rewards: four terms for each role, that add up.


func test_terms_add_up_and_match_the_path() -> void:
	var world: TagWorld = make_world(named("mixed"))
	var sums := PackedFloat32Array([0, 0, 0, 0, 0, 0, 0, 0])
	var start_m: float = _apart_m(world)
	var decisions: int = 0
	var random := RandomOpponent.new(11)
	while not world.round_over:
		if world.is_decision_due():
			for agent in world.agents:
				var action: Vector3 = random.act(world, agent)
				world.set_action(agent.index, action.x, action.y, action.z)
		world.tick()
		if world.is_decision_due() or world.round_over:
			decisions += 1
			for index in 2:
				var total: float = 0.0
				for term in 4:
					total += world.rewards.term_of(index, term)
					sums[index * 4 + term] += world.rewards.term_of(index, term)
				check_near(world.rewards.total(index), total, 1e-6, "total")
	var opened_m: float = _apart_m(world) - start_m
	check_equal(decisions, 150, "decisions in a round")
	check_near(sums[0], -0.1 * opened_m, 1e-3, "seeker: distance")
	check_near(sums[4], 0.01 * opened_m, 1e-3, "hider: distance")
	check_near(sums[1], -0.005 * decisions, 1e-4, "seeker: time")
	check_near(sums[5], 0.02 * decisions, 1e-4, "hider: time")
	check_equal([sums[2], sums[6]], [0.0, 0.0], "no tag")
	check_equal([sums[3], sums[7]], [-1.0, 1.0], "survival")


func test_a_tag() -> void:
	var world: TagWorld = make_world(plain_arena())
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.5, 0.0, 0.0))
	world.tick()
	check_equal(world.rewards.term_of(0, TagRewards.TAG), 1.0, "seeker")
	check_equal(world.rewards.term_of(1, TagRewards.TAG), -1.0, "hider")
	check_equal(world.rewards.term_of(0, TagRewards.SURVIVAL), 0.0, "no survival after a tag")


func test_a_caught_hider_earns_nothing_more() -> void:
	var world: TagWorld = make_world(roomy_arena(), ["rules.hiders=2", "rules.round_s=1"])
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.5, 0.0, 0.0))
	drive(world, 4)
	check_near(world.rewards.term_of(1, TagRewards.TIME), 0.02, 1e-6, "the decision of the tag")
	drive(world, 56)
	check(world.round_over, "the clock has run out")
	check_equal(world.rewards.total(1), 0.0, "the caught hider's last decision")
	check_equal(world.rewards.term_of(2, TagRewards.SURVIVAL), 1.0, "the other hider")


func test_the_jump_to_the_next_opponent_is_no_loss() -> void:
	var world: TagWorld = make_world(roomy_arena(), ["rules.hiders=2"])
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.5, 0.0, 0.0))
	put(world, 2, Vector3(15.0, 0.0, 0.0))
	world.rewards.begin_round(world)
	drive(world, 4)
	check_near(world.rewards.term_of(0, TagRewards.DISTANCE), 0.0, 1e-4, "distance at a tag")


func test_a_round_that_ends_within_a_decision_pays_at_once() -> void:
	var world: TagWorld = make_world(plain_arena(), ["rules.round_s=0.1"])
	drive(world, 6)
	check(world.round_over, "over")
	check_equal(world.rewards.term_of(1, TagRewards.SURVIVAL), 1.0, "survival")


func test_weights_are_settings() -> void:
	var overrides: PackedStringArray = ["rewards.seeker.tag=7", "rewards.hider.tag=-3"]
	var world: TagWorld = make_world(plain_arena(), overrides)
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.5, 0.0, 0.0))
	world.tick()
	check_equal(world.rewards.term_of(0, TagRewards.TAG), 7.0, "seeker")
	check_equal(world.rewards.term_of(1, TagRewards.TAG), -3.0, "hider")


func test_classic_players_are_paid_by_what_they_are() -> void:
	var world: TagWorld = make_world(plain_arena(), ["rules.mode=classic"])
	var it: int = 0 if world.agents[0].is_seeker_like else 1
	put(world, it, Vector3.ZERO)
	put(world, 1 - it, Vector3(0.5, 0.0, 0.0))
	drive(world, 4)
	check_equal(world.rewards.term_of(it, TagRewards.TAG), 1.0, "who tagged")
	check_equal(world.rewards.term_of(1 - it, TagRewards.TAG), -1.0, "who was tagged")


func _apart_m(world: TagWorld) -> float:
	return world.agents[0].position.distance_to(world.agents[1].position)
