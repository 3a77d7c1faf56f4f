extends EngineTest
## The playable scene: keys, camera, restart, clock, rounds that follow each other, and bad options.

const SCENE: PackedScene = preload("res://games/tag/tag.tscn")
const TagScene: GDScript = preload("res://games/tag/tag.gd")


func test_keys_move_the_human() -> void:
	var ways: Dictionary[Key, Vector2] = {
		KEY_W: Vector2(0, -1), KEY_S: Vector2(0, 1), KEY_A: Vector2(-1, 0), KEY_D: Vector2(1, 0)
	}
	var game: TagScene = await _start(["--arena=open", "--role=hider"])
	var human: TagAgent = game.world.agents[game.look.human]
	check_equal(human.role, &"hider", "role at the keyboard")
	for key in ways:
		_press(key, true)
		await ticks(4)
		check_equal(human.wish, ways[key], "wish with %s held" % OS.get_keycode_string(key))
		check(
			Vector2(human.velocity.x, human.velocity.z).dot(ways[key]) > 0.5,
			"%s moves it at %s" % [OS.get_keycode_string(key), human.velocity]
		)
		_press(key, false)
		await ticks(14)
		check_equal(human.wish, Vector2.ZERO, "wish with all keys up")


func test_space_jumps() -> void:
	var game: TagScene = await _start(["--arena=open", "--role=hider"])
	var human: TagAgent = game.world.agents[game.look.human]
	check_equal(human.role, &"hider", "role at the keyboard")
	var ground_m: float = human.position.y
	_press(KEY_SPACE, true)
	await ticks(8)
	_press(KEY_SPACE, false)
	check(human.position.y > ground_m + 0.3, "a jump rose by %f m" % (human.position.y - ground_m))


func test_tab_cycles_the_camera() -> void:
	var game: TagScene = await _start(["--demo"])
	var seen: Array[int] = []
	for _press_number in 4:
		seen.append(game.look.rig.mode)
		_press(KEY_TAB, true)
		_press(KEY_TAB, false)
		await ticks(3)
	var expected: Array[int] = [0, 1, 2, 0]
	check_equal(seen, expected, "modes of the camera")


func test_up_on_screen_is_forward_for_every_camera() -> void:
	for camera in CameraRig.NAMES:
		var game: TagScene = await _start(["--arena=open", "--camera=" + camera])
		var human: TagAgent = game.world.agents[game.look.human]
		var eye: Camera3D = game.look.rig.camera
		_press(KEY_W, true)
		await ticks(5)
		var ahead: Vector2 = Vector2(-eye.global_basis.z.x, -eye.global_basis.z.z).normalized()
		_press(KEY_W, false)
		check(human.wish.dot(ahead) > 0.95, "%s: W goes %s, up is %s" % [camera, human.wish, ahead])
		game.queue_free()
		await ticks(2)


func test_r_restarts_the_round() -> void:
	var game: TagScene = await _start(["--demo"])
	await ticks(60)
	check(game.world.tick_number > 50, "the round goes on before R")
	_press(KEY_R, true)
	_press(KEY_R, false)
	await ticks(3)
	check(game.world.tick_number < 5, "R at once: %d ticks played" % game.world.tick_number)


func test_the_clock_tells_the_time_left() -> void:
	check_equal(ShowHud.clock_text(600.0), "10:00", "ten minutes")
	check_equal(ShowHud.clock_text(99.2), "1:40", "more than two digits")
	check_equal(ShowHud.clock_text(29.5), "30", "whole seconds are rounded up")
	check_equal(ShowHud.clock_text(10.0), "10.0", "ten seconds")
	check_equal(ShowHud.clock_text(9.94), "10.0", "tenths are rounded up")
	check_equal(ShowHud.clock_text(0.01), "0.1", "not over yet")
	check_equal(ShowHud.clock_text(0.0), "0.0", "over")
	check_equal(ShowHud.clock_text(-1.0), "0.0", "never negative")
	var game: TagScene = await _start(["--demo", "--set=rules.round_s=10", "--arena=maze"])
	await ticks(90)
	await get_tree().process_frame
	var shown: String = game.hud.shown_time()
	check_equal(shown, ShowHud.clock_text(game.world.time_left_s), "clock on screen")
	check_near(shown.to_float(), 8.5, 0.15, "seconds left after 1.5 s of 10 s")


func test_rounds_follow_each_other_with_a_banner() -> void:
	var game: TagScene = await _start(["--demo", "--set=rules.round_s=2", "--arena=maze"])
	var titles: PackedStringArray = []
	for _tick in 60 * 20:
		await ticks(1)
		var title: String = game.hud.shown_banner()
		if game.world.round_over and not title.is_empty() and titles.size() < game.rounds_played:
			titles.append(title)
		if not game.world.round_over and game.rounds_played == 3:
			break
	check_equal(game.rounds_played, 3, "rounds played")
	check_equal(titles.size(), 3, "banners shown")
	for title in titles:
		check(title in ["Seeker wins", "Hider wins"], "banner: %s" % title)
	check_equal(game.hud.shown_banner(), "", "banner in the next round")


