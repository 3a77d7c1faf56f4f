@icon("res://addons/godojo/icons/dojo_agent.svg")
class_name DojoPerformanceMonitor
extends Node
## Measures every physics tick and every drawn frame against budgets.
##
## Put one into a scene. Its values are in the editor's debugger (Monitors, [code]dojo/…[/code]), in
## [code]GET /performance/metrics[/code], and for agents: [method ratios] to observe,
## [method penalty] as a reward, [method measures] for TensorBoard. What only the game knows, such
## as chunk counts, is added with [method add_monitor]. A budget of 0 is none: its ratio is 0.
##
## A tick is measured from the moment scripts begin, after [DojoSync] has heard the trainer, until
## the physics server has finished it; a frame from the start of its processing until it is drawn.
## Without a window nothing is drawn, and [code]render_frame_time_ms[/code] is 0.

## The group of all monitors.
const GROUP := &"dojo_performance_monitors"
## What it measures itself, in order.
const MEASURED: Array[StringName] = [
	&"physics_frame_time_ms",
	&"render_frame_time_ms",
	&"static_memory_mb",
	&"object_count",
	&"node_count",
]
## What a game with chunks adds, by [method add_monitor]; 0 until then.
const CHUNKS: Array[StringName] = [
	&"active_chunk_count",
	&"chunk_generation_avg_ms",
	&"chunk_generation_max_ms",
	&"voxel_memory_mb",
	&"chunk_queue_length",
]
## [method penalty] of a tick over the budget of physics, and of too many chunks.
const PHYSICS_PENALTY := -5.0
const CHUNK_PENALTY := -2.0
const _PREFIX := "dojo/"

@export_group("Budgets")
## Of a physics tick; 90 a second have 11.11 ms each.
@export_range(0.0, 1000.0, 0.01) var physics_frame_time_budget_ms: float = 11.11
## Of a drawn frame.
@export_range(0.0, 1000.0, 0.01) var render_frame_time_budget_ms: float = 11.11
## Chunks that are loaded.
@export_range(0, 100000) var active_chunk_budget: int = 512
## Mean time to generate a chunk.
@export_range(0.0, 1000.0, 0.01) var chunk_generation_avg_budget_ms: float = 5.0
## Longest time to generate a chunk.
@export_range(0.0, 1000.0, 0.01) var chunk_generation_max_budget_ms: float = 5.0
## Memory of all chunks.
@export_range(0.0, 100000.0, 0.01) var voxel_memory_budget_mb: float = 2048.0

@export_group("")
## Ticks that averages, maxima and percentiles are of.
@export_range(1, 10000) var window: int = 90

## The last values, as [method value] has them.
var physics_frame_time_ms: float:
	get:
		return value(&"physics_frame_time_ms")
var render_frame_time_ms: float:
	get:
		return value(&"render_frame_time_ms")
var active_chunk_count: int:
	get:
		return int(value(&"active_chunk_count"))
## Mean time that the monitor itself takes of a tick, in microseconds.
var cost_us: float = 0.0

var _sources: Dictionary[StringName, Callable] = {}
var _values: Dictionary[StringName, PackedFloat32Array] = {}
var _budgets: Dictionary[StringName, float] = {}
var _registered: Array[StringName] = []
# The next place in the window, and how many of it are filled.
var _at: int = 0
var _filled: int = 0
var _tick_began_us: int = 0
var _frame_began_us: int = 0
var _physics_ms: float = 0.0
var _worst_physics_ms: float = 0.0
var _render_ms: float = 0.0


func _init() -> void:
	process_mode = Node.PROCESS_MODE_ALWAYS
	# After DojoSync, which waits for the trainer, and before everybody else.
	process_physics_priority = -999_999


func _enter_tree() -> void:
	add_to_group(GROUP)
	get_tree().physics_frame.connect(_end_tick)
	get_tree().process_frame.connect(_begin_frame)
	RenderingServer.frame_post_draw.connect(_end_frame)
	var budgets: Dictionary[StringName, float] = {
		&"physics_frame_time_ms": physics_frame_time_budget_ms,
		&"render_frame_time_ms": render_frame_time_budget_ms,
		&"active_chunk_count": active_chunk_budget,
		&"chunk_generation_avg_ms": chunk_generation_avg_budget_ms,
		&"chunk_generation_max_ms": chunk_generation_max_budget_ms,
		&"voxel_memory_mb": voxel_memory_budget_mb,
	}
	for metric: StringName in MEASURED + CHUNKS:
		_add(metric, budgets.get(metric, 0.0))


func _exit_tree() -> void:
	get_tree().physics_frame.disconnect(_end_tick)
	get_tree().process_frame.disconnect(_begin_frame)
	RenderingServer.frame_post_draw.disconnect(_end_frame)
	for metric in _registered:
		Performance.remove_custom_monitor(_PREFIX + metric)
	_registered.clear()


func _physics_process(_delta: float) -> void:
	_tick_began_us = Time.get_ticks_usec()


## Measures what [param source], which returns a number, says at every tick, also against
## [param budget] if it is above 0. The names of [constant CHUNKS] have their budgets already.
func add_monitor(metric: StringName, source: Callable, budget: float = 0.0) -> void:
	_sources[metric] = source
	_add(metric, budget if budget > 0.0 else _budgets.get(metric, 0.0))


## The last value.
func value(metric: StringName) -> float:
	return _values[metric][posmod(_at - 1, window)] if _filled > 0 and _values.has(metric) else 0.0


