class_name ComfortMeter
extends Control
## How comfortable the walk is now, how far it still is, and how often the walker bumped into
## something.

const SIZE := Vector2(220.0, 86.0)
const ROOM := 14.0
const COMFORTABLE := Color("6fe39a")
const LESS := Color("ffc04a")
const WARNING := Color("ff5a4d")
const LETTERS: int = 18
const SMALL: int = 15

var _comfort: float = 1.0
var _warn_below: float = 0.75
var _remaining_m: float
var _collisions: int


## The colour of a moment as comfortable as this.
static func colour_of(comfort: float, warn_below: float) -> Color:
	if comfort < warn_below:
		return WARNING
	return COMFORTABLE if comfort > 0.95 else LESS


## Shows how [param world] goes.
func follow(world: NavigationWorld) -> void:
	_comfort = world.rewards.comfort
	_warn_below = world.settings.comfort.warn_below
	_remaining_m = 0.0 if world.winner == &"walker" else world.remaining_m()
	_collisions = world.rewards.collisions
	queue_redraw()


func _draw() -> void:
	var plate := StyleBoxFlat.new()
	plate.bg_color = CourseMap.GROUND
	plate.set_corner_radius_all(14)
	draw_style_box(plate, Rect2(Vector2.ZERO, size))
	var colour: Color = colour_of(_comfort, _warn_below)
	_write("Comfort", 25.0, LETTERS, ShowStyle.PAPER)
	_write("%.0f %%" % (_comfort * 100.0), 25.0, LETTERS, colour, true)
	var bar := Rect2(ROOM, 34.0, size.x - 2.0 * ROOM, 12.0)
	_draw_bar(bar, Color(ShowStyle.PAPER, 0.16))
	_draw_bar(Rect2(bar.position, Vector2(bar.size.x * clampf(_comfort, 0.0, 1.0), 12.0)), colour)
	var limit: float = bar.position.x + bar.size.x * _warn_below
	draw_line(Vector2(limit, 31.0), Vector2(limit, 49.0), ShowStyle.PAPER, 2.0)
	var bumps: String = "1 bump" if _collisions == 1 else "%d bumps" % _collisions
	var quiet := Color(ShowStyle.PAPER, 0.8)
	_write("%.1f m to go" % _remaining_m, 72.0, SMALL, quiet)
	_write(bumps, 72.0, SMALL, CourseMap.BUMP.lightened(0.2) if _collisions else quiet, true)


func _draw_bar(area: Rect2, colour: Color) -> void:
	var box := StyleBoxFlat.new()
	box.bg_color = colour
	box.set_corner_radius_all(6)
	draw_style_box(box, area)


func _write(text: String, bottom: float, letters: int, colour: Color, is_right := false) -> void:
	var align := HORIZONTAL_ALIGNMENT_RIGHT if is_right else HORIZONTAL_ALIGNMENT_LEFT
	var font: Font = get_theme_default_font()
	draw_string(font, Vector2(ROOM, bottom), text, align, size.x - 2.0 * ROOM, letters, colour)
