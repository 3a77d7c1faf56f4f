class_name MenuModel
extends RefCounted
## The settings menu without its looks: screens, elements, what they do, and the file of settings.

signal screen_opened(screen: String)

const MAIN := "main"
const SECTION := "settings"
## Most elements that a screen has.
const SLOTS := 5
const _ROW_M := 0.17
const _TOP_M := 0.28
const _BOTTOM_M := -0.42
const _CORNER_M := 0.3
## A slider has answered when it followed a drag this far, as a share of its length.
const _LEAST_DRAG := 0.05

var screen: String = MAIN
## Screens by name, each with its elements from top to bottom.
var screens: Dictionary[String, Array] = {}
## Every element of every screen.
var elements: Array[MenuElement] = []
## The names of all screens that have been shown.
var seen: Dictionary[String, bool] = {MAIN: true}
## The slider that is being dragged.
var dragged: MenuElement

var _path: String
var _parents: Dictionary[String, String] = {}
var _drag_from: float = 0.0
var _value_from: float = 0.0
var _has_pulled: bool = false


## A menu whose settings are read from the file at [param path].
func _init(path: String) -> void:
	_path = path
	screens[MAIN] = [_open("audio"), _open("graphics"), _open("comfort"), _save()]
	screens["audio"] = [
		_slider("master"), _slider("music"), _slider("voice"), _toggle("subtitles"), _back("audio")
	]
	screens["graphics"] = [
		_slider("brightness"), _toggle("shadows"), _open("advanced"), _back("graphics")
	]
	screens["advanced"] = [_slider("render_scale"), _toggle("foveation"), _back("advanced")]
	screens["comfort"] = [
		_toggle("snap_turn"),
		_slider("turn_angle", {"needs": "snap_turn"}),
		_slider("vignette"),
		_back("comfort"),
	]
	for name: String in screens:
		for index: int in screens[name].size():
			var element: MenuElement = screens[name][index]
			elements.append(element)
			match element.kind:
				MenuElement.Kind.BACK:
					element.center = Vector2(-_CORNER_M, _BOTTOM_M)
				MenuElement.Kind.SAVE:
					element.center = Vector2(_CORNER_M, _BOTTOM_M)
				_:
					element.center = Vector2(0.0, _TOP_M - index * _ROW_M)
			if element.kind == MenuElement.Kind.OPEN:
				_parents[element.target] = name
	load_settings()


## All settings by name.
func settings() -> Dictionary[String, float]:
	var found: Dictionary[String, float] = {}
	for element in elements:
		if element.is_setting():
			found[element.name] = element.value
	return found


func element_named(name: String) -> MenuElement:
	var index: int = elements.find_custom(func(each: MenuElement) -> bool: return each.name == name)
	return elements[index]


## How many screens lie above the one that is shown.
func depth() -> int:
	var count: int = 0
	var above: String = screen
	while _parents.has(above):
		above = _parents[above]
		count += 1
	return count


func is_enabled(element: MenuElement) -> bool:
	if element.kind == MenuElement.Kind.SAVE:
		return has_unsaved()
	return element.needs.is_empty() or element_named(element.needs).value > 0.5


func has_unsaved() -> bool:
	for element in elements:
		if element.is_unsaved:
			return true
	return false


## The element of this screen at a point of the panel; a slider stays focused while it is dragged.
func element_at(point: Vector2) -> MenuElement:
	if dragged != null:
		return dragged
	for element: MenuElement in screens[screen]:
		if element.covers(point):
			return element
	return null


## Whether something is left to test: the element itself, or what it leads to.
func is_left(element: MenuElement) -> bool:
	if element.is_untested():
		return true
	if element.seems_dead():
		return false
	match element.kind:
		MenuElement.Kind.SAVE:
			return has_unsaved()
		MenuElement.Kind.OPEN:
			return screens[element.target].any(is_left)
		MenuElement.Kind.TOGGLE:
			return element.value < 0.5 and elements.any(_waits_for.bind(element.name))
	return false


## Presses the trigger on an element; false if it should answer and does not.
func press(element: MenuElement) -> bool:
	if element.kind == MenuElement.Kind.SLIDER:
		return true
	if not _answers(element):
		return false
	match element.kind:
		MenuElement.Kind.OPEN:
			_show(element.target)
		MenuElement.Kind.BACK:
			_show(_parents[screen])
		MenuElement.Kind.TOGGLE:
			element.value = 1.0 - element.value
			element.is_unsaved = true
		MenuElement.Kind.SAVE:
			_write()
	element.has_answered = true
	return true


