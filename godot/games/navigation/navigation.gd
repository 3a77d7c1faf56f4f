class_name NavigationScene
extends Node3D
## A course to walk: by hand, by a trained policy, by a script, or by a client over HTTP.
##
## [NavigationOptions] lists the options of the command line.

const PAUSE_S := 2.0
const BAD_OPTIONS := 2
const SCENES: Dictionary[String, String] = {
	"course": "res://games/navigation/navigation.tscn",
	"obstacle_course": "res://games/navigation/obstacle_course.tscn",
	"maze": "res://games/navigation/maze.tscn",
}

static var _has_chosen: bool = false

## Which course this scene is.
@export var course_name: String = "course"

## The words after [code]--[/code] on the command line.
var arguments: PackedStringArray = OS.get_cmdline_user_args()
## The walk; null until the first physics frame.
var world: NavigationWorld
## Rounds played to their end by hand.
var rounds_played: int = 0

var _options: NavigationOptions
var _trained: TrainedWalker
var _is_by_hand: bool = true
var _pause_s: float = 0.0
# Where walks by hand are recorded; null where they are not.
var _recorder: DojoDemoRecorder

@onready var worlds: NavigationWorlds = $Worlds
@onready var rig: NavigationRig = $Rig
@onready var look: NavigationLook = $Look
@onready var hud: NavigationHud = $Hud


func _ready() -> void:
	set_physics_process(false)
	_options = NavigationOptions.parse(arguments)
	if not _options.error.is_empty():
		printerr(_options.error)
		get_tree().quit(BAD_OPTIONS)
		return
	if _options.course and not _has_chosen and _options.course != course_name:
		_has_chosen = true
		get_tree().change_scene_to_file.call_deferred(SCENES[_options.course])
		return
	_has_chosen = true
	if not _load_policy():
		return
	worlds.course_names = [course_name]
	worlds.usual_settings = _options.settings
	worlds.configured.connect(_on_configured)
	var course: CourseData = CourseData.load_named(course_name)
	look.show_course(course)
	hud.show_course(course)
	rig.start(_options.wants_xr)
	look.choose_camera(_options.camera, rig)
	if not OS.has_feature("movie"):
		_show_keys()
	# Nobody sits before a game without a window that is played over HTTP.
	if not (_options.is_served and DisplayServer.get_name() == "headless"):
		_play_by_hand.call_deferred()


## Whether there is no policy to load, or it can walk here.
func _load_policy() -> bool:
	if _options.policy.is_empty():
		return true
	var policy: DojoPolicy = DojoPolicyReader.load_file(_options.policy)
	var complaint: String = TrainedWalker.complaint_about(policy, _options.settings)
	if not complaint.is_empty():
		printerr("--policy: %s: %s" % [DojoUntrustedText.quoted(_options.policy), complaint])
		get_tree().quit(BAD_OPTIONS)
		return false
	_trained = TrainedWalker.new(policy)
	return true


func _show_keys() -> void:
	var keys: Dictionary[String, String] = {}
	if _trained == null and not _options.demo:
		keys = {"W A S D": "walk", "Q E": "turn"}
		if _options.settings.motion.teleport_m > 0.0:
			keys["Space"] = "teleport"
	keys.merge({"Tab": "camera", "R": "restart", "Esc": "quit"})
	hud.show_keys(keys)


func _physics_process(delta: float) -> void:
	if world == null or world.walker == null or world.marks.is_empty():
		return
	if _is_by_hand:
		_walk(delta)
	rig.follow(world)
	look.follow(world)
	hud.follow(world)


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"tag_camera"):
		look.cycle_camera(rig)
	elif event.is_action_pressed(&"tag_restart") and _is_by_hand:
		_begin_round()
	elif event.is_action_pressed(&"tag_quit"):
		get_tree().quit()


func _play_by_hand() -> void:
	var request: Dictionary = {"worlds": 1, "ticks_per_decision": null, "options": {}}
	worlds.configured.disconnect(_on_configured)
	var complaint: String = worlds.configure(request)
	worlds.configured.connect(_on_configured)
	assert(complaint.is_empty(), complaint)
	await get_tree().physics_frame
	if not _is_by_hand or not _begin_recording():
		return
	_begin_round()
	set_physics_process(true)


## Records walks by hand, where the environment asks for it; false if that cannot be done.
func _begin_recording() -> bool:
	var path: String = DojoDemoRecorder.path_for("")
	if path.is_empty():
		return true
	var role: Dictionary = {
		"name": "walker",
		"agents": 1,
		"observation": NavigationObservation.layout.parts(worlds.settings),
		"action": NavigationWorlds.action_parts(worlds.settings),
	}
	var ticks: int = worlds.settings.rules.ticks_per_decision
	_recorder = DojoDemoRecorder.new(path, "navigation", [role], ticks)
	if not _recorder.error.is_empty():
		printerr(_recorder.error)
		get_tree().quit(BAD_OPTIONS)
	return _recorder.error.is_empty()


func _begin_round() -> void:
	worlds.reset(_options.random_seed + rounds_played)
	world = worlds.worlds[0]
	rig.cut()
	if _recorder != null:
		_recorder.drop(0)
	if _trained != null:
		_trained.begin_round()


func _walk(delta: float) -> void:
	if world.round_over:
		_pause_s -= delta
		if _pause_s <= 0.0:
			rounds_played += 1
			_begin_round()
		return
	if _trained != null:
		_trained.act(world)
	else:
		_act_by_hand()
	world.tick()
	if world.round_over:
		_pause_s = PAUSE_S
		if _recorder != null:
			_take_reward()
			_recorder.finish(0, world.winner != &"clock")


func _act_by_hand() -> void:
	var is_due: bool = world.tick_number % world.settings.rules.ticks_per_decision == 0
	if _recorder != null and not is_due:
		return
	var action: Vector3 = ScriptedWalker.act(world) if _options.demo else rig.wanted()
	var teleport: float = 0.0 if _options.demo else rig.trigger()
	world.set_action(action.x, action.y, action.z, teleport)
	if _recorder != null:
		_record(action, teleport)


func _record(action: Vector3, teleport: float) -> void:
	var seen := PackedFloat32Array()
	NavigationObservation.append(world, seen)
	var done := PackedFloat32Array([action.x, action.y, action.z])
	if world.settings.motion.teleport_m > 0.0:
		done.append(teleport)
	_take_reward()
	_recorder.decide(0, seen, done)


func _take_reward() -> void:
	for term in world.rewards.terms:
		_recorder.reward(0, term)


## A client has taken over.
func _on_configured() -> void:
	_is_by_hand = false
	world = worlds.worlds[0]
	set_physics_process(true)
