extends Node3D
## The playable game: you at the keyboard against a trained opponent or a scripted one, or these
## among themselves; or a server plays it, and you watch it learn ([TagTraining]).
##
## [TagOptions] lists the options of the command line.

## How long the banner stays before the next round begins.
const PAUSE_S: float = 2.4
## What ends the game that trained opponents play among themselves.
const PLAYING: Array[StringName] = [
	&"tag_left", &"tag_right", &"tag_forward", &"tag_back", &"tag_jump"
]
## Exit status when the command line cannot be understood.
const BAD_OPTIONS: int = 2

## The words after [code]--[/code] on the command line.
var arguments: PackedStringArray = OS.get_cmdline_user_args()
## The game that is shown; null when the command line could not be understood.
var world: TagWorld
## What is seen of it; null as above.
var look: TagLook
## Rounds played to their end.
var rounds_played: int = 0

var _options: TagOptions
var _players: Array[TagPlayer] = []
var _score: TagScore
var _pause_s: float = 0.0
var _overlay: DojoOverlay
# The game that is played without a server.
var _own_world: TagWorld
# Whether a person at the keyboard has moved in this round.
var _has_moved: bool = false
# Where the person's play is recorded; null where it is not.
var _recorder: DojoDemoRecorder

@onready var hud: ShowHud = $Hud
## Looks for a server, where no option says otherwise.
@onready var training: TagTraining = $Training


func _ready() -> void:
	_options = TagOptions.parse(arguments)
	var complaint: String = _options.error
	var is_plain: bool = arguments.is_empty() and not OS.has_feature("movie")
	if complaint.is_empty() and is_plain:
		complaint = _take_over_settings()
	if not complaint.is_empty():
		_give_up(complaint)
		return
	_own_world = TagWorld.new()
	add_child(_own_world)
	complaint = _own_world.configure(_options.settings, _options.arena, _options.random_seed)
	if not complaint.is_empty():
		_give_up(complaint)
		return
	_show(_own_world)
	_seat_players()
	complaint = _begin_recording()
	if not complaint.is_empty():
		_give_up(complaint)
		return
	if _options.overlay:
		_show_overlay(false)
	_show_hints()
	if is_plain:
		training.server_came.connect(_on_server_came)
		training.server_left.connect(_on_server_left)
		training.begin(
			{
				"seeker": ShowStyle.letter_color(TagStyle.SEEKER),
				"hider": ShowStyle.letter_color(TagStyle.HIDER)
			}
		)


func _physics_process(delta: float) -> void:
	if training.is_live():
		_play_live(delta)
		return
	if world.round_over:
		_pause_s -= delta
		if _pause_s <= 0.0:
			world.reset()
		return
	if look.human >= 0 and (_recorder == null or world.is_decision_due()):
		_act_by_hand()
	if world.is_decision_due():
		for player in _players:
			_act(player.index, player.act(world))
	world.tick()


func _process(delta: float) -> void:
	if _score != null:
		hud.show_time(world.time_left_s)
		_score.show_on(hud)
		_show_arrows(delta)


func _unhandled_input(event: InputEvent) -> void:
	if look.human >= 0 and _wants_to_play(event):
		_has_moved = true
		hud.hints.fade()
	if event.is_action_pressed(&"tag_camera"):
		look.rig.cycle()
		look.cut()
	elif event.is_action_pressed(&"tag_restart") and not training.is_live():
		_pause_s = 0.0
		world.reset()
	elif event.is_action_pressed(&"tag_quit"):
		get_tree().quit()
	elif event.is_action_pressed(&"tag_overlay"):
		_show_overlay((event as InputEventWithModifiers).shift_pressed)
	elif training.is_live() and look.human < 0 and _wants_to_play(event):
		_join_live()
	elif _options.attract and _wants_to_play(event):
		_join()


func _act_by_hand() -> void:
	var action: Vector3 = KeyboardPlayer.act(look.rig.yaw())
	_act(look.human, action)
	if _recorder == null or not world.agents[look.human].active:
		return
	var seen := PackedFloat32Array()
	TagObservation.append(world, look.human, seen)
	_recorder.reward(0, world.rewards.total(look.human))
	_recorder.decide(0, seen, PackedFloat32Array([action.x, action.y, action.z]))


## Records the person at the keyboard, where the environment asks for it. Returns an error message,
## or an empty text.
func _begin_recording() -> String:
	var path: String = DojoDemoRecorder.path_for("")
	if path.is_empty():
		return ""
	if look.human < 0:
		return "nobody plays by hand here, so there is nothing to record"
	var role: Dictionary = {
		"name": String(world.agents[look.human].role),
		"agents": 1,
		"observation": TagObservation.layout.parts(world.settings),
		"action": TagAction.parts(),
	}
	_recorder = DojoDemoRecorder.new(path, "tag", [role], world.settings.rules.ticks_per_decision)
	return _recorder.error


## What [member training] says holds without a server as well. Returns an error message, or an empty
## text.
func _take_over_settings() -> String:
	_options.role = training.human_role()
	var complaint: String = ""
	var changed: Dictionary[String, float] = training.overrides()
	for key in changed:
		if complaint.is_empty():
			complaint = _options.settings.apply_override("%s=%s" % [key, changed[key]])
	return complaint


