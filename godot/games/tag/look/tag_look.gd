class_name TagLook
extends Node3D
## Everything that is seen of a [TagWorld]: arena, agents, dust, light and camera. It reads the
## world and never changes it.

const STAGE: PackedScene = preload("res://games/tag/look/stage.tscn")
## OpenGL adds the sun to a picture that is already encoded for the screen; less of it looks alike.
const COMPATIBILITY_SUN: float = 0.3
## Metres between two puffs of a running agent.
const STRIDE_M: float = 0.85

## The camera and the ways to watch.
var rig := CameraRig.new()
## Index of the agent that the keyboard moves, marked by a ring; -1 for none.
var human: int = -1
## Index of the agent that the follow camera follows.
var hero: int = 0

var _world: TagWorld
var _sun: DirectionalLight3D
var _arena := ArenaLook.new()
var _dust := Dust.new()
var _looks: Array[AgentLook] = []
var _strides_m: PackedFloat32Array = []
var _see_through := SeeThrough.new()
var _wave := Vector4(0.0, 0.0, 0.0, -1.0)
var _cut: bool = true


## Shows [param world], which must have been configured and be in the tree.
func show_world(world: TagWorld) -> void:
	_world = world
	var stage: Node = STAGE.instantiate()
	add_child(stage)
	_sun = stage.get_node(^"Sun")
	if RenderingServer.get_current_rendering_method() == "gl_compatibility":
		_sun.light_energy *= COMPATIBILITY_SUN
	add_child(_arena)
	add_child(_dust)
	add_child(rig)
	_show_agents()
	world.tagged.connect(_on_tagged)
	world.arena_changed.connect(_show_arena)
	world.arena_changed.connect(_show_agents)
	world.round_started.connect(cut)
	_show_arena()
	rig.camera.make_current()


## Forgets all motion: the next frame is a new picture.
func cut() -> void:
	_cut = true
	_wave.w = -1.0
	rig.cut()


## Where on screen agents are seen, in pixels.
func screen_points() -> PackedVector2Array:
	var points: PackedVector2Array = []
	for look in _looks:
		if look.visible and not rig.camera.is_position_behind(look.middle()):
			points.append(rig.camera.unproject_position(look.middle()))
	return points


## Where those are who play against the hero.
func opponents() -> PackedVector3Array:
	var places: PackedVector3Array = []
	for agent in _world.agents:
		if agent.active and agent.is_seeker_like != _world.agents[hero].is_seeker_like:
			places.append(_looks[agent.index].middle())
	return places


func _process(delta: float) -> void:
	if _world == null:
		return
	var middles: PackedVector3Array = []
	var present: PackedVector3Array = []
	var wanted: Array[bool] = []
	for index in _looks.size():
		var look: AgentLook = _looks[index]
		look.lingers = _world.round_over
		middles.append(look.middle())
		# Over a shoulder, walls hide from the viewer what they hide from the agent.
		wanted.append(look.visible and (rig.mode != CameraRig.Mode.FOLLOW or index == hero))
		if look.is_present() or index == hero:
			present.append(middles[index])
		_leave_dust(index, delta)
	rig.watch(present, middles[hero], _world.agents[hero].heading_rad, delta)
	_sun.directional_shadow_max_distance = rig.shadow_reach_m
	_paint(middles, wanted, INF if _cut else delta)
	_cut = false


func _paint(middles: PackedVector3Array, wanted: Array[bool], delta: float) -> void:
	var camera: Vector3 = rig.camera.global_position
	_arena.duck_walls(camera, delta)
	var velocities: PackedVector3Array = []
	for agent in _world.agents:
		velocities.append(agent.velocity if agent.active else Vector3.ZERO)
	var openings: PackedFloat32Array = _see_through.update(
		camera, middles, velocities, wanted, _world.settings.body.size_m, _arena.solids, delta
	)
	openings = openings.duplicate()
	openings.resize(TagSettings.MAX_AGENTS)
	var agents: PackedVector4Array = []
	agents.resize(TagSettings.MAX_AGENTS)
	for index in mini(middles.size(), TagSettings.MAX_AGENTS):
		var at: Vector3 = middles[index]
		agents[index] = Vector4(at.x, at.y, at.z, 1.0 if _looks[index].visible else 0.0)
	if _wave.w >= 0.0 and is_finite(delta):
		_wave.w += delta
	_arena.set_parameter(&"agents", agents)
	_arena.set_parameter(&"wave", _wave)
	_arena.set_parameter(&"human", human)
	_arena.set_parameter(&"windows_a", Vector4(openings[0], openings[1], openings[2], openings[3]))
	_arena.set_parameter(&"windows_b", Vector4(openings[4], openings[5], openings[6], openings[7]))


func _show_agents() -> void:
	for old in _looks:
		old.queue_free()
	_looks.clear()
	_dust.prepare(_world.settings.body.size_m)
	for agent in _world.agents:
		var look := AgentLook.new()
		add_child(look)
		look.follow(agent, _world.settings.body.size_m)
		agent.jumped.connect(_on_jumped.bind(agent))
		agent.landed.connect(_on_landed.bind(agent))
		_looks.append(look)
	_strides_m.resize(_looks.size())


func _show_arena() -> void:
	_arena.show_arena(_world.arena, _world.settings.arena.wall_height_m)
	_arena.set_parameter(&"agent_half_m", _world.settings.body.size_m * 0.5)
	_arena.set_parameter(&"human_color", TagStyle.PAPER)
	_arena.set_parameter(&"wave_color", TagStyle.SEEKER)
	rig.frame_arena(_world.arena.size_m, _world.settings.arena.wall_height_m)
	cut()


func _leave_dust(index: int, delta: float) -> void:
	var agent: TagAgent = _world.agents[index]
	if not agent.active or not agent.grounded:
		return
	_strides_m[index] += Vector2(agent.velocity.x, agent.velocity.z).length() * delta
	if _strides_m[index] > STRIDE_M:
		_strides_m[index] = 0.0
		_dust.puff(_looks[index].middle(), 2, TagStyle.DUST)


func _on_jumped(agent: TagAgent) -> void:
	_dust.puff(agent.global_position, 5, TagStyle.DUST)


func _on_landed(speed_mps: float, agent: TagAgent) -> void:
	_dust.puff(agent.global_position, clampi(int(speed_mps * 0.9), 3, 9), TagStyle.DUST)


func _on_tagged(_seeker: TagAgent, hider: TagAgent) -> void:
	var at: Vector3 = hider.global_position
	_wave = Vector4(at.x, at.y, at.z, 0.0)
	_dust.puff(at, 14, TagStyle.HIDER)
