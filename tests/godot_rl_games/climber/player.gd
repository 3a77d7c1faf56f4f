class_name Player
extends CharacterBody3D

const GRAVITY = 20.0

@export var speed := 6.0
@export var acceleration := 30.0
@export var turn_speed := 3.0
@export var jump_velocity = 8

var jumps = 0
var best_distance := 0.0
var start: Transform3D

@onready var ai_controller: ClimberController = $AIController3D
@onready var level = get_parent()
@onready var label = $Label3D


func _ready():
	ai_controller.init(self)
	start = transform
	ai_controller.needs_reset = true


func _physics_process(delta):
	if ai_controller.needs_reset:
		ai_controller.reset()
		restart()
		return

	rotate_y(get_turn() * turn_speed * delta)
	var forward = -global_transform.basis.z
	var wanted: Vector3 = forward * get_move() * speed
	velocity.x = move_toward(velocity.x, wanted.x, acceleration * delta)
	velocity.z = move_toward(velocity.z, wanted.z, acceleration * delta)
	velocity.y -= GRAVITY * delta
	if is_on_floor() and get_jump():
		velocity.y = jump_velocity
		jumps += 1
	move_and_slide()

	reward_approach()
	if position.y < -4:
		ai_controller.reward -= 1
		game_over(false)


# The closer to the goal than ever before, the better.
func reward_approach():
	var distance = global_position.distance_to(level.goal.global_position)
	if distance < best_distance:
		ai_controller.reward += (best_distance - distance) * 0.1
		best_distance = distance


func bounce(strength):
	velocity.y = strength


func collect(coin):
	ai_controller.reward += coin.worth
	label.text = "+%s" % coin.worth


func touch_hazard():
	ai_controller.reward -= 0.5
	game_over(false)


func reach_goal():
	ai_controller.reward += 2.0
	game_over(true)


func game_over(success):
	ai_controller.done = true
	ai_controller.is_success = success
	ai_controller.reset()
	restart()


func restart():
	transform = start
	rotate_y(randf_range(-PI, PI))
	velocity = Vector3.ZERO
	jumps = 0
	level.restart()
	best_distance = global_position.distance_to(level.goal.global_position)


func get_move() -> float:
	if ai_controller.heuristic == "human":
		return Input.get_axis("move_back", "move_forward")
	return ai_controller.move


func get_turn() -> float:
	if ai_controller.heuristic == "human":
		return Input.get_axis("turn_right", "turn_left")
	return ai_controller.turn


func get_jump() -> bool:
	if ai_controller.heuristic == "human":
		return Input.is_action_pressed("jump")
	return ai_controller.jump
