class_name DojoLevelBounds
extends RefCounted
## How far a level reaches: the box around everything solid that does not move.

## The box in 3D, and in 2D with z 0; without volume until something solid has come.
var box := AABB()
## Whether anything solid has come.
var is_known: bool = false
## Whether it has no end, as a level on a world boundary has none.
var is_endless: bool = false

var _fresh: Array[Node] = []


## A node has come into the tree; it is measured later, when its scene is complete.
func add(node: Node) -> void:
	if (
		node is CollisionShape3D
		or node is CollisionPolygon3D
		or node is CSGShape3D
		or node is GridMap
		or node is CollisionShape2D
		or node is CollisionPolygon2D
		or node is TileMapLayer
	):
		_fresh.append(node)


## Measures what has come since the last call.
func update() -> void:
	for node in _fresh:
		if is_instance_valid(node) and node.is_inside_tree() and _is_solid(node):
			_measure(node)
	_fresh.clear()


func clear() -> void:
	box = AABB()
	is_known = false
	is_endless = false


func _is_solid(node: Node) -> bool:
	if node is CSGShape3D:
		return (node as CSGShape3D).is_root_shape() and (node as CSGShape3D).use_collision
	if node is GridMap or node is TileMapLayer:
		return true
	return node.get_parent() is StaticBody3D or node.get_parent() is StaticBody2D


func _measure(node: Node) -> void:
	if node is CollisionShape3D:
		_measure_shape((node as CollisionShape3D).shape, (node as Node3D).global_transform)
	elif node is CSGShape3D:
		_merge((node as CSGShape3D).global_transform * (node as CSGShape3D).get_aabb())
	elif node is CollisionPolygon3D:
		var depth: float = (node as CollisionPolygon3D).depth
		for point in (node as CollisionPolygon3D).polygon:
			var place := Vector3(point.x, point.y, depth)
			_merge(AABB((node as Node3D).global_transform * place, Vector3.ZERO))
	elif node is GridMap:
		for cell in (node as GridMap).get_used_cells():
			var middle: Vector3 = (node as GridMap).map_to_local(cell)
			_merge(AABB((node as Node3D).global_transform * middle, Vector3.ZERO))
	elif node is CollisionShape2D:
		_measure_flat_shape((node as CollisionShape2D).shape, (node as Node2D).global_transform)
	elif node is CollisionPolygon2D:
		for point in (node as CollisionPolygon2D).polygon:
			_merge_point((node as Node2D).global_transform * point)
	elif node is TileMapLayer:
		var layer: TileMapLayer = node
		if layer.tile_set != null:
			for cell in layer.get_used_cells():
				_merge_point(layer.global_transform * layer.map_to_local(cell))


func _measure_shape(shape: Shape3D, place: Transform3D) -> void:
	if shape is WorldBoundaryShape3D:
		is_endless = true
	elif shape != null:
		_merge(place * shape.get_debug_mesh().get_aabb())


func _measure_flat_shape(shape: Shape2D, place: Transform2D) -> void:
	if shape is WorldBoundaryShape2D:
		is_endless = true
	elif shape != null:
		var area: Rect2 = place * shape.get_rect()
		_merge_point(area.position)
		_merge_point(area.end)


func _merge_point(point: Vector2) -> void:
	_merge(AABB(Vector3(point.x, point.y, 0.0), Vector3.ZERO))


func _merge(part: AABB) -> void:
	if not part.is_finite():
		return
	box = box.merge(part) if is_known else part
	is_known = true
