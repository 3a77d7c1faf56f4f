@icon("res://addons/godojo/icons/dojo_sync.svg")
class_name DojoSync
extends Node
## Connects a scene to a trainer in Python and keeps the two in step.
##
## Put one into a scene with [DojoAgent] nodes. While no trainer answers, the scene is played by
## policies and by hand, and the node calls again once a second. When one has answered, the game
## stands still on every decision until the trainer has sent its actions.

## A trainer has answered.
signal connected
## Nobody has answered; it calls again each second, and says so once until a trainer has come.
signal unanswered
## The trainer has left, for this reason.
signal disconnected(reason: String)
## What a decision or a reset brought is about to be sent.
signal results_ready
## The trainer says what it is doing.
signal trainer_said(text: String)
## A hunt asks its probe for something; nobody needs to see that.
signal hunt_asked(text: String)
## The trainer says how the training goes.
signal training_reported(status: DojoTrainingStatus)

enum Mode {
	## Call a trainer and do what it says; until one answers, play as in [constant INFERENCE].
	TRAINING,
	## Play by hand and call nobody.
	HUMAN,
	## Call nobody: agents that have a policy are played by it, the others by hand. For a game that
	## is given to players. A trainer that starts the game itself is answered in every mode.
	INFERENCE,
}

## How far things have come with a trainer.
enum SyncPhase { ALONE, GREETED, READY, WAITING, TICKING }

## How long a frame with a window waits for actions before it draws on, in microseconds.
const _FRAME_PATIENCE_US := 3000
## The same where worlds stand still until actions come, and people would see it.
const _SHOWN_PATIENCE_US := 8000
## How long a headless game rests between ticks while it has no trainer, in microseconds.
const _IDLE_US := 1000

## Whether to look for a trainer.
@export var mode: Mode = Mode.TRAINING
## Physics ticks from one action to the next. A trainer may ask for another number.
@export_range(1, 60, 1, "or_greater") var ticks_per_decision: int = 4
## Physics ticks a second while this scene is there, such as 90 for a headset; 0: the project's.
@export_range(0, 240, 1, "or_greater") var ticks_per_second: int = 0
## The scene of one world. With it a trainer may ask for many worlds in this process; without it,
## the scene around this node is the one world.
@export var world_scene: PackedScene
## How far apart copies of the world are put, in metres (3D) or pixels (2D): more than a world is
## wide, so that nobody meets a neighbour.
@export_range(1.0, 10000.0, 1.0, "or_greater") var world_spacing: float = 100.0
## What should learn this game, if the game has an opinion.
@export var model: DojoModel
## What plays many worlds at once, for games that have their own; normally empty.
@export var worlds: DojoWorlds

@export_group("Policies")
## By [member DojoAgent.policy_name], what plays agents that have no policy of their own.
@export var policies: Dictionary[String, DojoPolicy] = {}
## Begins the lots of agents that draw them: the same seed gives the same lots.
@export var policy_seed: int = 1
## Shows and hides what agents see and do, with Shift that of the next agent; [constant KEY_NONE]
## for no key. Games that were exported for release have none: they call [method show_overlay].
@export var overlay_key: Key = KEY_F3

@export_group("Demonstrations")
## In [constant HUMAN] mode, what people do is recorded to this file, such as
## [code]user://demo.jsonl[/code], and can be imitated by a trainer; empty: it is not.
@export var demo_path: String = ""

@export_group("Trainer")
## Name of the game for the trainer; empty: the project's name.
@export var game_name: String = ""
## The machine the trainer runs on.
@export var host: String = "127.0.0.1"
## The port it listens on.
@export_range(1, 65535) var port: int = 8765
## The wire it speaks; a trainer that launches the game says so itself.
@export var wire: DojoConnector.WireKind = DojoConnector.WireKind.ANY
## How many times faster than the clock a game with a window is played under a trainer.
@export_range(0.1, 16.0, 0.1, "or_greater") var speed: float = 1.0

