extends Area3D
## Worth something to the first who touches it.

@export var worth := 0.3

var taken = false
var home := Vector3.ZERO

@onready var sound = $AudioStreamPlayer3D


func _ready():
	home = position
	body_entered.connect(_on_body_entered)


func place(offset: Vector3):
	taken = false
	visible = true
	position = home + offset


func _on_body_entered(body):
	if taken or not body.has_method("collect"):
		return
	taken = true
	visible = false
	sound.play()
	body.collect(self)
