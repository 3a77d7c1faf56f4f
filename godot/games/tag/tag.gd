extends Node3D
## The playable game: you at the keyboard against a trained opponent or a scripted one, or these
## among themselves.
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
## The game itself; null when the command line could not be understood.
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

@onready var hud: ShowHud = $Hud


func _ready() -> void:
	_options = TagOptions.parse(arguments)
	if not _options.error.is_empty():
		_give_up(_options.error)
		return
	world = TagWorld.new()
	look = TagLook.new()
	add_child(world)
	add_child(look)
	world.round_started.connect(_on_round_started)
	world.round_ended.connect(_on_round_ended)
	var complaint: String = world.configure(_options.settings, _options.arena, _options.random_seed)
	if not complaint.is_empty():
		_give_up(complaint)
		return
	_seat_players()
	look.show_world(world)
	if _options.overlay:
		_show_overlay(false)
	# A film needs no key hints.
	if not OS.has_feature("movie"):
		var task: String = TagScore.ATTRACT if _options.attract else _score.task()
		hud.hints.show_keys(task, _score.keys())


func _physics_process(delta: float) -> void:
	if world.round_over:
		_pause_s -= delta
		if _pause_s <= 0.0:
			world.reset()
		return
	if look.human >= 0:
		_act(look.human, KeyboardPlayer.act(look.rig.yaw()))
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
		hud.hints.fade()
	if event.is_action_pressed(&"tag_camera"):
		look.rig.cycle()
		look.cut()
	elif event.is_action_pressed(&"tag_restart"):
		world.reset()
	elif event.is_action_pressed(&"tag_quit"):
		get_tree().quit()
	elif event.is_action_pressed(&"tag_overlay"):
		_show_overlay((event as InputEventWithModifiers).shift_pressed)
	elif _options.attract and _wants_to_play(event):
		_join()


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
	for agent in world.agents:
		if look.human < 0 and _is_for_human(agent) and has_human:
			look.human = agent.index
		else:
			_players.append(cast.player_for(agent, world))
	cast.warn_of_unused()
	for warning in cast.warnings:
		printerr(warning)
	look.hero = maxi(look.human, 0)
	look.rig.mode = _options.camera
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
	look.hero = maxi(look.human, 0)
	_score = TagScore.new(world, look.human, _titles())
	hud.hints.show_keys(_score.task(), _score.keys())
	world.reset()


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
	hud.hide_banner()


func _on_round_ended(_winner: StringName) -> void:
	rounds_played += 1
	_pause_s = PAUSE_S
	_score.count_round()
	_score.announce_on(hud, look.screen_points())
