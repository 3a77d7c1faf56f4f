class_name SeeThrough
extends RefCounted
## Decides for each agent how far a window to it must open in whatever hides it from the camera.

## How fast windows open and close, in openings a second.
const OPEN_RATE: float = 9.0
const CLOSE_RATE: float = 3.5
## Windows open so long before they are needed.
const FORESIGHT_S: float = 0.12

var _openings: PackedFloat32Array = []


## Moves every opening on by [param delta] seconds; at once when it is infinite. [param middles]
## are the agents' middles, [param velocities] lets windows open before they are needed, [param
## wanted] says to whom a window may open, [param size_m] is the agents' size.
func update(
	camera: Vector3,
	middles: PackedVector3Array,
	velocities: PackedVector3Array,
	wanted: Array[bool],
	size_m: float,
	solids: Array[AABB],
	delta: float
) -> PackedFloat32Array:
	if _openings.size() != middles.size():
		_openings.resize(middles.size())
		_openings.fill(0.0)
	for index in middles.size():
		var soon: Vector3 = middles[index] + velocities[index] * FORESIGHT_S
		var hidden: bool = (
			wanted[index]
			and (
				is_hidden(camera, middles[index], size_m, solids)
				or is_hidden(camera, soon, size_m, solids)
			)
		)
		var rate: float = OPEN_RATE if hidden else CLOSE_RATE
		_openings[index] = move_toward(_openings[index], 1.0 if hidden else 0.0, rate * delta)
	return _openings


## Whether any of [param solids] stands between [param camera] and some part of a cube at [param
## middle].
static func is_hidden(camera: Vector3, middle: Vector3, size_m: float, solids: Array[AABB]) -> bool:
	var reach: float = size_m * 0.42
	for offset: Vector3 in [
		Vector3(0, -1, 0),
		Vector3(-1, -1, 0),
		Vector3(1, -1, 0),
		Vector3(-1, 1, 0),
		Vector3(1, 1, 0)
	]:
		var point: Vector3 = middle + offset * reach
		for solid in solids:
			if solid.intersects_segment(point, camera) != null:
				return true
	return false
