class_name VoxelJob
extends RefCounted
## Makes the voxels and the surface of one chunk at one level of detail, on a worker thread.

var chunk: VoxelChunk
var cell: Vector2i
var lod: int
## The tick in which it was started.
var start_tick: int
## The tick from which its result may be used; -1 while that is not known.
var ready_tick: int = -1
## What came of it; to be read once it [method is_done].
var voxels := PackedByteArray()
var surface: Array = []
## Work of the thread.
var work_ms: float = 0.0
## It no longer takes a slot: its chunk is behind a viewer who spins.
var is_parked: bool = false
## Nobody wants the result any more.
var is_cancelled: bool = false

var _generator: VoxelGenerator

var _task: int = -1


func _init(generator: VoxelGenerator, for_chunk: VoxelChunk, for_lod: int, tick: int) -> void:
	_generator = generator
	chunk = for_chunk
	cell = for_chunk.cell
	lod = for_lod
	start_tick = tick


func start() -> void:
	_task = WorkerThreadPool.add_task(_run, false, "voxel chunk")


func is_done() -> bool:
	return _task < 0 or WorkerThreadPool.is_task_completed(_task)


## Waits for the thread, as long as one chunk takes at most; needed once for each job.
func join() -> void:
	if _task >= 0:
		WorkerThreadPool.wait_for_task_completion(_task)
		_task = -1


func _run() -> void:
	var clock := ThreadClock.new()
	if not is_cancelled:
		voxels = _generator.voxels(cell, lod)
	if not is_cancelled:
		surface = VoxelMesher.surface(voxels, lod)
	work_ms = clock.elapsed_ms()
