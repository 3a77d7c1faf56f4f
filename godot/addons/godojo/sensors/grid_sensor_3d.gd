@icon("res://addons/godojo/icons/grid_sensor.svg")
class_name DojoGridSensor3D
extends Node3D
## A flat grid of cells around this node, on its XZ plane, that feels what is in them.
##
## Each cell gives one number for each kind of thing, 1 if one is there; without kinds, one number
## for anything at all. Rows come from -Z to +Z, columns from -X to +X. The body the node sits on
## is not felt.

## Cells from left to right.
@export_range(1, 64) var columns: int = 8
## Cells from front to back.
@export_range(1, 64) var rows: int = 8
## Size of a cell, in metres.
@export var cell_m: Vector3 = Vector3.ONE
## Physics layers that are felt.
@export_flags_3d_physics var collision_mask: int = 1
## Whether areas are felt too.
@export var feels_areas: bool = false
## Kinds of things, by group.
@export var kinds_by_group: PackedStringArray = PackedStringArray()
## Kinds of things, by the number of their physics layer, 1 to 32.
@export var kinds_by_layer: PackedInt32Array = PackedInt32Array()

var _query := PhysicsShapeQueryParameters3D.new()

@onready var _hits := DojoRayHits.new(kinds_by_group, kinds_by_layer, false)


func _ready() -> void:
	var box := BoxShape3D.new()
	# Neighbouring cells do not feel what only touches their border.
	box.size = cell_m * 0.99
	_query.shape = box
	_query.collision_mask = collision_mask
	_query.collide_with_areas = feels_areas
	var body: CollisionObject3D = DojoSensors.body_of(self) as CollisionObject3D
	if body != null:
		_query.exclude = [body.get_rid()]


## The contents of the cells now.
func read() -> PackedFloat32Array:
	_hits.clear(rows * columns)
	var space: PhysicsDirectSpaceState3D = get_world_3d().direct_space_state
	for row in rows:
		for column in columns:
			var place := Vector3(column - (columns - 1) * 0.5, 0.0, row - (rows - 1) * 0.5) * cell_m
			_query.transform = global_transform.orthonormalized().translated_local(place)
			_hits.fill_cell(row * columns + column, space.intersect_shape(_query, 8))
	return _hits.numbers


## What the numbers are: rows, columns, kinds.
func parts() -> Array[Dictionary]:
	var kinds: int = maxi(kinds_by_group.size() + kinds_by_layer.size(), 1)
	return [DojoObservationLayout.grid(name.left(64), [rows, columns, kinds])]
