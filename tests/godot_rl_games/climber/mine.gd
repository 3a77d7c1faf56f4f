class_name Mine
extends Area3D

var phase := 0.0
var origin := Vector3.ZERO
var seen := []
var worth = -1.0

@onready var size = scale.x


func _ready():
	body_exited.connect(_on_body_exited)
	origin = position
	phase = randf_range(0, 6)


func _physics_process(delta):
	phase += delta
	position = origin + Vector3(sin(phase), 0, cos(phase))


func shrink():
	size *= 0.5
	if size < 0.3:
		queue_free()


func _on_body_entered(body):
	seen.append(body)
	if body.get_parent() is Gallery:
		body.get_parent().controller.reward += worth
		queue_free()


func _on_body_exited(body):
	seen.erase(body)