func test_trained_opponents_play_until_somebody_moves() -> void:
	var game: TagScene = await _start(["--attract", "--arena=open"])
	check_equal(game.look.human, -1, "nobody at the keyboard")
	await ticks(60)
	for agent in game.world.agents:
		check(agent.wish.length() > 0.1, "the %s wants to go somewhere" % agent.role)
	_press(KEY_F3, true)
	_press(KEY_F3, false)
	await ticks(2)
	var shown: Array[Node] = game.find_children("*", "DojoOverlay", false, false)
	check_equal(shown.size(), 1, "F3 shows what they see")
	_press(KEY_W, true)
	_press(KEY_W, false)
	await ticks(3)
	check_equal(game.look.human, 0, "the person who moves is the seeker")
	check(game.world.tick_number < 5, "in a new round")


func test_what_cannot_be_played_by_policy_is_played_by_script() -> void:
	var words: Dictionary[String, String] = {
		"--policy=no\nwhere.dojo": "no\\nwhere.dojo cannot be read",
		"--set=sight.range_m=10": "another sight.range_m",
	}
	for word in words:
		var options: TagOptions = TagOptions.parse([word])
		check_equal(options.error, "", word)
		var cast := TagCast.new(options)
		var game: TagScene = await _start(["--demo"])
		game.world.settings = options.settings
		var player: TagPlayer = cast.player_for(game.world.agents[1], game.world)
		check(player is ScriptedPlayer, "%s: a script plays" % word)
		check_equal(cast.warnings.size(), 1, "%s: one warning" % word)
		check(words[word] in cast.warnings[0], cast.warnings[0])
		game.queue_free()
		await ticks(2)


func test_every_arena_and_mode_plays_by_itself() -> void:
	for arena in ArenaData.hand_made():
		for mode: String in ["hide_and_seek", "classic"]:
			var words: PackedStringArray = ["--demo", "--arena=" + arena, "--mode=" + mode]
			words.append_array(["--set=rules.classic_round_s=1", "--set=rules.round_s=1"])
			words.append_array(["--set=rules.players=5", "--set=rules.hiders=3"])
			var game: TagScene = await _start(words)
			await ticks(80)
			check_equal(game.rounds_played, 1, "rounds of %s in %s" % [mode, arena])
			game.queue_free()
			await ticks(2)


func test_bad_options_are_answered_with_the_good_ones() -> void:
	var answers: Dictionary[String, String] = {
		"--arena=moon": "known: maze mixed open pillars platforms",
		"--arena=mo\non": "known: maze mixed open pillars platforms",
		"--arena=no\nwhere.json": "no\\nwhere.json: file:",
		"--arena=../settings": "known: maze mixed open pillars platforms",
		"--role=judge": "known: seeker hider",
		"--mode=chess": "hide_and_seek, classic",
		"--camera=drone": "known: overview follow side",
		"--level=extreme": "known: easy medium hard",
		"--opponent=": "known: trained scripted",
		"--seed=many": "whole number",
		"--seed=": "whole number",
		"--seed=1.5": "whole number",
		"--seed=99999999999999999999999": "at most 15 digits",
		"--seed=-99999999999999999999999": "at most 15 digits",
		"--seed=a\nb": "not a\\nb",
		"--role=a\nb": "known: seeker hider",
		"--a\nb": "known: --arena=",
		"--set=motion.gravity_mps2=[1,2]": "must be a number, not [1",
		"--set=motion.warp=9": "motion.gravity_mps2",
		"--set=body.size_m=nan": "must be a number",
		"--fly": "known: --arena=",
		"--demo=yes": "known: --arena=",
		"": "known: --arena=",
	}
	for word in answers:
		var options: TagOptions = TagOptions.parse([word])
		check(options.error.contains(answers[word]), "%s: answered %s" % [word, options.error])
		check(not options.error.contains("\n"), "%s: more than one line" % word)


func test_seeds() -> void:
	for seed_word: String in ["0", "7", "-3", "999999999999999"]:
		var options: TagOptions = TagOptions.parse(["--seed=" + seed_word])
		check_equal(options.error, "", seed_word)
		check_equal(str(options.random_seed), seed_word, "seed")


func test_the_arena_of_choice_when_none_is_asked_for() -> void:
	check_equal(TagOptions.parse([]).arena.name, "pillars", "arena")


func _start(words: PackedStringArray) -> TagScene:
	var game: TagScene = SCENE.instantiate()
	game.arguments = words
	add_child(game)
	await ticks(2)
	return game


func _press(key: Key, pressed: bool) -> void:
	var event := InputEventKey.new()
	event.physical_keycode = key
	event.keycode = key
	event.pressed = pressed
	Input.parse_input_event(event)
