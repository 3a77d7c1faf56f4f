class_name VoxelGenerator
extends RefCounted
## Where the ground is: plains around the start, mountains with caves farther out.
##
## Nothing in here changes after [method _init], so worker threads use one generator together.

## Voxels of the finest level along a chunk's sides, and upwards.
const SIDE := 16
const HEIGHT := 48
## Plains reach this far from the start, in metres; mountains are whole beyond the second.
const PLAINS_M := 140.0
const MOUNTAINS_M := 260.0
const _SEA_LEVEL := 8.0
const _CAVE := 0.32
const _SKIRT_VOXELS := 2

var _hills := FastNoiseLite.new()
var _caves := FastNoiseLite.new()


func _init(seed_number: int) -> void:
	_hills.seed = seed_number
	_hills.frequency = 0.012
	_hills.fractal_octaves = 3
	_caves.seed = seed_number + 1
	_caves.frequency = 0.07
	_caves.fractal_type = FastNoiseLite.FRACTAL_NONE


## Height of the ground, caves aside, in metres.
func ground_m(x: float, z: float) -> float:
	var hill: float = _hills.get_noise_2d(x, z)
	var ruggedness: float = _ruggedness(x, z)
	return _SEA_LEVEL + 3.0 * hill + ruggedness * (18.0 + 30.0 * hill)


## Voxels of a chunk, 1 where it is solid: rows along x, then z, then y, with a border of one voxel
## on each side and above, so that neighbours need not be known. The border is lower than the
## ground: the surface gets a skirt, which hides the gap to a neighbour of the next level of detail.
func voxels(chunk: Vector2i, lod: int) -> PackedByteArray:
	var step: int = 1 << lod
	var side: int = SIDE / step + 2
	var top: int = HEIGHT / step
	var layer: int = side * side
	var solid := PackedByteArray()
	solid.resize(layer * (top + 1))
	for row in side:
		var z: float = chunk.y * SIDE + (row - 0.5) * step
		for column in side:
			var x: float = chunk.x * SIDE + (column - 0.5) * step
			var ground: float = ground_m(x, z)
			var has_caves: bool = _ruggedness(x, z) > 0.25
			var at: int = row * side + column
			if row == 0 or column == 0 or row == side - 1 or column == side - 1:
				ground -= _SKIRT_VOXELS * step
			for y in clampi(ceili(ground / step), 1, top):
				# The lowest layer is always there: nobody falls out of the world.
				if y == 0 or not has_caves or _caves.get_noise_3d(x, y * step, z) < _CAVE:
					solid[at + y * layer] = 1
	return solid


## 0 in the plains, 1 in the mountains.
func _ruggedness(x: float, z: float) -> float:
	return smoothstep(PLAINS_M, MOUNTAINS_M, sqrt(x * x + z * z))
