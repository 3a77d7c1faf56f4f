class_name DojoGhostSolids
extends RefCounted
## Knows what looks solid and is not: shapes that are switched off, drawings without a shape among
## others that have one, bodies on layers that nobody meets, and boxes whose shape leaves a part of
## what is drawn open.

const _MOST := 64
const _MOST_LOOSE := 1024
## Of its length, what is drawn beyond a shape, at least so long; and what is as good as none.
const _OPEN := 0.1
const _OPEN_M := 0.5
const _OPEN_PX := 24.0
const _CLOSED := 0.03
## Boxes of the scene whose shapes are as they are drawn, at least; and of all.
const _FEWEST_CLOSED := 3
const _CLOSED_SHARE := 0.6
const _DRAWN: PackedStringArray = [
	"MeshInstance3D", "Sprite2D", "Polygon2D", "ColorRect", "TextureRect", "NinePatchRect"
]

# The box in the frame of a node.
var _ghosts: Array[Dictionary] = []
var _open: Array[Dictionary] = []
# By the id of a solid, how much of it is open along each axis.
var _gaps: Dictionary[int, Vector3] = {}
# What is drawn and has come since the last look.
var _loose: Array[Node] = []
var _statics: Array[Node] = []


func begin() -> void:
	_ghosts.clear()
	_open.clear()
	_gaps.clear()
	_loose.clear()


func add(node: Node) -> void:
	if node is CSGShape3D or _DRAWN.has(node.get_class()):
		if _loose.size() < _MOST_LOOSE:
			_loose.append(node)


## Looks at solids that have [param come]; [param statics] are all of them.
func sort_in(come: Array[Node], statics: Array[Node]) -> void:
	_statics = statics
	for node in come:
		if is_instance_valid(node) and node.is_inside_tree() and is_drawn(node):
			if _ghosts.size() < _MOST:
				_add_ghosts(node)
	for node in _loose:
		if is_instance_valid(node) and node.is_inside_tree() and _ghosts.size() < _MOST:
			_add_loose(node)
	_loose.clear()
	_add_open(come)
	for node in come:
		if is_instance_valid(node) and node.get("collision_layer") == 0 and _shaped_share() > 0.5:
			add_layered(node)


## Something drawn that stops nobody whose mask has none of its layers, as long as it keeps them.
func add_layered(solid: Node) -> void:
	if enabled_shape(solid) == null:
		return
	for drawn in _drawn_in(solid):
		if _open.size() < _MOST:
			var layer: int = solid.get("collision_layer")
			var box: AABB = _box_of_drawn(drawn)
			_open.append({"node": drawn, "box": box, "solid": solid, "layer": layer})


## Boxes with a part that is drawn and open, if most others have none.
func _add_open(come: Array[Node]) -> void:
	for node in come:
		var gap: Vector3 = _gap_of(node) if is_instance_valid(node) else Vector3.INF
		if gap.is_finite():
			_gaps[node.get_instance_id()] = gap
	var closed: int = 0
	for id in _gaps:
		closed += int(_gaps[id][_gaps[id].max_axis_index()] < _CLOSED)
	if closed < _FEWEST_CLOSED or closed < _CLOSED_SHARE * _gaps.size():
		return
	for node in come:
		if not is_instance_valid(node) or not _gaps.has(node.get_instance_id()):
			continue
		var gap: Vector3 = _gaps[node.get_instance_id()]
		var axis: int = gap.max_axis_index()
		var others: float = maxf(gap[(axis + 1) % 3], gap[(axis + 2) % 3])
		if gap[axis] < _OPEN or others > _CLOSED or _open.size() >= _MOST:
			continue
		var drawn: Node = _drawn_in(node)[0]
		var box: AABB = _box_of_drawn(drawn)
		if gap[axis] * box.size[axis] > (_OPEN_M if drawn is Node3D else _OPEN_PX):
			_open.append({"node": drawn, "box": box, "solid": node})


## How much of the only box that is drawn of a solid is beyond its only shape, along each axis;
## infinite for other solids.
static func _gap_of(solid: Node) -> Vector3:
	var shape: Node = enabled_shape(solid)
	var drawn: Array[Node] = _drawn_in(solid)
	if shape == null or drawn.size() != 1 or drawn[0].get_parent() != solid:
		return Vector3.INF
	var shapes: Array[Node] = solid.get_children().filter(
		func(child: Node) -> bool:
			return child.is_class("CollisionShape3D") or child.is_class("CollisionShape2D")
	)
	var is_box: bool = shape.get("shape") is BoxShape3D or shape.get("shape") is RectangleShape2D
	if shapes.size() != 1 or not is_box or not _is_box(drawn[0]):
		return Vector3.INF
	var seen: AABB = _placed(drawn[0], _box_of_drawn(drawn[0]))
	var felt: AABB = _placed(shape, box_of_shape(shape))
	var before: Vector3 = (felt.position - seen.position).max(Vector3.ZERO)
	var after: Vector3 = (seen.end - felt.end).max(Vector3.ZERO)
	return before.max(after) / seen.size.max(Vector3.ONE * 1e-3)


static func _is_box(drawn: Node) -> bool:
	if drawn is MeshInstance3D:
		return (drawn as MeshInstance3D).mesh is BoxMesh
	return drawn is ColorRect or (drawn is Polygon2D and (drawn as Polygon2D).polygon.size() == 4)


## A box of a node in the frame of its parent.
static func _placed(node: Node, box: AABB) -> AABB:
	if node is Node3D:
		return (node as Node3D).transform * box
	var flat: Transform2D = (node as CanvasItem).get_transform()
	return _thick(flat * Rect2(box.position.x, box.position.y, box.size.x, box.size.y))


