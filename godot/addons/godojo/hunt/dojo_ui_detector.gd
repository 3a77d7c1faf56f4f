class_name DojoUiDetector
extends RefCounted
## Finds buttons, and what can be clicked in the scene, that do nothing: nobody listens to them, and
## a press changes nothing to be seen.

## Decisions after a press within which something has to change.
const PATIENCE := 8
const _SIGNALS: Array[StringName] = [&"pressed", &"button_down", &"button_up", &"gui_input"]
const _METHODS: Array[StringName] = [&"_pressed", &"_toggled", &"_gui_input", &"_input"]

var _state: DojoProbeState
# By button: what was there when it was pressed, and decisions since.
var _pressed: Dictionary[Node, Array] = {}


func _init(state: DojoProbeState) -> void:
	_state = state


func begin() -> void:
	_pressed.clear()


## Listens to a button that has come; those that open something by themselves are left out.
func add(node: Node) -> void:
	if node is Area3D or node is StaticBody3D:
		var solid: CollisionObject3D = node
		if not solid.input_event.is_connected(_note_click_in_space):
			solid.input_event.connect(_note_click_in_space.bind(node))
	elif node is Area2D:
		var area: Area2D = node
		if not area.input_event.is_connected(_note_click):
			area.input_event.connect(_note_click.bind(node))
	if not node is BaseButton or node is OptionButton or node is MenuButton:
		return
	var button: BaseButton = node
	if not node is ColorPickerButton and not node is LinkButton:
		if not button.pressed.is_connected(_note):
			button.pressed.connect(_note.bind(button))


func remove(node: Node) -> void:
	_pressed.erase(node)


## The buttons that turned out to do nothing.
func look() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	for button: Node in _pressed.keys():
		var note: Array = _pressed[button]
		note[1] += 1
		if note[0] != _sight():
			_pressed.erase(button)
		elif note[1] >= PATIENCE:
			_pressed.erase(button)
			(
				found
				. append(
					{
						"detector": "dead_ui",
						"message": "%s does nothing: no signal is connected" % button.name,
						"pattern": "does nothing",
						"node": str(button.get_path()),
					}
				)
			)
	return found


func _note_click_in_space(
	_camera: Node, event: InputEvent, _place: Vector3, _normal: Vector3, _shape: int, node: Node
) -> void:
	_note_click(null, event, 0, node)


## Only siblings of what listens are meant to be clicked.
func _note_click(_viewport: Node, event: InputEvent, _shape: int, node: Node) -> void:
	var click: InputEventMouseButton = event as InputEventMouseButton
	if click == null or not click.pressed or DojoPickables.is_heard(node):
		return
	if not _pressed.has(node) and _state.pickables.clickable().has(node):
		_pressed[node] = [_sight(), 0]


func _note(button: BaseButton) -> void:
	if not button.toggle_mode and button.button_group == null and not _is_heard(button):
		_pressed[button] = [_sight(), 0]


## What people see: the scene, its nodes, elements and texts.
func _sight() -> int:
	var names: PackedStringArray = []
	for node in _state.visible_elements():
		names.append(str(node.get_path()))
	names.sort()
	return hash([_state.scene_path(), names, _state.texts()])


func _is_heard(button: BaseButton) -> bool:
	for signal_name in _SIGNALS:
		if DojoScriptText.listeners(button, signal_name) > 0:
			return true
	if button.get_script() != null:
		for method in _METHODS:
			if button.has_method(method):
				return true
	return button.shortcut != null
