extends SceneTree
## Says what the engine takes for the questions that tag asks it most, in microseconds.
##
## [codeblock]
## godot --headless --fixed-fps 60 --path godot --script res://games/tag/bench/costs.gd
## [/codeblock]
## Prints one line of JSON: a look of one agent and a ray of it, a cast of a body along open ground
## and one onto the floor, and a tick of a world with two agents that run about.

const ARENA := "mixed"
const TIMES := 4000


func _initialize() -> void:
	_run.call_deferred()


func _run() -> void:
	var world := TagWorld.new()
	root.add_child(world)
	var settings: TagSettings = TagSettings.load_defaults()
	world.configure(settings, ArenaData.load_named(ARENA), 1)
	await physics_frame
	var look_us: float = _look_us(world)
	var costs: Dictionary = {
		"look_us": look_us,
		"ray_us": look_us / settings.ray_count,
		"open_cast_us": _cast_us(world, Vector3(0.1, 0.0, 0.0)),
		"floor_cast_us": _cast_us(world, Vector3(0.0, -0.004, 0.0)),
		"tick_us": _tick_us(world),
	}
	print(JSON.stringify(costs))
	quit(0)


func _look_us(world: TagWorld) -> float:
	var started_us: int = Time.get_ticks_usec()
	for turn in TIMES:
		world.place(world.agents[0], Vector3.ZERO, turn * 0.1)
		world.sight_of(0)
	return float(Time.get_ticks_usec() - started_us) / TIMES


func _cast_us(world: TagWorld, motion: Vector3) -> float:
	var query := PhysicsShapeQueryParameters3D.new()
	var shape := BoxShape3D.new()
	shape.margin = 0.0
	shape.size = Vector3.ONE * world.settings.body.size_m
	query.shape = shape
	query.collision_mask = Arena.WALL_LAYER
	query.motion = motion
	# Where a body starts there is ground below and room around.
	world.reset()
	query.transform.origin = world.agents[0].position
	var space: PhysicsDirectSpaceState3D = world.get_world_3d().direct_space_state
	var started_us: int = Time.get_ticks_usec()
	for _turn in TIMES:
		space.cast_motion(query)
	return float(Time.get_ticks_usec() - started_us) / TIMES


func _tick_us(world: TagWorld) -> float:
	var started_us: int = Time.get_ticks_usec()
	for _turn in TIMES:
		if world.round_over:
			world.reset()
		if world.is_decision_due():
			for index in world.agents.size():
				world.set_action(index, randf_range(-1, 1), randf_range(-1, 1), randf_range(-1, 1))
		world.tick()
	return float(Time.get_ticks_usec() - started_us) / TIMES
