class_name MenuAgent
extends DojoAgent
## Tests a settings menu with a pointer: opens every screen, uses every element, saves the settings.
##
## It observes the pointer and what its ray hits, the menu's depth, and for every element of the
## screen whether it is visible, enabled, focused and still to be tested, its kind, its value and
## where it is from the point that the ray hits.

const NEW_SCREEN := 1.0
const KEPT := 5.0
const SILENT := -2.0
## What [member dead_button] makes dead.
const DEAD := "shadows"
const TURN_RAD_PER_S := PI / 2.0
const REACH := Vector2(0.55, 0.5)
## A drag over less is no use of a slider.
const LEAST_DRAG_M := 0.2
const _ELEMENT_NUMBERS := 12

## Plants a bug: the toggle "shadows" does not answer. Every element is then reported by name.
@export var dead_button: bool = false
## A file under user:// that settings are read from and saved in. Empty: a file of this world's own
## that begins with settings drawn at random and is removed in the end.
@export var settings_file: String = ""

var menu: MenuModel
## Yaw and pitch of the pointer.
var pointing := Vector2.ZERO
## Where the ray meets the panel's plane, in metres from the panel's middle.
var hit := Vector2.ZERO
var focused: MenuElement

var _turn := Vector2.ZERO
var _trigger: bool = false
var _grip: bool = false
var _silences: int = 0
# How often each element was used while it was enabled; where the ray was and what a slider's value
# was when a drag began.
var _uses: Dictionary[MenuElement, int] = {}
var _grabbed := Vector2.ZERO
var _screens: int = 1
var _has_kept_all: bool = false

@onready var pointer: Node3D = get_parent()
@onready var panel: MenuPanel = pointer.get_parent().get_node("Panel")


func _ready() -> void:
	add_to_group(DojoMenuDetector.GROUP)
	_load_menu()


func _exit_tree() -> void:
	if settings_file.is_empty() and FileAccess.file_exists(_path()):
		DirAccess.remove_absolute(_path())


func _physics_process(delta: float) -> void:
	if is_over():
		return
	pointing = (pointing + _turn * TURN_RAD_PER_S * delta).clamp(-REACH, REACH)
	if menu.dragged != null:
		point()
		menu.drag(hit.x)


func observation_parts() -> Array[Dictionary]:
	return [
		DojoObservationLayout.numbers("pointing", 2),
		DojoObservationLayout.numbers("hit", 3),
		DojoObservationLayout.numbers("buttons", 3, 0.0),
		DojoObservationLayout.numbers("menu", 3, 0.0),
		DojoObservationLayout.grid(
			"elements", [MenuModel.SLOTS, _ELEMENT_NUMBERS] as Array[int], -2.0, 2.0
		),
	]


func observe() -> PackedFloat32Array:
	point()
	var numbers: PackedFloat32Array = [
		pointing.x / REACH.x,
		pointing.y / REACH.y,
		float(panel.contains(hit)),
		clampf(hit.x, -1.0, 1.0),
		clampf(hit.y, -1.0, 1.0),
		float(_trigger),
		float(_grip),
		float(menu.dragged != null),
		menu.depth() / 2.0,
		coverage(),
		float(menu.has_unsaved()),
	]
	for element: MenuElement in menu.screens[menu.screen]:
		numbers.append_array(_seen(element))
	numbers.resize(11 + MenuModel.SLOTS * _ELEMENT_NUMBERS)
	return numbers


func action_parts() -> Array[Dictionary]:
	return [
		DojoObservationLayout.move("pointing", 2),
		DojoObservationLayout.choice("trigger", 2),
		DojoObservationLayout.choice("grip", 2),
	]


## Buttons go down on what is focused now; then the pointer turns.
func apply_action(action: PackedFloat32Array) -> void:
	point()
	_turn = Vector2(action[0], action[1])
	var pulls: bool = action[2] > 0.5
	var grips: bool = action[3] > 0.5
	var answers: bool = true
	if menu.dragged != null and not grips:
		_note_drag(menu.dragged)
		answers = menu.release()
	if focused != null and grips and not _grip:
		_grabbed = Vector2(hit.x, focused.value)
		answers = menu.grab(focused, hit.x) and answers
	if focused != null and pulls and not _trigger and menu.dragged == null:
		if focused.kind != MenuElement.Kind.SLIDER and menu.is_enabled(focused):
			_note_use(focused)
		answers = _press(focused) and answers
	_trigger = pulls
	_grip = grips
	if not answers:
		_silences += 1
		add_reward(SILENT, "silent")
	if not (menu.screens[MenuModel.MAIN] as Array).any(menu.is_left):
		_finish()


