class_name VoxelTerrain
extends Node3D
## A chunked voxel terrain around a viewer.
##
## Chunks are made on worker threads, nearest first, with less detail farther away, and dropped some
## time after they are out of sight. Around a fast viewer the detail runs ahead. What it costs is
## counted: time of a chunk, chunks, memory, queue.

## A tick of the terrain is over.
signal ticked

const TICKS_PER_S := 90
const TICK_MS := 1000.0 / TICKS_PER_S
## What is printed where [member forgets_parked_jobs] strikes.
const RACE := "chunk generation race condition: chunk (%d, %d) was unloaded during its job"
## Faster than this the view swings so that jobs behind it can wait.
const PARKING_SPIN_RADPS := 2.0
## A parked job is looked at again after so long.
const PARKED_TICKS := 45
const _UNLOAD_EVERY_TICKS := 9

## The same number gives the same terrain.
@export var terrain_seed: int = 1
## How far chunks are shown, in chunks.
@export_range(1, 32) var view_radius: int = 10
## Out to where each level of detail reaches, in chunks; the last one is for all beyond.
@export var lod_radii := PackedFloat32Array([2.5, 5.5])
## Out to where bodies can stand, in chunks.
@export var solid_radius: float = 1.5
## Worker threads that make chunks, and jobs in flight at once.
@export_range(1, 16) var threads: int = 2
@export_range(1, 64) var max_jobs: int = 8
## A chunk this far beyond sight is dropped, after this long.
@export var unload_margin: float = 2.0
@export var unload_delay_ticks: int = 270
## From this speed on, detail is made ahead of the viewer, where it will be after so long.
@export var prefetch_speed_mps: float = 15.0
@export var prefetch_s: float = 4.0
## Ticks after which a job's result is used; 0: as many as its thread needed.
@export var job_ticks: int = 0
## A planted bug: a parked job is not cancelled when its chunk is dropped.
@export var forgets_parked_jobs: bool = false

## Whether a tick waits for jobs that would be done by then in a game at normal speed. Without, a
## game that runs as fast as it can would see slow threads.
var waits_for_jobs: bool = false
## Jobs that came back for a chunk that was gone.
var races: int = 0
## Time that the last tick waited for threads; no cost of a game at normal speed.
var waited_ms: float = 0.0
var chunk_generation_avg_ms: float = 0.0
var chunk_generation_max_ms: float = 0.0
var chunks: Dictionary[Vector2i, VoxelChunk] = {}
## The chunk that the viewer is in.
var center := Vector2i.ZERO

var _generator: VoxelGenerator
var _material := StandardMaterial3D.new()
var _offsets: Array[Vector2i] = []
var _tick: int = 0
var _place := Vector3.ZERO
var _velocity := Vector3.ZERO
var _forward := Vector3.FORWARD
var _spin_radps: float = 0.0
var _focus := Vector2i.ZERO
var _is_planned: bool = false
var _queue: Array[VoxelChunk] = []
var _jobs: Array[VoxelJob] = []
var _unwanted: Array[VoxelChunk] = []
var _memory_bytes: int = 0
# When each simulated thread is free, in milliseconds since the start.
var _thread_free_ms := PackedFloat64Array()
# When the jobs of the last second were done, and their work.
var _done_ticks := PackedInt32Array()
var _done_ms := PackedFloat32Array()


func _ready() -> void:
	process_physics_priority = 10
	_material.vertex_color_use_as_albedo = true
	_material.vertex_color_is_srgb = true
	_material.roughness = 0.95
	for x in range(-view_radius, view_radius + 1):
		for z in range(-view_radius, view_radius + 1):
			if Vector2i(x, z).length() <= view_radius:
				_offsets.append(Vector2i(x, z))
	_offsets.sort_custom(
		func(a: Vector2i, b: Vector2i) -> bool: return a.length_squared() < b.length_squared()
	)
	restart()


func _exit_tree() -> void:
	_end_jobs()


