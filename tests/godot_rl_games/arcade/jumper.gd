extends Controller
## A body jumps from platform to platform; the next one is a gap away in any direction. A fall ends
## the episode.

const GRAVITY := 20.0
const SPEED := 5.0
const JUMP := 9.0
const GAP := 4.5

var move := Vector2.ZERO
var wants_jump := false
var best := 0.0

@onready var arena: Node3D = get_parent()
@onready var body: CharacterBody3D = $"../Body"
@onready var here: StaticBody3D = $"../Here"
@onready var next: StaticBody3D = $"../Next"


func begin() -> void:
	here.position = Vector3.ZERO
	body.position = Vector3(0.0, 0.8, 0.0)
	body.velocity = Vector3.ZERO
	_place_next()


func play(delta: float) -> void:
	var way := Vector3(move.x, 0.0, move.y).limit_length() * SPEED
	body.velocity.x = move_toward(body.velocity.x, way.x, 30.0 * delta)
	body.velocity.z = move_toward(body.velocity.z, way.z, 30.0 * delta)
	body.velocity.y -= GRAVITY * delta
	if wants_jump and body.is_on_floor():
		body.velocity.y = JUMP
	body.move_and_slide()
	var left := _distance()
	reward += maxf(best - left, 0.0) * 0.1
	best = minf(best, left)
	if body.position.y < -1.5:
		reward -= 1.0
		finish(false)
	elif body.is_on_floor() and left < 1.2:
		reward += 1.0
		here.position = next.position
		_place_next()


func get_obs() -> Dictionary:
	var way := (next.position - body.position) / GAP
	var back := (here.position - body.position) / GAP
	var speed := body.velocity / SPEED
	var on_floor := 1.0 if body.is_on_floor() else 0.0
	return {"obs": [way.x, way.z, back.x, back.z, back.y, speed.x, speed.y, speed.z, on_floor]}


func get_action_space() -> Dictionary:
	return {
		"move": {"size": 2, "action_type": "continuous"},
		"jump": {"size": 1, "action_type": "continuous"},
	}


func set_action(action: Dictionary) -> void:
	move = Vector2(action["move"][0], action["move"][1])
	wants_jump = action["jump"][0] > 0.0


func _place_next() -> void:
	next.position = here.position + Vector3(GAP, 0.0, 0.0).rotated(Vector3.UP, randf() * TAU)
	best = _distance()


func _distance() -> float:
	return Vector2(body.position.x - next.position.x, body.position.z - next.position.z).length()
