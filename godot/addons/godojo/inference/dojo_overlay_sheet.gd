class_name DojoOverlaySheet
extends Control
## The drawing of [DojoOverlay]: text, a bar for each number, and rays that are taller the nearer
## something is.

const _WIDTH := 290.0
const _MARGIN := 12.0
const _LINE := 17.0
const _BAR := 7.0
const _RAYS := 46.0
const _LETTERS := 12
## Numbers of a part that get a bar each; the others are only counted.
const _MOST_BARS := 16
## The screen that sizes are given for.
const _DESIGN_HEIGHT := 720.0
const _PAPER := Color(0.06, 0.08, 0.13, 0.82)
const _INK := Color(0.93, 0.95, 1.0)
const _FAINT := Color(0.62, 0.68, 0.8)
const _GROOVE := Color(1.0, 1.0, 1.0, 0.1)
const _PLUS := Color(0.35, 0.78, 0.98)
const _MINUS := Color(1.0, 0.6, 0.3)
## What a ray hit, by its kind; the first is for none of the kinds.
const _KINDS: PackedColorArray = [
	Color(0.45, 0.5, 0.6),
	Color(0.75, 0.78, 0.85),
	Color(1.0, 0.55, 0.2),
	Color(0.3, 0.65, 1.0),
	Color(0.5, 0.9, 0.5),
	Color(0.9, 0.5, 0.9),
]

## What is shown; null for nothing.
var view: DojoView
## Which of all agents it is, in words.
var place: String

var _y: float
var _font: Font = ThemeDB.fallback_font


func _draw() -> void:
	if view == null:
		return
	var factor: float = maxf(get_viewport_rect().size.y / _DESIGN_HEIGHT, 0.5)
	draw_set_transform(Vector2(_MARGIN, _MARGIN) * factor, 0.0, Vector2(factor, factor))
	draw_rect(Rect2(0.0, 0.0, _WIDTH, _height()), _PAPER)
	_y = 4.0
	_write("%s   %s" % [view.title, place], _INK)
	_write(view.policy, _FAINT)
	_write("sees", _INK)
	var at: int = 0
	for part in view.observation_parts:
		var size: int = DojoObservationLayout.observation_size([part])
		_draw_observed(part, view.observation.slice(at, at + size))
		at += size
	_write("does" if not view.action.is_empty() else "does: what a person or a script says", _INK)
	at = 0
	if not view.action.is_empty():
		for part in view.action_parts:
			at = _draw_done(part, at)


func _height() -> float:
	var height: float = 3.0 * _LINE + _LINE + 14.0
	for part in view.observation_parts:
		height += _LINE
		if _is_rays(part):
			height += _RAYS
		elif DojoObservationLayout.observation_size([part]) > 1:
			height += (
				mini(DojoObservationLayout.observation_size([part]), _MOST_BARS) * (_BAR + 2.0)
			)
	if not view.action.is_empty():
		for part in view.action_parts:
			height += _LINE
			if part["kind"] == "continuous" and int(part["size"]) > 1:
				height += mini(int(part["size"]), _MOST_BARS) * (_BAR + 2.0)
	return height


func _draw_observed(part: Dictionary, numbers: PackedFloat32Array) -> void:
	if _is_rays(part):
		var shape: Array = part["shape"]
		_write("%s, taller is nearer" % part["name"], _FAINT)
		_draw_rays(numbers, shape[-1] as int)
		return
	_draw_numbers(str(part["name"]), numbers, part["low"] as float, part["high"] as float)


func _draw_done(part: Dictionary, at: int) -> int:
	if part["kind"] == "discrete":
		_write("%s: %d of %d" % [part["name"], int(view.action[at]), part["size"]], _FAINT)
		return at + 1
	var size: int = part["size"]
	_draw_numbers(str(part["name"]), view.action.slice(at, at + size), -1.0, 1.0)
	return at + size


## One number stands beside its name, several below it.
func _draw_numbers(title: String, numbers: PackedFloat32Array, low: float, high: float) -> void:
	if numbers.size() == 1:
		var line: float = _y
		_write("%s  %+.2f" % [title.left(18), numbers[0]], _FAINT)
		_draw_bar(Rect2(150.0, line + 5.0, _WIDTH - 160.0, _BAR), numbers[0], low, high)
		return
	var left: int = numbers.size() - _MOST_BARS
	_write(title + (" (%d more)" % left if left > 0 else ""), _FAINT)
	for index in mini(numbers.size(), _MOST_BARS):
		_draw_bar(Rect2(10.0, _y, _WIDTH - 20.0, _BAR), numbers[index], low, high)
		_y += _BAR + 2.0


func _draw_bar(groove: Rect2, value: float, low: float, high: float) -> void:
	draw_rect(groove, _GROOVE)
	var zero: float = clampf(inverse_lerp(low, high, 0.0), 0.0, 1.0)
	var end: float = clampf(inverse_lerp(low, high, value), 0.0, 1.0) if is_finite(value) else zero
	var from: float = groove.position.x + groove.size.x * minf(zero, end)
	var wide: float = maxf(groove.size.x * absf(end - zero), 1.0)
	var color: Color = _PLUS if value >= 0.0 else _MINUS
	draw_rect(Rect2(from, groove.position.y, wide, groove.size.y), color)


func _draw_rays(numbers: PackedFloat32Array, per_ray: int) -> void:
	var count: int = floori(float(numbers.size()) / per_ray)
	var wide: float = (_WIDTH - 20.0) / maxi(count, 1)
	draw_rect(Rect2(10.0, _y, _WIDTH - 20.0, _RAYS - 6.0), _GROOVE)
	for ray in count:
		var nearness: float = 1.0 - clampf(numbers[ray * per_ray], 0.0, 1.0)
		var kind: int = 0
		for channel in range(1, per_ray):
			var told: float = numbers[ray * per_ray + channel]
			if absf(told) > 0.5:
				# A single channel tells two kinds apart by its sign.
				kind = channel if per_ray > 2 else 3 if told > 0.0 else 2
		var tall: float = maxf(nearness * (_RAYS - 6.0), 1.0)
		var bar := Rect2(10.0 + ray * wide, _y + _RAYS - 6.0 - tall, maxf(wide - 1.0, 0.5), tall)
		draw_rect(bar, _KINDS[kind % _KINDS.size()])
	_y += _RAYS


func _write(text: String, color: Color) -> void:
	var at := Vector2(10.0, _y + 13.0)
	draw_string(_font, at, text, HORIZONTAL_ALIGNMENT_LEFT, _WIDTH - 20.0, _LETTERS, color)
	_y += _LINE


## Distances with kinds behind each, as ray sensors read them.
static func _is_rays(part: Dictionary) -> bool:
	var shape: Array = part["shape"]
	return part["kind"] == "box" and shape.size() > 1 and int(shape[-1]) > 1
