class_name ChaseAgent
extends DojoAgent
## Moves its parent on the field: towards the other one, or away from it.
##
## It observes its own position and velocity, and where the other one is and goes.

## Who is chased or fled from.
@export var other: ChaseAgent
## 1 for the one who chases, -1 for the one who flees.
@export_enum("chases:1", "flees:-1") var aim: int = 1
@export var speed: float = 200.0
@export var acceleration: float = 800.0
@export var color: Color = Color.WHITE

var velocity := Vector2.ZERO

var _push := Vector2.ZERO
var _distance: float = 0.0

@onready var body: Node2D = get_parent()


func _ready() -> void:
	body.draw.connect(_draw_body)


func _physics_process(delta: float) -> void:
	velocity = velocity.move_toward(_push * speed, acceleration * delta)
	var wished: Vector2 = body.position + velocity * delta
	body.position = wished.clamp(-CatAndMouseField.HALF, CatAndMouseField.HALF)
	if body.position != wished:
		velocity = (body.position - wished + velocity * delta) / delta
	var distance: float = body.position.distance_to(other.body.position)
	add_reward(aim * (_distance - distance) / 400.0, "distance")
	_distance = distance


## Puts it where a round begins.
func place(where: Vector2) -> void:
	body.position = where
	velocity = Vector2.ZERO
	_push = Vector2.ZERO


func observe() -> PackedFloat32Array:
	var own: Vector2 = body.position / CatAndMouseField.HALF
	var going: Vector2 = velocity / speed
	var away: Vector2 = (other.body.position - body.position) / 400.0
	var drift: Vector2 = other.velocity / speed
	return [own.x, own.y, going.x, going.y, away.x, away.y, drift.x, drift.y]


func apply_action(action: PackedFloat32Array) -> void:
	_push = Vector2(action[0], action[1]).limit_length()


func human_action() -> PackedFloat32Array:
	var keys: Vector2 = Input.get_vector(&"ui_left", &"ui_right", &"ui_up", &"ui_down")
	return [keys.x, keys.y] if aim > 0 else [0.0, 0.0]


func reset() -> void:
	_distance = body.position.distance_to(other.body.position)


func _draw_body() -> void:
	body.draw_circle(Vector2.ZERO, 17.0, color, true, -1.0, true)
	body.draw_circle(Vector2(-5, -4), 2.5, Color("20263a"), true, -1.0, true)
	body.draw_circle(Vector2(5, -4), 2.5, Color("20263a"), true, -1.0, true)
