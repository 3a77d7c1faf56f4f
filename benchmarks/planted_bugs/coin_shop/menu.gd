extends Control
## The first screen.


func _ready() -> void:
	$Play.pressed.connect(_open.bind("res://level.tscn"))
	$Shop.pressed.connect(_open.bind("res://shop.tscn"))
	$Options.pressed.connect(_open.bind("res://options.tscn"))
	$Play.grab_focus()


func _open(scene: String) -> void:
	get_tree().change_scene_to_file(scene)
