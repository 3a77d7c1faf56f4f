@tool
class_name DojoMemory
extends RefCounted
## Recurrent memory: leaky cells, or a gated recurrent unit.
##
## The memory is a list of vectors of four, for one agent or, in the methods for many, one list for
## each of these vectors with one entry for each agent.

## How many vectors of four it has.
var width: int

var _encoded: DojoLinear
# The layer that takes the memory itself, of a gated recurrent unit; null for leaky cells.
var _own: DojoLinear


## A memory of [param size] numbers; [param own] makes it a gated recurrent unit.
func _init(size: int, encoded: DojoLinear, own: DojoLinear = null) -> void:
	width = DojoLinear.fours(size)
	_encoded = encoded
	_own = own


## The memory after a step.
func next(encoded: PackedVector4Array, memory: PackedVector4Array) -> PackedVector4Array:
	var fed: PackedVector4Array = _encoded.run(encoded)
	if _own == null:
		return _leaky(fed.slice(0, width), fed.slice(width), memory)
	var own: PackedVector4Array = _own.run(memory)
	return _gru(
		_sums(fed.slice(0, width), own.slice(0, width)),
		_sums(fed.slice(width, 2 * width), own.slice(width, 2 * width)),
		fed.slice(2 * width),
		own.slice(2 * width),
		memory
	)


## The same for many agents.
func next_of_many(
	encoded: Array[PackedVector4Array], memory: Array[PackedVector4Array]
) -> Array[PackedVector4Array]:
	var fed: Array[PackedVector4Array] = _encoded.run_many(encoded)
	var own: Array[PackedVector4Array] = []
	if _own != null:
		own = _own.run_many(memory)
	var found: Array[PackedVector4Array] = []
	for place in width:
		if _own == null:
			found.append(_leaky(fed[place], fed[width + place], memory[place]))
			continue
		found.append(
			_gru(
				_sums(fed[place], own[place]),
				_sums(fed[width + place], own[width + place]),
				fed[2 * width + place],
				own[2 * width + place],
				memory[place]
			)
		)
	return found


static func _leaky(
	gates: PackedVector4Array, fed: PackedVector4Array, memory: PackedVector4Array
) -> PackedVector4Array:
	var found: PackedVector4Array = memory.duplicate()
	for index in found.size():
		found[index] += sigmoid_of(gates[index]) * (tanh_of(fed[index]) - found[index])
	return found


static func _gru(
	resets: PackedVector4Array,
	updates: PackedVector4Array,
	fed: PackedVector4Array,
	own: PackedVector4Array,
	memory: PackedVector4Array
) -> PackedVector4Array:
	var found: PackedVector4Array = memory.duplicate()
	for index in found.size():
		var fresh: Vector4 = tanh_of(fed[index] + sigmoid_of(resets[index]) * own[index])
		found[index] = fresh + sigmoid_of(updates[index]) * (found[index] - fresh)
	return found


static func _sums(some: PackedVector4Array, others: PackedVector4Array) -> PackedVector4Array:
	var found: PackedVector4Array = some.duplicate()
	for index in found.size():
		found[index] += others[index]
	return found


static func tanh_of(of: Vector4) -> Vector4:
	return Vector4(tanh(of.x), tanh(of.y), tanh(of.z), tanh(of.w))


static func sigmoid_of(of: Vector4) -> Vector4:
	return Vector4(
		1.0 / (1.0 + exp(-of.x)),
		1.0 / (1.0 + exp(-of.y)),
		1.0 / (1.0 + exp(-of.z)),
		1.0 / (1.0 + exp(-of.w))
	)