func _physics_process(_delta: float) -> void:
	_tick += 1
	waited_ms = 0.0
	_collect_jobs()
	var fresh: Vector2i = cell_at(_place)
	var focus: Vector2i = cell_at(_place + _velocity * prefetch_s)
	if _velocity.length() < prefetch_speed_mps:
		focus = fresh
	if fresh != center or focus != _focus or not _is_planned:
		center = fresh
		_focus = focus
		_plan()
	if _tick % _UNLOAD_EVERY_TICKS == 0:
		_unload_unwanted()
	_park_jobs()
	_start_jobs()
	_average()
	ticked.emit()


## Drops everything, as a game does that is loaded anew.
func restart() -> void:
	_end_jobs()
	for chunk: VoxelChunk in chunks.values():
		chunk.queue_free()
	chunks.clear()
	_queue.clear()
	_unwanted.clear()
	_memory_bytes = 0
	_velocity = Vector3.ZERO
	_is_planned = false
	_tick = 0
	_done_ticks.clear()
	_done_ms.clear()
	_thread_free_ms.resize(threads)
	_thread_free_ms.fill(0.0)
	_generator = VoxelGenerator.new(terrain_seed)


## Where the viewer is, how it moves (teleports aside), where it looks and how fast it turns.
func look_from(place: Vector3, velocity: Vector3, forward := Vector3.FORWARD, spin := 0.0) -> void:
	_place = place
	_velocity += (velocity - _velocity) / TICKS_PER_S
	_forward = forward
	_spin_radps = absf(spin)


func ground_m(place: Vector3) -> float:
	return _generator.ground_m(place.x, place.z)


func active_chunk_count() -> int:
	return chunks.size()


func voxel_memory_mb() -> float:
	return _memory_bytes / 1048576.0


## Chunks that wait for a job, and jobs under way.
func queue_length() -> int:
	return _queue.size() + _jobs.size()


## What is counted, by name.
func numbers() -> Dictionary:
	return {
		"active_chunk_count": chunks.size(),
		"chunk_generation_avg_ms": chunk_generation_avg_ms,
		"chunk_generation_max_ms": chunk_generation_max_ms,
		"voxel_memory_mb": voxel_memory_mb(),
		"queue_length": queue_length(),
		"races": races,
	}


## Everything that a bug report should have about it.
func state() -> Dictionary:
	var jobs: Array[Dictionary] = []
	for job in _jobs:
		var is_parked: bool = job.is_parked
		jobs.append(
			{"cell": str(job.cell), "lod": job.lod, "started": job.start_tick, "parked": is_parked}
		)
	return {
		"tick": _tick,
		"terrain_seed": terrain_seed,
		"center": str(center),
		"spin_radps": _spin_radps,
		"numbers": numbers(),
		"jobs": jobs,
	}


static func cell_at(place: Vector3) -> Vector2i:
	return Vector2i(floori(place.x / VoxelGenerator.SIDE), floori(place.z / VoxelGenerator.SIDE))


## Which chunks are needed at which level, and which no longer are.
func _plan() -> void:
	_is_planned = true
	_queue.clear()
	var needed: Dictionary[Vector2i, bool] = {}
	for offset in _offsets:
		var cell: Vector2i = center + offset
		needed[cell] = true
		var chunk: VoxelChunk = chunks.get(cell)
		if chunk == null:
			chunk = VoxelChunk.new(cell, _material)
			chunks[cell] = chunk
			add_child(chunk)
		chunk.unwanted_since = -1
		chunk.wanted_lod = _level(cell)
		if chunk.lod != chunk.wanted_lod and chunk.job == null:
			_queue.append(chunk)
		_settle(chunk)
	_unwanted.clear()
	for cell in chunks:
		if not needed.has(cell):
			var chunk: VoxelChunk = chunks[cell]
			if chunk.unwanted_since < 0:
				chunk.unwanted_since = _tick
			_unwanted.append(chunk)


func _level(cell: Vector2i) -> int:
	if _focus != center and (cell - _focus).length() <= solid_radius:
		return 0
	var distance: float = (cell - center).length()
	for level in lod_radii.size():
		if distance <= lod_radii[level]:
			return level
	return lod_radii.size()


## Solid is what is near and shown in full detail.
func _settle(chunk: VoxelChunk) -> void:
	var solid: bool = chunk.lod == 0 and (chunk.cell - center).length() <= solid_radius
	if solid != chunk.is_solid():
		chunk.make_solid(solid)


