extends CharacterBody2D

const SPEED := 200.0
const JUMP := -400.0
const GRAVITY := 980.0

var coins: Dictionary = {}


func _physics_process(delta: float) -> void:
	velocity.y = minf(velocity.y + GRAVITY * delta, 900.0)
	velocity.x = Input.get_axis("left", "right") * SPEED
	if Input.is_action_just_pressed("jump") and is_on_floor():
		velocity.y = JUMP
	move_and_slide()
	if position.x < 60.0 and not is_on_floor() and velocity.y < -300.0:
		print(coins["gold"])