## Shows [param shown] in place of the game that was shown before.
func _show(shown: TagWorld) -> void:
	var camera: CameraRig.Mode = _options.camera
	if world != null:
		camera = look.rig.mode
		world.round_started.disconnect(_on_round_started)
		world.round_ended.disconnect(_on_round_ended)
		look.queue_free()
	world = shown
	world.round_started.connect(_on_round_started)
	world.round_ended.connect(_on_round_ended)
	look = TagLook.new()
	look.rig.mode = camera
	add_child(look)
	look.show_world(world)


## The task and the keys; a film needs none.
func _show_hints() -> void:
	if OS.has_feature("movie"):
		return
	var is_watched: bool = _options.attract or (training.is_live() and look.human < 0)
	var keys: Dictionary[String, String] = _score.keys().duplicate()
	if training.is_live():
		keys.erase("R")
	hud.hints.show_keys(TagScore.ATTRACT if is_watched else _score.task(), keys)


## One physics frame of a game that a server plays.
func _play_live(delta: float) -> void:
	if training.human() >= 0:
		_act(training.human(), KeyboardPlayer.act(look.rig.yaw()))
	training.tick(delta)
	_pause_s -= delta
	if _pause_s <= 0.0:
		hud.hide_banner()


## Points the human at opponents that are off screen.
func _show_arrows(delta: float) -> void:
	var places: PackedVector3Array = []
	if look.human >= 0 and not world.round_over:
		places = look.opponents()
	var hunts: bool = not world.agents[look.hero].is_seeker_like
	hud.arrows.watch(look.rig.camera, places, TagStyle.agent_color(hunts), delta)


## Who plays whom: the human gets the first agent of the wanted role, others get the rest.
func _seat_players() -> void:
	var cast := TagCast.new(_options)
	var has_human: bool = not _options.demo and not _options.attract
	_players.clear()
	look.human = -1
	for agent in world.agents:
		if look.human < 0 and _is_for_human(agent) and has_human:
			look.human = agent.index
		else:
			_players.append(cast.player_for(agent, world))
	cast.warn_of_unused()
	for warning in cast.warnings:
		printerr(warning)
	_keep_score()


## Starts keeping score for the person at the keyboard.
func _keep_score() -> void:
	look.hero = maxi(look.human, 0)
	_score = TagScore.new(world, look.human, _titles())


func _is_for_human(agent: TagAgent) -> bool:
	return agent.role in [_options.role, &"player"]


func _wants_to_play(event: InputEvent) -> bool:
	for action in PLAYING:
		if event.is_action_pressed(action):
			return true
	return false


## A player has come while trained opponents played each other: it is their turn now.
func _join() -> void:
	_options.attract = false
	for player in _players:
		if _is_for_human(world.agents[player.index]):
			look.human = player.index
			_players.erase(player)
			break
	_keep_score()
	_show_hints()
	world.reset()


## Gives the person the first agent of the wanted role, among those that the server plays.
func _join_live() -> void:
	_has_moved = true
	look.human = -1
	for agent in world.agents:
		if look.human < 0 and _is_for_human(agent):
			look.human = agent.index
	training.seat(look.human)
	_keep_score()
	_show_hints()


## Gives back the agent of a person who has not moved for a round.
func _leave_live() -> void:
	look.human = -1
	training.seat(-1)
	_keep_score()
	_show_hints()


## What the opponents are called, by role.
func _titles() -> Dictionary[StringName, String]:
	var titles: Dictionary[StringName, String] = {}
	for player in _players:
		titles[world.agents[player.index].role] = player.title()
	return titles


## Shows or hides what trained opponents see and do, or goes on to the next of them.
func _show_overlay(is_for_next: bool) -> void:
	if _overlay != null:
		if is_for_next:
			_overlay.show_next()
		else:
			_overlay.visible = not _overlay.visible
		return
	_overlay = DojoOverlay.new()
	_overlay.views = _views
	add_child(_overlay)


func _views() -> Array[DojoView]:
	var views: Array[DojoView] = []
	for player in _players:
		if not player is TrainedPlayer:
			continue
		var trained: TrainedPlayer = player
		var view := DojoView.new()
		view.title = String(world.agents[player.index].role)
		view.policy = trained.policy.title()
		view.observation_parts = trained.policy.observation_parts
		view.action_parts = trained.policy.action_parts
		view.observation = trained.seen
		view.action = trained.done
		views.append(view)
	return views


func _act(index: int, action: Vector3) -> void:
	world.set_action(index, action.x, action.y, action.z)


func _give_up(complaint: String) -> void:
	printerr(complaint)
	set_physics_process(false)
	set_process_unhandled_input(false)
	get_tree().quit(BAD_OPTIONS)


func _on_round_started() -> void:
	for player in _players:
		player.begin_round()
	if _recorder != null:
		_recorder.drop(0)
	if _pause_s <= 0.0:
		hud.hide_banner()
	_has_moved = false


func _on_round_ended(_winner: StringName) -> void:
	rounds_played += 1
	if _recorder != null and look.human >= 0:
		_recorder.reward(0, world.rewards.total(look.human))
		_recorder.finish(0, true)
	_pause_s = PAUSE_S
	_score.count_round()
	_score.announce_on(hud, look.screen_points())
	if training.is_live() and training.control_all_agents:
		if look.human >= 0 and not _has_moved:
			_leave_live()


func _on_server_came(shown: TagWorld) -> void:
	_players.clear()
	_show(shown)
	hud.hide_banner()
	if training.control_all_agents:
		_leave_live()
	else:
		_join_live()


func _on_server_left(_reason: String) -> void:
	_show(_own_world)
	_seat_players()
	_show_hints()
	_own_world.reset()
