class_name AgentLook
extends Node3D
## How an agent looks: a rounded cube with eyes that look where it heads.
##
## The look follows its agent and never moves it. Whatever it does (turn, squash, stretch, look
## around), every vertex stays inside the agent's collider, so nothing visible can sink into a
## wall.

## Stretch of the height, as a fraction of the height at rest: lowest and highest.
const SQUASH_RANGE := Vector2(0.58, 1.18)
## How stiff and how damped the spring behind squash and stretch is.
const SPRING_STIFFNESS: float = 420.0
const SPRING_DAMPING: float = 20.0
## How long a caught agent stays to be seen before it is gone.
const FAREWELL_S: float = 0.9

## Whether a caught agent stays to be seen for longer, as it does when the round is over.
var lingers: bool = false

var _agent: ShowBody
var _size_m: float = 0.9
var _body := MeshInstance3D.new()
var _face := Node3D.new()
var _eyes: Array[Node3D] = []
var _pupils: Array[Node3D] = []
var _material := StandardMaterial3D.new()
var _squash: float = 1.0
var _squash_speed: float = 0.0
var _gaze := Vector2.ZERO
var _blink_in_s: float = 2.0
var _clock_s: float = 0.0
var _gone_s: float = 0.0


## Shows [param body], whose collider is a cube of [param size_m].
func follow(body: ShowBody, size_m: float) -> void:
	_agent = body
	_size_m = size_m
	_blink_in_s = 1.0 + 0.7 * body.index
	physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	_build()


## Sets squash and stretch by hand: the height as a fraction of the height at rest.
func set_squash(amount: float) -> void:
	_squash = clampf(amount, SQUASH_RANGE.x, SQUASH_RANGE.y)
	_squash_speed = 0.0
	_shape()


## Makes the eyes look to the side and up, both from -1 to 1.
func set_gaze(sideways: float, upward: float) -> void:
	_gaze = Vector2(clampf(sideways, -1.0, 1.0), clampf(upward, -1.0, 1.0))
	_shape()


## Turns the look to [param heading_rad] at once.
func face(heading_rad: float) -> void:
	_face.rotation.y = heading_rad


## Stretches as it leaves the ground.
func jump() -> void:
	_squash_speed += 5.5


## Squashes as it reaches the ground.
func land(speed_mps: float) -> void:
	_squash_speed -= clampf(speed_mps * 1.1, 0.0, 9.0)


## Forgets all motion.
func cut() -> void:
	_squash = 1.0
	_squash_speed = 0.0
	face(_agent.heading_rad)


func _process(delta: float) -> void:
	if _agent == null:
		return
	_clock_s += delta
	global_position = _agent.middle + Vector3.DOWN * (_size_m * 0.5)
	_face.rotation.y = lerp_angle(_face.rotation.y, _agent.heading_rad, 1.0 - exp(-30.0 * delta))
	_spring(delta)
	_look_ahead(delta)
	_shape()
	_tint(delta)


func _spring(delta: float) -> void:
	var pace: float = Vector2(_agent.velocity.x, _agent.velocity.z).length()
	var rest: float = 1.0
	if not _agent.active:
		rest = SQUASH_RANGE.x
	elif not _agent.grounded:
		rest = 1.0 + clampf(absf(_agent.velocity.y) * 0.02, 0.0, 0.15)
	elif pace > 1.0:
		rest = 1.0 + 0.035 * sin(_clock_s * 20.0)
	var left_s: float = minf(delta, 0.1)
	while left_s > 0.0:
		var step_s: float = minf(left_s, 1.0 / 120.0)
		_squash_speed += (
			(SPRING_STIFFNESS * (rest - _squash) - SPRING_DAMPING * _squash_speed) * step_s
		)
		_squash += _squash_speed * step_s
		left_s -= step_s
	if _squash < SQUASH_RANGE.x or _squash > SQUASH_RANGE.y:
		_squash = clampf(_squash, SQUASH_RANGE.x, SQUASH_RANGE.y)
		_squash_speed = 0.0


