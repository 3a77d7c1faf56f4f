@tool
class_name DojoPolicyImage
extends RefCounted
## An image in a policy's observation and the convolutions that it goes through, as the file
## declares them.

const _MAX_OBSERVATION := 65536
const _MAX_WIDTH := 4096
const _MAX_CONVOLUTIONS := 8

## Place of its first number.
var first: int
## Rows, columns, channels.
var shape: Vector3i
## Each with [code]channels[/code], [code]kernel[/code] and [code]stride[/code].
var convolutions: Array[Dictionary] = []


## The image in these fields of a header; null when they are invalid.
static func read(given: Variant) -> DojoPolicyImage:
	var image := new()
	if not _has(given, ["first", "shape", "convolutions"]) or not _is_whole(given["first"], 0):
		return null
	if not (given["shape"] is Array and given["convolutions"] is Array):
		return null
	var extents: Array = given["shape"]
	var layers: Array = given["convolutions"]
	if extents.size() != 3 or layers.is_empty() or layers.size() > _MAX_CONVOLUTIONS:
		return null
	if not (extents.all(_is_whole) and layers.all(image._take_layer)):
		return null
	image.first = int(given["first"] as float)
	image.shape = Vector3i(int(extents[0]), int(extents[1]), int(extents[2]))
	return image


## Numbers of the image.
func size() -> int:
	return shape.x * shape.y * shape.z


## The shape of the image, then those after each convolution; they end where a kernel does not fit.
func shapes() -> Array[Vector3i]:
	var found: Array[Vector3i] = [shape]
	for layer in convolutions:
		var seen: Vector3i = found[-1]
		var kernel: int = layer["kernel"]
		if kernel > mini(seen.x, seen.y):
			break
		found.append(DojoConvolution.shape_after(seen, layer["channels"], kernel, layer["stride"]))
	return found


## How many numbers the matrices and biases of its convolutions have.
func weights() -> int:
	var count: int = 0
	var seen: Array[Vector3i] = shapes()
	for index in convolutions.size():
		var layer: Dictionary = convolutions[index]
		count += layer["channels"] * (layer["kernel"] * layer["kernel"] * seen[index].z + 1)
	return count


func _take_layer(given: Variant) -> bool:
	if not _has(given, ["channels", "kernel", "stride"]):
		return false
	var layer: Dictionary[String, int] = {}
	for key: String in given:
		if not _is_whole(given[key], 1, _MAX_WIDTH):
			return false
		layer[key] = int(given[key] as float)
	convolutions.append(layer)
	return true


static func _has(given: Variant, keys: Array) -> bool:
	return given is Dictionary and given.size() == keys.size() and given.has_all(keys)


static func _is_whole(value: Variant, least: int = 1, most: int = _MAX_OBSERVATION) -> bool:
	return value is float and value == floorf(value) and value >= least and value <= most