## The mouse points. Its left button is the trigger, and on a slider the grip, as its right one is.
func human_action() -> PackedFloat32Array:
	var wished: Vector2 = panel.under_mouse(pointer) if panel.is_drawn() else pointing
	var step: float = TURN_RAD_PER_S * get_physics_process_delta_time()
	var turn: Vector2 = ((wished - pointing) / step).clamp(-Vector2.ONE, Vector2.ONE)
	var left: bool = Input.is_mouse_button_pressed(MOUSE_BUTTON_LEFT)
	var is_slider: bool = focused != null and focused.kind == MenuElement.Kind.SLIDER
	var grips: bool = Input.is_mouse_button_pressed(MOUSE_BUTTON_RIGHT) or (left and is_slider)
	return [turn.x, turn.y, float(left and not is_slider), float(grips)]


func measures() -> Dictionary:
	var dead: Array[MenuElement] = menu.elements.filter(
		func(each: MenuElement) -> bool: return each.seems_dead()
	)
	var found: Dictionary = {
		"success": coverage() >= 1.0 and _has_kept_all,
		"coverage": coverage(),
		"settings_kept": _has_kept_all,
		"screens": float(_screens),
		"unanswered": float(_silences),
		"dead_elements": float(dead.size()),
	}
	if dead_button:
		for element in menu.elements:
			found["dead_" + element.name] = element in dead
	return found


func reset() -> void:
	if settings_file.is_empty():
		var values: Dictionary[String, float] = menu.settings()
		for name in values:
			values[name] = chance.randf_range(0.2, 0.8)
			if menu.element_named(name).kind == MenuElement.Kind.TOGGLE:
				values[name] = roundf(values[name])
		values["snap_turn"] = 0.0
		MenuModel.write_file(_path(), values)
	_load_menu()
	pointing = Vector2(chance.randf_range(-1.0, 1.0), chance.randf_range(-1.0, 1.0)) * REACH
	_turn = Vector2.ZERO
	_trigger = false
	_grip = false
	_silences = 0
	_screens = 1
	_has_kept_all = false


## What is shown, as a [DojoMenuDetector] wants it.
func ui_elements() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	for element: MenuElement in menu.screens[menu.screen]:
		(
			found
			. append(
				{
					"name": element.name,
					"is_enabled": menu.is_enabled(element),
					"value": element.value,
					"uses": _uses.get(element, 0),
				}
			)
		)
	return found


## Follows the ray to what it hits.
func point() -> void:
	hit = panel.hit_from(pointer.position, pointing)
	focused = menu.element_at(hit)


## The share of elements that have answered.
func coverage() -> float:
	var answered: int = 0
	for element in menu.elements:
		answered += int(element.has_answered)
	return float(answered) / menu.elements.size()


func _seen(element: MenuElement) -> PackedFloat32Array:
	var seen: PackedFloat32Array = [
		1.0,
		float(menu.is_enabled(element)),
		float(element == focused),
		float(menu.is_left(element)),
		element.value,
		element.center.x - hit.x,
		element.center.y - hit.y,
	]
	seen.resize(_ELEMENT_NUMBERS)
	seen[_ELEMENT_NUMBERS - MenuElement.SIZES.size() + element.kind] = 1.0
	return seen


func _note_use(element: MenuElement) -> void:
	_uses[element] = _uses.get(element, 0) + 1


## A drag counts when it ends, if the value should have followed.
func _note_drag(slider: MenuElement) -> void:
	var is_at_end: bool = slider.value <= 0.0 or slider.value >= 1.0
	if absf(hit.x - _grabbed.x) > LEAST_DRAG_M and slider.value == _grabbed.y and not is_at_end:
		_note_use(slider)


func _press(element: MenuElement) -> bool:
	var answers: bool = menu.press(element)
	if menu.seen.size() > _screens:
		_screens = menu.seen.size()
		add_reward(NEW_SCREEN, "screen")
	if element.kind == MenuElement.Kind.SAVE and answers:
		add_reward(KEPT * menu.take_kept(), "kept")
	return answers


## Nothing is left to test: loads the menu once more and compares its settings.
func _finish() -> void:
	_has_kept_all = menu.has_settings_of(MenuModel.new(_path()))
	end_episode(coverage() >= 1.0 and _has_kept_all)


func _load_menu() -> void:
	menu = MenuModel.new(_path())
	_uses.clear()
	menu.element_named(DEAD).is_dead = dead_button
	panel.show_menu(self)


func _path() -> String:
	if settings_file.is_empty():
		return "user://menu/world_%d_%d.cfg" % [OS.get_process_id(), get_instance_id()]
	return "user://" + settings_file.trim_prefix("user://").replace("..", "")
