extends EngineTest
## The voxel terrain and its pilot: surfaces, threads, levels, unloading, holes, patterns.

const SCENE := "res://games/voxel_stress/voxel_stress.tscn"


func test_a_surface_is_closed_and_merged() -> void:
	# One solid voxel in the middle of an empty chunk of the coarsest level.
	var padded: int = VoxelGenerator.SIDE / 4 + 2
	var solid := PackedByteArray()
	solid.resize(padded * padded * (VoxelGenerator.HEIGHT / 4 + 1))
	solid[2 * padded * padded + 2 * padded + 2] = 1
	var points: PackedVector3Array = VoxelMesher.surface(solid, 2)[Mesh.ARRAY_VERTEX]
	check_equal(points.size(), 6 * 6, "vertices of a voxel's six faces")
	solid[2 * padded * padded + 2 * padded + 3] = 1
	points = VoxelMesher.surface(solid, 2)[Mesh.ARRAY_VERTEX]
	check_equal(points.size(), 6 * 6, "two in a row are one box")
	solid.fill(0)
	check(VoxelMesher.surface(solid, 2).is_empty(), "nothing has no surface")


func test_chunks_are_made_and_dropped() -> void:
	var terrain: VoxelTerrain = _terrain(3)
	await ticks(60)
	var near: VoxelChunk = terrain.chunks[Vector2i.ZERO]
	check_equal(terrain.active_chunk_count(), 29, "chunks within three")
	check_equal(terrain.queue_length(), 0, "all are made")
	check_equal(near.lod, 0, "level of the nearest")
	check(near.is_solid(), "one can stand on the nearest")
	check_equal(terrain.chunks[Vector2i(3, 0)].lod, 2, "level of the farthest")
	check(not terrain.chunks[Vector2i(3, 0)].is_solid(), "nobody stands on the farthest")
	check(terrain.voxel_memory_mb() > 0.0, "memory is counted")
	check(terrain.chunk_generation_max_ms > 0.0, "time is counted")
	var memory_mb: float = terrain.voxel_memory_mb()
	terrain.look_from(Vector3(1000, 0, 0), Vector3.ZERO)
	await ticks(60)
	check_equal(terrain.active_chunk_count(), 29, "those left behind are dropped")
	check(not terrain.chunks.has(Vector2i.ZERO), "the first is gone")
	check(terrain.voxel_memory_mb() < 10.0 * memory_mb, "and so is its memory")
	check_equal(terrain.races, 0, "races")


func test_a_scene_closes_while_threads_work() -> void:
	for _time in 3:
		var terrain: VoxelTerrain = _terrain(10)
		terrain.waits_for_jobs = false
		await ticks(2)
		check(terrain.queue_length() > 0, "threads are at work")
		terrain.free()
		check_equal(get_child_count(), 0, "nodes left")


func test_a_job_of_a_dropped_chunk_is_harmless() -> void:
	var terrain: VoxelTerrain = _terrain(3)
	terrain.job_ticks = 30
	await ticks(3)
	terrain.look_from(Vector3(1000, 0, 0), Vector3.ZERO)
	await ticks(60)
	check_equal(terrain.races, 0, "races")
	check_equal(terrain.active_chunk_count(), 29, "chunks")


func test_holes() -> void:
	var terrain: VoxelTerrain = _terrain(3)
	await ticks(60)
	var holes := LodHoles.new()
	check_equal(holes.look(terrain, 0).size(), 0, "holes of a terrain that is whole")
	terrain.chunks[Vector2i(0, 0)].lod = VoxelChunk.NOTHING
	check_equal(holes.look(terrain, 10).size(), 0, "too short to be seen")
	check_equal(holes.look(terrain, 10 + LodHoles.LASTS_TICKS).size(), 1, "a missing chunk")
	terrain.chunks[Vector2i(0, 0)].lod = 2
	holes.look(terrain, 100)
	check(holes.look(terrain, 200).size() > 0, "two levels side by side")


