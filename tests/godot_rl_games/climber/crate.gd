class_name Crate
extends StaticBody3D

var worth = 0.5
var age := 0.0


func _ready():
	worth = randf_range(0.5, 1.0)


func _process(delta):
	age += delta
	rotation.y = age
