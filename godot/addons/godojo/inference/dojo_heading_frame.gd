@tool
class_name DojoHeadingFrame
extends RefCounted
## Rotates observations from the world's axes into an agent's own frame, and actions back; also
## pairs of memory cells, which are along the world's axes between decisions.

## Whether any memory cells rotate.
var rotates_memory: bool

# Indices of the heading in the observation; pairs of x and z in observation, action and memory.
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
	rotates_memory = not _remembered.is_empty()


## Rotates the observation that begins at [param start]; returns its agent's heading.
func rotate(observations: PackedFloat32Array, start: int = 0) -> Vector2:
	var heading := Vector2(observations[start + _forward[0]], observations[start + _forward[1]])
	# Pairs are rotated as they were observed, also where they share a number.
	var rotated: Array[Vector2] = []
	for pair in range(0, _observed.size(), 2):
		var x: float = observations[start + _observed[pair]]
		var z: float = observations[start + _observed[pair + 1]]
		rotated.append(Vector2(x * heading.y - z * heading.x, x * heading.x + z * heading.y))
	for pair in rotated.size():
		observations[start + _observed[2 * pair]] = rotated[pair].x
		observations[start + _observed[2 * pair + 1]] = rotated[pair].y
	return heading


## Rotates an action to the world's axes. A direction is scaled down, not clipped by axis, which
## would bend it.
func rotate_back(action: PackedFloat32Array, heading: Vector2) -> void:
	var rotated: Array[Vector2] = []
	for pair in range(0, _acted.size(), 2):
		var left: float = action[_acted[pair]]
		var front: float = action[_acted[pair + 1]]
		var direction := Vector2(
			left * heading.y + front * heading.x, front * heading.y - left * heading.x
		)
		rotated.append(direction / maxf(1.0, direction.length()))
	for pair in rotated.size():
		action[_acted[2 * pair]] = rotated[pair].x
		action[_acted[2 * pair + 1]] = rotated[pair].y


## Rotates one agent's memory into its frame.
func rotate_memory(memory: PackedVector4Array, heading: Vector2) -> void:
	for pair in range(0, _remembered.size(), 2):
		var x_at: int = _remembered[pair]
		var z_at: int = _remembered[pair + 1]
		var own: Vector2 = _to_heading(
			memory[x_at >> 2][x_at & 3], memory[z_at >> 2][z_at & 3], heading
		)
		memory[x_at >> 2][x_at & 3] = own.x
		memory[z_at >> 2][z_at & 3] = own.y


## The inverse of [method rotate_memory].
func rotate_memory_back(memory: PackedVector4Array, heading: Vector2) -> void:
	rotate_memory(memory, Vector2(-heading.x, heading.y))


## Rotates the memories of many agents: one list for each vector of four, one entry for each agent.
func rotate_memories(memories: Array[PackedVector4Array], heading: PackedVector2Array) -> void:
	for pair in range(0, _remembered.size(), 2):
		var x_axis: int = _remembered[pair] & 3
		var z_axis: int = _remembered[pair + 1] & 3
		var xs: PackedVector4Array = memories[_remembered[pair] >> 2]
		var zs: PackedVector4Array = memories[_remembered[pair + 1] >> 2]
		for agent in heading.size():
			var own: Vector2 = _to_heading(xs[agent][x_axis], zs[agent][z_axis], heading[agent])
			xs[agent][x_axis] = own.x
			zs[agent][z_axis] = own.y


## The inverse of [method rotate_memories].
func rotate_memories_back(memories: Array[PackedVector4Array], heading: PackedVector2Array) -> void:
	var mirrored := PackedVector2Array()
	for direction in heading:
		mirrored.append(Vector2(-direction.x, direction.y))
	rotate_memories(memories, mirrored)


## The components to the left of a heading and along it. NaN becomes 0: it would stay in the memory
## for ever.
static func _to_heading(x: float, z: float, heading: Vector2) -> Vector2:
	var own := Vector2(x * heading.y - z * heading.x, x * heading.x + z * heading.y)
	return own if own.is_finite() else Vector2.ZERO
