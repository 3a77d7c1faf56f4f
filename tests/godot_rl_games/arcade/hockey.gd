extends Controller
## A pusher on a table hits a puck into a goal; crates in the middle are in the way.

const FORCE := 40.0
const HALF := Vector3(2.0, 1.0, 3.0)

var push := Vector2.ZERO
var is_goal := false
var last_hits := 0

@onready var pusher: RigidBody3D = $"../Pusher"
@onready var puck: RigidBody3D = $"../Puck"
@onready var crates: Array = [$"../Crate", $"../Crate2"]


func begin() -> void:
	pusher.position = Vector3(randf_range(-1.0, 1.0), 0.25, 2.2)
	pusher.linear_velocity = Vector3.ZERO
	puck.position = Vector3(randf_range(-1.2, 1.2), 0.1, 1.0)
	puck.linear_velocity = Vector3(randf_range(-1.0, 1.0), 0.0, 0.0)
	puck.angular_velocity = Vector3.ZERO
	for index in crates.size():
		crates[index].global_transform = Transform3D(
			Basis(Vector3.UP, randf() * PI),
			$"..".global_position + Vector3(-0.8 + 1.6 * index, 0.2, -0.8)
		)
		crates[index].linear_velocity = Vector3.ZERO
		crates[index].angular_velocity = Vector3.ZERO
	is_goal = false


func play(_delta: float) -> void:
	pusher.apply_central_force(Vector3(push.x, 0.0, push.y).limit_length() * FORCE)
	if puck.hits > last_hits:
		reward += 0.1
		last_hits = puck.hits
	reward -= 0.001 * puck.get_colliding_bodies().size()
	if is_goal:
		reward += 1.0
		finish(true)


func get_obs() -> Dictionary:
	var obs := []
	for body in [pusher, puck, crates[0], crates[1]]:
		obs.append_array([body.position.x / HALF.x, body.position.z / HALF.z])
		obs.append_array([body.linear_velocity.x / 5.0, body.linear_velocity.z / 5.0])
	obs.append(puck.bumps % 10 / 10.0)
	return {"obs": obs}


func get_action_space() -> Dictionary:
	return {"push": {"size": 2, "action_type": "continuous"}}


func set_action(action: Dictionary) -> void:
	push = Vector2(action["push"][0], action["push"][1])


func _on_goal_body_entered(body: Node3D) -> void:
	if body == puck:
		is_goal = true
