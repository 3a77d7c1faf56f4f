extends CharacterBody2D
## Walks and jumps; a fall begins anew at the start.

const SPEED := 220.0
const JUMP := -430.0
const GRAVITY := 980.0
const FLOOR_END := 600.0

var _start := Vector2.ZERO


func _ready() -> void:
	_start = position


func _physics_process(delta: float) -> void:
	velocity.y = minf(velocity.y + GRAVITY * delta, 900.0)
	velocity.x = Input.get_axis(&"left", &"right") * SPEED
	if Input.is_action_just_pressed(&"jump") and is_on_floor():
		velocity.y = JUMP
	move_and_slide()
	if position.y > FLOOR_END:
		position = _start
		velocity = Vector2.ZERO
