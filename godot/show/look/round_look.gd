class_name RoundLook
extends Node3D
## Everything that is seen of a round: arena, agents, dust, light and camera.

const STAGE: PackedScene = preload("res://show/look/stage.tscn")
## OpenGL adds the sun to a picture that is already encoded for the screen; less of it looks alike.
const COMPATIBILITY_SUN: float = 0.3
## Metres between two puffs of a running agent.
const STRIDE_M: float = 0.85
## Where the sun stands in a film, around y from the camera: it lights what the camera sees.
const SUN_YAW_RAD: float = -0.72

## The camera and the ways to watch.
var rig := CameraRig.new()
## Index of the agent that the keyboard moves, marked by a ring; -1 for none.
var human: int = -1
## Index of the agent that the follow camera follows.
var hero: int = 0
## Whether the round has ended: agents that were caught stay to be seen.
var is_over: bool = false
## All agents; to be updated before this node's [method _process].
var bodies: Array[ShowBody] = []

var _sun: DirectionalLight3D
var _arena := ArenaLook.new()
var _dust := Dust.new()
var _trails := Trails.new()
var _looks: Array[AgentLook] = []
var _marks: Array[MarkLook] = []
var _layout: ShowLayout
var _strides_m: PackedFloat32Array = []
var _see_through := SeeThrough.new()
var _wave := Vector4(0.0, 0.0, 0.0, -1.0)
var _cut: bool = true


func _init() -> void:
	var stage: Node = STAGE.instantiate()
	_sun = stage.get_node(^"Sun")
	if RenderingServer.get_current_rendering_method() == "gl_compatibility":
		_sun.light_energy *= COMPATIBILITY_SUN
	for part: Node in [stage, _arena, _dust, _trails, rig]:
		add_child(part)


## Shows [member bodies] in an arena, in place of what was shown before.
func show_round(layout: ShowLayout) -> void:
	_layout = layout
	for look in _looks:
		look.queue_free()
	for mark in _marks:
		mark.queue_free()
	_looks.clear()
	_marks.clear()
	_dust.prepare(layout.body_m)
	_trails.prepare(bodies.size(), layout.body_m)
	for body in bodies:
		var look := AgentLook.new()
		add_child(look)
		look.follow(body, layout.body_m)
		_looks.append(look)
	_strides_m.resize(_looks.size())
	for mark in layout.marks:
		var look := MarkLook.new(mark.radius_m, mark.kind == &"goal")
		look.position = mark.position
		add_child(look)
		_marks.append(look)
	_arena.show_layout(layout)
	_arena.set_parameter(&"agent_half_m", layout.body_m * 0.5)
	_arena.set_parameter(&"human_color", ShowStyle.PAPER)
	rig.frame_layout(layout)
	rig.camera.make_current()
	cut()


## Forgets all motion: the next frame is a new picture.
func cut() -> void:
	_cut = true
	_wave.w = -1.0
	rig.cut()
	_trails.cut()
	for look in _looks:
		look.cut()
	for mark in _marks:
		mark.tell(true, false)


## Where on screen agents and the names above them are seen, in pixels.
func screen_points() -> PackedVector2Array:
	var points: PackedVector2Array = []
	for body in bodies:
		if _looks[body.index].visible and not rig.camera.is_position_behind(body.middle):
			var above: Vector3 = body.middle + Vector3.UP * _layout.body_m
			points.append(rig.camera.unproject_position(body.middle))
			points.append(rig.camera.unproject_position(above))
	return points


func show_jump(index: int) -> void:
	_looks[index].jump()
	_dust.puff(bodies[index].middle, 5, ShowStyle.DUST)


func show_landing(index: int, speed_mps: float) -> void:
	_looks[index].land(speed_mps)
	_dust.puff(bodies[index].middle, clampi(int(speed_mps * 0.9), 3, 9), ShowStyle.DUST)


## A wave in [param color] runs out from an agent that was caught or changed teams.
func show_catch(index: int, color: Color) -> void:
	var at: Vector3 = bodies[index].middle
	_wave = Vector4(at.x, at.y, at.z, 0.0)
	_arena.set_parameter(&"wave_color", color)
	_dust.puff(at, 14, bodies[index].color)


func _process(delta: float) -> void:
	if bodies.is_empty():
		return
	var present: PackedVector3Array = []
	for body in bodies:
		_looks[body.index].lingers = is_over
		if body.active or body.index == hero:
			present.append(body.middle)
		_leave_dust(body, delta)
		_pass_marks(body)
	rig.watch(present, bodies[hero].middle, bodies[hero].heading_rad, delta)
	if _cut and rig.mode == CameraRig.Mode.PLANNED:
		_sun.rotation.y = rig.yaw() + SUN_YAW_RAD
	_sun.directional_shadow_max_distance = rig.shadow_reach_m
	_trails.follow(bodies, delta)
	_paint(INF if _cut else delta)
	_cut = false


func _paint(delta: float) -> void:
	var camera: Vector3 = rig.camera.global_position
	_arena.duck_walls(camera, delta)
	var middles: PackedVector3Array = []
	var velocities: PackedVector3Array = []
	var wanted: Array[bool] = []
	var agents: PackedVector4Array = []
	for body in bodies:
		var is_seen: bool = _looks[body.index].visible
		middles.append(body.middle)
		velocities.append(body.velocity if body.active else Vector3.ZERO)
		# Over a shoulder, walls hide from the viewer what they hide from the agent.
		wanted.append(is_seen and (rig.mode != CameraRig.Mode.FOLLOW or body.index == hero))
		agents.append(Vector4(body.middle.x, body.middle.y, body.middle.z, 1.0 if is_seen else 0.0))
	var openings: PackedFloat32Array = _see_through.update(
		camera, middles, velocities, wanted, _layout.body_m, _layout.boxes, delta
	)
	openings = openings.duplicate()
	openings.resize(ArenaLook.MAX_AGENTS)
	agents.resize(ArenaLook.MAX_AGENTS)
	if _wave.w >= 0.0 and is_finite(delta):
		_wave.w += delta
	_arena.set_parameter(&"agents", agents)
	_arena.set_parameter(&"wave", _wave)
	_arena.set_parameter(&"human", human)
	_arena.set_parameter(&"windows_a", Vector4(openings[0], openings[1], openings[2], openings[3]))
	_arena.set_parameter(&"windows_b", Vector4(openings[4], openings[5], openings[6], openings[7]))


func _leave_dust(body: ShowBody, delta: float) -> void:
	if not body.active or not body.grounded:
		return
	_strides_m[body.index] += Vector2(body.velocity.x, body.velocity.z).length() * delta
	if _strides_m[body.index] > STRIDE_M:
		_strides_m[body.index] = 0.0
		_dust.puff(body.middle, 2, ShowStyle.DUST)


## Marks on the way to the goal are dimmed once an agent has reached them.
func _pass_marks(body: ShowBody) -> void:
	for number in _marks.size():
		var mark: ShowLayout.Mark = _layout.marks[number]
		var away: Vector3 = body.middle - mark.position
		if mark.kind != &"goal" and Vector2(away.x, away.z).length() < mark.radius_m:
			_marks[number].tell(false, true)
