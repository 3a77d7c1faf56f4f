class_name ShowHud
extends CanvasLayer
## Clock, score, who won, arrows to opponents off screen, and keys that fade.

## Sizes are given for this screen (or for this one on its side) and scaled to the real one.
const DESIGN_SIZE := Vector2(1280, 720)
## The banner is below the score, or this far above the bottom if agents are in its way.
const BANNER_TOP: float = 86.0
const BANNER_BOTTOM: float = 28.0
## The room that the banner leaves around agents.
const BANNER_ROOM: float = 48.0

## How much larger everything is than on an ordinary screen, for small pictures.
var magnified: float = 1.0:
	set = _set_magnified
## Pixels for each unit of the sizes given.
var factor: float = 1.0

var _plates: Array[HudPlate] = []

## Point at opponents that are off screen.
@onready var arrows: OpponentArrows = %Arrows
## What a newcomer has to know.
@onready var hints: KeyHints = %Hints
@onready var _frame: Control = %Frame
@onready var _clock: Label = %Clock
@onready var _left: HFlowContainer = %Left
@onready var _right: HFlowContainer = %Right
@onready var _banner: PanelContainer = %Banner
@onready var _banner_title: Label = %BannerTitle
@onready var _banner_text: Label = %BannerText


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


func _process(_delta: float) -> void:
	arrows.lift = hints.size.y * hints.modulate.a if hints.visible else 0.0


## Shows the time left, or the time since the start.
func show_time(seconds: float) -> void:
	_clock.text = clock_text(seconds)
	var pressing: bool = seconds <= 3.0 and seconds > 0.0
	_clock.modulate = Color("ffd9a0") if pressing else Color.WHITE


## Hides the key hints, if they are not to be shown.
func show_hints(are_shown: bool) -> void:
	if not are_shown:
		hints.show_keys("", {})


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


## Shows a banner: a [param title] in [param color] and some text beside it, out of the way of
## what is at the points of the screen to [param keep_clear].
func show_banner(
	title: String, text: String, color: Color, keep_clear: PackedVector2Array = []
) -> void:
	_banner_title.text = title
	_banner_title.add_theme_color_override(&"font_color", color)
	_banner_text.text = text
	_banner_text.visible = not text.is_empty()
	_banner.visible = true
	_banner.reset_size()
	_banner.position.y = _banner_y(keep_clear)
	_banner.modulate.a = 0.0
	create_tween().tween_property(_banner, ^"modulate:a", 1.0, 0.18)
	hints.fade()


## Hides the banner.
func hide_banner() -> void:
	_banner.visible = false


## The title of the banner that is shown; empty when there is none.
func shown_banner() -> String:
	return _banner_title.text if _banner.visible else ""


## Where the banner is shown, in pixels.
func banner_rect() -> Rect2:
	return Rect2(_banner.position * factor, _banner.size * factor)


func _banner_y(keep_clear: PackedVector2Array) -> float:
	var bottom: float = _frame.size.y - BANNER_BOTTOM - _banner.size.y
	var free_above: float = _clearance(BANNER_TOP, keep_clear)
	return BANNER_TOP if free_above >= minf(BANNER_ROOM, _clearance(bottom, keep_clear)) else bottom


## How far the nearest of the points is from a banner at this height.
func _clearance(banner_y: float, points: PackedVector2Array) -> float:
	var rect := Rect2(Vector2(_banner.position.x, banner_y), _banner.size)
	var least: float = INF
	for point in points:
		var at: Vector2 = point / factor
		least = minf(least, at.distance_to(at.clamp(rect.position, rect.end)))
	return least


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
