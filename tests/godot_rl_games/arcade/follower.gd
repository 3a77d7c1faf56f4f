extends Controller
## The second of two policies: it stays close to the leader, and has episodes of its own.

const WAYS: Array[Vector2] = [Vector2.ZERO, Vector2.LEFT, Vector2.RIGHT, Vector2.UP, Vector2.DOWN]
const SPEED := 7.0
const CLOSE := 2.0

var place := Vector2.ZERO
var way := 0

@onready var leader: Node = $"../Leader"


func begin() -> void:
	place = Vector2(randf_range(-8.0, 8.0), randf_range(-8.0, 8.0))


func play(delta: float) -> void:
	place += WAYS[way] * SPEED * delta
	place = place.clamp(-Vector2.ONE * 10.0, Vector2.ONE * 10.0)
	if place.distance_to(leader.place) < CLOSE:
		reward += 0.02


func get_obs() -> Dictionary:
	if leader == null:
		return {"obs": [0.0, 0.0, 0.0, 0.0, 0.0]}
	var offset: Vector2 = (leader.place - place) / 10.0
	return {"obs": [offset.x, offset.y, place.x / 10.0, place.y / 10.0, offset.length()]}


func get_action_space() -> Dictionary:
	return {"way": {"size": 5, "action_type": "discrete"}}


func set_action(action: Dictionary) -> void:
	way = int(action["way"])
