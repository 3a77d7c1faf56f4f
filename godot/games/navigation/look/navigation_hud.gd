class_name NavigationHud
extends Node
## Clock, banner and key hints, and beside them a map with the way walked so far and how comfortable
## it is.

const ROOM := 20.0
## From the top to the map, on a wide and on a tall screen: there the banner is above it.
const TOP := Vector2(20.0, 150.0)
## The most room of the map, on a wide and on a tall screen.
const WIDE := Vector2(220.0, 470.0)
const TALL := Vector2(220.0, 330.0)
const GAP := 8.0
const WON := Color("6fe39a")
const _WORDS: Dictionary[StringName, String] = {
	&"walker": "You are there", &"gap": "You fell", &"clock": "Time is up"
}

var _tick: int = -1
var _collisions: int

## The clock, the banner and the key hints.
@onready var frame: ShowHud = $Frame
## The course from above.
@onready var map: CourseMap = $Side/Map
@onready var _meter: ComfortMeter = $Side/Meter
@onready var _side: CanvasLayer = $Side


func _ready() -> void:
	get_viewport().size_changed.connect(_fit)


## Shows [param keys] and what they do for a while, or nothing.
func show_keys(keys: Dictionary[String, String]) -> void:
	frame.hints.show_keys("", keys)


## Whether key hints are shown.
func show_hints(are_shown: bool) -> void:
	frame.show_hints(are_shown)


func show_course(course: CourseData) -> void:
	map.show_course(course)
	_fit()


## Shows how [param world] goes, which is played now.
func follow(world: NavigationWorld) -> void:
	if world.tick_number < _tick:
		map.clear()
		_collisions = 0
		frame.hide_banner()
	_tick = world.tick_number
	var has_bumped: bool = world.rewards.collisions > _collisions
	_collisions = world.rewards.collisions
	map.add(world.walker.position, world.rewards.comfort, has_bumped)
	show_now(world)
	frame.show_time(world.time_left_s())
	if world.round_over and frame.shown_banner().is_empty():
		var colour: Color = WON if world.winner == &"walker" else ShowStyle.PAPER
		frame.show_banner(_WORDS.get(world.winner, ""), "", colour)


## Shows a moment of [param world]; the way up to it is the [member map]'s.
func show_now(world: NavigationWorld) -> void:
	map.warn_below = world.settings.comfort.warn_below
	map.follow(world)
	_meter.follow(world)


func _fit() -> void:
	var screen: Vector2 = get_viewport().get_visible_rect().size.max(Vector2.ONE) / frame.factor
	var is_wide: bool = screen.x >= screen.y
	_side.scale = Vector2.ONE * frame.factor
	map.size = map.wanted_size(WIDE if is_wide else TALL)
	_meter.size = ComfortMeter.SIZE
	map.position = Vector2(screen.x - ROOM - map.size.x, TOP.x if is_wide else TOP.y)
	var below: float = map.position.y + map.size.y + GAP
	_meter.position = Vector2(screen.x - ROOM - _meter.size.x, below)
