class_name LocomotionAgent
extends DojoAgent
## Walks to the waypoint, without bumping into anything and without a comfort vignette.

const LIMIT_TICKS := 5400
const REACHED_M := 1.0
const TOO_NEAR_M := 0.5
const HARD_TURN := 0.8
## Cosine of the angle to the rays on both sides.
const SEEN_COSINE := 0.7

## Reward for each metre nearer to a waypoint that is ahead, where the rays see the way, and penalty
## for each metre away from it; 0: only the rewards of the specification count.
@export var progress_reward: float = 0.0
## Penalty for a collision; 0: only the rewards of the specification count.
@export var collision_penalty: float = 0.0
## Ticks after which a round is over; fewer for quick checks.
@export var limit_ticks: int = LIMIT_TICKS

var _ticks: int = 0
var _distance_m: float = 0.0
var _is_reached: bool = false

@onready var walker: VrWalker = get_parent()
@onready var waypoint: Node3D = walker.get_parent().get_node("Waypoint")
@onready var _ahead: RayCast3D = $"../Ahead"
@onready var _sides: Array[RayCast3D] = [$"../AheadLeft", $"../AheadRight"]


func observation_parts() -> Array[Dictionary]:
	return [
		DojoObservationLayout.numbers("direction", 2),
		DojoObservationLayout.numbers("distance", 1, 0.0),
		DojoObservationLayout.numbers("yaw", 2),
		DojoObservationLayout.numbers("velocity", 2),
		DojoObservationLayout.numbers("rays", 3, 0.0),
		DojoObservationLayout.numbers("head", 2),
	]


## Directions and velocities are along the room's axes; yaw says how the walker is turned in them.
func observe() -> PackedFloat32Array:
	var way: Vector3 = _way()
	var direction: Vector3 = way.normalized()
	var seen := PackedFloat32Array([direction.x, direction.z, minf(way.length() / 20.0, 1.0)])
	var speed: Vector3 = walker.velocity / 5.0
	seen.append_array([sin(walker.yaw_rad), cos(walker.yaw_rad), speed.x, speed.z])
	for ray: RayCast3D in [_ahead, _sides[0], _sides[1]]:
		ray.force_raycast_update()
		seen.append(float(ray.is_colliding()))
	seen.append_array([walker.head.rotation.x / PI, walker.head.rotation.y / PI])
	return seen


func action_parts() -> Array[Dictionary]:
	return [
		DojoObservationLayout.move("move", 2),
		DojoObservationLayout.move("rotate", 1),
		DojoObservationLayout.move("teleport", 1),
	]


func apply_action(action: PackedFloat32Array) -> void:
	walker.want(action[0], action[1], action[2], action[3])


## W, A, S, D walk, Q and E turn, the space bar teleports; Shift walks as fast as it goes.
func human_action() -> PackedFloat32Array:
	var keys: Vector2 = Input.get_vector(&"tag_left", &"tag_right", &"tag_forward", &"tag_back")
	var share: float = 1.0 if Input.is_physical_key_pressed(KEY_SHIFT) else VrWalker.COMFORTABLE
	var turn: float = (
		float(Input.is_physical_key_pressed(KEY_E)) - float(Input.is_physical_key_pressed(KEY_Q))
	)
	var trigger: float = float(Input.is_action_pressed(&"tag_jump"))
	return [keys.x * share, keys.y * share, turn * VrWalker.COMFORTABLE, trigger]


func measures() -> Dictionary:
	var reported: Dictionary = {
		"success": is_success(),
		"reached": _is_reached,
		"collisions": walker.collisions,
		"comfort_activations": walker.comfort_activations,
		"seconds": _ticks / 90.0 if _is_reached else null,
		"teleports": walker.teleports,
	}
	var monitor: Node = get_tree().get_first_node_in_group(DojoPerformanceMonitor.GROUP)
	return reported.merged(monitor.measures()) if monitor is DojoPerformanceMonitor else reported


func is_success() -> bool:
	return _is_reached and walker.collisions == 0 and walker.comfort_activations == 0


func reset() -> void:
	walker.place(Vector3.ZERO, chance.randf_range(-PI, PI))
	_ticks = 0
	_is_reached = false
	_distance_m = _way().length()


func _physics_process(delta: float) -> void:
	if is_over():
		return
	var bumps: int = walker.collisions
	walker.step(delta)
	_ticks += 1
	var distance_m: float = _way().length()
	if progress_reward != 0.0:
		var nearer_m: float = _distance_m - distance_m
		if nearer_m < 0.0 or _way().dot(-walker.basis.z) > SEEN_COSINE * distance_m:
			add_reward(progress_reward * nearer_m, "progress")
	if walker.collisions > bumps:
		add_reward(-collision_penalty, "collision")
	_distance_m = distance_m
	_reward_tick()


## The reward of the specification.
func _reward_tick() -> void:
	add_reward(0.01, "step")
	_ahead.force_raycast_update()
	if (
		_ahead.is_colliding()
		and _ahead.global_position.distance_to(_ahead.get_collision_point()) < TOO_NEAR_M
	):
		add_reward(-1.0, "obstacle")
	if absf(walker.rotate_stick) > HARD_TURN:
		add_reward(-0.1, "turn")
	if walker.is_vignette_active():
		add_reward(-0.5, "comfort")
	if _distance_m < REACHED_M:
		add_reward(10.0, "waypoint")
		_is_reached = true
		end_episode(is_success())
		return
	add_reward(0.1 / maxf(_distance_m, 1.0), "distance")
	if _ticks >= limit_ticks:
		add_reward(-5.0, "time")
		end_episode()


func _way() -> Vector3:
	return Vector3(waypoint.position.x, 0.0, waypoint.position.z) - walker.position
