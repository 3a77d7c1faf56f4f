class_name ShowLayout
extends RefCounted
## What stands in an arena, as far as it is drawn: floor, outer walls, boxes and marks.


## A place on the ground that matters, such as a goal.
class Mark:
	extends RefCounted
	var position: Vector3
	var radius_m: float
	var kind: StringName


## Extent along x and z, between the outer walls where there are any.
var size_m := Vector2(20, 20)
## Middle on the ground.
var centre := Vector3.ZERO
## Whether the ground is a floor of this size; otherwise agents stand on boxes.
var has_floor: bool = true
## Height of the outer walls; 0 for none.
var wall_height_m: float = 0.0
## Solid boxes, and the kind of each.
var boxes: Array[AABB] = []
var kinds: Array[StringName] = []
var marks: Array[Mark] = []
## Edge of an agent's collider.
var body_m: float = 0.9


## Reads a layout as src/godojo/show/shots.py writes it.
static func from_dict(fields: Dictionary) -> ShowLayout:
	var layout := ShowLayout.new()
	layout.size_m = _vector2(fields["size_m"] as Array)
	layout.wall_height_m = fields["wall_height_m"]
	layout.body_m = fields["body_m"]
	var middle: Vector2 = _vector2(fields["centre_m"] as Array)
	layout.centre = Vector3(middle.x, 0.0, middle.y)
	layout.has_floor = fields["has_floor"]
	for box: Dictionary in fields["boxes"]:
		layout.add_box(
			_vector3(box["position_m"] as Array),
			_vector3(box["size_m"] as Array),
			StringName(box["kind"] as String)
		)
	for source: Dictionary in fields["marks"]:
		var mark := Mark.new()
		mark.position = _vector3(source["position_m"] as Array)
		mark.radius_m = source["radius_m"]
		mark.kind = StringName(source["kind"] as String)
		layout.marks.append(mark)
	return layout


func add_box(centre: Vector3, size: Vector3, kind: StringName) -> void:
	boxes.append(AABB(centre - size * 0.5, size))
	kinds.append(kind)


## What a camera has to show.
func bounds() -> AABB:
	var flat := Vector3(size_m.x, 0.0, size_m.y)
	var all := AABB(centre - flat * 0.5, flat + Vector3.UP * wall_height_m)
	if has_floor:
		return all
	for box in boxes:
		all = all.merge(box)
	return all


static func _vector2(numbers: Array) -> Vector2:
	return Vector2(numbers[0] as float, numbers[1] as float)


static func _vector3(numbers: Array) -> Vector3:
	return Vector3(numbers[0] as float, numbers[1] as float, numbers[2] as float)
