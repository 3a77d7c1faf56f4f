class_name ArenaMap
extends RefCounted
## The arena's plan for opponents that walk in it: a grid of standing heights and ways between them.
##
## A way may lead down any step, and up as far as a jump carries.

## Edge of a grid cell.
const CELL_M := 0.5
## Part of the jump's height that is counted on.
const JUMP_SHARE := 0.85
## Heights closer than this are walked over as if they were level.
const LEVEL_M := 0.05
## Added to the length of a way that needs a jump.
const JUMP_COST_M := 1.5

var _columns: int
var _rows: int
var _heights := PackedFloat32Array()
var _climb_m: float
var _ways := AStar3D.new()


## Draws the plan of [param arena] for bodies as in [param settings].
func _init(arena: ArenaData, settings: TagSettings) -> void:
	_columns = roundi(arena.size_m.x / CELL_M)
	_rows = roundi(arena.size_m.y / CELL_M)
	var jump: float = settings.motion.jump_speed_mps
	_climb_m = jump * jump / (2.0 * settings.motion.gravity_mps2) * JUMP_SHARE
	_heights.resize(_columns * _rows)
	for cell in _heights.size():
		_heights[cell] = _height_under(arena, centre(cell), settings.body.size_m)
		_ways.add_point(cell, centre(cell) + Vector3.UP * _heights[cell])
	for cell in _heights.size():
		_connect(cell)


## Middle of a cell, on the floor.
func centre(cell: int) -> Vector3:
	@warning_ignore("integer_division")
	var row: int = cell / _columns
	var x: float = (cell % _columns - (_columns - 1) * 0.5) * CELL_M
	return Vector3(x, 0.0, (row - (_rows - 1) * 0.5) * CELL_M)


## The cell under a point.
func cell_at(point: Vector3) -> int:
	var column: int = clampi(floori(point.x / CELL_M + _columns * 0.5), 0, _columns - 1)
	var row: int = clampi(floori(point.z / CELL_M + _rows * 0.5), 0, _rows - 1)
	return row * _columns + column


## Standing height at a point; infinite where a body has no room.
func height_at(point: Vector3) -> float:
	return _heights[cell_at(point)]


## Number of cells.
func size() -> int:
	return _heights.size()


## The way from one point to another as points on the ground, without the first; empty when there is
## none.
func way(from: Vector3, to: Vector3) -> PackedVector3Array:
	var found: PackedVector3Array = _ways.get_point_path(_standing(from), _standing(to), true)
	if found.size() > 1:
		found.remove_at(0)
	return found


## Whether one can walk straight between two points without a jump.
func is_straight(from: Vector3, to: Vector3, ground_m: float) -> bool:
	var steps: int = ceili(Vector2(to.x - from.x, to.z - from.z).length() / (CELL_M * 0.5))
	for step in steps + 1:
		var height_m: float = height_at(from.lerp(to, float(step) / maxi(steps, 1)))
		if height_m > ground_m + LEVEL_M:
			return false
	return true


## The cell at or beside a point where a body can be.
func _standing(point: Vector3) -> int:
	var cell: int = cell_at(point)
	if is_finite(_heights[cell]):
		var ground_m: float = _heights[cell]
		if ground_m <= point.y + LEVEL_M:
			return cell
	return _ways.get_closest_point(point)


func _connect(cell: int) -> void:
	if not is_finite(_heights[cell]):
		_ways.set_point_disabled(cell)
		return
	var column: int = cell % _columns
	for beside: Vector2i in [
		Vector2i(1, 0),
		Vector2i(-1, 0),
		Vector2i(0, 1),
		Vector2i(0, -1),
		Vector2i(1, 1),
		Vector2i(-1, 1),
		Vector2i(1, -1),
		Vector2i(-1, -1),
	]:
		var next: int = cell + beside.x + beside.y * _columns
		if column + beside.x < 0 or column + beside.x >= _columns:
			continue
		if next < 0 or next >= _heights.size():
			continue
		var high: float = _heights[next]
		if high > _heights[cell] + _climb_m:
			continue
		if beside.x != 0 and beside.y != 0:
			var corner: float = maxf(
				_heights[cell + beside.x], _heights[cell + beside.y * _columns]
			)
			if corner > _heights[cell] + LEVEL_M or high > _heights[cell] + LEVEL_M:
				continue
		_ways.connect_points(cell, next, false)


static func _height_under(arena: ArenaData, point: Vector3, body_m: float) -> float:
	var half: float = body_m * 0.5
	var side: Vector2 = arena.size_m * 0.5 - Vector2.ONE * half
	if absf(point.x) > side.x or absf(point.z) > side.y:
		return INF
	var footprint := AABB(point - Vector3(half, 0.0, half), Vector3(body_m, 0.0, body_m))
	var ground_m: float = 0.0
	for _level in arena.boxes.size():
		var before: float = ground_m
		for box in arena.boxes:
			var solid: AABB = box.aabb()
			var over: bool = (
				footprint.position.x < solid.end.x
				and footprint.end.x > solid.position.x
				and footprint.position.z < solid.end.z
				and footprint.end.z > solid.position.z
			)
			if over and solid.position.y < ground_m + body_m and solid.end.y > ground_m:
				ground_m = solid.end.y
		if ground_m == before:
			break
	return ground_m