## Shapes of a drawn solid that are switched off, or what is drawn of a solid without any.
func _add_ghosts(solid: Node) -> void:
	var has_shape: bool = false
	for child in solid.get_children():
		if child is CollisionShape3D or child is CollisionShape2D:
			has_shape = true
			if child.get("disabled") and child.get("shape") != null:
				_ghosts.append({"node": child, "box": box_of_shape(child), "solid": solid})
		elif child is CollisionPolygon3D or child is CollisionPolygon2D:
			has_shape = true
	if not has_shape and _shaped_share() > 0.5:
		for drawn in _drawn_in(solid):
			_ghosts.append({"node": drawn, "box": _box_of_drawn(drawn), "solid": solid})


## Something drawn without a body, among others of its name that are solids.
func _add_loose(drawn: Node) -> void:
	if drawn is CSGShape3D:
		var shape: CSGShape3D = drawn
		if not shape.is_root_shape() or shape.use_collision or not _has_solid_kin(shape):
			return
		_ghosts.append({"node": shape, "box": _box_of_drawn(shape), "solid": shape})
		return
	var holder: Node = drawn
	for _level in 2:
		if holder == null or holder is CollisionObject3D or holder is CollisionObject2D:
			return
		if _has_solid_kin(holder):
			_ghosts.append({"node": drawn, "box": _box_of_drawn(drawn), "solid": holder})
			return
		holder = holder.get_parent()


## Whether most of its siblings with the same name but for a number are solids, two at least.
static func _has_solid_kin(node: Node) -> bool:
	if node.get_parent() == null:
		return false
	var stem: String = str(node.name).rstrip("0123456789_")
	var solids: int = 0
	var others: int = 0
	for other in node.get_parent().get_children():
		if other == node or str(other.name).rstrip("0123456789_") != stem:
			continue
		if other is CSGShape3D:
			solids += int((other as CSGShape3D).use_collision)
		else:
			solids += int(DojoSolidDetector.is_static(other) and enabled_shape(other) != null)
		others += 1
	return solids >= 2 and solids * 2 > others


## The share of solids that have a layer and a shape which is not switched off.
func _shaped_share() -> float:
	var shaped: int = 0
	for solid in _statics:
		if is_instance_valid(solid):
			shaped += int(enabled_shape(solid) != null and solid.get("collision_layer") != 0)
	return float(shaped) / maxi(_statics.size(), 1)


## What a place is in, if anything.
func around(place: Vector3) -> Node:
	return _around(place, _ghosts)


## Of which solid a place is in a part that is drawn, and open to a body with this mask.
func open_around(place: Vector3, mask: int) -> Node:
	return _around(place, _open, mask) if not _open.is_empty() else null


static func _around(place: Vector3, ghosts: Array[Dictionary], mask: int = 0) -> Node:
	for ghost in ghosts:
		if not is_instance_valid(ghost["node"]) or not is_instance_valid(ghost["solid"]):
			continue
		var node: Node = ghost["node"]
		if not node.is_inside_tree() or not is_drawn(ghost["solid"] as Node):
			continue
		if node.get("disabled") == false:
			continue
		if ghost.has("layer"):
			var layer: int = ghost["layer"]
			if layer & mask != 0 or ghost["solid"].get("collision_layer") != layer:
				continue
		if (ghost["box"] as AABB).has_point(_local(node, place)):
			return ghost["solid"]
	return null


static func _local(node: Node, place: Vector3) -> Vector3:
	if node is Node3D:
		return (node as Node3D).to_local(place)
	var inverse: Transform2D = (node as CanvasItem).get_global_transform().affine_inverse()
	return deep(inverse * Vector2(place.x, place.y))


static func box_of_shape(node: Node) -> AABB:
	if node is CollisionShape3D:
		return (node as CollisionShape3D).shape.get_debug_mesh().get_aabb()
	return _thick((node as CollisionShape2D).shape.get_rect())


static func _box_of_drawn(node: Node) -> AABB:
	if node is MeshInstance3D:
		return (node as MeshInstance3D).get_aabb()
	if node is CSGShape3D:
		return (node as CSGShape3D).get_aabb()
	if node is Sprite2D:
		return _thick((node as Sprite2D).get_rect())
	if node is Control:
		return _thick(Rect2(Vector2.ZERO, (node as Control).size))
	var area := Rect2((node as Polygon2D).polygon[0], Vector2.ZERO)
	for point in (node as Polygon2D).polygon:
		area = area.expand(point)
	return _thick(area)


static func _thick(area: Rect2) -> AABB:
	return AABB(
		Vector3(area.position.x, area.position.y, -1.0), Vector3(area.size.x, area.size.y, 2.0)
	)


static func is_drawn(solid: Node) -> bool:
	if solid is CSGShape3D:
		return (solid as CSGShape3D).is_visible_in_tree()
	return not _drawn_in(solid).is_empty()


## What people see of it.
static func _drawn_in(solid: Node) -> Array[Node]:
	var found: Array[Node] = []
	if _DRAWN.has(solid.get_class()) and solid.call(&"is_visible_in_tree"):
		found.append(solid)
	for kind in _DRAWN:
		for node in solid.find_children("*", kind, true, false):
			if not node.call(&"is_visible_in_tree"):
				continue
			if node is MeshInstance3D and (node as MeshInstance3D).mesh == null:
				continue
			if node is Polygon2D and (node as Polygon2D).polygon.is_empty():
				continue
			found.append(node)
	return found


static func enabled_shape(body: Node) -> Node:
	for child in body.get_children():
		if child is CollisionShape3D or child is CollisionShape2D:
			if not child.get("disabled") and child.get("shape") != null:
				return child
	return null


static func deep(vector: Variant) -> Vector3:
	if vector is Vector2:
		return Vector3((vector as Vector2).x, (vector as Vector2).y, 0.0)
	return vector
