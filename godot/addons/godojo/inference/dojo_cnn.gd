@tool
class_name DojoCnn
extends RefCounted
## Replaces the images of an observation by their features: all other numbers, then the features of
## each image, pixel by pixel.

var _size: int
# Of each image: its first number, its shape and its convolutions.
var _firsts := PackedInt32Array()
var _shapes: Array[Vector3i] = []
var _stacks: Array[Array] = []


## For observations of [param size] numbers.
func _init(size: int) -> void:
	_size = size


## Images are added in the order of the observation; [param stack] holds [DojoConvolution]s.
func add_image(first: int, shape: Vector3i, stack: Array[DojoConvolution]) -> void:
	_firsts.append(first)
	_shapes.append(shape)
	_stacks.append(stack)


## Widths of what comes out, each of which begins at a vector of its own.
func widths() -> PackedInt32Array:
	var found: PackedInt32Array = [_size]
	for index in _firsts.size():
		var shape: Vector3i = _shapes[index]
		found[0] -= shape.x * shape.y * shape.z
		var last: DojoConvolution = _stacks[index][-1]
		for _pixel in last.shape.x * last.shape.y:
			found.append(last.shape.z)
	return found


## What comes out for a normalised observation, in vectors of four.
func run(values: PackedVector4Array) -> PackedVector4Array:
	var numbers := PackedFloat32Array()
	numbers.resize(values.size() * 4)
	for place in values.size():
		var four: Vector4 = values[place]
		numbers[place * 4] = four.x
		numbers[place * 4 + 1] = four.y
		numbers[place * 4 + 2] = four.z
		numbers[place * 4 + 3] = four.w
	var others := PackedFloat32Array()
	var features := PackedVector4Array()
	var at: int = 0
	for index in _firsts.size():
		others.append_array(numbers.slice(at, _firsts[index]))
		var planes: Array[PackedVector4Array] = _planes(numbers, _firsts[index], _shapes[index])
		at = _firsts[index] + _shapes[index].x * _shapes[index].y * _shapes[index].z
		for convolution: DojoConvolution in _stacks[index]:
			planes = convolution.run(planes)
		for pixel in planes[0].size():
			for plane in planes:
				features.append(plane[pixel])
	others.append_array(numbers.slice(at, _size))
	var found: PackedVector4Array = DojoLinear.in_fours(others)
	found.append_array(features)
	return found


## The same for many agents: of each vector of four, one for each of them.
func run_many(values: Array[PackedVector4Array]) -> Array[PackedVector4Array]:
	var found: Array[PackedVector4Array] = []
	for agent in values[0].size():
		var own := PackedVector4Array()
		for column in values:
			own.append(column[agent])
		own = run(own)
		while found.size() < own.size():
			found.append(PackedVector4Array())
		for place in own.size():
			found[place].append(own[place])
	return found


## An image as planes of four channels, filled up with zeros.
static func _planes(
	numbers: PackedFloat32Array, first: int, shape: Vector3i
) -> Array[PackedVector4Array]:
	var planes: Array[PackedVector4Array] = []
	for channel in range(0, shape.z, 4):
		var plane := PackedVector4Array()
		plane.resize(shape.x * shape.y)
		var count: int = mini(4, shape.z - channel)
		var at: int = first + channel
		for pixel in plane.size():
			var four := Vector4.ZERO
			for axis in count:
				four[axis] = numbers[at + axis]
			plane[pixel] = four
			at += shape.z
		planes.append(plane)
	return planes
