@tool
class_name DojoMemory
extends RefCounted
## What agents remember from decision to decision: leaky cells, or a gated recurrent unit.
##
## What is remembered is a vector of four after the other, for one agent or, in the methods for
## many, one list for each of these vectors with one entry for each agent.

## How many vectors of four are remembered.
var width: int

var _seen: DojoLinear
# Of a gated recurrent unit: what the memory itself contributes. None for leaky cells.
var _own: DojoLinear


## A memory of [param size] numbers; [param own] makes it a gated recurrent unit.
func _init(size: int, seen: DojoLinear, own: DojoLinear = null) -> void:
	width = DojoLinear.fours(size)
	_seen = seen
	_own = own


## What is remembered after this was [param seen].
func next(seen: PackedVector4Array, memory: PackedVector4Array) -> PackedVector4Array:
	var told: PackedVector4Array = _seen.run(seen)
	if _own == null:
		return _leaked(told.slice(0, width), told.slice(width), memory)
	var own: PackedVector4Array = _own.run(memory)
	return _gated(
		_sums(told.slice(0, width), own.slice(0, width)),
		_sums(told.slice(width, 2 * width), own.slice(width, 2 * width)),
		told.slice(2 * width),
		own.slice(2 * width),
		memory
	)


## The same for many agents.
func next_of_many(
	seen: Array[PackedVector4Array], memory: Array[PackedVector4Array]
) -> Array[PackedVector4Array]:
	var told: Array[PackedVector4Array] = _seen.run_many(seen)
	var own: Array[PackedVector4Array] = []
	if _own != null:
		own = _own.run_many(memory)
	var found: Array[PackedVector4Array] = []
	for place in width:
		if _own == null:
			found.append(_leaked(told[place], told[width + place], memory[place]))
			continue
		found.append(
			_gated(
				_sums(told[place], own[place]),
				_sums(told[width + place], own[width + place]),
				told[2 * width + place],
				own[2 * width + place],
				memory[place]
			)
		)
	return found


static func _leaked(
	gates: PackedVector4Array, told: PackedVector4Array, memory: PackedVector4Array
) -> PackedVector4Array:
	var found: PackedVector4Array = memory.duplicate()
	for index in found.size():
		found[index] += _sigmoid(gates[index]) * (_tanh(told[index]) - found[index])
	return found


static func _gated(
	resets: PackedVector4Array,
	updates: PackedVector4Array,
	told: PackedVector4Array,
	own: PackedVector4Array,
	memory: PackedVector4Array
) -> PackedVector4Array:
	var found: PackedVector4Array = memory.duplicate()
	for index in found.size():
		var fresh: Vector4 = _tanh(told[index] + _sigmoid(resets[index]) * own[index])
		found[index] = fresh + _sigmoid(updates[index]) * (found[index] - fresh)
	return found


static func _sums(some: PackedVector4Array, others: PackedVector4Array) -> PackedVector4Array:
	var found: PackedVector4Array = some.duplicate()
	for index in found.size():
		found[index] += others[index]
	return found


static func _tanh(of: Vector4) -> Vector4:
	return Vector4(tanh(of.x), tanh(of.y), tanh(of.z), tanh(of.w))


static func _sigmoid(of: Vector4) -> Vector4:
	return Vector4(
		1.0 / (1.0 + exp(-of.x)),
		1.0 / (1.0 + exp(-of.y)),
		1.0 / (1.0 + exp(-of.z)),
		1.0 / (1.0 + exp(-of.w))
	)
