class_name LandingTerrain
extends StaticBody3D
## The ground: a square grid of heights, which trainers read, too; each cell is two triangles.

## Collision layer of the ground; crafts are on none and meet nothing else.
const LAYER := 1
const _FILE := "res://games/landing/terrain.json"


func _ready() -> void:
	collision_layer = LAYER
	collision_mask = 0
	var surface := ConcavePolygonShape3D.new()
	surface.backface_collision = true
	surface.set_faces(read_faces())
	var shape := CollisionShape3D.new()
	shape.shape = surface
	add_child(shape)


## Corners of all triangles, three each.
static func read_faces() -> PackedVector3Array:
	var file: Dictionary = JSON.parse_string(FileAccess.get_file_as_string(_FILE))
	return _triangles(file["heights_m"] as Array, file["cell_m"] as float)


## Cuts every cell from its corner (i + 1, j) to (i, j + 1).
static func _triangles(heights_m: Array, cell_m: float) -> PackedVector3Array:
	var found := PackedVector3Array()
	var cells: int = heights_m.size() - 1
	for i in cells:
		for j in cells:
			var corners := PackedVector3Array()
			for corner: Vector2i in [
				Vector2i(0, 0), Vector2i(1, 0), Vector2i(0, 1), Vector2i(1, 1)
			]:
				var height_m: float = (heights_m[i + corner.x] as Array)[j + corner.y]
				var at: Vector2 = Vector2(i + corner.x, j + corner.y) - Vector2.ONE * cells / 2.0
				corners.append(Vector3(at.x * cell_m, height_m, at.y * cell_m))
			for number: int in [0, 1, 2, 1, 3, 2]:
				found.append(corners[number])
	return found
