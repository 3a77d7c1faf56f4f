extends EngineTest
## The playable scene under a server: who plays whom, what is learned from, and the way back.

const SCENE: PackedScene = preload("res://games/tag/tag.tscn")
const TagScene: GDScript = preload("res://games/tag/tag.gd")
const REQUEST := {"worlds": 1, "ticks_per_decision": 4, "options": {}}

var _game: TagScene
var _worlds: TagLiveWorlds


func test_a_person_takes_over_and_gives_back() -> void:
	await _start()
	var own: TagWorld = _game.world
	check_equal(_game.look.human, 0, "by hand before a server has come")
	_worlds.overrides = {"rules.round_s": 1.0}
	check_equal(_worlds.configure(REQUEST.duplicate()), "", "configured")
	_worlds.reset(1)
	check(_game.world != own, "the server's world is shown")
	check_equal(_game.look.human, -1, "the server plays all")
	var results: DojoResults = await _decide()
	check_equal(results.flags, PackedByteArray([1, 1]), "both acted")
	check(_game.world.agents[0].wish.x > 0.5, "as the server wants")
	_press(KEY_A, true)
	await ticks(1)
	check_equal(_game.look.human, 0, "the person who moves is the seeker")
	results = await _decide()
	check_equal(results.flags, PackedByteArray([0, 1]), "a person is not learned from")
	check(_game.world.agents[0].wish.x < -0.5, "as the person wants")
	_press(KEY_A, false)
	var rounds: int = 0
	while rounds < 2:
		check_equal(_game.look.human, 0, "still the person's in round %d" % rounds)
		results = await _decide()
		rounds += floori(results.ended.size() / 4.0)
	check_equal(_game.look.human, -1, "given back after a round without a move")
	(_game.get_node(^"Training/DojoSync") as DojoSync).disconnected.emit("it was stopped")
	await ticks(3)
	check(_game.world == own and not _game.training.is_live(), "back to one's own game")
	check_equal(_game.look.human, 0, "by hand")
	check(own.tick_number > 0, "which goes on")


func test_many_worlds_are_played_with_the_clock_and_the_first_is_shown() -> void:
	await _start()
	check_equal(_worlds.configure(REQUEST.merged({"worlds": 3}, true)), "", "configured")
	_worlds.reset(1)
	var before: PackedFloat32Array = _worlds.collect().observation.duplicate()
	var results: DojoResults = await _decide()
	check_equal(results.flags.size(), 6, "agents")
	check(results.observation != before, "they moved")
	check_equal(_game.world.tick_number, 4, "a tick for each frame")


func test_end_of_a_round_is_shown_before_the_server_goes_on() -> void:
	await _start()
	_worlds.overrides = {"rules.round_s": 0.5}
	check_equal(_worlds.configure(REQUEST.duplicate()), "", "configured")
	_worlds.reset(1)
	var frames: int = Engine.get_physics_frames()
	var ended: int = 0
	while ended == 0:
		ended = (await _decide()).ended.size()
		if ended == 0:
			check_equal(_game.hud.shown_banner(), "", "no banner while it is played")
	var took_s: float = (Engine.get_physics_frames() - frames) / 60.0
	check(took_s > TagLiveWorlds.PAUSE_S, "seen for %f s" % took_s)
	check_equal(_game.world.tick_number, 0, "then the next round begins")


func test_settings_change_the_game_without_a_server() -> void:
	OS.set_environment("GODOJO_SERVER", "off")
	_game = SCENE.instantiate()
	var training: TagTraining = _game.get_node(^"Training")
	training.ai_is_it = true
	training.step_tick_interval = 2
	training.tag_bonus = 3.0
	training.progress_reward_scale = 0.5
	_game.arguments = []
	add_child(_game)
	await ticks(2)
	check_equal(_game.world.agents[_game.look.human].role, &"hider", "the person's role")
	check_equal(_game.world.settings.rules.ticks_per_decision, 2, "ticks for each decision")
	check_equal(_game.world.settings.rewards.seeker.tag, 3.0, "a tag for the seeker")
	check_equal(_game.world.settings.rewards.hider.tag, -3.0, "a tag for the hider")
	check_equal(_game.world.settings.rewards.seeker.distance_per_m, -0.5, "a metre, seeker")
	check_equal(_game.world.settings.rewards.hider.distance_per_m, 0.5, "a metre, hider")
	check_equal(_game.get_node_or_null(^"Training/Panel"), null, "nobody is looked for")


## The scene as the editor's Play starts it, without anybody to call.
func _start() -> void:
	OS.set_environment("GODOJO_SERVER", "off")
	_game = SCENE.instantiate()
	_game.arguments = []
	add_child(_game)
	_worlds = _game.get_node(^"Training/DojoSync/Worlds")
	await ticks(2)


## One decision of a server that sends everybody to the right.
func _decide() -> DojoResults:
	var actions: PackedFloat32Array = []
	while actions.size() < 6 * _worlds._worlds.size():
		actions.append_array([1.0, 0.0, -1.0])
	_worlds.act(actions)
	await ticks(4)
	while _worlds.holds_answer():
		await ticks(1)
	return _worlds.collect()


func _press(key: Key, pressed: bool) -> void:
	var event := InputEventKey.new()
	event.physical_keycode = key
	event.keycode = key
	event.pressed = pressed
	Input.parse_input_event(event)
