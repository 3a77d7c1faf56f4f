class_name VoxelMesher
extends RefCounted
## Makes surfaces of voxels: faces between solid and empty, neighbours in a row merged into one.

## Normal and corners of each face of a unit voxel.
const _FACES: Array[Array] = [
	[Vector3i.UP, [Vector3(0, 1, 0), Vector3(1, 1, 0), Vector3(1, 1, 1), Vector3(0, 1, 1)]],
	[Vector3i.LEFT, [Vector3(0, 0, 0), Vector3(0, 1, 0), Vector3(0, 1, 1), Vector3(0, 0, 1)]],
	[Vector3i.RIGHT, [Vector3(1, 0, 1), Vector3(1, 1, 1), Vector3(1, 1, 0), Vector3(1, 0, 0)]],
	[Vector3i.FORWARD, [Vector3(1, 0, 0), Vector3(1, 1, 0), Vector3(0, 1, 0), Vector3(0, 0, 0)]],
	[Vector3i.BACK, [Vector3(0, 0, 1), Vector3(0, 1, 1), Vector3(1, 1, 1), Vector3(1, 0, 1)]],
	[Vector3i.DOWN, [Vector3(0, 0, 1), Vector3(1, 0, 1), Vector3(1, 0, 0), Vector3(0, 0, 0)]],
]
## Ground, from low to high.
const _COLORS: Array[Color] = [
	Color(0.80, 0.72, 0.55),
	Color(0.47, 0.60, 0.38),
	Color(0.50, 0.47, 0.45),
	Color(0.93, 0.94, 0.96)
]
const _COLOR_STEP_M := 11.0


## Arrays of a mesh for [method VoxelGenerator.voxels] of this level; empty for no face.
static func surface(solid: PackedByteArray, lod: int) -> Array:
	var step: int = 1 << lod
	var side: int = VoxelGenerator.SIDE / step
	var padded: int = side + 2
	var layer: int = padded * padded
	var points := PackedVector3Array()
	var normals := PackedVector3Array()
	var colors := PackedColorArray()
	for y in _layers_with_faces(solid, layer):
		var height: int = y * layer
		for face in _FACES:
			var normal: Vector3i = face[0]
			if normal == Vector3i.DOWN and y == 0:
				continue
			var other: int = normal.x + normal.z * padded + normal.y * layer
			var along_z: bool = normal.x != 0
			var stride: int = padded if along_z else 1
			var across: int = 1 if along_z else padded
			for line in side:
				var at: int = height + padded + 1 + line * across
				var start: int = -1
				for cell in side + 1:
					var shows: bool = cell < side and solid[at] == 1 and solid[at + other] == 0
					if shows and start < 0:
						start = cell
					elif not shows and start >= 0:
						var from := Vector3(line, y, start) if along_z else Vector3(start, y, line)
						var size := Vector3.ONE
						size[2 if along_z else 0] = cell - start
						_add(face, from, size, step, points, normals, colors)
						start = -1
					at += stride
	if points.is_empty():
		return []
	var arrays: Array = []
	arrays.resize(Mesh.ARRAY_MAX)
	arrays[Mesh.ARRAY_VERTEX] = points
	arrays[Mesh.ARRAY_NORMAL] = normals
	arrays[Mesh.ARRAY_COLOR] = colors
	return arrays


## Layers that are empty, or whole between two whole ones, have no face; in the plains most are.
static func _layers_with_faces(solid: PackedByteArray, layer: int) -> PackedInt32Array:
	var counts := PackedInt32Array()
	for y in solid.size() / layer:
		counts.append(solid.slice(y * layer, (y + 1) * layer).count(1))
	var found := PackedInt32Array()
	for y in counts.size() - 1:
		var is_buried: bool = mini(counts[maxi(y - 1, 0)], mini(counts[y], counts[y + 1])) == layer
		if counts[y] > 0 and not is_buried:
			found.append(y)
	return found


static func _add(
	face: Array,
	from: Vector3,
	size: Vector3,
	step: int,
	points: PackedVector3Array,
	normals: PackedVector3Array,
	colors: PackedColorArray
) -> void:
	var normal := Vector3(face[0] as Vector3i)
	var corners: Array = face[1]
	var height: float = from.y * step / _COLOR_STEP_M
	var color: Color = _COLORS[clampi(int(height), 0, _COLORS.size() - 1)]
	for corner: int in [0, 1, 2, 0, 2, 3]:
		points.append((from + (corners[corner] as Vector3) * size) * step)
		normals.append(normal)
		colors.append(color)
