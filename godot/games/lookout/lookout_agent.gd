extends DojoAgent
## Sees the meadow through a small camera alone, and walks to the red ball, not to the blue one.

const SPEED_MPS := 4.0
const TURN_RADPS := 3.0
const TOUCH_M := 0.9
const MEADOW_M := 6.0

var _turn: float = 0.0
var _walk: float = 0.0
var _distance_m: float = 0.0

@onready var walker: Node3D = get_parent()
@onready var red: Node3D = walker.get_parent().get_node("Red")
@onready var blue: Node3D = walker.get_parent().get_node("Blue")


func action_parts() -> Array[Dictionary]:
	return [DojoObservationLayout.move("turn", 1), DojoObservationLayout.move("walk", 1)]


func apply_action(action: PackedFloat32Array) -> void:
	_turn = action[0]
	_walk = action[1]


func human_action() -> PackedFloat32Array:
	return [Input.get_axis("ui_left", "ui_right"), Input.get_axis("ui_down", "ui_up")]


func reset() -> void:
	walker.position = Vector3.ZERO
	walker.rotation = Vector3(0.0, chance.randf_range(-PI, PI), 0.0)
	var around: float = chance.randf_range(-PI, PI)
	red.position = Vector3.FORWARD.rotated(Vector3.UP, around) * chance.randf_range(2.5, 4.5)
	around += chance.randf_range(0.5, TAU - 0.5)
	blue.position = Vector3.FORWARD.rotated(Vector3.UP, around) * chance.randf_range(2.5, 4.5)
	_turn = 0.0
	_walk = 0.0
	_distance_m = walker.position.distance_to(red.position)


func _physics_process(delta: float) -> void:
	walker.rotate_y(-_turn * TURN_RADPS * delta)
	var place: Vector3 = walker.position - walker.basis.z * _walk * SPEED_MPS * delta
	walker.position = place.limit_length(MEADOW_M)
	var distance_m: float = walker.position.distance_to(red.position)
	add_reward(0.2 * (_distance_m - distance_m), "progress")
	_distance_m = distance_m
	if distance_m < TOUCH_M:
		add_reward(1.0, "red")
		end_episode(true)
	elif walker.position.distance_to(blue.position) < TOUCH_M:
		add_reward(-1.0, "blue")
		end_episode()
