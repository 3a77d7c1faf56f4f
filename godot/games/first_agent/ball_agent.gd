extends DojoAgent
## Rolls a ball to the gem, and does not fall off the island.

## How hard the ball can be pushed, in newtons.
@export var push_n: float = 9.0

var _push: Vector3 = Vector3.ZERO
var _distance_m: float = 0.0

@onready var ball: RigidBody3D = get_parent()
@onready var gem: Node3D = ball.get_parent().get_node("Gem")


## Positions are relative to the island, so they mean the same in every copy of it.
func observe() -> PackedFloat32Array:
	var way: Vector3 = gem.position - ball.position
	var speed: Vector3 = ball.linear_velocity
	var place: Vector3 = ball.position
	return [
		way.x / 10.0, way.z / 10.0, speed.x / 10.0, speed.z / 10.0, place.x / 5.0, place.z / 5.0
	]


func action_parts() -> Array[Dictionary]:
	return [DojoObservationLayout.move("push", 2)]


func apply_action(action: PackedFloat32Array) -> void:
	_push = Vector3(action[0], 0.0, action[1]) * push_n


func human_action() -> PackedFloat32Array:
	var keys: Vector2 = Input.get_vector("ui_left", "ui_right", "ui_up", "ui_down")
	return [keys.x, keys.y]


func reset() -> void:
	var way: Vector3 = Vector3.FORWARD.rotated(Vector3.UP, chance.randf_range(0.0, TAU))
	ball.position = Vector3(0.0, 0.5, 0.0)
	ball.linear_velocity = Vector3.ZERO
	ball.angular_velocity = Vector3.ZERO
	ball.reset_physics_interpolation()
	gem.position = ball.position + way * chance.randf_range(2.0, 4.2)
	_push = Vector3.ZERO
	_distance_m = ball.position.distance_to(gem.position)


func _physics_process(_delta: float) -> void:
	ball.apply_central_force(_push)
	var distance_m: float = ball.position.distance_to(gem.position)
	add_reward(_distance_m - distance_m, "progress")
	_distance_m = distance_m
	if distance_m < 0.9:
		add_reward(5.0, "gem")
		end_episode(true)
	elif ball.position.y < -1.5:
		add_reward(-5.0, "fall")
		end_episode()
