@tool
class_name DojoNet
extends RefCounted
## The network of a policy, from what is observed to what comes out of its head.
##
## Numbers are vectors of four, see [DojoLinear]; for many agents, each vector has a list of its own
## with one entry for each agent. docs/dojo-file.md tells the steps.

## What eyes see first passes these, one after the other.
var eyes: Array[DojoLinear] = []
## What is remembered; null for a policy that lives in the moment.
var memory: DojoMemory
## Combines what is seen and what is remembered.
var mind: DojoLinear
## What the actions are made of.
var head: DojoLinear
## Numbers of an observation.
var inputs: int
## Numbers that come out.
var outputs: int

var _scale: PackedVector4Array
var _offset: PackedVector4Array
var _limit: float


## How observations are brought to the same size, and cut.
func normalise(scale: PackedFloat32Array, offset: PackedFloat32Array, limit: float) -> void:
	inputs = scale.size()
	_scale = DojoLinear.in_fours(scale)
	_offset = DojoLinear.in_fours(offset)
	_limit = limit


## What is remembered at a round's start: nothing.
func no_memory() -> PackedVector4Array:
	var nothing := PackedVector4Array()
	nothing.resize(memory.width if memory != null else 0)
	return nothing


## An observation in the agent's own frame, as the eyes want it.
func look(observation: PackedFloat32Array) -> PackedVector4Array:
	var seen := PackedVector4Array()
	seen.resize(_scale.size())
	var at: int = 0
	for place in floori(inputs / 4.0):
		var raw := Vector4(
			observation[at], observation[at + 1], observation[at + 2], observation[at + 3]
		)
		at += 4
		raw = (raw * _scale[place] + _offset[place]).clampf(-_limit, _limit)
		seen[place] = raw if raw.is_finite() else _without_nan(raw)
	if at < inputs:
		seen[-1] = _look_at_rest(observation, 0)
	return seen


## The same for many agents, whose observations follow each other.
func look_of_many(observations: PackedFloat32Array) -> Array[PackedVector4Array]:
	var count: int = floori(float(observations.size()) / inputs)
	var seen: Array[PackedVector4Array] = []
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
				column[one] = _look_at_rest(observations, one * inputs)
			at += inputs
		seen.append(column)
	return seen


## What comes out of the head for what was [param seen]. [param remembered] is read and written.
func think(seen: PackedVector4Array, remembered: PackedVector4Array) -> PackedFloat32Array:
	for layer in eyes:
		seen = layer.run(seen)
		_rectify(seen)
	if memory != null:
		var fresh: PackedVector4Array = memory.next(seen, remembered)
		for place in fresh.size():
			remembered[place] = fresh[place]
		seen.append_array(fresh)
	var combined: PackedVector4Array = mind.run(seen)
	_rectify(combined)
	return _flat(head.run(combined))


## The same for many agents; what comes out for each follows that for the agent before it.
func think_of_many(
	seen: Array[PackedVector4Array], remembered: Array[PackedVector4Array]
) -> PackedFloat32Array:
	for layer in eyes:
		seen = layer.run_many(seen)
		for column in seen:
			_rectify(column)
	if memory != null:
		remembered.assign(memory.next_of_many(seen, remembered))
		seen = seen + remembered
	var combined: Array[PackedVector4Array] = mind.run_many(seen)
	for column in combined:
		_rectify(column)
	var columns: Array[PackedVector4Array] = head.run_many(combined)
	var found := PackedFloat32Array()
	for one in columns[0].size():
		var row := PackedVector4Array()
		for column in columns:
			row.append(column[one])
		found.append_array(_flat(row))
	return found


## The last few numbers of an observation that begins at [param start]: fewer than four.
func _look_at_rest(observations: PackedFloat32Array, start: int) -> Vector4:
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


static func _rectify(values: PackedVector4Array) -> void:
	for index in values.size():
		values[index] = values[index].max(Vector4.ZERO)


## What is no number counts as nothing special, so that it is not remembered for ever.
static func _without_nan(four: Vector4) -> Vector4:
	for axis in 4:
		if is_nan(four[axis]):
			four[axis] = 0.0
	return four