## Begins to drag a slider from this x of the panel; false if it should answer and does not.
func grab(element: MenuElement, x_m: float) -> bool:
	if element.kind != MenuElement.Kind.SLIDER:
		return true
	if not is_enabled(element):
		return false
	dragged = element
	_drag_from = x_m
	_value_from = element.value
	_has_pulled = false
	return true


## Goes on dragging.
func drag(x_m: float) -> void:
	var pulled: float = (x_m - _drag_from) / MenuElement.SIZES[MenuElement.Kind.SLIDER].x
	_has_pulled = _has_pulled or absf(pulled) >= 2.0 * _LEAST_DRAG
	if dragged.is_dead:
		return
	dragged.value = clampf(_value_from + pulled, 0.0, 1.0)
	if absf(dragged.value - _value_from) >= _LEAST_DRAG:
		dragged.has_answered = true
		dragged.is_unsaved = true


## Lets the slider go; false if it was pulled and did not follow.
func release() -> bool:
	var is_silent: bool = _has_pulled and dragged.is_dead
	if is_silent:
		dragged.note_silence()
	dragged = null
	return not is_silent


## Settings whose changed value was found in the file since this was last asked.
func take_kept() -> int:
	var found: Dictionary[String, float] = read_file(_path)
	var count: int = 0
	for element in elements:
		var is_changed: bool = element.is_setting() and element.has_answered
		if is_changed and not element.is_unsaved and not element.is_kept:
			element.is_kept = is_equal_approx(found.get(element.name, NAN), element.value)
			count += 1 if element.is_kept else 0
	return count


## Whether another menu has the same settings.
func has_settings_of(other: MenuModel) -> bool:
	var theirs: Dictionary[String, float] = other.settings()
	var ours: Dictionary[String, float] = settings()
	return ours.keys().all(
		func(name: String) -> bool: return is_equal_approx(ours[name], theirs[name])
	)


## Puts the values of the file into the menu; those that it lacks stay.
func load_settings() -> void:
	var found: Dictionary[String, float] = read_file(_path)
	for element in elements:
		if element.is_setting():
			element.value = found.get(element.name, element.value)


## The numbers from 0 to 1 that a file of settings has; none if it cannot be read.
static func read_file(path: String) -> Dictionary[String, float]:
	var found: Dictionary[String, float] = {}
	var file := ConfigFile.new()
	if not FileAccess.file_exists(path) or file.load(path) != OK or not file.has_section(SECTION):
		return found
	for name in file.get_section_keys(SECTION):
		var value: Variant = file.get_value(SECTION, name)
		if value is float and is_finite(value as float):
			found[name] = clampf(value as float, 0.0, 1.0)
	return found


static func write_file(path: String, values: Dictionary[String, float]) -> Error:
	var file := ConfigFile.new()
	for name in values:
		file.set_value(SECTION, name, values[name])
	DirAccess.make_dir_recursive_absolute(path.get_base_dir())
	return file.save(path)


func _answers(element: MenuElement) -> bool:
	if not is_enabled(element):
		return false
	if element.is_dead:
		element.note_silence()
	return not element.is_dead


func _show(name: String) -> void:
	screen = name
	seen[name] = true
	screen_opened.emit(name)


func _write() -> void:
	if write_file(_path, settings()) != OK:
		return
	for element in elements:
		element.is_unsaved = false


func _waits_for(element: MenuElement, toggle: String) -> bool:
	return element.needs == toggle and element.is_untested()


func _open(target: String) -> MenuElement:
	return MenuElement.new(MenuElement.Kind.OPEN, target, {"target": target})


func _back(of_screen: String) -> MenuElement:
	return MenuElement.new(MenuElement.Kind.BACK, "back_from_" + of_screen)


func _save() -> MenuElement:
	return MenuElement.new(MenuElement.Kind.SAVE, "save")


func _toggle(name: String) -> MenuElement:
	return MenuElement.new(MenuElement.Kind.TOGGLE, name)


func _slider(name: String, more: Dictionary = {}) -> MenuElement:
	return MenuElement.new(MenuElement.Kind.SLIDER, name, more)
