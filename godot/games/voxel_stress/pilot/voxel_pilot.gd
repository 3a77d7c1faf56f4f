class_name VoxelPilot
extends DojoAgent
## Moves over a voxel terrain and is rewarded for breaking its budgets.
##
## | observation | | action | |
## |---|---|---|---|
## | physics frame / 11.11 ms | | direction | x and z, their length does not matter |
## | average time of a chunk / 5 ms | | speed | 0 to 20 m/s |
## | active chunks / 512 | | teleport | above 0.5 it jumps, up to 200 m ahead |
## | voxel memory / 2048 MB | | | |

const OBSERVED: Array[StringName] = [
	&"physics_frame_time_ms",
	&"chunk_generation_avg_ms",
	&"active_chunk_count",
	&"voxel_memory_mb",
]
const CHUNKS_REWARDED := 400
const MAX_SPEED_MPS := 20.0
const MAX_TELEPORT_M := 200.0
const TELEPORT_PAUSE_TICKS := 270
const LOD_HOLE := "LOD hole"
## The terrain is first made; that breaks budgets in every game.
const LOADING_TICKS := 90
const _HOLES_EVERY_TICKS := 9

@export var terrain: VoxelTerrain
## Has the budgets; without one, they are the usual ones.
@export var monitor: DojoPerformanceMonitor
## Where findings are kept, one file for each process; empty: nowhere.
@export_global_dir var findings_folder: String = ""
## Whether it flies ahead by itself when nobody else plays: for pictures.
@export var autopilot: bool = false

var findings := BudgetFindings.new()
var velocity := Vector3.ZERO

var _teleport_m: float = 0.0
var _ticks: int = 0
var _teleported_at: int = 0
var _rewarded: PackedStringArray = []
# Of this episode: patterns of movement that broke a budget, and the budgets.
var _patterns: Dictionary[String, bool] = {}
var _budgets: Dictionary[String, bool] = {}
var _worst_physics_ms: float = 0.0
var _worst_chunk_ms: float = 0.0
var _movement := MovementLog.new()
var _holes := LodHoles.new()
var _clock: TickClock

@onready var rig: Node3D = get_parent()


func _ready() -> void:
	_clock = TickClock.new(terrain)
	add_child(_clock)
	terrain.ticked.connect(_clock.stop)
	if monitor == null:
		monitor = DojoPerformanceMonitor.new()
		add_child(monitor)
	# Its own measure of a tick has the time in which a fast game waits for threads.
	monitor.add_monitor(&"physics_frame_time_ms", func() -> float: return _clock.physics_ms)
	monitor.add_monitor(&"active_chunk_count", terrain.active_chunk_count)
	monitor.add_monitor(&"voxel_memory_mb", terrain.voxel_memory_mb)
	monitor.add_monitor(&"chunk_queue_length", terrain.queue_length)
	for metric: StringName in [&"chunk_generation_avg_ms", &"chunk_generation_max_ms"]:
		monitor.add_monitor(metric, terrain.get.bind(metric))


func _exit_tree() -> void:
	_save_findings()


func observe() -> PackedFloat32Array:
	return monitor.ratios(OBSERVED)


func observation_parts() -> Array[Dictionary]:
	return [
		DojoObservationLayout.numbers("physics_frame", 1),
		DojoObservationLayout.numbers("chunk_generation", 1),
		DojoObservationLayout.numbers("active_chunks", 1),
		DojoObservationLayout.numbers("voxel_memory", 1),
	]


func action_parts() -> Array[Dictionary]:
	return [
		DojoObservationLayout.move("direction", 2),
		DojoObservationLayout.move("speed", 1),
		DojoObservationLayout.move("teleport", 1),
	]


func apply_action(action: PackedFloat32Array) -> void:
	var direction := Vector3(action[0], 0.0, action[1]).normalized()
	var speed_mps: float = MAX_SPEED_MPS * (action[2] + 1.0) / 2.0
	velocity = direction * speed_mps
	_teleport_m = MAX_TELEPORT_M * maxf(2.0 * action[3] - 1.0, 0.0)
	_rewarded.clear()
	add_reward(0.1 * speed_mps, "speed")