## Drives the training, if the scene has one; it registers itself.
var loop: DojoTrainingLoop
## What the trainer said last.
var notice: String = ""
## More for the trainer to know before it asks for anything; to be set before the node is ready.
## [code]training[/code] (bool): whether it may learn from this game; [code]settings[/code]
## (Dictionary): settings of the game by name that the scene has changed.
var introduction: Dictionary = {}
## Whether a game that a trainer started goes on without it and looks for it again; it quits if not.
var outlives_trainer: bool = false

var _phase: SyncPhase = SyncPhase.ALONE
var _dialer: DojoConnector
var _is_unanswered: bool = false
var _link: DojoLink
var _ticks: int = 0
var _ticks_left: int = 0
## Whether frames wait for the trainer: with a window, it keeps drawing instead.
var _blocks: bool = false
var _patience_us: int = 0
var _project_ticks_per_second: int = 60
var _usual_ticks_per_second: int = 60
var _usual_steps_per_frame: int = 8
var _overlay: DojoOverlay


func _ready() -> void:
	process_mode = Node.PROCESS_MODE_ALWAYS
	# Actions are given before anybody else moves, so a decision is a whole number of ticks.
	process_physics_priority = -1_000_000
	set_process_unhandled_key_input(OS.is_debug_build())
	_find_worlds()
	_dialer = DojoConnector.new(host, port, wire, title(), introduction)
	_blocks = _dialer.is_launched or DisplayServer.get_name() == "headless"
	_project_ticks_per_second = Engine.physics_ticks_per_second
	if ticks_per_second > 0:
		Engine.physics_ticks_per_second = ticks_per_second
	_usual_ticks_per_second = Engine.physics_ticks_per_second
	_usual_steps_per_frame = Engine.max_physics_steps_per_frame
	_patience_us = int(_dialer.patience_s * 1e6) if _blocks else _FRAME_PATIENCE_US


func _exit_tree() -> void:
	if _link != null:
		_link.hang_up("the game was closed")
		_stand_still(false)
	Engine.physics_ticks_per_second = _project_ticks_per_second


func _physics_process(_delta: float) -> void:
	if _phase == SyncPhase.ALONE and looks_for_trainer():
		_look_for_trainer()
	if _phase == SyncPhase.ALONE:
		if not _dialer.is_launched:
			worlds.play_by_hand()
		# Nobody looks at a headless game that waits for its trainer, so it need not hurry; and Jolt
		# complains when ticks follow each other faster than its threads wake up.
		if _blocks and mode != Mode.INFERENCE:
			OS.delay_usec(_IDLE_US)
		return
	if _phase == SyncPhase.TICKING:
		_ticks_left -= 1
		_draw_cameras()
		if _ticks_left > 0 or worlds.holds_answer():
			return
		_send_results()
	_hear_trainer()


func _unhandled_key_input(event: InputEvent) -> void:
	var key := event as InputEventKey
	if key != null and key.pressed and not key.echo and overlay_key != KEY_NONE:
		if key.keycode != overlay_key and key.physical_keycode != overlay_key:
			return
		if key.shift_pressed and _overlay != null:
			_overlay.show_next()
		else:
			show_overlay(_overlay == null or not _overlay.visible)


## Shows or hides what agents see and do.
func show_overlay(is_shown: bool) -> void:
	if _overlay == null and is_shown:
		_overlay = DojoOverlay.new()
		_overlay.views = worlds.views
		add_child(_overlay)
	if _overlay != null:
		_overlay.visible = is_shown


## Puts another policy in for all agents with this name, while the game runs. Returns why it was
## refused, or an empty text; what was there stays.
func set_policy(policy_name: String, path: String) -> String:
	var fresh: DojoPolicy = DojoPolicyReader.load_file(path)
	var complaint: String = fresh.error
	for agent in worlds.all_agents():
		if complaint.is_empty() and agent.policy_name == policy_name:
			complaint = complaint_about(fresh, agent)
	if complaint.is_empty():
		policies[policy_name] = fresh
		worlds.policies_changed()
	return complaint


## Puts in the policies that words [code]--policy=FILE.dojo[/code] of the command line name.
func take_policies(words: PackedStringArray) -> void:
	for word in words:
		if word.begins_with("--policy="):
			var policy: DojoPolicy = DojoPolicyReader.load_file(word.trim_prefix("--policy="))
			if policy.error.is_empty():
				policies[policy.role] = policy
			else:
				printerr("Godojo: %s: %s" % [word, policy.error])


