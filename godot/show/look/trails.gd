class_name Trails
extends MeshInstance3D
## A ribbon behind every running agent, in its colour, that narrows and fades: where it came from
## and how fast.

## How long a ribbon lasts.
const LIFE_S: float = 0.6
## Its width at the agent, in sizes of its body, and how opaque it is there.
const WIDTH: float = 0.5
const ALPHA: float = 0.42
## How high above the ground it is.
const LIFT_M: float = 0.03
## Agents that are slower leave none.
const LEAST_MPS: float = 2.0

var _size_m: float = 0.9
var _mesh := ImmediateMesh.new()
var _places: Array[PackedVector3Array] = []
var _ages_s: Array[PackedFloat32Array] = []


func _init() -> void:
	physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	mesh = _mesh
	var material := StandardMaterial3D.new()
	material.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	material.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	material.cull_mode = BaseMaterial3D.CULL_DISABLED
	material.vertex_color_use_as_albedo = true
	material.vertex_color_is_srgb = true
	material_override = material


## Prepares ribbons for [param count] agents whose collider is a cube of [param size_m].
func prepare(count: int, size_m: float) -> void:
	_size_m = size_m
	_places.resize(count)
	_ages_s.resize(count)
	cut()


## Forgets where agents came from.
func cut() -> void:
	for index in _places.size():
		_places[index] = PackedVector3Array()
		_ages_s[index] = PackedFloat32Array()
	_mesh.clear_surfaces()


## Draws the ribbons of [param bodies] after [param delta] seconds.
func follow(bodies: Array[ShowBody], delta: float) -> void:
	_mesh.clear_surfaces()
	for body in bodies:
		_lengthen(body, delta)
		if _places[body.index].size() > 1:
			_draw_ribbon(body)


func _lengthen(body: ShowBody, delta: float) -> void:
	var places: PackedVector3Array = _places[body.index]
	var ages_s: PackedFloat32Array = _ages_s[body.index]
	for place in ages_s.size():
		ages_s[place] += delta
	while not ages_s.is_empty() and ages_s[0] > LIFE_S:
		ages_s.remove_at(0)
		places.remove_at(0)
	if body.active and Vector2(body.velocity.x, body.velocity.z).length() > LEAST_MPS:
		places.append(body.middle + Vector3.DOWN * (_size_m * 0.5 - LIFT_M))
		ages_s.append(0.0)
	_places[body.index] = places
	_ages_s[body.index] = ages_s


func _draw_ribbon(body: ShowBody) -> void:
	var places: PackedVector3Array = _places[body.index]
	_mesh.surface_begin(Mesh.PRIMITIVE_TRIANGLE_STRIP)
	for place in places.size():
		var ahead: Vector3 = places[mini(place + 1, places.size() - 1)]
		var way: Vector3 = ahead - places[maxi(place - 1, 0)]
		var across: Vector3 = Vector3(-way.z, 0.0, way.x).normalized()
		var left: float = 1.0 - _ages_s[body.index][place] / LIFE_S
		var half: Vector3 = across * (_size_m * WIDTH * 0.5 * sqrt(maxf(left, 0.0)))
		var color := Color(body.color, ALPHA * left)
		for point: Vector3 in [places[place] - half, places[place] + half]:
			_mesh.surface_set_color(color)
			_mesh.surface_add_vertex(point)
	_mesh.surface_end()
