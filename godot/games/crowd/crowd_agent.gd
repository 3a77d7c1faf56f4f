class_name CrowdAgent
extends DojoAgent
## One of several walkers, who learn one policy together.

## How many of the others it sees: the nearest ones.
const SEEN := 3

## What it is played for; see [CrowdRoom].
@export_enum("cooperative", "adversarial") var reward: String = "cooperative"

## Of this round, by [CrowdRoom].
var ticks: int = 0
var nearest_sum_m: float = 0.0
var collisions: int = 0

@onready var walker: VrWalker = get_parent()
@onready var room: CrowdRoom = walker.get_parent()


func observation_parts() -> Array[Dictionary]:
	var others: Array[int] = [SEEN, 3]
	return [
		DojoObservationLayout.numbers("position", 2),
		DojoObservationLayout.numbers("speed", 1, 0.0),
		DojoObservationLayout.grid("others", others, -1.0, 1.0),
	]


func observe() -> PackedFloat32Array:
	var here: Vector3 = walker.position
	var seen: PackedFloat32Array = [here.x / 10.0, here.z / 10.0, walker.velocity.length() / 5.0]
	for way: Vector3 in room.ways_to_others(self).slice(0, SEEN):
		seen.append_array([way.x / 20.0, way.z / 20.0, way.length() / 20.0])
	seen.resize(3 + 3 * SEEN)
	return seen


func action_parts() -> Array[Dictionary]:
	return [DojoObservationLayout.move("move", 2)]


## Along the room's axes.
func apply_action(action: PackedFloat32Array) -> void:
	walker.want(action[0], action[1], 0.0, 0.0)


## The first walker is the player's; the others stand still.
func human_action() -> PackedFloat32Array:
	if walker != room.walkers[0]:
		return [0.0, 0.0]
	var keys: Vector2 = Input.get_vector(&"tag_left", &"tag_right", &"tag_forward", &"tag_back")
	return [keys.x, keys.y]


func measures() -> Dictionary:
	return {
		"nearest_m": nearest_sum_m / ticks if ticks > 0 else null,
		"collisions_per_minute": collisions * 5400.0 / ticks if ticks > 0 else null,
	}


func reset() -> void:
	ticks = 0
	nearest_sum_m = 0.0
	collisions = 0


func _physics_process(delta: float) -> void:
	walker.step(delta)
	if walker.look != null and walker.velocity.length() > 0.2:
		var facing: Basis = Basis.looking_at(walker.velocity)
		walker.look.basis = walker.look.basis.slerp(facing, 0.15).orthonormalized()
