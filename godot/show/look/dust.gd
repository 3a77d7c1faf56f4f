class_name Dust
extends MultiMeshInstance3D
## Little puffs that agents leave behind when they run, jump, land or are caught.
##
## A puff stays inside the cube that its agent filled when it was left, where no wall can be.

## So many puffs exist at most; the oldest makes room.
const CAPACITY: int = 96
## How long a puff lives.
const LIFE_S: float = 0.55

var _size_m: float = 0.9
var _next: int = 0
var _ages_s: PackedFloat32Array = []
var _radii_m: PackedFloat32Array = []
var _places: PackedVector3Array = []
var _drifts: PackedVector3Array = []
var _random := RandomNumberGenerator.new()


## Prepares puffs for agents whose collider is a cube of [param size_m].
func prepare(size_m: float) -> void:
	_size_m = size_m
	physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	_random.seed = 1
	cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	_ages_s.resize(CAPACITY)
	_ages_s.fill(LIFE_S)
	_radii_m.resize(CAPACITY)
	_places.resize(CAPACITY)
	_drifts.resize(CAPACITY)
	var ball := SphereMesh.new()
	ball.radius = 1.0
	ball.height = 2.0
	ball.radial_segments = 10
	ball.rings = 6
	var material := StandardMaterial3D.new()
	material.vertex_color_use_as_albedo = true
	material.vertex_color_is_srgb = true
	material.roughness = 1.0
	ball.material = material
	multimesh = MultiMesh.new()
	multimesh.transform_format = MultiMesh.TRANSFORM_3D
	multimesh.use_colors = true
	multimesh.mesh = ball
	multimesh.instance_count = CAPACITY
	multimesh.custom_aabb = AABB(Vector3(-100, -10, -100), Vector3(200, 40, 200))
	for index in CAPACITY:
		multimesh.set_instance_transform(
			index, Transform3D(Basis.from_scale(Vector3.ZERO), Vector3.ZERO)
		)


## Leaves [param count] puffs around the feet of an agent whose middle is at [param middle].
func puff(middle: Vector3, count: int, color: Color) -> void:
	for _puff in count:
		var radius: float = _size_m * _random.randf_range(0.06, 0.13)
		var reach: float = _size_m * 0.5 - radius
		var angle: float = _random.randf() * TAU
		var outward := Vector3(cos(angle), 0.0, sin(angle))
		_ages_s[_next] = 0.0
		_radii_m[_next] = radius
		_places[_next] = middle + outward * reach * 0.45 + Vector3.DOWN * reach
		_drifts[_next] = outward * reach * 0.5 + Vector3.UP * reach * _random.randf_range(0.2, 0.9)
		multimesh.set_instance_color(_next, color.lightened(_random.randf() * 0.25))
		_next = (_next + 1) % CAPACITY


## The boxes that the living puffs fill now.
func extents() -> Array[AABB]:
	var boxes: Array[AABB] = []
	for index in _ages_s.size():
		if _ages_s[index] < LIFE_S:
			boxes.append(_shape(index) * AABB(-Vector3.ONE, Vector3.ONE * 2.0))
	return boxes


func _process(delta: float) -> void:
	for index in _ages_s.size():
		if _ages_s[index] < LIFE_S:
			_ages_s[index] = minf(_ages_s[index] + delta, LIFE_S)
			multimesh.set_instance_transform(index, _shape(index))


func _shape(index: int) -> Transform3D:
	var age: float = _ages_s[index] / LIFE_S
	var grown: float = maxf(sin(PI * sqrt(age)), 0.0) * _radii_m[index]
	var at: Vector3 = _places[index] + _drifts[index] * (1.0 - (1.0 - age) * (1.0 - age))
	return Transform3D(Basis.from_scale(Vector3.ONE * grown), at)
