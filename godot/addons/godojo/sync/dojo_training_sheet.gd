class_name DojoTrainingSheet
extends Control
## The drawing of [DojoTrainingPanel]: a line of text, or a card with bars and a curve.

## Colours of roles that have none of their own.
const COLORS: PackedColorArray = [
	Color("ff7810"), Color("4d86ff"), Color("57c785"), Color("c678dd"), Color("e5c07b")
]

const _WIDTH := 330.0
const _MARGIN := 16.0
## Below what games show at the top.
const _TOP := 92.0
const _ROOM := 14.0
const _LINE := 21.0
const _PLOT := 74.0
const _BAR := 8.0
## The screen that sizes are given for.
const _DESIGN_HEIGHT := 720.0
const _PAPER := Color(0.09, 0.1, 0.15, 0.82)
const _INK := Color("fff8ec")
const _FAINT := Color(1.0, 0.97, 0.92, 0.62)
const _GROOVE := Color(1.0, 1.0, 1.0, 0.1)
const _LIVE := Color("ff5b4d")
const _READY := Color("57c785")
const _BUSY := Color("e5c07b")
## From one beat of the dot beside the title to the next.
const _BEAT_S := 1.6
const _PHASES: Dictionary[String, String] = {
	"preparing": "Getting ready",
	"submitting": "Learning live",
	"training": "Learning live",
	"done training": "Trained",
	"playing": "Playing",
}

## What is shown where there is no [member status].
var line: String = ""
## What is shown; null for the [member line].
var status: DojoTrainingStatus
## Colours of roles, by name.
var colors: Dictionary[String, Color] = {}

var _y: float
var _font: Font = ThemeDB.fallback_font
var _bold := FontVariation.new()
var _card := StyleBoxFlat.new()


func _init() -> void:
	_bold.base_font = _font
	_bold.variation_embolden = 0.6
	_card.bg_color = _PAPER
	_card.set_corner_radius_all(14)
	_card.anti_aliasing_size = 0.6


func _draw() -> void:
	var screen: Vector2 = get_viewport_rect().size
	var factor: float = maxf(minf(screen.y, screen.x) / _DESIGN_HEIGHT, 0.5)
	var bottom: float = screen.y / factor
	draw_set_transform(Vector2.ZERO, 0.0, Vector2(factor, factor))
	if status != null:
		_draw_card()
	elif not line.is_empty():
		_draw_line(bottom, screen.x / factor)


## One line, below everything else that a game shows.
func _draw_line(bottom: float, width: float) -> void:
	var wide: float = _width(line, 13, _font) + 16.0
	draw_rect(Rect2(0.0, bottom - 20.0, minf(wide, width), 20.0), _PAPER)
	_write(line, Vector2(8.0, bottom - 5.5), 13, _INK, _font)


func _draw_card() -> void:
	var roles: Array[String] = _roles()
	var has_curve: bool = status.curve_s.size() > 1
	var high: float = 2.0 * _ROOM + 2.0 * _LINE + roles.size() * _LINE
	high += (_PLOT + 8.0 if has_curve else 0.0) + (_LINE if status.episode > 0 else 0.0)
	var at := Vector2(_MARGIN, _TOP)
	draw_style_box(_card, Rect2(at, Vector2(_WIDTH, high)))
	_y = at.y + _ROOM
	_draw_title(at.x + _ROOM)
	for index in roles.size():
		_draw_role(at.x + _ROOM, roles[index], _color(roles[index], index))
	if has_curve:
		_draw_curves(Rect2(at.x + _ROOM, _y + 4.0, _WIDTH - 2.0 * _ROOM, _PLOT))
		_y += _PLOT + 8.0
	if status.episode > 0:
		var base := Vector2(at.x + _ROOM, _y + 15.0)
		_write("round %s" % _grouped(status.episode), base, 14, _FAINT, _font)
		if status.steps_per_s > 0.0:
			_write_right("%s steps/s" % _short(status.steps_per_s), base, _FAINT)


func _draw_title(left: float) -> void:
	var is_live: bool = not status.learns.is_empty()
	var beat: float = fmod(Time.get_ticks_msec() * 1e-3, _BEAT_S) / _BEAT_S
	var dot := Vector2(left + 6.0, _y + 9.5)
	var tint: Color = _LIVE if is_live else _BUSY if status.phase == "preparing" else _READY
	if is_live:
		draw_circle(dot, 5.0 + 5.0 * beat, Color(tint, 0.5 * (1.0 - beat)), true, -1.0, true)
	draw_circle(dot, 5.0, tint, true, -1.0, true)
	var title: String = _PHASES.get("training" if is_live else status.phase, status.phase)
	_write(title, Vector2(left + 20.0, _y + 15.5), 17, _INK, _bold)
	if status.seconds > 0.0:
		_write_right(_clock(status.seconds), Vector2(left, _y + 15.5), _INK)
	_y += _LINE
	_write(_state(), Vector2(left, _y + 14.5), 13, _FAINT, _font)
	_y += _LINE


