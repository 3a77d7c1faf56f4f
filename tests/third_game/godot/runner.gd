class_name Runner
extends DojoAgent
## One of the two: observes its place, the way to the other and the time left, and runs.

var place_m: Vector2
var wish: Vector2
var other: Runner

@onready var world: Pursuit = get_parent()


func observe() -> PackedFloat32Array:
	var half_m: float = world.rules["half_m"]
	var way: Vector2 = (other.place_m - place_m) / (2.0 * half_m)
	return [place_m.x / half_m, place_m.y / half_m, way.x, way.y, world.time_left()]


func observation_parts() -> Array[Dictionary]:
	return [
		DojoObservationLayout.numbers("place", 2),
		DojoObservationLayout.numbers("way", 2),
		DojoObservationLayout.numbers("time_left", 1),
	]


func action_parts() -> Array[Dictionary]:
	return [DojoObservationLayout.move("run", 2)]


func apply_action(action: PackedFloat32Array) -> void:
	wish = Vector2(action[0], action[1]).clampf(-1.0, 1.0).limit_length(1.0)
