extends Controller
## A heavy game: a body pushes through a pit full of balls to a corner, and feels its way with rays
## in every tick.

const ROOM := 5.0
const BALLS := 40
const RAYS := 24
const REACH := 6.0
const SPEED := 4.0

var move := Vector2.ZERO
var goal := Vector3.ZERO
var felt: Array[float] = []
var balls: Array[RigidBody3D] = []

@onready var pit: Node3D = get_parent()
@onready var body: CharacterBody3D = $"../Body"
@onready var pattern: RigidBody3D = $"../Ball"


func _ready() -> void:
	balls = [pattern]
	for index in BALLS - 1:
		balls.append(pattern.duplicate())
		pit.add_child.call_deferred(balls[-1])
	super()


func begin() -> void:
	body.position = Vector3(0.0, 0.6, 0.0)
	goal = Vector3([-4.0, 4.0].pick_random(), 0.6, [-4.0, 4.0].pick_random())
	for ball in balls:
		ball.position = Vector3(
			randf_range(-4.5, 4.5), randf_range(1.0, 3.0), randf_range(-4.5, 4.5)
		)
		ball.linear_velocity = Vector3.ZERO
	_feel()


func play(_delta: float) -> void:
	var before := body.position.distance_to(goal)
	body.velocity = Vector3(move.x, 0.0, move.y).limit_length() * SPEED
	body.move_and_slide()
	for index in body.get_slide_collision_count():
		var hit := body.get_slide_collision(index)
		if hit.get_collider() is RigidBody3D:
			hit.get_collider().apply_central_impulse(-hit.get_normal() * 0.5)
	body.position.y = 0.6
	_feel()
	var left := body.position.distance_to(goal)
	reward += 0.1 * (before - left)
	if left < 0.8:
		reward += 1.0
		finish(true)


func get_obs() -> Dictionary:
	var way := (goal - body.position) / ROOM
	return {"obs": [way.x, way.z, body.velocity.x / SPEED, body.velocity.z / SPEED] + felt}


func get_action_space() -> Dictionary:
	return {"move": {"size": 2, "action_type": "continuous"}}


func set_action(action: Dictionary) -> void:
	move = Vector2(action["move"][0], action["move"][1])


func _feel() -> void:
	felt.clear()
	var space := body.get_world_3d().direct_space_state
	for index in RAYS:
		var way := Vector3.FORWARD.rotated(Vector3.UP, TAU * index / RAYS) * REACH
		var from := body.global_position
		var query := PhysicsRayQueryParameters3D.create(from, from + way, 1, [body.get_rid()])
		var hit := space.intersect_ray(query)
		felt.append(from.distance_to(hit["position"]) / REACH if hit else 1.0)
