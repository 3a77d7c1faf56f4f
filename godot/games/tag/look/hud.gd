class_name TagHud
extends CanvasLayer
## Clock, score, who won, and key hints that fade.

## How long the key hints stay, and how long they take to fade.
const HINTS_S: float = 7.0
const FADE_S: float = 1.5
## Sizes are given for this screen (or for this one on its side) and scaled to the real one.
const DESIGN_SIZE := Vector2(1280, 720)

## How much larger everything is than on an ordinary screen, for small pictures.
var magnified: float = 1.0:
	set = _set_magnified
## Pixels for each unit of the sizes given.
var factor: float = 1.0

var _hints_age_s: float = 0.0
var _plates: Array[HudPlate] = []

@onready var _frame: Control = %Frame
@onready var _clock: Label = %Clock
@onready var _left: HFlowContainer = %Left
@onready var _right: HFlowContainer = %Right
@onready var _banner: PanelContainer = %Banner
@onready var _banner_title: Label = %BannerTitle
@onready var _banner_text: Label = %BannerText
@onready var _hints: Label = %Hints


## The clock as it is shown: tenths below ten seconds, minutes from a hundred on.
static func clock_text(seconds: float) -> String:
	if seconds <= 0.0:
		return "0.0"
	if seconds <= 10.0:
		return "%.1f" % (ceilf(seconds * 10.0 - 0.001) / 10.0)
	var whole: int = ceili(seconds)
	return "%d" % whole if whole < 100 else "%d:%02d" % [floori(whole / 60.0), whole % 60]


func _ready() -> void:
	get_viewport().size_changed.connect(_fit)
	_fit()
	hide_banner()


func _process(delta: float) -> void:
	_hints_age_s += delta
	_hints.modulate.a = clampf((HINTS_S + FADE_S - _hints_age_s) / FADE_S, 0.0, 1.0) * 0.85


## Shows the time left.
func show_time(seconds: float) -> void:
	_clock.text = clock_text(seconds)
	var pressing: bool = seconds <= 3.0 and seconds > 0.0
	_clock.modulate = Color("ffd9a0") if pressing else Color.WHITE


## The text of the clock.
func shown_time() -> String:
	return _clock.text


## Shows one plate for each party: its name, its colour and its score as text.
func show_parties(
	names: PackedStringArray, colors: PackedColorArray, scores: PackedStringArray
) -> void:
	while _plates.size() > names.size():
		_plates.pop_back().queue_free()
	while _plates.size() < names.size():
		_plates.append(HudPlate.new())
	for index in _plates.size():
		var side: HFlowContainer = _left if index < ceili(_plates.size() / 2.0) else _right
		if _plates[index].get_parent() != side:
			if _plates[index].get_parent() != null:
				_plates[index].get_parent().remove_child(_plates[index])
			side.add_child(_plates[index])
		_plates[index].show_party(names[index], colors[index], scores[index])


## Shows a banner: a [param title] in [param color] and a line of text below it.
func show_banner(title: String, text: String, color: Color) -> void:
	_banner_title.text = title
	_banner_title.add_theme_color_override(&"font_color", color)
	_banner_text.text = text
	_banner_text.visible = not text.is_empty()
	_banner.visible = true
	_banner.modulate.a = 0.0
	create_tween().tween_property(_banner, ^"modulate:a", 1.0, 0.18)


## Takes the banner away.
func hide_banner() -> void:
	_banner.visible = false


## The title of the banner that is shown; empty when there is none.
func shown_banner() -> String:
	return _banner_title.text if _banner.visible else ""


## Shows the key hints, which then fade. An empty text shows none.
func show_hints(text: String) -> void:
	_hints.text = text
	_hints_age_s = 0.0


func _fit() -> void:
	var screen: Vector2 = get_viewport().get_visible_rect().size.max(Vector2.ONE)
	var design: Vector2 = DESIGN_SIZE
	if screen.x < screen.y:
		design = Vector2(DESIGN_SIZE.y, DESIGN_SIZE.x)
	factor = minf(screen.x / design.x, screen.y / design.y) * magnified
	scale = Vector2(factor, factor)
	_frame.size = screen / factor


func _set_magnified(times: float) -> void:
	magnified = times
	_fit()
