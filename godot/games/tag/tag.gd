extends Node3D
## The playable game: you at the keyboard against a scripted opponent, or scripts among themselves.
##
## What can be said on the command line is told in [TagOptions].

## How long the banner stays before the next round begins.
const PAUSE_S: float = 2.4
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
var _players: Array[ScriptedPlayer] = []
var _score: TagScore
var _pause_s: float = 0.0

@onready var hud: TagHud = $Hud


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
	# A film needs no key hints.
	hud.show_hints("" if OS.has_feature("movie") else _score.hints())


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


func _process(_delta: float) -> void:
	if _score != null:
		hud.show_time(world.time_left_s)
		_score.show_on(hud)


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"tag_camera"):
		look.rig.cycle()
		look.cut()
	elif event.is_action_pressed(&"tag_restart"):
		world.reset()
	elif event.is_action_pressed(&"tag_quit"):
		get_tree().quit()


## Who plays whom: the human gets the first agent of the wanted role, scripts get the rest.
func _seat_players() -> void:
	for agent in world.agents:
		var fits: bool = agent.role in [_options.role, &"player"]
		if look.human < 0 and fits and not _options.demo:
			look.human = agent.index
		else:
			_players.append(ScriptedPlayer.new(agent.index, _options.random_seed))
	look.hero = maxi(look.human, 0)
	look.rig.mode = _options.camera
	_score = TagScore.new(world, look.human)


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
	_score.announce_on(hud)
