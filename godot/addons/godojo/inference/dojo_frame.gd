@tool
class_name DojoFrame
extends RefCounted
## Turns what is along the world's axes into an agent's own frame, and what it wants to do back.

# Places in the observation: where the agent looks, then pairs of x and z; pairs in the action.
var _forward: PackedInt32Array
var _observed: PackedInt32Array
var _acted: PackedInt32Array


## A frame by a policy file's [code]heading[/code], which has been checked.
func _init(heading: Dictionary) -> void:
	_forward = PackedInt32Array(heading["forward"])
	for pair: Array in heading["observed"]:
		_observed.append_array(PackedInt32Array(pair))
	for pair: Array in heading["acted"]:
		_acted.append_array(PackedInt32Array(pair))


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