## What keeps [param policy] from playing [param agent], or an empty text.
func complaint_about(policy: DojoPolicy, agent: DojoAgent) -> String:
	var complaint: String = policy.complaint_about(agent.observation_parts(), agent.action_parts())
	if complaint.is_empty() and not game_name.is_empty() and policy.game != game_name:
		complaint = "it plays %s, not %s" % [DojoUntrustedText.quoted(policy.game), game_name]
	return complaint


## Whether a trainer decides what agents do.
func is_trained() -> bool:
	return _phase != SyncPhase.ALONE


## Whether it calls a trainer while there is none.
func looks_for_trainer() -> bool:
	if _dialer.is_launched:
		return true
	return mode == Mode.TRAINING and not _dialer.is_off and (loop == null or loop.running)


## Whether a trainer started this game.
func is_launched() -> bool:
	return _dialer.is_launched


## Calls nobody from now on, even if a trainer started the game: policies and people play.
func stay_alone() -> void:
	_dialer.is_launched = false
	_dialer.is_off = true
	mode = Mode.INFERENCE


## Takes leave of the trainer, if there is one.
func leave_trainer(reason: String) -> void:
	if _link != null:
		_link.hang_up(reason)
		_lose_trainer(reason, 0)


## What the game is called: [member game_name], or the project's name.
func title() -> String:
	var project_name: String = ProjectSettings.get_setting("application/config/name", "")
	return game_name if game_name else project_name


## Where it looks for a trainer, for people.
func address() -> String:
	return _dialer.address()


func _find_worlds() -> void:
	for child in get_children():
		if worlds == null and child is DojoWorlds:
			worlds = child
	if worlds == null:
		var scene_worlds := DojoSceneWorlds.new()
		scene_worlds.sync = self
		add_child(scene_worlds)
		worlds = scene_worlds
	# This node never pauses; what is below it does.
	if is_ancestor_of(worlds):
		worlds.process_mode = Node.PROCESS_MODE_PAUSABLE


func _look_for_trainer() -> void:
	_dialer.dial()
	# A launched game has nothing else to do; a millisecond is soon enough.
	while _dialer.is_launched and _dialer.link == null and not _dialer.has_given_up():
		OS.delay_usec(1000)
		_dialer.dial()
	if _dialer.link != null:
		_link = _dialer.link
		_dialer.link = null
		_phase = SyncPhase.GREETED
		_is_unanswered = false
		print("Godojo: a trainer answers at %s" % _dialer.address())
		connected.emit()
	elif _dialer.has_given_up():
		printerr("Godojo: no trainer answers at %s (%s)" % [_dialer.address(), _dialer.trouble])
		_quit(1)
	elif not _is_unanswered and not _dialer.trouble.is_empty():
		_is_unanswered = true
		unanswered.emit()


## Takes messages until one has to be followed by a physics frame, or until patience ends.
func _hear_trainer() -> void:
	var patience_us: int = _patience_us
	if not _blocks and _phase == SyncPhase.WAITING and worlds.stands_still_itself:
		patience_us = _SHOWN_PATIENCE_US
	var deadline_us: int = Time.get_ticks_usec() + patience_us
	while _phase != SyncPhase.ALONE:
		var left_us: int = _patience_us if _blocks else deadline_us - Time.get_ticks_usec()
		var message: Dictionary = _link.wait_for_message(left_us)
		if _link.state == DojoLink.LinkState.LOST:
			_lose_trainer(_link.trouble, 1)
		elif message.is_empty():
			_notice_silence()
			return
		elif _obey(message):
			return


func _notice_silence() -> void:
	if _blocks:
		_refuse("the trainer was silent for %.1f s" % (_patience_us * 1e-6))
	elif _phase == SyncPhase.WAITING:
		_stand_still(true)