func test_patterns_of_movement() -> void:
	var log_of := {
		"standing still": func(_tick: int) -> Vector2: return Vector2.ZERO,
		"straight above 15 m/s": func(_tick: int) -> Vector2: return Vector2(20, 0),
		"straight below 5 m/s": func(_tick: int) -> Vector2: return Vector2(0, 3),
		"circling at 5 to 15 m/s":
		func(tick: int) -> Vector2: return Vector2(10, 0).rotated(tick * 0.05),
		"zig-zag above 15 m/s":
		func(tick: int) -> Vector2: return Vector2(18, 10 if (tick / 45) % 2 else -18),
		"erratic at 5 to 15 m/s":
		func(tick: int) -> Vector2: return Vector2(10, 0).rotated((tick / 8) * 2.0),
	}
	for expected: String in log_of:
		var movement := MovementLog.new()
		for tick in 400:
			var velocity: Vector2 = (log_of[expected] as Callable).call(tick)
			movement.note(velocity, 0.0)
		check_equal(movement.pattern(), expected, "pattern")
		movement.note(Vector2.ZERO, 150.0)
		check(movement.pattern().ends_with(", teleport beyond 100 m"), "teleport of " + expected)


func test_the_pilot_finds_and_keeps_what_breaks() -> void:
	var pilot: VoxelPilot = await _pilot()
	pilot.apply_action([1.0, 0.0, 1.0, -1.0])
	await ticks(200)
	check_near(pilot.velocity.length(), 20.0, 1e-3, "speed")
	check(pilot.terrain.active_chunk_count() > 317, "chunks trail behind")
	pilot.apply_action([1.0, 0.0, 1.0, 1.0])
	var before: float = pilot.rig.position.x
	await ticks(2)
	check(pilot.rig.position.x - before > 190.0, "it teleports")
	await ticks(30)
	check(pilot.terrain.active_chunk_count() > 400, "two places at once are many chunks")
	check_equal(pilot.measures()["budgets_broken"] > 0, true, "a budget is broken")
	check(pilot.current.reward[pilot.reward_terms.find("chunks")] >= 2.0, "reward for chunks")
	check(pilot.findings.save("user://voxel_stress_test"), "findings are written")
	var path: String = "user://voxel_stress_test/findings-%d.json" % OS.get_process_id()
	var content: Dictionary = JSON.parse_string(FileAccess.get_file_as_string(path))
	var rows: Array = content["findings"]
	var patterns: Array = rows.map(func(row: Dictionary) -> String: return row["pattern"])
	check(patterns.any(func(text: String) -> bool: return text.begins_with("straight")), "pattern")
	DirAccess.remove_absolute(path)
	DirAccess.remove_absolute("user://voxel_stress_test")


func test_observation_and_actions_are_as_specified() -> void:
	var pilot: VoxelPilot = await _pilot()
	check_equal(pilot.observe().size(), 4, "observations")
	check_equal(DojoObservationLayout.action_size(pilot.action_parts()), 4, "actions")
	check_near(pilot.observe()[2], 317 / 512.0, 1e-3, "active chunks")
	check_equal(Engine.physics_ticks_per_second, 90, "physics ticks per second")


func _terrain(radius: int) -> VoxelTerrain:
	var terrain := VoxelTerrain.new()
	terrain.view_radius = radius
	terrain.lod_radii = [1.0, 2.0]
	terrain.solid_radius = 0.5
	terrain.unload_margin = 0.0
	terrain.unload_delay_ticks = 0
	terrain.waits_for_jobs = true
	add_child(terrain)
	return terrain


func _pilot() -> VoxelPilot:
	var scene: Node = (load(SCENE) as PackedScene).instantiate()
	(scene.get_node("DojoSync") as DojoSync).mode = DojoSync.Mode.HUMAN
	add_child(scene)
	(scene.get_node("DojoSync") as DojoSync).set_physics_process(false)
	var pilot: VoxelPilot = scene.get_node("Rig/VoxelPilot")
	pilot.begin_round()
	await ticks(5)
	return pilot
