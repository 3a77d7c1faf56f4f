extends Control


func _ready() -> void:
	$Start.pressed.connect(get_tree().change_scene_to_file.bind("res://level.tscn"))
	$Start.grab_focus()


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed("quit_game"):
		get_tree().quit()