## Does what the message says; true when the engine has to go on before the next one.
func _obey(message: Dictionary) -> bool:
	match message["type"]:
		"act":
			_act(message["actions"])
			return true
		"reset":
			_reset(message["seed"])
			return false
		"configure":
			_configure(message)
			return true
		"epoch":
			_send_plan(message["epoch"])
		"notice":
			if (message["text"] as String).begins_with("hunt:"):
				hunt_asked.emit(message["text"])
				return false
			notice = message["text"]
			trainer_said.emit(notice)
			if message.has("status") and training_reported.has_connections():
				training_reported.emit(DojoTrainingStatus.read(message["status"] as Dictionary))
		"close":
			_link.hang_up("as the trainer wished")
			_lose_trainer(message["reason"], 0)
	return false


func _configure(request: Dictionary) -> void:
	_stand_still(false)
	if request["ticks_per_decision"] == null:
		request["ticks_per_decision"] = ticks_per_decision
	var complaint: String = worlds.configure(request)
	if not complaint.is_empty():
		_refuse(complaint, worlds.fixed_count if request["worlds"] != worlds.fixed_count else 0)
		return
	var description: Dictionary = worlds.describe()
	if loop != null:
		complaint = loop.join(description)
		if not complaint.is_empty():
			_refuse(complaint)
			return
	description.merge(
		{
			"worlds": request["worlds"],
			"ticks_per_decision": request["ticks_per_decision"],
			"ticks_per_second": _usual_ticks_per_second,
			"reconfigures": true
		}
	)
	_ticks = description["ticks_per_decision"]
	_phase = SyncPhase.READY
	_hurry(true)
	_link.send_ready(description)


func _reset(seed_number: int) -> void:
	_stand_still(false)
	worlds.reset(seed_number)
	_send_results()


func _act(actions: PackedFloat32Array) -> void:
	_stand_still(false)
	worlds.act(actions)
	if worlds.advances_itself:
		worlds.advance()
		_send_results()
	else:
		_ticks_left = _ticks
		_phase = SyncPhase.TICKING
		_draw_cameras()


## In a game that a trainer has started every tick is a frame, and only the one before a decision is
## looked at.
func _draw_cameras() -> void:
	if _dialer.is_launched and _ticks_left == 1:
		get_tree().call_group(DojoCameraSensor.GROUP, &"draw_once")


func _send_plan(epoch: int) -> void:
	var plan: Dictionary = loop.plan(epoch) if loop != null else {"running": true}
	if plan.has("complaint"):
		_refuse(plan["complaint"] as String)
	elif _link != null:  # who listens to the loop may have taken leave of the trainer
		_link.send_plan(plan)


func _send_results() -> void:
	_phase = SyncPhase.WAITING
	var results: DojoResults = worlds.collect()
	results_ready.emit()
	if worlds.trouble.is_empty():
		_link.send_step(results)
	else:
		_refuse(worlds.trouble)


## The game cannot go on: tells the trainer and the person at the console why.
func _refuse(complaint: String, worlds_there: int = 0) -> void:
	_link.send_error(complaint, worlds_there)
	_link.hang_up(complaint)
	_lose_trainer(complaint, 1)


func _lose_trainer(reason: String, exit_code: int) -> void:
	_link = null
	_phase = SyncPhase.ALONE
	_stand_still(false)
	_hurry(false)
	get_tree().call_group(DojoCameraSensor.GROUP, &"draw_always")
	print("Godojo: the trainer is gone: %s" % reason)
	disconnected.emit(reason)
	if _dialer.is_launched and not outlives_trainer:
		_quit(exit_code)


func _quit(exit_code: int) -> void:
	set_physics_process(false)
	get_tree().quit(exit_code)


## With a window, the whole game is paused while the trainer thinks.
func _stand_still(still: bool) -> void:
	if worlds.advances_itself or worlds.stands_still_itself or _blocks:
		return
	if get_tree().paused != still:
		get_tree().paused = still


## Under a trainer, a game with a window is played at [member speed].
func _hurry(hurries: bool) -> void:
	if _blocks:
		return
	var factor: float = speed if hurries else 1.0
	Engine.time_scale = factor
	Engine.physics_ticks_per_second = roundi(_usual_ticks_per_second * factor)
	Engine.max_physics_steps_per_frame = ceili(_usual_steps_per_frame * factor)
