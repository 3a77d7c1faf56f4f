class_name LandingScene
extends Node3D
## Landing, flown by hand or by a trained policy; a trainer may call, too.
##
## Options on the command line, after [code]--[/code]:
## [codeblock]
## --set=craft.fuel_s=20  any setting; may be given many times
## --camera=overview      follow (default) or overview
## --seed=7               starts the random numbers
## --policy=FILE.dojo     nobody at the keys: a trained policy flies
## [/codeblock]

const BAD_OPTIONS := 2
const BANNER_S := 2.5
const KNOWN: PackedStringArray = ["--set=", "--camera=", "--seed=", "--policy="]
const WON := Color("6fe39a")
const _WORDS: PackedStringArray = [
	"", "On the pad", "Off the pad", "A rough landing", "Crashed", "Time is up"
]

## The words after [code]--[/code] on the command line.
var arguments: PackedStringArray = OS.get_cmdline_user_args()
## Rounds played to their end.
var rounds_played: int = 0

var _pilot: LanderPilot
var _banner_s: float = 0.0

@onready var sync: DojoSync = $DojoSync
@onready var worlds: LandingWorlds = $DojoSync/LandingWorlds
@onready var look: LandingLook = $Look
@onready var panel: LandingPanel = $Side/Panel
@onready var hud: ShowHud = $Frame


func _ready() -> void:
	for word in arguments:
		var complaint: String = _read(word)
		if not complaint.is_empty():
			printerr(complaint)
			get_tree().quit(BAD_OPTIONS)
			return
	worlds.settings = worlds.usual_settings
	sync.ticks_per_decision = worlds.settings.rules.ticks_per_decision
	if not OS.has_feature("movie"):
		_show_keys()


func _process(delta: float) -> void:
	if _pilot == null or not is_instance_valid(_pilot):
		_find_pilot()
		return
	var lander: Lander = _pilot.lander
	look.follow(lander.get_global_transform_interpolated(), lander.thrust, lander.settings.craft)
	panel.show_flight(
		lander.pose.origin.y, lander.velocity, lander.pad_distance(), lander.fuel_left()
	)
	hud.show_time((lander.settings.rules.max_ticks - _pilot.ticks) * Lander.TICK_S)
	_banner_s -= delta
	if _banner_s <= 0.0 and not hud.shown_banner().is_empty():
		hud.hide_banner()


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"tag_camera"):
		look.cycle_camera()
	elif event.is_action_pressed(&"tag_restart") and _pilot != null and not sync.is_trained():
		_pilot.truncate_episode()
	elif event.is_action_pressed(&"tag_quit"):
		get_tree().quit()


func _read(word: String) -> String:
	var value: String = word.substr(word.find("=") + 1)
	match word.get_slice("=", 0):
		"--set":
			return worlds.usual_settings.apply_override(value)
		"--camera":
			if not LandingLook.CAMERAS.has(value):
				return (
					"--camera: %s is unknown; known: %s"
					% [DojoUntrustedText.quoted(value), " ".join(LandingLook.CAMERAS)]
				)
			look.choose_camera(value)
			return ""
		"--seed":
			seed(value.to_int())
			return "" if DojoUntrustedText.is_whole(value) else DojoUntrustedText.WHOLE % value
		"--policy":
			var policy: DojoPolicy = DojoPolicyReader.load_file(value)
			sync.policies["pilot"] = policy
			return "" if policy.error.is_empty() else "--policy: %s" % policy.error
	return "%s: no such option; known: %s" % [DojoUntrustedText.quoted(word), " ".join(KNOWN)]


func _show_keys() -> void:
	var keys: Dictionary[String, String] = {}
	if sync.policies.is_empty():
		keys = {"Space": "main engine", "W A S D": "side engines", "Arrows": "tilt"}
	keys.merge({"Tab": "camera", "R": "restart", "Esc": "quit"})
	hud.hints.show_keys("", keys)


func _find_pilot() -> void:
	var agents: Array[DojoAgent] = worlds.all_agents()
	if agents.is_empty():
		return
	_pilot = agents[0]
	_pilot.round_ended.connect(_on_round_ended)


func _on_round_ended() -> void:
	if _pilot.outcome == 0:
		return
	rounds_played += 1
	_banner_s = BANNER_S
	var lander: Lander = _pilot.lander
	var text: String = (
		"%.1f m/s, %.1f m from the pad, %.0f %% of the fuel left"
		% [lander.velocity.length(), lander.pad_distance(), lander.fuel_left() * 100.0]
	)
	hud.show_banner(_WORDS[_pilot.outcome], text, WON if _pilot.outcome == 1 else ShowStyle.PAPER)
