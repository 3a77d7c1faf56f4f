class_name StressAgent
extends DojoAgent
## Spawns bodies, throws one of them and sets off particles, and is paid for frames within budget.
##
## It observes times and counts as ratios. Every tick at full frame rate is worth 1, one over the
## budget -10, and one that differs from the last by more than [constant JITTER] of the budget -5.

## What numbers of bodies are divided by to be observed.
const MANY := 1000.0
## Bodies in a tick at full spawning.
const MOST_A_TICK := 10
## Of the budget, between two ticks.
const JITTER := 0.25
## Impulse of a throw at full force, in newton seconds.
const THROW_NS := 20.0
const FRAME_REWARD := 1.0
const OVER_REWARD := -10.0
const JITTER_REWARD := -5.0

## Bodies a tick, whatever the policy wants; -1: as it wants.
@export var spawn_rate: int = -1

var _spawns: int = 0
var _throw: Vector3 = Vector3.ZERO
var _last_ms: float = 0.0
var _is_first: bool = true
# Of the round: ticks, those over budget, the worst, and how many bodies there were at the first.
var _ticks: int = 0
var _over: int = 0
var _worst_ms: float = 0.0
var _broke_at: int = -1

@onready var pit: StressPit = get_parent()
@onready var monitor: DojoPerformanceMonitor = pit.get_node("Monitor")


func observe() -> PackedFloat32Array:
	var numbers: PackedFloat32Array = monitor.ratios(
		[&"physics_frame_time_ms", &"render_frame_time_ms"]
	)
	var mean_ms: float = monitor.average(&"physics_frame_time_ms")
	numbers.append(mean_ms / maxf(monitor.budget(&"physics_frame_time_ms"), 0.001))
	numbers.append(pit.bodies.size() / MANY)
	for layer in StressPit.LAYERS:
		numbers.append(pit.on_layer[layer] / MANY)
	numbers.append(1.0 if pit.particles.emitting else 0.0)
	return numbers


func action_parts() -> Array[Dictionary]:
	return [
		DojoObservationLayout.move("spawn", 1, -1.0),
		DojoObservationLayout.move("throw", 3),
		DojoObservationLayout.move("particles", 1),
	]


func apply_action(action: PackedFloat32Array) -> void:
	_spawns = roundi(remap(action[0], -1.0, 1.0, 0.0, MOST_A_TICK))
	if spawn_rate >= 0:
		_spawns = spawn_rate
	_throw = Vector3(action[1], action[2], action[3]) * THROW_NS
	pit.particles.emitting = action[4] > 0.0


func human_action() -> PackedFloat32Array:
	var keys: Vector2 = Input.get_vector("ui_left", "ui_right", "ui_up", "ui_down")
	var spawn: float = 0.0 if Input.is_key_pressed(KEY_SPACE) else -1.0
	return [spawn, keys.x, 0.0, keys.y, 1.0 if Input.is_key_pressed(KEY_P) else -1.0]


func reset() -> void:
	pit.clear()
	_spawns = 0
	_throw = Vector3.ZERO
	_is_first = true
	_ticks = 0
	_over = 0
	_worst_ms = 0.0
	_broke_at = -1


func measures() -> Dictionary:
	var memory_mb: float = monitor.value(&"static_memory_mb")
	var reported: Dictionary = {
		"success": _over == 0 and _ticks > 0 and memory_mb < 2048.0,
		"frames over budget": _over,
		"worst frame ms": _worst_ms,
		"bodies": pit.bodies.size(),
		"bodies at first frame over budget": null if _broke_at < 0 else _broke_at,
		"memory mb": memory_mb,
		"leaked objects": pit.leaked_objects,
		"monitor us": monitor.cost_us,
	}
	reported.merge(monitor.measures())
	return reported


func _physics_process(_delta: float) -> void:
	if is_over():
		return
	if not _is_first:
		_judge_last_tick()
	_is_first = false
	pit.spawn(_spawns, chance)
	pit.throw_last(_throw)


## The monitor knows the tick before this one: the one under way is not over yet.
func _judge_last_tick() -> void:
	var took_ms: float = monitor.value(&"physics_frame_time_ms")
	var budget_ms: float = monitor.budget(&"physics_frame_time_ms")
	if _ticks > 0 and absf(took_ms - _last_ms) > JITTER * budget_ms:
		add_reward(JITTER_REWARD, "jitter")
	if monitor.is_over(&"physics_frame_time_ms"):
		add_reward(OVER_REWARD, "over budget")
		_over += 1
		_broke_at = pit.bodies.size() if _broke_at < 0 else _broke_at
	else:
		add_reward(FRAME_REWARD, "full rate")
	_ticks += 1
	_last_ms = took_ms
	_worst_ms = maxf(_worst_ms, took_ms)
