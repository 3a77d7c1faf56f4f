@tool
class_name DojoConvolution
extends RefCounted
## A convolution without padding, followed by ReLU.
##
## An image is a list of planes: each holds four channels of every pixel as vectors of four, row by
## row. The matrix runs for all places of the result at once, as it does for many agents.

## Rows, columns and channels of the result.
var shape: Vector3i

var _matrix: DojoLinear
# For each place of the kernel, the pixel that it takes for each place of the result.
var _taken: Array[PackedInt32Array] = []


## Of an image of shape [param seen]; [param matrix] takes the pixels below the kernel row by row.
func _init(matrix: DojoLinear, seen: Vector3i, channels: int, kernel: int, stride: int) -> void:
	_matrix = matrix
	shape = shape_after(seen, channels, kernel, stride)
	for row in kernel:
		for column in kernel:
			var pixels := PackedInt32Array()
			for y in shape.x:
				for x in shape.y:
					pixels.append((y * stride + row) * seen.y + x * stride + column)
			_taken.append(pixels)


## The shape of the result for an image of shape [param seen].
static func shape_after(seen: Vector3i, channels: int, kernel: int, stride: int) -> Vector3i:
	return Vector3i(
		floori(float(seen.x - kernel) / stride) + 1,
		floori(float(seen.y - kernel) / stride) + 1,
		channels
	)


## The planes of the result.
func run(planes: Array[PackedVector4Array]) -> Array[PackedVector4Array]:
	var columns: Array[PackedVector4Array] = []
	for pixels in _taken:
		for plane in planes:
			var column := PackedVector4Array()
			column.resize(pixels.size())
			for place in pixels.size():
				column[place] = plane[pixels[place]]
			columns.append(column)
	var found: Array[PackedVector4Array] = _matrix.run_many(columns)
	for plane in found:
		for place in plane.size():
			plane[place] = plane[place].max(Vector4.ZERO)
	return found
