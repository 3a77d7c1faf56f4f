extends EngineTest
## Teams in the playable scene: a person beside trained team-mates, against several opponents.

const SCENE: PackedScene = preload("res://games/tag/tag.tscn")
const TagScene: GDScript = preload("res://games/tag/tag.gd")


func test_a_split_is_an_option() -> void:
	for split: String in ["1v1", "1v3", "2v2", "2v6", "7v1", "1v7"]:
		var options: TagOptions = TagOptions.parse(["--set=rules.seekers=5", "--teams=" + split])
		check_equal(options.error, "", split)
		var counts: Array[int] = [options.settings.rules.seekers, options.settings.rules.hiders]
		check_equal("%dv%d" % counts, split, "seekers v hiders")
	for wrong: String in ["", "2", "v", "2v", "av2", "1v2v3", "4v5", "0v2", "a\nb"]:
		var complaint: String = TagOptions.parse(["--teams=" + wrong]).error
		check(complaint.begins_with("--teams: "), "%s: answered %s" % [wrong, complaint])
		check(not complaint.contains("\n"), "%s: more than one line" % wrong)


func test_trained_players_are_team_mates() -> void:
	for role: String in ["seeker", "hider"]:
		var words: PackedStringArray = ["--teams=2v6", "--role=" + role, "--arena=open"]
		var game: TagScene = await _start(words)
		var agents: Array[TagAgent] = game.world.agents
		check_equal(agents.size(), 8, "agents")
		check_equal(agents[game.look.human].role, StringName(role), "role at the keyboard")
		await ticks(60)
		for agent in agents:
			var is_human: bool = agent.index == game.look.human
			var goes: bool = agent.wish.length() > 0.1
			check(goes != is_human or not agent.active, "agent %d goes: %s" % [agent.index, goes])
		game.queue_free()
		await ticks(2)


func test_a_role_shares_a_policy_but_no_memory() -> void:
	var game: TagScene = await _start(["--demo", "--teams=2v2"])
	var cast := TagCast.new(TagOptions.parse(["--level=hard"]))
	var players: Array[TrainedPlayer] = []
	for agent in game.world.agents:
		var player: TagPlayer = cast.player_for(agent, game.world)
		check(player is TrainedPlayer, "the %s is trained" % agent.role)
		players.append(player as TrainedPlayer)
	check_equal(cast.warnings.size(), 0, "warnings")
	check(players[0].policy == players[1].policy, "seekers share a policy")
	check(players[2].policy == players[3].policy, "hiders share a policy")
	check(players[1].policy != players[2].policy, "roles do not")
	# Three see the round, one of the seekers sees nothing of it: its actions are those of a newcomer.
	var late: Vector3
	for _decision in 10:
		await ticks(4)
		players[0].act(game.world)
	late = players[1].act(game.world)
	var fresh := TrainedPlayer.new(1, players[0].policy)
	check_equal(late, fresh.act(game.world), "action of the second seeker")


func test_a_policy_of_ones_own_plays_its_role_alone() -> void:
	var game: TagScene = await _start(["--demo", "--teams=2v2"])
	var file: String = "res://games/tag/policies/hard_hider.dojo"
	for opponent: String in ["scripted", "trained"]:
		var words: PackedStringArray = ["--policy=" + file, "--opponent=" + opponent]
		var cast := TagCast.new(TagOptions.parse(words))
		var seeker: TagPlayer = cast.player_for(game.world.agents[0], game.world)
		check_equal(seeker is TrainedPlayer, opponent == "trained", "%s seeker" % opponent)
		cast.warn_of_unused()
		check_equal(cast.warnings.size(), 1, "%s: nobody plays the hider yet" % opponent)
		cast.warnings.clear()
		var hider := cast.player_for(game.world.agents[2], game.world) as TrainedPlayer
		check(hider != null, "the hider plays by the file")
		cast.warn_of_unused()
		check_equal(cast.warnings.size(), 0, "%s: the file is used" % opponent)


func test_the_hud_counts_who_is_left() -> void:
	var game: TagScene = await _start(["--teams=2v6", "--arena=open", "--opponent=scripted"])
	check("Hiders 6/6" in _labels(game), "names of the parties: %s" % str(_labels(game)))
	check("You are orange: touch every blue one" in _labels(game), "the task of a seeker")
	var score := TagScore.new(game.world, game.look.human)
	for caught in 6:
		var hider: TagAgent = game.world.agents[2 + caught]
		if hider.active:
			game.world.agents[0].position = hider.position
			await ticks(1)
		score.show_on(game.hud)
		var left: int = 0
		for agent in game.world.agents:
			left += int(agent.active and agent.role == &"hider")
		check("Hiders %d/6" % left in _labels(game), "%d left: %s" % [left, str(_labels(game))])
	check(game.world.round_over, "all are caught")
	check_equal(game.hud.shown_banner(), "Your team wins!", "banner")
	check(
		_labels(game).any(
			func(text: String) -> bool: return text.begins_with("All 6 caught after")
		),
		"how: %s" % str(_labels(game))
	)


func _labels(game: TagScene) -> Array[String]:
	var shown: Array[String] = []
	for label: Label in game.hud.find_children("*", "Label", true, false):
		shown.append(label.text.strip_edges().trim_suffix(" (you)"))
	return shown


func _start(words: PackedStringArray) -> TagScene:
	var game: TagScene = SCENE.instantiate()
	game.arguments = words
	add_child(game)
	await ticks(2)
	return game
