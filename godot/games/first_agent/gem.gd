extends Node3D
## Turns and bobs a little, so that the eye finds it.

@onready var _stone: MeshInstance3D = $Stone


func _process(delta: float) -> void:
	_stone.rotate_y(1.6 * delta)
	_stone.position.y = 0.12 * sin(Time.get_ticks_msec() * 0.003)
