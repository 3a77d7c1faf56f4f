@tool
class_name DojoLinear
extends RefCounted
## A matrix and a bias, in blocks of 4 x 4: those the engine multiplies natively.
##
## Numbers come and go as vectors of four. Where rows or columns belong to several things (the cells
## of a memory, what is seen and what is remembered), each begins at a vector of its own and is
## filled up with zeros.

# Of each column of blocks, its blocks from the first row to the last.
var _columns: Array[Array] = []
var _bias := PackedVector4Array()
# Columns that are taken four at a time: fewer steps of the interpreter.
var _by_four: int


## The matrix with rows for [param outputs] and columns for [param inputs], row after row in
## [param weights]; each of both may be several widths.
func _init(
	weights: PackedFloat32Array,
	bias: PackedFloat32Array,
	outputs: PackedInt32Array,
	inputs: PackedInt32Array
) -> void:
	var rows: PackedInt32Array = _places(outputs)
	var columns: PackedInt32Array = _places(inputs)
	_bias = in_fours(_picked(bias, 0, 1, rows))
	var width: int = 0
	for part in inputs:
		width += part
	for column in range(0, columns.size(), 4):
		var axes: Array[PackedVector4Array] = []
		for place in columns.slice(column, column + 4):
			axes.append(in_fours(_picked(weights, place, width, rows)))
		var blocks: Array[Projection] = []
		for row in _bias.size():
			blocks.append(Projection(axes[0][row], axes[1][row], axes[2][row], axes[3][row]))
		_columns.append(blocks)
	_by_four = _columns.size() - _columns.size() % 4


## What comes out for [param values].
func run(values: PackedVector4Array) -> PackedVector4Array:
	var sums: PackedVector4Array = _bias.duplicate()
	var rows: int = sums.size()
	for column in range(0, _by_four, 4):
		var a: Array[Projection] = _columns[column]
		var b: Array[Projection] = _columns[column + 1]
		var c: Array[Projection] = _columns[column + 2]
		var d: Array[Projection] = _columns[column + 3]
		var to_a: Vector4 = values[column]
		var to_b: Vector4 = values[column + 1]
		var to_c: Vector4 = values[column + 2]
		var to_d: Vector4 = values[column + 3]
		for row in rows:
			sums[row] += a[row] * to_a + b[row] * to_b + c[row] * to_c + d[row] * to_d
	for column in range(_by_four, _columns.size()):
		var blocks: Array[Projection] = _columns[column]
		var value: Vector4 = values[column]
		for row in rows:
			sums[row] += blocks[row] * value
	return sums


## The same for many at once: of each vector of four, one for each of them.
func run_many(values: Array[PackedVector4Array]) -> Array[PackedVector4Array]:
	var count: int = values[0].size()
	var found: Array[PackedVector4Array] = []
	for row in _bias.size():
		var sums := PackedVector4Array()
		sums.resize(count)
		sums.fill(_bias[row])
		for column in range(0, _by_four, 4):
			var a: Projection = _columns[column][row]
			var b: Projection = _columns[column + 1][row]
			var c: Projection = _columns[column + 2][row]
			var d: Projection = _columns[column + 3][row]
			var to_a: PackedVector4Array = values[column]
			var to_b: PackedVector4Array = values[column + 1]
			var to_c: PackedVector4Array = values[column + 2]
			var to_d: PackedVector4Array = values[column + 3]
			for one in count:
				sums[one] += a * to_a[one] + b * to_b[one] + c * to_c[one] + d * to_d[one]
		for column in range(_by_four, _columns.size()):
			var block: Projection = _columns[column][row]
			var value: PackedVector4Array = values[column]
			for one in count:
				sums[one] += block * value[one]
		found.append(sums)
	return found


## [param numbers] as vectors of four, filled up with zeros.
static func in_fours(numbers: PackedFloat32Array) -> PackedVector4Array:
	var size: int = numbers.size()
	var whole: int = size - size % 4
	var fours := PackedVector4Array()
	for at in range(0, whole, 4):
		fours.append(Vector4(numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]))
	if size > whole:
		var rest := Vector4.ZERO
		for at in range(whole, size):
			rest[at - whole] = numbers[at]
		fours.append(rest)
	return fours


## How many vectors of four hold this many numbers.
static func fours(numbers: int) -> int:
	return ceili(numbers / 4.0)


## Of each place, filled up, the place without filling; -1 where there is none.
static func _places(widths: PackedInt32Array) -> PackedInt32Array:
	var places := PackedInt32Array()
	var at: int = 0
	for width in widths:
		for place in fours(width) * 4:
			places.append(at + place if place < width else -1)
		at += width
	return places


## Every [param stride]-th number from [param first] on, as [param places] say; nothing is zero.
static func _picked(
	numbers: PackedFloat32Array, first: int, stride: int, places: PackedInt32Array
) -> PackedFloat32Array:
	var found := PackedFloat32Array()
	found.resize(places.size())
	if first < 0:
		return found
	for index in places.size():
		if places[index] >= 0:
			found[index] = numbers[first + places[index] * stride]
	return found
