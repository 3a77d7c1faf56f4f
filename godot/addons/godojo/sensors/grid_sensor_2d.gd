@icon("res://addons/godojo/icons/grid_sensor.svg")
class_name DojoGridSensor2D
extends Node2D
## A grid of cells around this node that feels what is in them.
##
## Each cell gives one number for each kind of thing, 1 if one is there; without kinds, one number
## for anything at all. Rows come from top to bottom, columns from left to right. The body the node
## sits on is not felt.

## Cells from left to right.
@export_range(1, 64) var columns: int = 8
## Cells from top to bottom.
@export_range(1, 64) var rows: int = 8
## Size of a cell, in pixels.
@export var cell_px: Vector2 = Vector2(32.0, 32.0)
## Physics layers that are felt.
@export_flags_2d_physics var collision_mask: int = 1
## Whether areas are felt too.
@export var feels_areas: bool = false
## Kinds of things, by group.
@export var kinds_by_group: PackedStringArray = PackedStringArray()
## Kinds of things, by the number of their physics layer, 1 to 32.
@export var kinds_by_layer: PackedInt32Array = PackedInt32Array()

var _query := PhysicsShapeQueryParameters2D.new()

@onready var _hits := DojoRayHits.new(kinds_by_group, kinds_by_layer, false)


func _ready() -> void:
	var box := RectangleShape2D.new()
	# Neighbouring cells do not feel what only touches their border.
	box.size = cell_px * 0.99
	_query.shape = box
	_query.collision_mask = collision_mask
	_query.collide_with_areas = feels_areas
	var body: CollisionObject2D = DojoSensors.body_of(self) as CollisionObject2D
	if body != null:
		_query.exclude = [body.get_rid()]


## The contents of the cells now.
func read() -> PackedFloat32Array:
	_hits.clear(rows * columns)
	var space: PhysicsDirectSpaceState2D = get_world_2d().direct_space_state
	var own := Transform2D(global_rotation, global_position)
	for row in rows:
		for column in columns:
			var place := Vector2(column - (columns - 1) * 0.5, row - (rows - 1) * 0.5) * cell_px
			_query.transform = own.translated_local(place)
			_hits.fill_cell(row * columns + column, space.intersect_shape(_query, 8))
	return _hits.numbers


## What the numbers are: rows, columns, kinds.
func parts() -> Array[Dictionary]:
	var kinds: int = maxi(kinds_by_group.size() + kinds_by_layer.size(), 1)
	return [DojoObservationLayout.grid(name.left(64), [rows, columns, kinds])]
