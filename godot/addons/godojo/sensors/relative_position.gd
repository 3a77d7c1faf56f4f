@icon("res://addons/godojo/icons/relative_position.svg")
class_name DojoRelativePosition
extends Node
## Knows where things are, walls or not: for each of its targets the direction (three numbers in 3D,
## two in 2D) and the distance, from 0 to 1 at the limit. A target that is gone gives zeros.

## The nodes to find.
@export var targets: Array[Node] = []
## From where; empty: the parent of this node.
@export var from: Node
## Distances from here on count as 1, in metres or pixels.
@export_range(0.1, 10000.0, 0.1, "or_greater") var limit: float = 20.0
## Whether directions turn with the one who looks. If not, they are those of the world.
@export var turns_along: bool = true


## Where the targets are now.
func read() -> PackedFloat32Array:
	var viewer: Node = _viewer()
	var numbers := PackedFloat32Array()
	for index in targets.size():
		# What has been freed must not even be named.
		var target: Node = targets[index] if is_instance_valid(targets[index]) else null
		if viewer is Node2D:
			numbers.append_array(_flat(viewer as Node2D, target as Node2D))
		else:
			numbers.append_array(_deep(viewer as Node3D, target as Node3D))
	return numbers


## What the numbers are: one part for each target.
func parts() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	for index in targets.size():
		var part_name: String = "%s_%d" % [name.left(60), index]
		found.append(DojoObservationLayout.numbers(part_name, 3 if _viewer() is Node2D else 4))
	return found


func _viewer() -> Node:
	return from if from != null else get_parent()


func _flat(viewer: Node2D, target: Node2D) -> PackedFloat32Array:
	if viewer == null or target == null or not target.is_inside_tree():
		return [0.0, 0.0, 0.0]
	var offset: Vector2 = target.global_position - viewer.global_position
	if turns_along:
		offset = offset.rotated(-viewer.global_rotation)
	var direction: Vector2 = offset.normalized()
	return [direction.x, direction.y, minf(offset.length() / limit, 1.0)]


func _deep(viewer: Node3D, target: Node3D) -> PackedFloat32Array:
	if viewer == null or target == null or not target.is_inside_tree():
		return [0.0, 0.0, 0.0, 0.0]
	var offset: Vector3 = target.global_position - viewer.global_position
	if turns_along:
		offset = viewer.global_basis.orthonormalized().transposed() * offset
	var direction: Vector3 = offset.normalized()
	return [direction.x, direction.y, direction.z, minf(offset.length() / limit, 1.0)]