func _look_ahead(delta: float) -> void:
	var sideways: float = 0.0
	var flat := Vector2(_agent.velocity.x, _agent.velocity.z)
	if flat.length() > 0.5:
		var wanted: float = atan2(flat.x, flat.y)
		sideways = clampf(angle_difference(_agent.heading_rad, wanted), -1.0, 1.0)
	var upward: float = clampf(_agent.velocity.y * 0.12, -1.0, 1.0)
	_gaze = _gaze.lerp(Vector2(sideways, upward), 1.0 - exp(-14.0 * delta))
	_blink_in_s -= delta
	if _blink_in_s < -0.12:
		_blink_in_s = 1.8 + 1.7 * absf(sin(_clock_s * 7.1 + _agent.index))


func _build() -> void:
	add_child(_face)
	var half: float = _size_m * 0.5
	var width: float = ShowStyle.BODY_HALF_WIDTH * _size_m
	var height: float = ShowStyle.BODY_REST_HEIGHT * _size_m
	_body.mesh = RoundedBox.build(Vector3(width, height, width), ShowStyle.BODY_RADIUS * half, 6)
	_material.roughness = 0.42
	_material.metallic_specular = 0.45
	_material.emission_enabled = true
	_body.material_override = _material
	_face.add_child(_body)
	var white := StandardMaterial3D.new()
	white.albedo_color = ShowStyle.PAPER
	white.roughness = 0.25
	white.emission_enabled = true
	white.emission = ShowStyle.PAPER
	white.emission_energy_multiplier = 0.25
	var dark := StandardMaterial3D.new()
	dark.albedo_color = ShowStyle.INK
	dark.roughness = 0.2
	for _eye in 2:
		var eye: MeshInstance3D = _ball(Vector3(0.28, 0.41, 0.14) * half, white)
		var pupil: MeshInstance3D = _ball(Vector3(0.16, 0.22, 0.06) * half, dark)
		eye.add_child(pupil)
		_face.add_child(eye)
		_eyes.append(eye)
		_pupils.append(pupil)
	_shape()


func _ball(radii: Vector3, material: Material) -> MeshInstance3D:
	var sphere := SphereMesh.new()
	sphere.radial_segments = 20
	sphere.rings = 10
	sphere.radius = 1.0
	sphere.height = 2.0
	var tool := SurfaceTool.new()
	tool.create_from(sphere, 0)
	var arrays: Array = tool.commit_to_arrays()
	var points: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
	var normals: PackedVector3Array = arrays[Mesh.ARRAY_NORMAL]
	for index in points.size():
		points[index] *= radii
		normals[index] = (normals[index] / radii).normalized()
	arrays[Mesh.ARRAY_VERTEX] = points
	arrays[Mesh.ARRAY_NORMAL] = normals
	var mesh := ArrayMesh.new()
	mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, arrays)
	var ball := MeshInstance3D.new()
	ball.mesh = mesh
	ball.material_override = material
	ball.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	return ball


## Puts body and eyes where squash and gaze want them. Wide when low, narrow when tall, never too
## wide.
func _shape() -> void:
	var half: float = _size_m * 0.5
	var wide: float = clampf(lerpf(1.0, 0.94, (_squash - SQUASH_RANGE.x) / 0.42), 0.86, 1.0)
	var height: float = ShowStyle.BODY_REST_HEIGHT * _size_m * _squash
	_body.scale = Vector3(wide, _squash, wide)
	_body.position.y = height * 0.5
	var shut: float = 0.12 if _blink_in_s < 0.0 or not _agent.active else 1.0
	for index in _eyes.size():
		var eye: Node3D = _eyes[index]
		var side: float = -1.0 if index == 0 else 1.0
		var level: float = minf(height * 0.66, _size_m - 0.5 * half)
		eye.position = Vector3(
			side * 0.28 * half * wide, level, ShowStyle.BODY_HALF_WIDTH * half * wide - 0.08 * half
		)
		eye.rotation.x = -0.34
		eye.scale = Vector3(1.0, shut * minf(_squash, 1.0), 1.0)
		_pupils[index].position = Vector3(_gaze.x * 0.07, 0.04 + _gaze.y * 0.1, 0.105) * half


func _tint(delta: float) -> void:
	var color: Color = _agent.color
	if _agent.active:
		_gone_s = 0.0
	elif not lingers:
		_gone_s += delta
	visible = _gone_s < FAREWELL_S
	if not _agent.active:
		color = color.darkened(0.35)
	_material.albedo_color = color
	_material.emission = color
	_material.emission_energy_multiplier = _agent.glow
