class_name DojoRayHits
extends RefCounted
## Tells things apart by their group or physics layer: one number for each kind, 1 where it fits.

## Groups, one kind each.
var groups: PackedStringArray
## Physics layers from 1 to 32, one kind each, after the groups.
var layers: PackedInt32Array


## Kinds that are told apart.
func _init(group_names: PackedStringArray, layer_numbers: PackedInt32Array) -> void:
	groups = group_names
	layers = layer_numbers


## How many kinds there are.
func size() -> int:
	return groups.size() + layers.size()


## Which kinds [param thing] is of, written into [param numbers] from [param at] on.
func write(thing: Object, numbers: PackedFloat32Array, at: int) -> void:
	var node: Node = thing as Node
	if node == null:
		return
	for index in groups.size():
		if node.is_in_group(groups[index]):
			numbers[at + index] = 1.0
	if layers.is_empty():
		return
	var mask: int = _layer_of(node)
	for index in layers.size():
		if mask & (1 << (layers[index] - 1)):
			numbers[at + groups.size() + index] = 1.0


static func _layer_of(node: Node) -> int:
	if node is CollisionObject3D:
		return (node as CollisionObject3D).collision_layer
	if node is CollisionObject2D:
		return (node as CollisionObject2D).collision_layer
	return 0