## The mean over the window.
func average(metric: StringName) -> float:
	var sum: float = 0.0
	for number in _of_window(metric):
		sum += number
	return sum / maxi(_filled, 1)


## The largest value of the window.
func maximum(metric: StringName) -> float:
	return percentile(metric, 100.0)


## The value that [param percent] of the window are below.
func percentile(metric: StringName, percent: float) -> float:
	var numbers: PackedFloat32Array = _of_window(metric)
	if numbers.is_empty():
		return 0.0
	numbers.sort()
	return numbers[clampi(ceili(percent / 100.0 * numbers.size()) - 1, 0, numbers.size() - 1)]


## The budget; 0 if there is none.
func budget(metric: StringName) -> float:
	return _budgets.get(metric, 0.0)


## The last value as a share of its budget; 0 without one.
func ratio(metric: StringName) -> float:
	return value(metric) / budget(metric) if budget(metric) > 0.0 else 0.0


## Whether the last value is over its budget.
func is_over(metric: StringName) -> bool:
	return ratio(metric) > 1.0


## The ratios of these metrics, for an observation.
func ratios(metrics: Array[StringName]) -> PackedFloat32Array:
	var numbers := PackedFloat32Array()
	for metric in metrics:
		numbers.append(ratio(metric))
	return numbers


## What an agent loses for the last tick: [constant PHYSICS_PENALTY] over the budget of physics,
## [constant CHUNK_PENALTY] with too many chunks.
func penalty() -> float:
	var lost: float = PHYSICS_PENALTY if is_over(&"physics_frame_time_ms") else 0.0
	return lost + (CHUNK_PENALTY if is_over(&"active_chunk_count") else 0.0)


## For [method DojoAgent.measures]: mean ratios of the window, TensorBoard's
## [code]performance/…[/code]; and the worst physics frame since the scene began, but for its first
## [member window] ticks, which load it.
func measures() -> Dictionary:
	return {
		"performance/physics_frame_time_ratio": _mean_ratio(&"physics_frame_time_ms"),
		"performance/render_frame_time_ratio": _mean_ratio(&"render_frame_time_ms"),
		"performance/chunk_count_ratio": _mean_ratio(&"active_chunk_count"),
		"performance/physics_frame_time_max_ms": _worst_physics_ms,
	}


## Everything, by metric: the last value, average, maximum and percentiles of the window, budget and
## ratio.
func summary() -> Dictionary:
	var found: Dictionary = {}
	for metric in _values:
		found[metric] = {
			"value": value(metric),
			"average": average(metric),
			"maximum": maximum(metric),
			"p50": percentile(metric, 50.0),
			"p95": percentile(metric, 95.0),
			"p99": percentile(metric, 99.0),
			"budget": budget(metric),
			"ratio": ratio(metric),
		}
	return found


func _add(metric: StringName, limit: float) -> void:
	_budgets[metric] = limit
	if not _values.has(metric):
		var numbers := PackedFloat32Array()
		numbers.resize(window)
		_values[metric] = numbers
	if is_inside_tree() and not Performance.has_custom_monitor(_PREFIX + metric):
		Performance.add_custom_monitor(_PREFIX + metric, value.bind(metric))
		_registered.append(metric)


func _mean_ratio(metric: StringName) -> float:
	return average(metric) / budget(metric) if budget(metric) > 0.0 else 0.0


func _of_window(metric: StringName) -> PackedFloat32Array:
	return _values[metric].slice(0, _filled) if _values.has(metric) else PackedFloat32Array()


## The tick before is over: its physics step lies behind us.
func _end_tick() -> void:
	if _tick_began_us == 0:
		return
	var now_us: int = Time.get_ticks_usec()
	_physics_ms = (now_us - _tick_began_us) * 1e-3
	_tick_began_us = 0
	_sample()
	cost_us = lerpf(cost_us, Time.get_ticks_usec() - now_us, 0.01)


func _begin_frame() -> void:
	_end_tick()
	_frame_began_us = Time.get_ticks_usec()


func _end_frame() -> void:
	_render_ms = (Time.get_ticks_usec() - _frame_began_us) * 1e-3


func _sample() -> void:
	_values[&"physics_frame_time_ms"][_at] = _physics_ms
	if _filled == window:
		_worst_physics_ms = maxf(_worst_physics_ms, _physics_ms)
	_values[&"render_frame_time_ms"][_at] = _render_ms
	_values[&"static_memory_mb"][_at] = (
		Performance.get_monitor(Performance.MEMORY_STATIC) / 1048576.0
	)
	_values[&"object_count"][_at] = Performance.get_monitor(Performance.OBJECT_COUNT)
	_values[&"node_count"][_at] = Performance.get_monitor(Performance.OBJECT_NODE_COUNT)
	for metric: StringName in _sources:
		_values[metric][_at] = _read(metric)
	_at = (_at + 1) % window
	_filled = mini(_filled + 1, window)


## What a source says; one that has vanished is left out, with a line.
func _read(metric: StringName) -> float:
	if not _sources[metric].is_valid():
		printerr("Godojo: what measures %s is gone; it counts as 0 from here on" % metric)
		_sources[metric] = _nothing
	var found: Variant = _sources[metric].call()
	return float(found) if (found is float or found is int) and is_finite(found) else 0.0


func _nothing() -> float:
	return 0.0
