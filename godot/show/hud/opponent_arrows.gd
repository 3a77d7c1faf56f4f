class_name OpponentArrows
extends Control
## Arrows at the edge of the screen, each towards an opponent that is off screen.

## Room between an arrow's middle and the edges: left and right, top (where the score is), bottom.
const ROOM := Vector3(52.0, 118.0, 52.0)
## Seconds in which an arrow appears or goes.
const FADE_S: float = 0.2
const RADIUS: float = 17.0
const TIP: float = 33.0
## Half the angle that the tip takes from the round body.
const TIP_HALF_RAD: float = 0.95

## More room at the bottom, for what is shown there.
var lift: float = 0.0

var _points: PackedVector2Array = []
var _color := Color.WHITE
var _alphas: PackedFloat32Array = []
var _age_s: float = 0.0


## Where a [param point] of the world is on a screen of [param area], seen through [param camera].
## What lies behind the camera is far beyond the edge that it is nearest to.
static func on_screen(camera: Camera3D, point: Vector3, area: Vector2) -> Vector2:
	var seen: Vector3 = camera.global_transform.affine_inverse() * point
	var up: float = tan(deg_to_rad(camera.fov) * 0.5)
	var flat := Vector2(seen.x, -seen.y) / up
	if -seen.z > camera.near:
		flat /= -seen.z
	else:
		flat = flat.normalized() * 1e3 if flat else Vector2(0.0, 1e3)
	return area * 0.5 + flat * area.y * 0.5


## The place of an arrow to [param point] on a screen of [param area]: on the line from its middle.
static func edge_point(point: Vector2, area: Vector2, at_bottom: float = 0.0) -> Vector2:
	var inside := Rect2(ROOM.x, ROOM.y, area.x - ROOM.x * 2.0, area.y - ROOM.y - ROOM.z)
	inside.size.y -= at_bottom
	var middle: Vector2 = area * 0.5
	var way: Vector2 = point - middle
	var reach: float = INF
	for axis: int in 2:
		if absf(way[axis]) > 1e-6:
			var edge: float = inside.end[axis] if way[axis] > 0.0 else inside.position[axis]
			reach = minf(reach, (edge - middle[axis]) / way[axis])
	return middle + way * reach if is_finite(reach) else middle


## Points in [param color] at those of the [param opponents] that are off screen.
func watch(camera: Camera3D, opponents: PackedVector3Array, color: Color, delta: float) -> void:
	_age_s += delta
	_color = color
	_points.resize(opponents.size())
	_alphas.resize(opponents.size())
	for index in opponents.size():
		_points[index] = on_screen(camera, opponents[index], size)
		var is_seen: bool = Rect2(Vector2.ZERO, size).has_point(_points[index])
		_alphas[index] = move_toward(_alphas[index], 0.0 if is_seen else 1.0, delta / FADE_S)
	queue_redraw()


## How many opponents are pointed at.
func shown() -> int:
	var count: int = 0
	for alpha in _alphas:
		count += int(alpha > 0.0)
	return count


func _draw() -> void:
	for index in _points.size():
		if _alphas[index] > 0.0:
			_draw_arrow(_points[index], Color(_color, _alphas[index]))


func _draw_arrow(point: Vector2, color: Color) -> void:
	var at: Vector2 = edge_point(point, size, lift)
	var turn: float = (point - size * 0.5).angle()
	var beat: float = 1.0 + 0.05 * sin(_age_s * 5.0)
	draw_set_transform(at, turn, Vector2(beat, beat))
	_draw_drop(8.0, Color(ShowStyle.INK, 0.5 * color.a))
	_draw_drop(4.0, Color(ShowStyle.PAPER, color.a))
	_draw_drop(0.0, color)
	# The eyes look where the arrow points.
	draw_set_transform(at, 0.0, Vector2(beat, beat))
	var gaze := Vector2.from_angle(turn)
	for side: float in [-1.0, 1.0]:
		var eye: Vector2 = Vector2(side * 6.5, -1.5) + gaze * 2.0
		draw_circle(eye, 5.2, Color(ShowStyle.PAPER, color.a), true, -1.0, true)
		draw_circle(eye + gaze * 1.8, 2.7, Color(ShowStyle.INK, color.a), true, -1.0, true)


## A drop whose tip points along x, grown by [param more].
func _draw_drop(more: float, color: Color) -> void:
	var line: PackedVector2Array = [Vector2(TIP + more * 1.5, 0.0)]
	for step in 25:
		var angle: float = lerpf(TIP_HALF_RAD, TAU - TIP_HALF_RAD, step / 24.0)
		line.append(Vector2.from_angle(angle) * (RADIUS + more))
	draw_colored_polygon(line, color)
	line.append(line[0])
	draw_polyline(line, color, 1.0, true)
