@tool
class_name DojoHeadingFrame
extends RefCounted
## Turns what is along the world's axes into an agent's own frame, and what it wants to do back; so
## also pairs of what it remembers, which are along the world's axes between decisions.

## Whether there is anything remembered that turns.
var turns_memory: bool

# Places in the observation: where the agent looks, then pairs of x and z; pairs in the action, and
# in what is remembered.
var _forward: PackedInt32Array
var _observed: PackedInt32Array
var _acted: PackedInt32Array
var _remembered: PackedInt32Array


## A frame by a policy file's [code]heading[/code], which has been checked.
func _init(heading: Dictionary) -> void:
	_forward = PackedInt32Array(heading["forward"])
	for pair: Array in heading["observed"]:
		_observed.append_array(PackedInt32Array(pair))
	for pair: Array in heading["acted"]:
		_acted.append_array(PackedInt32Array(pair))
	for pair: Array in heading.get("remembered", []):
		_remembered.append_array(PackedInt32Array(pair))
	turns_memory = not _remembered.is_empty()


## Turns the observation that begins at [param start]; returns the x and z of where its agent looks.
func turn(observations: PackedFloat32Array, start: int = 0) -> Vector2:
	var ahead := Vector2(observations[start + _forward[0]], observations[start + _forward[1]])
	# Pairs are turned by what was observed, also where they share a number.
	var turned: Array[Vector2] = []
	for pair in range(0, _observed.size(), 2):
		var x: float = observations[start + _observed[pair]]
		var z: float = observations[start + _observed[pair + 1]]
		turned.append(Vector2(x * ahead.y - z * ahead.x, x * ahead.x + z * ahead.y))
	for pair in turned.size():
		observations[start + _observed[2 * pair]] = turned[pair].x
		observations[start + _observed[2 * pair + 1]] = turned[pair].y
	return ahead


## Turns an action into the world's frame. A direction is shortened, not cut axis by axis: it must
## not bend.
func turn_back(action: PackedFloat32Array, ahead: Vector2) -> void:
	var turned: Array[Vector2] = []
	for pair in range(0, _acted.size(), 2):
		var left: float = action[_acted[pair]]
		var on: float = action[_acted[pair + 1]]
		var way := Vector2(left * ahead.y + on * ahead.x, on * ahead.y - left * ahead.x)
		turned.append(way / maxf(1.0, way.length()))
	for pair in turned.size():
		action[_acted[2 * pair]] = turned[pair].x
		action[_acted[2 * pair + 1]] = turned[pair].y


## Turns what one agent remembers, before it thinks.
func turn_memory(memory: PackedVector4Array, ahead: Vector2) -> void:
	for pair in range(0, _remembered.size(), 2):
		var x_at: int = _remembered[pair]
		var z_at: int = _remembered[pair + 1]
		var own: Vector2 = _in_frame(
			memory[x_at >> 2][x_at & 3], memory[z_at >> 2][z_at & 3], ahead
		)
		memory[x_at >> 2][x_at & 3] = own.x
		memory[z_at >> 2][z_at & 3] = own.y


## The way back of [method turn_memory], after it thought.
func turn_memory_back(memory: PackedVector4Array, ahead: Vector2) -> void:
	turn_memory(memory, Vector2(-ahead.x, ahead.y))


## Turns what many agents remember: one list for each vector of four, with one entry for each agent.
func turn_memories(memories: Array[PackedVector4Array], ahead: PackedVector2Array) -> void:
	for pair in range(0, _remembered.size(), 2):
		var x_axis: int = _remembered[pair] & 3
		var z_axis: int = _remembered[pair + 1] & 3
		var xs: PackedVector4Array = memories[_remembered[pair] >> 2]
		var zs: PackedVector4Array = memories[_remembered[pair + 1] >> 2]
		for agent in ahead.size():
			var own: Vector2 = _in_frame(xs[agent][x_axis], zs[agent][z_axis], ahead[agent])
			xs[agent][x_axis] = own.x
			zs[agent][z_axis] = own.y


## The way back of [method turn_memories].
func turn_memories_back(memories: Array[PackedVector4Array], ahead: PackedVector2Array) -> void:
	var mirrored := PackedVector2Array()
	for way in ahead:
		mirrored.append(Vector2(-way.x, way.y))
	turn_memories(memories, mirrored)


## How much is to the left of a heading, and how much ahead. What comes to no number is forgotten:
## it would be remembered for ever.
static func _in_frame(x: float, z: float, ahead: Vector2) -> Vector2:
	var own := Vector2(x * ahead.y - z * ahead.x, x * ahead.x + z * ahead.y)
	return own if own.is_finite() else Vector2.ZERO
