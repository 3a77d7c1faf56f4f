class_name CourseMap
extends Control
## A course from above: the way walked so far, coloured by its comfort, marks, bumps, and where the
## walker is. A dashed line is a teleport.

const ROOM := 12.0
## Longer pieces of a way are teleports; shorter ones are not worth a point.
const JUMP_M := 0.5
const LEAST_M := 0.04
const GROUND := Color(ShowStyle.INK, 0.8)
const COLOURS: Dictionary[StringName, Color] = {
	&"floor": Color("3b4157"),
	&"bridge": Color("6e5c47"),
	&"step": Color("4b526b"),
	&"platform": Color("565e79"),
	&"block": Color("8d94ab"),
	&"wall": Color("a9afc2"),
}
const BUMP := Color("ff4d5e")

## Where comfort warns.
var warn_below: float = 0.75

var _boxes: Array[CourseData.Box] = []
var _bounds := Rect2(-5.0, -5.0, 10.0, 10.0)
var _places := PackedVector2Array()
var _colours := PackedColorArray()
var _bumps := PackedVector2Array()
var _marks := PackedVector3Array()
var _mark: int
var _radius_m: float = 0.75
var _walker := Vector2.ZERO
var _yaw_rad: float


## Shows [param course] and no way.
func show_course(course: CourseData) -> void:
	_boxes = course.boxes.duplicate()
	_boxes.sort_custom(
		func(one: CourseData.Box, other: CourseData.Box) -> bool:
			return one.position.y + one.size.y * 0.5 < other.position.y + other.size.y * 0.5
	)
	_bounds = Rect2(_flat(_boxes[0].position), Vector2.ZERO)
	for box in _boxes:
		_bounds = _bounds.merge(_footprint(box))
	clear()


## The size that shows the course without empty room, [param most] at most.
func wanted_size(most: Vector2) -> Vector2:
	var free: Vector2 = (most - Vector2.ONE * ROOM * 2.0) / _bounds.size
	return _bounds.size * minf(free.x, free.y) + Vector2.ONE * ROOM * 2.0


## Forgets the way.
func clear() -> void:
	_places.clear()
	_colours.clear()
	_bumps.clear()
	queue_redraw()


## Adds a point of the way, and whether the walker bumped into something there.
func add(place: Vector3, comfort: float, has_bumped: bool) -> void:
	var at: Vector2 = _flat(place)
	if has_bumped:
		_bumps.append(at)
	if _places.is_empty() or at.distance_to(_places[-1]) > LEAST_M:
		_places.append(at)
		_colours.append(ComfortMeter.colour_of(comfort, warn_below))


## Shows where the walker of [param world] is now, and its marks.
func follow(world: NavigationWorld) -> void:
	_marks = world.marks
	_mark = world.mark if world.winner != &"walker" else world.marks.size()
	_radius_m = world.settings.rules.mark_radius_m
	_walker = _flat(world.walker.position)
	_yaw_rad = world.walker.yaw_rad
	queue_redraw()


func _draw() -> void:
	var plate := StyleBoxFlat.new()
	plate.bg_color = GROUND
	plate.set_corner_radius_all(14)
	draw_style_box(plate, Rect2(Vector2.ZERO, size))
	for box in _boxes:
		var area: Rect2 = _footprint(box)
		var corner: Vector2 = _on_map(area.position)
		draw_rect(Rect2(corner, area.size * _scale()), COLOURS.get(box.kind, COLOURS[&"block"]))
	for number in _marks.size():
		_draw_mark(number)
	_draw_way()
	if not _places.is_empty():
		draw_circle(_on_map(_places[0]), 4.0, ShowStyle.PAPER, true, -1.0, true)
	for bump in _bumps:
		for slope: float in [-1.0, 1.0]:
			var arm: Vector2 = Vector2(5.0, 5.0 * slope)
			draw_line(_on_map(bump) - arm, _on_map(bump) + arm, BUMP, 3.0, true)
	_draw_walker()


func _draw_mark(number: int) -> void:
	var is_goal: bool = number == _marks.size() - 1
	var colour: Color = MarkLook.GOAL if is_goal else MarkLook.COLOUR
	var at: Vector2 = _on_map(_flat(_marks[number]))
	var radius: float = maxf(_radius_m * _scale(), 4.0)
	if number < _mark:
		draw_arc(at, radius, 0.0, TAU, 24, Color(colour, 0.3), 1.5, true)
		return
	if is_goal:
		draw_circle(at, radius * 0.55, colour, true, -1.0, true)
	draw_arc(at, radius, 0.0, TAU, 24, colour, 3.0 if number == _mark else 1.5, true)


func _draw_way() -> void:
	for number in range(1, _places.size()):
		_draw_piece(_places[number - 1], _places[number], _colours[number])
	if not _places.is_empty():
		_draw_piece(_places[-1], _walker, _colours[-1])


func _draw_piece(from: Vector2, to: Vector2, colour: Color) -> void:
	if from.distance_to(to) > JUMP_M:
		draw_dashed_line(_on_map(from), _on_map(to), Color(colour, 0.8), 2.0, 5.0, true, true)
	else:
		draw_line(_on_map(from), _on_map(to), colour, 3.0, true)


func _draw_walker() -> void:
	var at: Vector2 = _on_map(_walker)
	var ahead := Vector2(-sin(_yaw_rad), -cos(_yaw_rad))
	var points := PackedVector2Array()
	for corner: Vector2 in [Vector2(14, 0), Vector2(-9, 9), Vector2(-5, 0), Vector2(-9, -9)]:
		points.append(at + ahead * corner.x + ahead.orthogonal() * corner.y)
	draw_colored_polygon(points, WalkerLook.SUIT)
	points.append(points[0])
	draw_polyline(points, ShowStyle.PAPER, 1.5, true)


func _scale() -> float:
	var free: Vector2 = (size - Vector2.ONE * ROOM * 2.0) / _bounds.size
	return minf(free.x, free.y)


func _on_map(place: Vector2) -> Vector2:
	return size * 0.5 + (place - _bounds.get_center()) * _scale()


static func _flat(place: Vector3) -> Vector2:
	return Vector2(place.x, place.z)


static func _footprint(box: CourseData.Box) -> Rect2:
	var extent: Vector2 = _flat(box.size)
	return Rect2(_flat(box.position) - extent * 0.5, extent)
