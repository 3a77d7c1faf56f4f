extends Area3D
## Throws up whatever steps on it.

@export var strength := 12.0


func launch(body):
	if body is Player:
		body.bounce(strength)
