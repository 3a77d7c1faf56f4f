class_name RoundedBox
extends RefCounted
## Builds box meshes with rounded edges that stay inside the sharp box.


## A box of [param size] around the origin, its edges rounded by [param radius_m] with
## [param steps] facets a quarter turn.
static func build(size: Vector3, radius_m: float, steps: int) -> ArrayMesh:
	var half: Vector3 = size * 0.5
	var radius: float = minf(radius_m, half[half.min_axis_index()])
	var core: Vector3 = half - Vector3.ONE * radius
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	var first: int = 0
	for axis in 3:
		for side: float in [-1.0, 1.0]:
			first += _add_face(tool, first, axis, side, core, radius, steps)
	return tool.commit()


static func _add_face(
	tool: SurfaceTool, first: int, axis: int, side: float, core: Vector3, radius: float, steps: int
) -> int:
	var across: int = (axis + 1) % 3
	var along: int = (axis + 2) % 3
	var count: int = 2 * (steps + 1)
	for row in count:
		for column in count:
			var inner: Vector3 = Vector3.ZERO
			var outward: Vector3 = Vector3.ZERO
			inner[axis] = side * core[axis]
			outward[axis] = side
			inner[across] = core[across] * (-1.0 if column <= steps else 1.0)
			outward[across] = _bend(column, steps)
			inner[along] = core[along] * (-1.0 if row <= steps else 1.0)
			outward[along] = _bend(row, steps)
			outward = outward.normalized()
			tool.set_normal(outward)
			tool.add_vertex(inner + outward * radius)
	for row in count - 1:
		for column in count - 1:
			var corner: int = first + row * count + column
			var quad: PackedInt32Array = [
				corner, corner + 1, corner + count, corner + 1, corner + count + 1, corner + count
			]
			if side > 0.0:
				quad.reverse()
			for index in quad:
				tool.add_index(index)
	return count * count


## How far the normal leans at grid line [param line]: -1 at the first edge, 0 over the flat, 1 at
## the last.
static func _bend(line: int, steps: int) -> float:
	if line <= steps:
		return -tan(PI / 4.0 * (1.0 - float(line) / steps))
	return tan(PI / 4.0 * float(line - steps - 1) / steps)
