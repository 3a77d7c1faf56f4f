class_name DojoRayHits
extends RefCounted
## The numbers of rays or grid cells, in 2D and in 3D: one row for each of them, with one number for
## each kind of thing, 1 where it hit one. Kinds are groups and physics layers.

## The rows, one behind the other.
var numbers := PackedFloat32Array()

var _groups: PackedStringArray
var _layers: PackedInt32Array
var _is_rays: bool


## [param groups] and [param layers] (1 to 32) are one kind each. A ray has its distance before the
## kinds; a cell without kinds has one number for anything at all.
func _init(groups: PackedStringArray, layers: PackedInt32Array, is_rays: bool) -> void:
	_groups = groups
	_layers = layers
	_is_rays = is_rays


## Length of a row.
func width() -> int:
	var kinds: int = _groups.size() + _layers.size()
	return kinds + 1 if _is_rays else maxi(kinds, 1)


## Starts over with [param rows] that have hit nothing.
func clear(rows: int) -> void:
	numbers = PackedFloat32Array()
	numbers.resize(rows * width())
	if _is_rays:
		for row in rows:
			numbers[row * width()] = 1.0


## Ray [param row] hit [param thing] at [param distance], a fraction of its reach.
func hit_ray(row: int, distance: float, thing: Object) -> void:
	numbers[row * width()] = minf(distance, 1.0)
	_mark(thing, row * width() + 1)


## Cell [param row] has everything in [param found], the answer to a query of shapes.
func fill_cell(row: int, found: Array[Dictionary]) -> void:
	for each in found:
		if _groups.is_empty() and _layers.is_empty():
			numbers[row] = 1.0
		else:
			_mark(each["collider"], row * width())


func _mark(thing: Object, at: int) -> void:
	var node: Node = thing as Node
	if node == null:
		return
	for index in _groups.size():
		if node.is_in_group(_groups[index]):
			numbers[at + index] = 1.0
	var mask: int = 0
	if node is CollisionObject3D:
		mask = (node as CollisionObject3D).collision_layer
	elif node is CollisionObject2D:
		mask = (node as CollisionObject2D).collision_layer
	for index in _layers.size():
		if mask & (1 << (_layers[index] - 1)):
			numbers[at + _groups.size() + index] = 1.0
