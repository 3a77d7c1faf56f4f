extends TagTest
## Rounds begin fairly: apart, in the open air, out of sight, the same for both roles.


func test_spawns_are_fair_in_every_arena() -> void:
	for arena_name in ArenaData.hand_made():
		var world: TagWorld = make_world(named(arena_name))
		var in_sight: int = 0
		for _round in 100:
			world.reset()
			var one: TagAgent = world.agents[0]
			var two: TagAgent = world.agents[1]
			check(depth_m(world, one) < 0.0 and depth_m(world, two) < 0.0, "inside something")
			check(not engine_overlaps(world, one), "the engine finds an overlap")
			var apart_m: float = one.position.distance_to(two.position)
			check(apart_m >= world.settings.spawns.distance_m - 0.01, "%f m apart" % apart_m)
			in_sight += int(world.arena.blocks_sight(one.position, two.position) == false)
			world.tick()
			check(one.grounded and two.grounded, "not on the ground in " + arena_name)
		check(in_sight <= 2, "%d of 100 rounds begin in sight in %s" % [in_sight, arena_name])
		drop(world)


func test_eight_agents_find_room_in_every_arena() -> void:
	for arena_name in ArenaData.hand_made():
		var world: TagWorld = make_world(named(arena_name), ["rules.seekers=4", "rules.hiders=4"])
		for _round in 40:
			world.reset()
			for one in world.agents:
				check(depth_m(world, one) < 0.0, "inside something in " + arena_name)
				for other in world.agents:
					if other.index < one.index:
						check(not world.touches(one, other), "touching in " + arena_name)
		drop(world)


func test_both_roles_begin_in_the_same_places() -> void:
	var world: TagWorld = make_world(named("mixed"))
	var mean := [Vector3.ZERO, Vector3.ZERO]
	for _round in 400:
		world.reset()
		for index in 2:
			mean[index] += world.agents[index].position / 400.0
	var difference: Vector3 = mean[0] - mean[1]
	check(difference.length() < 2.0, "seekers begin %s from hiders on average" % difference)


func test_the_same_seed_gives_the_same_rounds() -> void:
	var one: TagWorld = make_world(named("maze"), [], 5)
	var two: TagWorld = make_world(named("maze"), [], 5)
	var three: TagWorld = make_world(named("maze"), [], 6)
	for _round in 10:
		for world: TagWorld in [one, two, three]:
			world.reset()
		check_equal(one.agents[0].position, two.agents[0].position, "place")
		check_equal(one.agents[1].heading_rad, two.agents[1].heading_rad, "heading")
		check(one.agents[0].position != three.agents[0].position, "another seed, same place")


func test_every_spawn_area_can_reach_every_other() -> void:
	for arena_name in ArenaData.hand_made():
		var arena: ArenaData = named(arena_name)
		var map := ArenaMap.new(arena, TagSettings.load_defaults())
		for one in arena.spawns:
			for other in arena.spawns:
				var way: PackedVector3Array = map.way(one.position, other.position)
				var rest: Vector3 = way[-1] - other.position if way else Vector3.INF
				rest.y = 0.0
				check(
					rest.length() < 1.0,
					"%s to %s in %s" % [one.position, other.position, arena_name]
				)


func test_bodies_start_apart_however_few_placings_are_looked_at() -> void:
	for overrides: PackedStringArray in [
		["spawns.tries=1", "rules.seekers=4", "rules.hiders=4"],
		["spawns.tries=1", "spawns.distance_m=100", "rules.seekers=4", "rules.hiders=4"],
		["spawns.tries=1", "rules.mode=classic", "rules.players=8"],
	]:
		var world: TagWorld = make_world(_points(8), overrides)
		for _round in 50:
			world.reset()
			check(_are_apart(world), "bodies begin inside each other")
			world.tick()
			check(not world.round_over, "the round is over at its first tick")
		drop(world)


func test_too_many_bodies_for_an_arena_are_refused() -> void:
	var world: TagWorld = make_world(_points(8), ["rules.seekers=4", "rules.hiders=4"])
	var crowd: TagSettings = world.settings.clone()
	drive(world, 10)
	var small: ArenaData = _points(7)
	for complaint: String in [world.configure(crowd, small, 1), world.change_arena(small)]:
		check(complaint.begins_with("plain: spawns: no room for 8 bodies"), complaint)
	check_equal(world.arena.spawns.size(), 8, "areas of the arena being played")
	check_equal(world.tick_number, 10, "ticks of the round being played")
	check_equal(crowd.apply_override("rules.hiders=3"), "", "one less")
	check_equal(world.configure(crowd, small, 1), "", "seven in seven places")
	check(_are_apart(world), "bodies begin inside each other")


func test_classic_players_need_room_too() -> void:
	var settings: TagSettings = TagSettings.load_defaults()
	settings.apply_override("rules.mode=classic")
	settings.apply_override("rules.players=8")
	var world := TagWorld.new()
	add_child(world)
	var complaint: String = world.configure(settings, plain_arena(), 1)
	check(complaint.contains("no room for 8 bodies"), complaint)
	check(world.arena == null and world.agents.is_empty(), "something was put up all the same")


## An arena with so many single points to start from.
func _points(count: int) -> ArenaData:
	var fields: Dictionary = plain_fields()
	var areas: Array[Dictionary] = []
	for place in count:
		var at: Array = [place * 1.5 - 6.0, 0, 0]
		areas.append({"position_m": at, "size_m": [0, 0], "roles": ["seeker", "hider"]})
	fields["spawns"] = areas
	return ArenaData.from_dict(fields)


func _are_apart(world: TagWorld) -> bool:
	for one in world.agents:
		for other in world.agents:
			if one.index < other.index and world.touches(one, other):
				return false
	return true
