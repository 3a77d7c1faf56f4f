class_name DojoInputAgent
extends DojoAgent
## Plays any game by its input map: one choice for each input action, a pointer and a click.
##
## Actions are given as the keys, buttons or axes that the project maps to them, so that scripts
## cannot tell them from a person's. A hunt adds it to games that have no agents of their own.[br]
## What is left of an action when the scene is replaced comes with the next one, and keys while the
## pointer holds a button of a menu come when it lets go: people do one thing at a time there.

## Of the engine's own actions, those that move through menus.
const UI_ACTIONS: Array[StringName] = [
	&"ui_accept",
	&"ui_cancel",
	&"ui_left",
	&"ui_right",
	&"ui_up",
	&"ui_down",
	&"ui_focus_next",
]
const _MOST_ACTIONS := 48

## Input actions that are left out, as patterns.
var ignored: PackedStringArray = ["*quit*", "*exit*", "*fullscreen*", "*screenshot*"]
var state: DojoProbeState

var _actions: Array[StringName] = []
# Keys that scripts ask for by name.
var _keys: Array[Key] = DojoRawInput.keys()
var _has_right_button: bool = DojoRawInput.uses_right_button()
var _is_held: Dictionary[StringName, bool] = {}
var _is_clicked: bool = false
var _is_right_clicked: bool = false
var _pointer := Vector2.ZERO
# The id of the one that gets the events of an action; 0: any does.
var _scene: int = 0


func _init(seen: DojoProbeState = null) -> void:
	name = "Input"
	policy_name = "input"
	state = seen
	for action: StringName in InputMap.get_actions():
		var is_own: bool = not str(action).begins_with("ui_") and not _is_ignored(action)
		if (is_own or UI_ACTIONS.has(action)) and _actions.size() < _MOST_ACTIONS:
			_actions.append(action)


func _exit_tree() -> void:
	release_all()


## Whether the project has an input action of its own.
func has_own_actions() -> bool:
	return _actions.any(func(action: StringName) -> bool: return not UI_ACTIONS.has(action))


func observation_parts() -> Array[Dictionary]:
	return [DojoObservationLayout.numbers("state", 1)]


func observe() -> PackedFloat32Array:
	return [0.0]


func action_parts() -> Array[Dictionary]:
	var parts: Array[Dictionary] = [DojoObservationLayout.move("pointer", 2)]
	parts.append(DojoObservationLayout.choice("click", 2))
	for action in _actions:
		parts.append(DojoObservationLayout.choice(str(action).left(60), 2))
	for key in _keys:
		parts.append(DojoObservationLayout.choice(_name_of(key), 2))
	if _has_right_button:
		parts.append(DojoObservationLayout.choice("right_click", 2))
	return parts


func apply_action(action: PackedFloat32Array) -> void:
	_scene = _current_scene()
	_point(Vector2(action[0], action[1]).clamp(-Vector2.ONE, Vector2.ONE))
	_click(roundi(action[2]) == 1)
	for index in _actions.size():
		_hold(_actions[index], roundi(action[3 + index]) == 1)
	for index in _keys.size():
		_hold_key(_keys[index], roundi(action[3 + _actions.size() + index]) == 1)
	if _has_right_button:
		_right_click(roundi(action[action.size() - 1]) == 1)


## Lets go of everything.
func release_all() -> void:
	_scene = 0
	_click(false)
	_right_click(false)
	for action in _actions:
		_hold(action, false)
	for key in _keys:
		_hold_key(key, false)


func _is_ignored(action: StringName) -> bool:
	for pattern in ignored:
		if str(action).matchn(pattern):
			return true
	return false


func _current_scene() -> int:
	var scene: Node = get_tree().current_scene
	return 0 if scene == null else scene.get_instance_id()


func _is_gone() -> bool:
	return _scene != 0 and _current_scene() != _scene


func _must_wait() -> bool:
	var is_down: bool = _scene != 0 and (_is_clicked or _is_right_clicked)
	return _is_gone() or (is_down and get_viewport().gui_get_focus_owner() != null)


func _send(event: InputEvent) -> void:
	Input.parse_input_event(event)
	Input.flush_buffered_events()


func _hold(action: StringName, is_held: bool) -> void:
	if _is_held.get(action, false) == is_held or _must_wait():
		return
	_is_held[action] = is_held
	_send(_event_of(action, is_held))


func _hold_key(key: Key, is_held: bool) -> void:
	var name: StringName = _name_of(key)
	if _is_held.get(name, false) == is_held or _must_wait():
		return
	_is_held[name] = is_held
	var event := InputEventKey.new()
	event.keycode = key
	event.physical_keycode = key
	event.pressed = is_held
	_send(event)


static func _name_of(key: Key) -> String:
	return "key_" + OS.get_keycode_string(key).to_lower().replace(" ", "_")


## The event by which a person would do it: a key, a button, an axis, or else the action itself.
func _event_of(action: StringName, is_held: bool) -> InputEvent:
	for mapped in InputMap.action_get_events(action):
		var event: InputEvent = mapped.duplicate()
		if event.device < 0:
			event.device = 0
		if event is InputEventKey:
			(event as InputEventKey).pressed = is_held
			if (event as InputEventKey).keycode == KEY_NONE:
				(event as InputEventKey).keycode = (event as InputEventKey).physical_keycode
			return event
		if event is InputEventMouseButton:
			(event as InputEventMouseButton).pressed = is_held
			(event as InputEventMouseButton).position = _pointer
			(event as InputEventMouseButton).global_position = _pointer
			return event
		if event is InputEventJoypadMotion:
			if not is_held:
				(event as InputEventJoypadMotion).axis_value = 0.0
			return event
		if event is InputEventJoypadButton:
			(event as InputEventJoypadButton).pressed = is_held
			return event
	var plain := InputEventAction.new()
	plain.action = action
	plain.pressed = is_held
	return plain


func _point(place: Vector2) -> void:
	var size: Vector2 = get_viewport().get_visible_rect().size
	var pointer: Vector2 = (
		get_viewport().get_screen_transform() * ((place + Vector2.ONE) / 2.0 * size)
	)
	if pointer.is_equal_approx(_pointer):
		return
	var event := InputEventMouseMotion.new()
	event.position = pointer
	event.global_position = pointer
	event.relative = pointer - _pointer
	event.button_mask = MOUSE_BUTTON_MASK_LEFT if _is_clicked else 0 as MouseButtonMask
	_pointer = pointer
	_send(event)


func _click(is_clicked: bool) -> void:
	if is_clicked != _is_clicked and not _is_gone():
		_is_clicked = is_clicked
		_press(MOUSE_BUTTON_LEFT, MOUSE_BUTTON_MASK_LEFT, is_clicked)


func _right_click(is_clicked: bool) -> void:
	if is_clicked != _is_right_clicked and not _is_gone():
		_is_right_clicked = is_clicked
		_press(MOUSE_BUTTON_RIGHT, MOUSE_BUTTON_MASK_RIGHT, is_clicked)


func _press(button: MouseButton, mask: MouseButtonMask, is_clicked: bool) -> void:
	var event := InputEventMouseButton.new()
	event.button_index = button
	event.button_mask = mask if is_clicked else 0 as MouseButtonMask
	event.pressed = is_clicked
	event.position = _pointer
	event.global_position = _pointer
	_send(event)
