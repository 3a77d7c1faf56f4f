extends Node


func _ready() -> void:
	get_tree().quit()