## Epoch and phase, who learns, and what is shown of each role.
func _state() -> String:
	var words: PackedStringArray = []
	if status.epoch > 0:
		words.append("epoch %s, %s" % [_grouped(status.epoch), status.phase])
	if not status.learns.is_empty():
		var verb: String = " learns" if status.learns.size() == 1 else " learn"
		words.append(" and ".join(status.learns) + verb)
	elif words.is_empty():
		words.append(status.title)
	if status.epoch == 0 and not status.win_rates.is_empty():
		words.append("win rates")
	return " · ".join(words)


## A role's win rate as a bar, and its reward; faint while others learn.
func _draw_role(left: float, role: String, tint: Color) -> void:
	var is_frozen: bool = not status.learns.is_empty() and not status.learns.has(role)
	var ink: Color = _FAINT if is_frozen else _INK
	var base := Vector2(left, _y + 15.0)
	_write(role.capitalize(), base, 14, ink, _font)
	var room: float = 0.0
	if status.rewards.has(role):
		var reward: float = status.rewards[role]
		_write_right(("reward %.2f" if absf(reward) < 100.0 else "%.0f") % reward, base, ink)
		room = 100.0
	if status.win_rates.has(role):
		var rate: float = status.win_rates[role]
		var groove := Rect2(left + 78.0, _y + 6.5, _WIDTH - 2.0 * _ROOM - 78.0 - 50.0 - room, _BAR)
		draw_rect(groove, _GROOVE)
		draw_rect(Rect2(groove.position, Vector2(groove.size.x * rate, _BAR)), tint)
		_write_right("%.0f %%" % (100.0 * rate), base, ink, room)
	elif status.rewards.has(role):
		draw_circle(base + Vector2(84.0, -4.5), 4.0, tint, true, -1.0, true)
	_y += _LINE


## Win rates over time, from 0 to 100 %; rewards between their extremes where nobody wins.
func _draw_curves(plot: Rect2) -> void:
	var curves: Dictionary[String, PackedFloat32Array] = status.curves
	var low: float = 0.0
	var high: float = 1.0
	if curves.is_empty():
		curves = status.reward_curves
		low = INF
		high = -INF
		for role in curves:
			for value in curves[role]:
				low = minf(low, value)
				high = maxf(high, value)
	draw_rect(plot, Color(_GROOVE, 0.05))
	for level: float in [0.0, 0.5, 1.0]:
		var y: float = plot.end.y - plot.size.y * level
		draw_line(Vector2(plot.position.x, y), Vector2(plot.end.x, y), _GROOVE, 1.0)
	var first_s: float = status.curve_s[0]
	var long_s: float = maxf(status.curve_s[-1] - first_s, 1.0)
	var index: int = 0
	for role in curves:
		var points: PackedVector2Array = []
		var values: PackedFloat32Array = curves[role]
		for place in values.size():
			var x: float = clampf((status.curve_s[place] - first_s) / long_s, 0.0, 1.0)
			var y: float = (values[place] - low) / maxf(high - low, 1e-6)
			points.append(plot.position + plot.size * Vector2(x, 1.0 - clampf(y, 0.0, 1.0)))
		var tint: Color = _color(role, index)
		draw_polyline(points, tint, 2.0, true)
		draw_circle(points[-1], 3.5, tint, true, -1.0, true)
		index += 1


## All roles, those of the first report first.
func _roles() -> Array[String]:
	var roles: Array[String] = status.win_rates.keys()
	for role in status.rewards:
		if not roles.has(role):
			roles.append(role)
	return roles


func _color(role: String, index: int) -> Color:
	return colors.get(role, COLORS[index % COLORS.size()])


func _write(text: String, at: Vector2, letters: int, tint: Color, font: Font) -> void:
	draw_string(font, at, text, HORIZONTAL_ALIGNMENT_LEFT, -1.0, letters, tint)


## Writes up to the right edge of the card, or [param room] before it, on the line of [param at].
func _write_right(text: String, at: Vector2, tint: Color, room: float = 0.0) -> void:
	var end := Vector2(_MARGIN + _WIDTH - _ROOM - room - _width(text, 14, _font), at.y)
	_write(text, end, 14, tint, _font)


func _width(text: String, letters: int, font: Font) -> float:
	return font.get_string_size(text, HORIZONTAL_ALIGNMENT_LEFT, -1.0, letters).x


static func _clock(seconds: float) -> String:
	var whole: int = int(seconds)
	return "%d:%02d" % [floori(whole / 60.0), whole % 60]


## A large number in a few letters: 210 k, 1.3 M.
static func _short(number: float) -> String:
	if number >= 1e6:
		return "%.1f M" % (number * 1e-6)
	return "%.0f k" % (number * 1e-3) if number >= 1e4 else _grouped(int(number))


## A number with a comma after every three digits.
static func _grouped(number: int) -> String:
	var digits: String = str(number)
	var text: String = digits.right(3)
	while digits.length() > 3:
		digits = digits.left(-3)
		text = digits.right(3) + "," + text
	return text
