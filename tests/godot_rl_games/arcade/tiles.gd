extends TileMapLayer
## A floor with steps and a slope, made of tiles.

const SIDE := 32
const SOLID := Vector2i(0, 0)
const SLOPE := Vector2i(1, 0)


func _ready() -> void:
	tile_set = _tiles()
	_fill(Rect2i(-12, 4, 24, 2), SOLID)
	_fill(Rect2i(-12, -3, 1, 7), SOLID)
	_fill(Rect2i(11, -3, 1, 7), SOLID)
	_fill(Rect2i(2, 3, 1, 1), SLOPE)
	_fill(Rect2i(3, 3, 3, 1), SOLID)
	_fill(Rect2i(-6, 2, 3, 1), SOLID)


func _fill(cells: Rect2i, tile: Vector2i) -> void:
	for x in range(cells.position.x, cells.end.x):
		for y in range(cells.position.y, cells.end.y):
			set_cell(Vector2i(x, y), 0, tile)


func _tiles() -> TileSet:
	var made := TileSet.new()
	made.tile_size = Vector2i(SIDE, SIDE)
	made.add_physics_layer()
	var source := TileSetAtlasSource.new()
	var picture := Image.create(2 * SIDE, SIDE, false, Image.FORMAT_RGBA8)
	source.texture = ImageTexture.create_from_image(picture)
	source.texture_region_size = Vector2i(SIDE, SIDE)
	made.add_source(source, 0)
	var half := SIDE / 2.0
	var corners: PackedVector2Array = [
		Vector2(half, -half), Vector2(half, half), Vector2(-half, half), Vector2(-half, -half)
	]
	for tile: Vector2i in [SOLID, SLOPE]:
		source.create_tile(tile)
		var data := source.get_tile_data(tile, 0)
		data.add_collision_polygon(0)
		data.set_collision_polygon_points(0, 0, corners.slice(0, 4 if tile == SOLID else 3))
	return made
