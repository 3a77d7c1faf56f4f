class_name DojoSettingDetector
extends RefCounted
## Finds settings that are forgotten, when their screen is left or when the game is started again.

## Who reads a setting: nobody, somebody, or somebody when a button is pressed.
enum SettingUse { NONE, HEARD, LATER }

const _SIGNALS: Array[StringName] = [
	&"toggled",
	&"pressed",
	&"button_down",
	&"button_up",
	&"value_changed",
	&"drag_ended",
	&"changed",
	&"item_selected",
	&"gui_input",
]
## Decisions between two looks at settings that are hidden.
const _EVERY := 10
## A screen with such a button may read its settings only when that is pressed.
const _READ_LATER: PackedStringArray = [
	"apply", "save", "ok", "confirm", "accept", "start", "play", "go", "done", "create", "submit"
]

var _fresh: Array[Control] = []
# By setting, what it was at first; by path, that and what it was when it was left.
var _first: Dictionary[Control, Variant] = {}
var _left: Dictionary[String, Array] = {}
# Screens of which a setting was kept; settings that were not, and the screen that decides.
var _kept: Dictionary[String, bool] = {}
var _lost: Dictionary[Control, String] = {}
var _looks: int = 0
# By path, the first value ever; and for the next process, that, the last value and the screen.
var _defaults: Dictionary[String, float] = {}
var _finals: Dictionary[String, Array] = {}
# The finals of the process before, which has left its files.
var _before: Dictionary = {}
var _locked := DojoLockedDetector.new()


func _init() -> void:
	var left: String = OS.get_environment("GODOJO_HUNT_LEFT")
	if not left.is_empty():
		_before = JSON.parse_string(left)


func begin() -> void:
	_fresh.clear()
	_first.clear()
	_left.clear()
	_kept.clear()
	_lost.clear()
	_defaults.clear()
	_finals.clear()
	_before.clear()
	_locked.begin()
	_looks = 0


func add(node: Node) -> void:
	if node is Slider or node is OptionButton:
		_fresh.append(node)
	elif node is BaseButton and (node as BaseButton).button_group == null:
		if (node as BaseButton).toggle_mode or node is CheckBox or node is CheckButton:
			_fresh.append(node)


func remove(node: Node) -> void:
	if not node is Control or not _first.has(node as Control):
		return
	var control: Control = node
	_lost.erase(control)
	# The scene before a reset leaves after it.
	if _looks > 0 and _value_of(control) != _first[control]:
		var screen: String = str(_screen_of(control).get_path())
		_left[str(control.get_path())] = [
			_first[control], _value_of(control), _use_of(control), screen
		]
	if _looks > 0:
		_note_final(control)
	_first.erase(control)


## Settings that have come back as they were before they were changed.
func look() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	_looks += 1
	for control in _fresh:
		if not is_instance_valid(control) or not control.is_inside_tree():
			continue
		_first[control] = _value_of(control)
		var path: String = str(control.get_path())
		if _left.has(path):
			_compare(control, _left[path])
		_left.erase(path)
		_compare_restarted(control, path)
	_fresh.clear()
	if _looks % _EVERY == 0:
		for control: Control in _first:
			if is_instance_valid(control) and not control.is_visible_in_tree():
				_note_final(control)
	for control: Control in _lost.keys():
		if _lost[control].is_empty() or _kept.has(_lost[control]):
			var when: String = " after a restart" if "restarted" in _lost[control] else ""
			_lost.erase(control)
			found.append(
				DojoProbeState.event("dead_ui", "its setting is not kept%s" % when, control)
			)
	_look_at_locked(found)
	return found


## Settings of visible screens that are disabled, whatever the others are set to.
func _look_at_locked(found: Array[Dictionary]) -> void:
	var screens: Dictionary[Node, Array] = {}
	for control: Control in _first:
		if is_instance_valid(control) and control.is_visible_in_tree():
			if not screens.has(_screen_of(control)):
				screens[_screen_of(control)] = []
			var told: Dictionary = {
				"name": str(control.get_path()),
				"is_enabled":
				control.get(&"disabled") != true and control.get(&"editable") != false,
				"value": float(_value_of(control)),
			}
			screens[_screen_of(control)].append(told)
	for screen: Node in screens:
		for path in _locked.look(str(screen.get_path()), screens[screen]):
			var node: Node = screen.get_node(path)
			found.append(DojoProbeState.event("dead_ui", "it can never be used", node))


## A setting has come back. One that somebody hears is lost only if others on its screen are kept.
func _compare(control: Control, before: Array) -> void:
	if before[2] == SettingUse.LATER:
		return
	if before[1] == _first[control]:
		_kept[before[3]] = true
	elif before[0] == _first[control]:
		_lost[control] = "" if before[2] == SettingUse.NONE else before[3]


## What the next process is to know: by path, the first value, the last one and the screen.
func finals() -> Dictionary[String, Array]:
	return _finals


func _note_final(control: Control) -> void:
	var path: String = str(control.get_path())
	var value: float = _value_of(control)
	if value == _defaults.get(path, value):
		_finals.erase(path)
	elif _use_of(control) != SettingUse.LATER:
		_finals[path] = [_defaults[path], value, str(_screen_of(control).get_path())]


## A setting as the process before left it, or as on a new machine.
func _compare_restarted(control: Control, path: String) -> void:
	var value: float = _value_of(control)
	if not _defaults.has(path):
		_defaults[path] = value
	if not _before.has(path):
		return
	var before: Array = _before[path]
	_before.erase(path)
	var screen: String = "restarted %s" % before[2]
	if is_equal_approx(value, before[1] as float):
		_kept[screen] = true
	elif is_equal_approx(value, before[0] as float):
		_lost[control] = screen


static func _value_of(control: Control) -> Variant:
	if control is OptionButton:
		return (control as OptionButton).selected
	if control is BaseButton:
		return (control as BaseButton).button_pressed
	return (control as Range).value


static func _use_of(control: Control) -> SettingUse:
	for button: Node in _screen_of(control).find_children("*", "BaseButton", true, false):
		for word in _READ_LATER:
			if word in str(button.name).to_lower() or word in str(button.get("text")).to_lower():
				return SettingUse.LATER
	if control.get_script() != null:
		return SettingUse.HEARD
	for signal_name in _SIGNALS:
		if control.has_signal(signal_name):
			for connection in control.get_signal_connection_list(signal_name):
				var owner: Object = (connection["callable"] as Callable).get_object()
				if owner is DojoUiDetector or owner == control:
					continue
				if not DojoScriptText.is_empty(
					owner, (connection["callable"] as Callable).get_method()
				):
					return SettingUse.HEARD
	return SettingUse.NONE


static func _screen_of(control: Control) -> Node:
	return control.owner if control.owner != null else control.get_parent()
