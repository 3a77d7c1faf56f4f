extends Controller
## The first of two policies: it alone sees the beacon, and walks there.

const ROOM := 10.0
const SPEED := 6.0

var place := Vector2.ZERO
var beacon := Vector2.ZERO
var move := Vector2.ZERO


func begin() -> void:
	place = _anywhere()
	beacon = _anywhere()


func play(delta: float) -> void:
	var before := place.distance_to(beacon)
	place = (place + move.limit_length() * SPEED * delta).clamp(
		-Vector2.ONE * ROOM, Vector2.ONE * ROOM
	)
	var left := place.distance_to(beacon)
	reward += 0.1 * (before - left)
	if left < 1.0:
		reward += 1.0
		finish(true)


func get_obs() -> Dictionary:
	var way := (beacon - place) / ROOM
	return {"obs": [way.x, way.y, place.x / ROOM, place.y / ROOM]}


func get_action_space() -> Dictionary:
	return {"move": {"size": 2, "action_type": "continuous"}}


func set_action(action: Dictionary) -> void:
	move = Vector2(action["move"][0], action["move"][1])


func _anywhere() -> Vector2:
	return Vector2(randf_range(-ROOM, ROOM), randf_range(-ROOM, ROOM))
