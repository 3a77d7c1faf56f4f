extends Control
## One setting.


func _ready() -> void:
	$Sound.button_pressed = Wallet.is_loud
	$Sound.toggled.connect(_set_loud)
	$Back.pressed.connect(get_tree().change_scene_to_file.bind("res://menu.tscn"))
	$Back.grab_focus()


func _set_loud(is_on: bool) -> void:
	Wallet.is_loud = is_on
	$Text.text = "Sound is on" if is_on else "Sound is off"
