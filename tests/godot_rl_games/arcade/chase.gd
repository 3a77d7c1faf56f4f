extends Controller
## A body in a walled room chases a ball that jumps elsewhere when it is touched.

const ROOM := 200.0
const SPEED := 300.0
const TOUCH := 30.0

var move := Vector2.ZERO
var ball := Vector2.ZERO

@onready var room: Node2D = get_parent()
@onready var body: CharacterBody2D = $"../Body"


func begin() -> void:
	body.position = _anywhere()
	body.velocity = Vector2.ZERO
	ball = _anywhere()


func play(_delta: float) -> void:
	body.velocity = body.velocity.lerp(move.limit_length() * SPEED, 0.2)
	body.move_and_slide()
	reward -= 0.005
	if body.position.distance_to(ball) < TOUCH:
		reward += 1.0
		ball = _anywhere()


func get_obs() -> Dictionary:
	var way := (ball - body.position) / ROOM
	var speed := body.velocity / SPEED
	var place := body.position / ROOM
	return {"obs": [way.x, way.y, speed.x, speed.y, place.x, place.y]}


func get_action_space() -> Dictionary:
	return {"move": {"size": 2, "action_type": "continuous"}}


func set_action(action: Dictionary) -> void:
	move = Vector2(action["move"][0], action["move"][1])


func _anywhere() -> Vector2:
	return Vector2(randf_range(-ROOM, ROOM), randf_range(-ROOM, ROOM)) * 0.8
