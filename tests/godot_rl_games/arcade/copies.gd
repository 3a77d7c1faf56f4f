extends Node
## Fills the scene with copies of a game, far enough apart not to touch.

@export var game: PackedScene
@export var copies := 16
@export var spacing := 100.0


func _ready() -> void:
	for index in copies:
		var copy := game.instantiate()
		var place := Vector2(index % 4, floori(index / 4.0)) * spacing
		if copy is Node3D:
			copy.position = Vector3(place.x, 0.0, place.y)
		elif copy is Node2D:
			copy.position = place
		add_child(copy)
