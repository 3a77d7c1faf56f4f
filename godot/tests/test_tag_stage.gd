extends TagTest
## Worlds that share a stage: one set of arenas and eyes, and nobody sees anybody else's game.


func test_worlds_in_one_arena_do_not_see_each_other() -> void:
	var arena: ArenaData = plain_arena([], 20.0)
	var worlds: Array[TagWorld] = _worlds_on_stage([arena], 2)
	# In the second world the hider stands right before the first world's seeker.
	put(worlds[0], 0, Vector3.ZERO)
	put(worlds[0], 1, Vector3(0.0, 0.0, -5.0))
	put(worlds[1], 0, Vector3(0.0, 0.0, -5.0))
	put(worlds[1], 1, Vector3(0.0, 0.0, 0.5))
	for _turn in 2:
		check_equal(_hiders_seen(worlds[0]), 0, "of the other world")
		check(_hiders_seen(worlds[1]) > 0, "its own hider")
		for world in worlds:
			world.tick()


func test_a_round_on_a_stage_is_the_same_as_alone() -> void:
	var alone: TagWorld = make_world(named("mixed"), [], 5)
	alone.position = Vector3.ZERO
	var arenas: Array[ArenaData] = [named("maze"), named("mixed")]
	var staged: Array[TagWorld] = _worlds_on_stage(arenas, 3)
	for world: TagWorld in staged + [alone]:
		world.rng.seed = 8
		if world == alone:
			world.reset()
		else:
			world.move_to(arenas[1])
	for decision in 60:
		for world: TagWorld in staged + [alone]:
			for index in 2:
				var turn: float = decision * 0.7 + index
				world.set_action(index, sin(turn), cos(turn), sin(turn * 3.0))
			for _tick in 4:
				world.tick()
		for world in staged:
			for index in 2:
				if _observed(world, index) != _observed(alone, index):
					check(false, "decision %d, agent %d" % [decision, index])
	check(true, "")


func test_who_is_out_is_not_in_the_way() -> void:
	var world: TagWorld = make_world(roomy_arena(), ["rules.hiders=2"])
	put(world, 0, Vector3.ZERO)
	put(world, 1, Vector3(0.0, 0.0, 3.0))
	put(world, 2, Vector3(0.0, 0.0, 6.0))
	var before_m: float = world.sight_of(0).distances_m[20]
	world.agents[1].set_active(false)
	world.tick()
	check(world.sight_of(0).distances_m[20] > before_m + 2.0, "the ray goes on to the next one")
	world.agents[1].set_active(true)
	world.tick()
	check_near(world.sight_of(0).distances_m[20], before_m, 0.01, "and stops again")


func _worlds_on_stage(arenas: Array[ArenaData], count: int) -> Array[TagWorld]:
	var settings: TagSettings = make_settings()
	var stage := TagStage.new()
	add_child(stage)
	stage.build(arenas, settings)
	var worlds: Array[TagWorld] = []
	for index in count:
		var world := TagWorld.new()
		world.stage = stage
		check_equal(world.configure(settings, arenas[0], index), "", "configure")
		worlds.append(world)
	return worlds


func _hiders_seen(world: TagWorld) -> int:
	return world.sight_of(0).kinds.count(TagSight.Kind.HIDER)


func _observed(world: TagWorld, index: int) -> PackedFloat32Array:
	var into := PackedFloat32Array()
	TagObservation.append(world, index, into)
	return into
