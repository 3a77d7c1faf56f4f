@tool
class_name DojoNet
extends RefCounted
## The network of a policy, from the observation to the output of its head.
##
## Numbers are vectors of four, see [DojoLinear]; for many agents, each vector has a list of its own
## with one entry for each agent. docs/dojo-file.md describes the steps.

## What may follow each layer but the head.
const ACTIVATIONS: PackedStringArray = ["relu", "tanh", "silu"]

## What images go through before the first layer; null for a policy without images.
var cnn: DojoCnn
## The first layers, one after the other.
var encoder: Array[DojoLinear] = []
## The recurrent memory; null for a policy without one.
var memory: DojoMemory
## Combines the encoder's output and the memory.
var trunk: DojoLinear
## Gives the parameters of the action distribution.
var head: DojoLinear
## What follows each layer but the head, see [constant ACTIVATIONS].
var activation: String = "relu"
## Numbers of an observation.
var inputs: int
## Numbers that the head gives.
var outputs: int

var _scale: PackedVector4Array
var _offset: PackedVector4Array
var _limit: float


## Sets scale, offset and limit of normalised observations.
func normalise(scale: PackedFloat32Array, offset: PackedFloat32Array, limit: float) -> void:
	inputs = scale.size()
	_scale = DojoLinear.in_fours(scale)
	_offset = DojoLinear.in_fours(offset)
	_limit = limit


## The memory at the start of an episode: zeros.
func initial_memory() -> PackedVector4Array:
	var zeros := PackedVector4Array()
	zeros.resize(memory.width if memory != null else 0)
	return zeros


## Normalises an egocentric observation.
func preprocess(observation: PackedFloat32Array) -> PackedVector4Array:
	var values := PackedVector4Array()
	values.resize(_scale.size())
	var at: int = 0
	for place in floori(inputs / 4.0):
		var raw := Vector4(
			observation[at], observation[at + 1], observation[at + 2], observation[at + 3]
		)
		at += 4
		raw = (raw * _scale[place] + _offset[place]).clampf(-_limit, _limit)
		values[place] = raw if raw.is_finite() else _without_nan(raw)
	if at < inputs:
		values[-1] = _preprocess_rest(observation, 0)
	return values


## The same for many agents, whose observations follow each other.
func preprocess_many(observations: PackedFloat32Array) -> Array[PackedVector4Array]:
	var count: int = floori(float(observations.size()) / inputs)
	var values: Array[PackedVector4Array] = []
	for place in _scale.size():
		var scale: Vector4 = _scale[place]
		var offset: Vector4 = _offset[place]
		var column := PackedVector4Array()
		column.resize(count)
		var at: int = place * 4
		var is_whole: bool = at + 4 <= inputs
		for one in count:
			var raw := Vector4.ZERO
			if is_whole:
				raw = Vector4(
					observations[at],
					observations[at + 1],
					observations[at + 2],
					observations[at + 3]
				)
				raw = (raw * scale + offset).clampf(-_limit, _limit)
				column[one] = raw if raw.is_finite() else _without_nan(raw)
			else:
				column[one] = _preprocess_rest(observations, one * inputs)
			at += inputs
		values.append(column)
	return values


## The output of the head for a normalised observation. [param remembered] is updated in place.
func forward(values: PackedVector4Array, remembered: PackedVector4Array) -> PackedFloat32Array:
	if cnn != null:
		values = cnn.run(values)
	for layer in encoder:
		values = layer.run(values)
		_activate(values)
	if memory != null:
		var fresh: PackedVector4Array = memory.next(values, remembered)
		for place in fresh.size():
			remembered[place] = fresh[place]
		values.append_array(fresh)
	var combined: PackedVector4Array = trunk.run(values)
	_activate(combined)
	return _flat(head.run(combined))


## The same for many agents, whose outputs follow each other.
func forward_many(
	values: Array[PackedVector4Array], remembered: Array[PackedVector4Array]
) -> PackedFloat32Array:
	if cnn != null:
		values = cnn.run_many(values)
	for layer in encoder:
		values = layer.run_many(values)
		for column in values:
			_activate(column)
	if memory != null:
		remembered.assign(memory.next_of_many(values, remembered))
		values = values + remembered
	var combined: Array[PackedVector4Array] = trunk.run_many(values)
	for column in combined:
		_activate(column)
	var columns: Array[PackedVector4Array] = head.run_many(combined)
	var found := PackedFloat32Array()
	for one in columns[0].size():
		var row := PackedVector4Array()
		for column in columns:
			row.append(column[one])
		found.append_array(_flat(row))
	return found


## Normalises the last numbers, fewer than four, of the observation that begins at [param start].
func _preprocess_rest(observations: PackedFloat32Array, start: int) -> Vector4:
	var rest := Vector4.ZERO
	var first: int = inputs - inputs % 4
	for at in range(first, inputs):
		rest[at - first] = observations[start + at]
	rest = (rest * _scale[-1] + _offset[-1]).clampf(-_limit, _limit)
	return rest if rest.is_finite() else _without_nan(rest)


func _flat(fours: PackedVector4Array) -> PackedFloat32Array:
	var numbers := PackedFloat32Array()
	for four in fours:
		numbers.append_array([four.x, four.y, four.z, four.w])
	numbers.resize(outputs)
	return numbers


func _activate(values: PackedVector4Array) -> void:
	match activation:
		"relu":
			for index in values.size():
				values[index] = values[index].max(Vector4.ZERO)
		"tanh":
			for index in values.size():
				values[index] = DojoMemory.tanh_of(values[index])
		"silu":
			for index in values.size():
				values[index] *= DojoMemory.sigmoid_of(values[index])


## NaN counts as 0, so that it does not stay in the memory for ever.
static func _without_nan(four: Vector4) -> Vector4:
	for axis in 4:
		if is_nan(four[axis]):
			four[axis] = 0.0
	return four