func human_action() -> PackedFloat32Array:
	if autopilot:
		return [0.2, -1.0, 1.0, -1.0]
	var keys: Vector2 = Input.get_vector(&"tag_left", &"tag_right", &"tag_forward", &"tag_back")
	var runs: bool = Input.is_key_pressed(KEY_SHIFT)
	var speed: float = -1.0 if keys.is_zero_approx() else 1.0 if runs else 0.0
	return [keys.x, keys.y, speed, 1.0 if Input.is_action_pressed(&"tag_jump") else 0.0]


func measures() -> Dictionary:
	return (
		{
			"over_budget_patterns": _patterns.size(),
			"budgets_broken": _budgets.size(),
			"worst_physics_ms": _worst_physics_ms,
			"worst_chunk_generation_ms": _worst_chunk_ms,
		}
		. merged(monitor.measures())
	)


func reset() -> void:
	rig.position = Vector3.ZERO
	velocity = Vector3.ZERO
	_teleport_m = 0.0
	_ticks = 0
	_teleported_at = -TELEPORT_PAUSE_TICKS
	_movement.clear()
	_patterns.clear()
	_budgets.clear()
	_worst_physics_ms = 0.0
	_worst_chunk_ms = 0.0
	terrain.restart()
	_stand()
	rig.reset_physics_interpolation()
	_save_findings()


func _physics_process(delta: float) -> void:
	_ticks += 1
	findings.ticks += 1
	rig.position += velocity * delta
	var jumped_m: float = _teleport()
	_stand()
	terrain.look_from(rig.position, velocity)
	_movement.note(Vector2(velocity.x, velocity.z), jumped_m)
	if _ticks > LOADING_TICKS:
		_check_budgets()


func _save_findings() -> void:
	if not findings_folder.is_empty() and not findings.save(findings_folder):
		findings_folder = ""


func _teleport() -> float:
	if _teleport_m <= 0.0 or _ticks - _teleported_at < TELEPORT_PAUSE_TICKS:
		return 0.0
	_teleported_at = _ticks
	rig.position += velocity.normalized() * _teleport_m
	rig.reset_physics_interpolation()
	return _teleport_m


## On the ground; the camera of a mock headset is above.
func _stand() -> void:
	rig.position.y = terrain.ground_m(rig.position)


func _check_budgets() -> void:
	_worst_physics_ms = maxf(_worst_physics_ms, _clock.physics_ms)
	_worst_chunk_ms = maxf(_worst_chunk_ms, terrain.chunk_generation_avg_ms)
	_check(
		"physics",
		"physics frame over 11.11 ms",
		_clock.physics_ms,
		monitor.budget(OBSERVED[0]),
		10.0
	)
	var chunk_ms: float = terrain.chunk_generation_avg_ms
	_check("generation", "chunk generation over 5 ms", chunk_ms, monitor.budget(OBSERVED[1]), 5.0)
	var count: int = terrain.active_chunk_count()
	_check("chunks", "more than 400 chunks", count, CHUNKS_REWARDED, 2.0)
	_check(
		"", "voxel memory over 2048 MB", terrain.voxel_memory_mb(), monitor.budget(OBSERVED[3]), 0.0
	)
	if _ticks % _HOLES_EVERY_TICKS == 0:
		var holes: int = _holes.look(terrain, _ticks).size()
		_check("", LOD_HOLE, holes, 0.0, 0.0)


## Rewards a broken budget once a decision, and notes how the pilot moved.
func _check(term: String, budget: String, value: float, limit: float, reward: float) -> void:
	if value <= limit or (limit <= 0.0 and budget != LOD_HOLE):
		return
	_budgets[budget] = true
	var pattern: String = findings.note(budget, value, _movement)
	if not pattern.is_empty():
		_patterns[pattern] = true
	if reward > 0.0 and not _rewarded.has(term):
		_rewarded.append(term)
		add_reward(reward, term)


## The budgets and how much of them is used, one line each.
func budget_text() -> String:
	return (
		(
			"physics frame %.1f of 11.11 ms\nchunk generation %.1f of 5 ms\nchunks %d of 512\n"
			% [_clock.physics_ms, terrain.chunk_generation_avg_ms, terrain.active_chunk_count()]
		)
		+ (
			"voxel memory %.0f of 2048 MB\nqueue %d"
			% [terrain.voxel_memory_mb(), terrain.queue_length()]
		)
	)