func _unload_unwanted() -> void:
	var kept: Array[VoxelChunk] = []
	for chunk in _unwanted:
		var is_far: bool = (chunk.cell - center).length() > view_radius + unload_margin
		if is_far and _tick - chunk.unwanted_since >= unload_delay_ticks:
			_unload(chunk)
		else:
			kept.append(chunk)
	_unwanted = kept


func _unload(chunk: VoxelChunk) -> void:
	chunks.erase(chunk.cell)
	_memory_bytes -= chunk.memory_bytes
	if chunk.job != null and not (forgets_parked_jobs and chunk.job.is_parked):
		chunk.job.is_cancelled = true
	chunk.queue_free()


func _start_jobs() -> void:
	var running: int = 0
	for job in _jobs:
		running += 0 if job.is_parked else 1
	while running < max_jobs and not _queue.is_empty():
		var chunk: VoxelChunk = _queue.pop_front()
		if chunk.is_queued_for_deletion():
			continue
		var job := VoxelJob.new(_generator, chunk, chunk.wanted_lod, _tick)
		chunk.job = job
		_jobs.append(job)
		job.start()
		running += 1


## While the view swings fast, jobs behind it make room for those in front.
func _park_jobs() -> void:
	if _spin_radps <= PARKING_SPIN_RADPS:
		return
	for job in _jobs:
		var way := Vector2(job.cell - center)
		if not job.is_parked and way.dot(Vector2(_forward.x, _forward.z)) < 0.0:
			job.is_parked = true
			if job.ready_tick >= 0:
				job.ready_tick = job.start_tick + PARKED_TICKS


func _collect_jobs() -> void:
	var left: Array[VoxelJob] = []
	for job in _jobs:
		if job.ready_tick < 0:
			if waits_for_jobs:
				var began_us: int = Time.get_ticks_usec()
				job.join()
				waited_ms += (Time.get_ticks_usec() - began_us) * 1e-3
			if job.is_done():
				job.join()
				job.ready_tick = _ready_tick(job)
				_done_ticks.append(_tick)
				_done_ms.append(job.work_ms)
		if job.ready_tick < 0 or job.ready_tick > _tick:
			left.append(job)
		elif not job.is_cancelled:
			_land(job)
	_jobs = left


## When a job is done in a game at normal speed, where a few threads take one after another.
func _ready_tick(job: VoxelJob) -> int:
	if job.is_parked:
		return job.start_tick + PARKED_TICKS
	if job_ticks > 0:
		return job.start_tick + job_ticks
	if not waits_for_jobs:
		return _tick
	var thread: int = 0
	for index in threads:
		if _thread_free_ms[index] < _thread_free_ms[thread]:
			thread = index
	_thread_free_ms[thread] = maxf(_thread_free_ms[thread], job.start_tick * TICK_MS) + job.work_ms
	return ceili(_thread_free_ms[thread] / TICK_MS)


func _land(job: VoxelJob) -> void:
	if not is_instance_valid(job.chunk) or job.chunk.is_queued_for_deletion():
		races += 1
		printerr(RACE % [job.cell.x, job.cell.y])
		return
	var chunk: VoxelChunk = job.chunk
	chunk.job = null
	_memory_bytes -= chunk.memory_bytes
	chunk.take(job)
	_memory_bytes += chunk.memory_bytes
	_settle(chunk)
	if chunk.lod != chunk.wanted_lod:
		_queue.append(chunk)


func _end_jobs() -> void:
	for job in _jobs:
		job.is_cancelled = true
	for job in _jobs:
		job.join()
	_jobs.clear()


## Of the jobs that were done within a second.
func _average() -> void:
	while not _done_ticks.is_empty() and _done_ticks[0] <= _tick - TICKS_PER_S:
		_done_ticks.remove_at(0)
		_done_ms.remove_at(0)
	chunk_generation_avg_ms = 0.0
	chunk_generation_max_ms = 0.0
	for work_ms in _done_ms:
		chunk_generation_avg_ms += work_ms / _done_ms.size()
		chunk_generation_max_ms = maxf(chunk_generation_max_ms, work_ms)
