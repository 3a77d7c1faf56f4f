extends TagTest
## Scripted opponents: competent, beatable, and honest about what they can see.

var _each: int = repeats(4, 12)
var _rounds: int = _each * ArenaData.hand_made().size()


func test_the_pursuer_catches_a_random_evader_in_most_rounds() -> void:
	var wins: int = 0
	for arena_name in ArenaData.hand_made():
		wins += _seeker_wins(arena_name, PursuerOpponent.new(1), RandomOpponent.new(2), _each)
	check(wins >= 0.7 * _rounds, "%d of %d rounds" % [wins, _rounds])


func test_the_evader_outlasts_a_random_pursuer_in_most_rounds() -> void:
	var wins: int = 0
	for arena_name in ArenaData.hand_made():
		wins += _seeker_wins(arena_name, RandomOpponent.new(1), EvaderOpponent.new(2), _each)
	check(wins <= 0.1 * _rounds, "caught in %d of %d rounds" % [wins, _rounds])


func test_the_pursuer_can_be_escaped_and_the_evader_be_caught() -> void:
	var wins: int = 0
	for arena_name in ArenaData.hand_made():
		wins += _seeker_wins(arena_name, PursuerOpponent.new(1), EvaderOpponent.new(2), _each)
	var may_be: bool = wins >= 0.2 * _rounds and wins <= 0.9 * _rounds
	check(may_be, "the pursuer wins %d of %d rounds" % [wins, _rounds])


func test_random_play_produces_tags() -> void:
	var wins: int = 0
	for arena_name in ArenaData.hand_made():
		wins += _seeker_wins(arena_name, RandomOpponent.new(1), RandomOpponent.new(2), 3 * _each)
	check(wins >= 0.015 * 3 * _rounds, "%d tags in %d rounds" % [wins, 3 * _rounds])


func test_nobody_acts_on_what_it_cannot_see() -> void:
	for chases: bool in [true, false]:
		# The other one stands behind a wall across the arena, elsewhere each time.
		var first: Array[Vector3] = _actions(chases, Vector3(-12.0, 0.0, 8.0))
		check_equal(first.size(), 60, "decisions")
		check_equal(_actions(chases, Vector3(12.0, 0.0, 16.0)), first, "actions")


func test_the_pursuer_climbs() -> void:
	var steps: Array = [[0, 0.5, 0, 4, 1, 4], [0, 1.5, 1, 4, 1, 2]]
	var world: TagWorld = make_world(plain_arena(steps, 16.0))
	put(world, 0, Vector3(0.0, 0.0, -5.0))
	put(world, 1, Vector3(0.0, 2.0, 1.0))
	var pursuer := PursuerOpponent.new(1)
	while not world.round_over:
		if world.is_decision_due():
			var action: Vector3 = pursuer.act(world, world.agents[0])
			world.set_action(0, action.x, action.y, action.z)
		world.tick()
	check_equal(world.winner, &"seeker", "who won with the hider two steps up")


func test_classic_tag_between_scripted_players() -> void:
	var world: TagWorld = make_world(named("mixed"), ["rules.mode=classic", "rules.players=4"])
	var tags: Array[int] = [0]
	world.tagged.connect(func(_a: TagAgent, _b: TagAgent) -> void: tags[0] += 1)
	var players: Array[ScriptedPlayer] = []
	for index in 4:
		players.append(ScriptedPlayer.new(index, 1))
	while not world.round_over:
		if world.is_decision_due():
			for player in players:
				var action: Vector3 = player.act(world)
				world.set_action(player.index, action.x, action.y, action.z)
		world.tick()
	check(tags[0] >= 3 and tags[0] <= 20, "%d tags in half a minute" % tags[0])


func _actions(chases: bool, other_at: Vector3) -> Array[Vector3]:
	var world: TagWorld = make_world(plain_arena([[0, 1.5, 3, 40, 3, 0.5]]))
	var index: int = 0 if chases else 1
	put(world, index, Vector3.ZERO)
	put(world, 1 - index, other_at)
	var player: ScriptedOpponent = ScriptedOpponent.for_role(chases, 5)
	var actions: Array[Vector3] = []
	for _decision in 60:
		var action: Vector3 = player.act(world, world.agents[index])
		actions.append(action)
		world.set_action(index, action.x, action.y, action.z)
		for _tick in 4:
			world.tick()
	drop(world)
	return actions


func _seeker_wins(
	arena_name: String, seeker: ScriptedOpponent, hider: ScriptedOpponent, rounds: int
) -> int:
	var world: TagWorld = make_world(named(arena_name))
	var players: Array[ScriptedOpponent] = [seeker, hider]
	var wins: int = 0
	for _round in rounds:
		for player in players:
			player.begin_round()
		while not world.round_over:
			if world.is_decision_due():
				for agent in world.agents:
					var action: Vector3 = players[agent.index].act(world, agent)
					world.set_action(agent.index, action.x, action.y, action.z)
			world.tick()
		wins += int(world.winner == &"seeker")
		world.reset()
	drop(world)
	return wins
