class_name KeyHints
extends VBoxContainer
## What a newcomer has to know, at the bottom of the screen: the task, and keys drawn as keys. They
## fade after some seconds, or once a person plays.

## How long they stay, how long they take to fade, and how long they stay at least.
const STAY_S: float = 8.0
const FADE_S: float = 1.2
const LEAST_S: float = 2.5
const GROUND := Color(ShowStyle.INK, 0.72)

var _task := Label.new()
var _task_box := PanelContainer.new()
var _keys := HFlowContainer.new()
var _age_s: float = 0.0
var _ends_s: float = -FADE_S


func _init() -> void:
	add_theme_constant_override(&"separation", 10)
	alignment = BoxContainer.ALIGNMENT_END
	mouse_filter = Control.MOUSE_FILTER_IGNORE
	_task_box.add_theme_stylebox_override(&"panel", _box(GROUND, 12, Vector2(18, 4)))
	_task_box.size_flags_horizontal = Control.SIZE_SHRINK_CENTER
	_task.add_theme_font_size_override(&"font_size", 22)
	_task.add_theme_color_override(&"font_color", ShowStyle.PAPER)
	_task_box.add_child(_task)
	_keys.alignment = FlowContainer.ALIGNMENT_CENTER
	_keys.add_theme_constant_override(&"h_separation", 12)
	_keys.add_theme_constant_override(&"v_separation", 8)
	add_child(_task_box)
	add_child(_keys)
	visible = false


func _process(delta: float) -> void:
	_age_s += delta
	modulate.a = clampf((_ends_s + FADE_S - _age_s) / FADE_S, 0.0, 1.0)
	visible = modulate.a > 0.0


## Shows a [param task] and, for each of [param keys], what they do: [code]"W A S D": "move"[/code].
## Nothing to show takes away what is shown.
func show_keys(task: String, keys: Dictionary[String, String]) -> void:
	_task.text = task
	_task_box.visible = not task.is_empty()
	for old in _keys.get_children():
		old.queue_free()
	for names in keys:
		_keys.add_child(_entry(names.split(" "), keys[names]))
	_age_s = 0.0
	_ends_s = -FADE_S if task.is_empty() and keys.is_empty() else STAY_S
	_process(0.0)


## Begins to fade, unless they have just appeared.
func fade() -> void:
	_ends_s = minf(_ends_s, maxf(_age_s, LEAST_S))


func _entry(names: PackedStringArray, what: String) -> Control:
	var box := PanelContainer.new()
	box.add_theme_stylebox_override(&"panel", _box(GROUND, 12, Vector2(10, 7)))
	var row := HBoxContainer.new()
	row.add_theme_constant_override(&"separation", 5)
	for key in names:
		row.add_child(_cap(key))
	var label := Label.new()
	label.text = " " + what
	label.add_theme_font_size_override(&"font_size", 18)
	label.add_theme_color_override(&"font_color", ShowStyle.PAPER)
	row.add_child(label)
	box.add_child(row)
	return box


## A key as it lies on a keyboard.
func _cap(key: String) -> Control:
	var style: StyleBoxFlat = _box(ShowStyle.PAPER, 7, Vector2(9, 1))
	style.border_color = ShowStyle.SEAM
	style.border_width_bottom = 4
	var cap := PanelContainer.new()
	cap.custom_minimum_size = Vector2(34, 34)
	cap.add_theme_stylebox_override(&"panel", style)
	var letter := Label.new()
	letter.text = key
	letter.horizontal_alignment = HORIZONTAL_ALIGNMENT_CENTER
	letter.add_theme_font_size_override(&"font_size", 17)
	letter.add_theme_color_override(&"font_color", ShowStyle.INK)
	cap.add_child(letter)
	return cap


func _box(color: Color, radius: int, room: Vector2) -> StyleBoxFlat:
	var box := StyleBoxFlat.new()
	box.bg_color = color
	box.set_corner_radius_all(radius)
	box.content_margin_left = room.x
	box.content_margin_right = room.x
	box.content_margin_top = room.y
	box.content_margin_bottom = room.y
	return box
