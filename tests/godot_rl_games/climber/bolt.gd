class_name Bolt
extends Area3D

@export var speed = 12.0
var velocity := Vector3.ZERO
var shooter = null


func _ready():
	$Timer.timeout.connect(_on_timer_timeout)
	get_tree().create_timer(0.05).timeout.connect(speed_up)


func speed_up():
	velocity *= 1.5


func _physics_process(delta):
	position += velocity * delta


func _on_body_entered(body):
	if body is Crate:
		shooter.hit(body)
		body.queue_free()
	if not body is CharacterBody3D:
		queue_free()


func _on_area_entered(area):
	if area is Mine:
		area.shrink()


func _on_timer_timeout():
	queue_free()
