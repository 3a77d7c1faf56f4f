class_name Arena
extends Node3D
## The solid part of an arena.
##
## Each box is a still body for the eyes' rays to hit. Where bodies can go is decided by [method
## free_m] from the boxes' numbers alone: the engine's motion test misses boxes that overlap the
## path by less than its search step (about a millimetre), see docs/games/tag-motion.md.

## Physics layer of everything that stands still.
const WALL_LAYER := 1
## No body moves farther in a tick.
const MAX_STEP_M := 1.0

## Everything solid, floor, ceiling and outer walls first.
var solids: Array[ArenaBox] = []

# Boxes and room as a body's centre meets them: boxes larger, room smaller by half a body.
var _low := PackedVector3Array()
var _high := PackedVector3Array()
var _room_low: Vector3
var _room_high: Vector3
var _skin_m: float
# For each square metre of ground the boxes within a tick's reach.
var _cells: Array[PackedInt32Array] = []
var _columns: int
var _rows: int


## Puts up the bodies for [param data].
func build(data: ArenaData, settings: TagSettings) -> void:
	solids = data.solids(settings.arena)
	for box in solids:
		_add_body(box)
	_skin_m = settings.motion.skin_m
	var half := Vector3.ONE * settings.body.size_m * 0.5
	var side: Vector2 = data.size_m * 0.5
	_room_low = Vector3(-side.x, 0.0, -side.y) + half
	_room_high = Vector3(side.x, settings.arena.collider_height_m, side.y) - half
	for box in data.boxes:
		_low.append(box.position - box.size * 0.5 - half)
		_high.append(box.position + box.size * 0.5 + half)
	_columns = ceili(data.size_m.x)
	_rows = ceili(data.size_m.y)
	for cell in _columns * _rows:
		_cells.append(_boxes_near_cell(cell))


## The boxes that a body at [param at] can reach within a tick, for [method free_m].
func near(at: Vector3) -> PackedInt32Array:
	var column: int = clampi(floori(at.x + _columns * 0.5), 0, _columns - 1)
	var row: int = clampi(floori(at.z + _rows * 0.5), 0, _rows - 1)
	return _cells[row * _columns + column]


## How far a body at [param at] can go along [param axis], of [param distance] at most: less when a
## box, a wall, the floor or the ceiling is in the way, and then to the skin of it. Never backwards.
## [param boxes] are those [method near] the body.
func free_m(boxes: PackedInt32Array, at: Vector3, axis: int, distance: float) -> float:
	var one: int = (axis + 1) % 3
	var two: int = (axis + 2) % 3
	var forward: bool = distance > 0.0
	var here: float = at[axis]
	var gap: float = _room_high[axis] - here if forward else here - _room_low[axis]
	for index in boxes:
		var low: Vector3 = _low[index]
		var high: Vector3 = _high[index]
		if (
			at[one] > low[one]
			and at[one] < high[one]
			and at[two] > low[two]
			and at[two] < high[two]
		):
			var to_box: float = low[axis] - here if forward else here - high[axis]
			if to_box > -_skin_m:
				gap = minf(gap, to_box)
	return clampf(gap - _skin_m, 0.0, absf(distance))


func _boxes_near_cell(cell: int) -> PackedInt32Array:
	var found := PackedInt32Array()
	@warning_ignore("integer_division")
	var corner := Vector2(cell % _columns - _columns * 0.5, cell / _columns - _rows * 0.5)
	var reach: Rect2 = Rect2(corner, Vector2.ONE).grow(MAX_STEP_M + _skin_m)
	for index in _low.size():
		var flat_low := Vector2(_low[index].x, _low[index].z)
		var flat_high := Vector2(_high[index].x, _high[index].z)
		if reach.intersects(Rect2(flat_low, flat_high - flat_low)):
			found.append(index)
	return found


func _add_body(box: ArenaBox) -> void:
	var body := StaticBody3D.new()
	body.collision_layer = WALL_LAYER
	body.collision_mask = 0
	body.position = box.position
	var shape := BoxShape3D.new()
	shape.size = box.size
	shape.margin = 0.0
	var collider := CollisionShape3D.new()
	collider.shape = shape
	body.add_child(collider)
	add_child(body)
