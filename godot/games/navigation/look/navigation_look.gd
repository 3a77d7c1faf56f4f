class_name NavigationLook
extends Node3D
## What is seen of a course: its boxes, the light, the marks, and who walks there.

const SURFACE: Shader = preload("res://games/navigation/look/surface.gdshader")
const CAMERAS: PackedStringArray = NavigationOptions.CAMERAS
## Colours of each kind of box: two of tiles, one of seams, and how large tiles are in metres.
const OUTDOOR: Dictionary[StringName, Array] = {
	&"floor": [Color("8fae5d"), Color("87a657"), Color("7f9f51"), 0.5],
	&"bridge": [Color("b98a58"), Color("ad7e4e"), Color("7d5836"), 0.25],
	&"platform": [Color("cfc3ad"), Color("c4b79f"), Color("9c8f78"), 0.5],
	&"step": [Color("d8ccb6"), Color("cdc0a8"), Color("a2957e"), 0.5],
	&"wall": [Color("4a7f4c"), Color("356a3f"), Color("3d7344"), 0.09],
	&"block": [Color("c6935f"), Color("b9854f"), Color("8a5f38"), 0.25],
}
const INDOOR: Dictionary[StringName, Array] = {
	&"floor": [Color("b99b78"), Color("ae8f6c"), Color("86694a"), 0.5],
	&"bridge": [Color("9aa3ad"), Color("8f98a3"), Color("68717c"), 0.5],
	&"platform": [Color("8793a6"), Color("7d899c"), Color("5c677a"), 0.5],
	&"step": [Color("95a0b2"), Color("8b96a9"), Color("666f80"), 0.5],
	&"wall": [Color("e6ded0"), Color("e0d7c7"), Color("c3b8a4"), 1.25],
	&"block": [Color("d2725a"), Color("c8684f"), Color("94463a"), 0.6],
}

var _built: Array[Node] = []
var _solids: Array[AABB] = []
var _marks: Array[MarkLook] = []
var _shown_marks := PackedVector3Array()
var _person := WalkerLook.new()
var _outside := Camera3D.new()
var _mode: String = "first"
var _is_outdoor: bool
var _middle: Vector3
var _extent_m: float = 10.0

@onready var _sun: DirectionalLight3D = $Sun
@onready var _surroundings: WorldEnvironment = $Surroundings


func _ready() -> void:
	add_child(_person)
	_outside.fov = 48.0
	add_child(_outside)


## Puts up what is seen of [param course], in place of another one.
func show_course(course: CourseData) -> void:
	for old in _built:
		old.queue_free()
	_built.clear()
	_solids.clear()
	_is_outdoor = course.look == "outdoor"
	var colours: Dictionary[StringName, Array] = OUTDOOR if _is_outdoor else INDOOR
	var bounds := AABB(course.boxes[0].position, Vector3.ZERO)
	for box in course.boxes:
		var solid := AABB(box.position - box.size * 0.5, box.size)
		_solids.append(solid)
		bounds = bounds.merge(solid)
		_add_box(box, _material(colours[box.kind]))
	_middle = bounds.get_center()
	_extent_m = Vector2(bounds.size.x, bounds.size.z).length()
	_add_depth(bounds)
	_light()


## Shows where everybody and everything is in [param world].
func follow(world: NavigationWorld) -> void:
	var passed: int = world.marks.size() if world.winner == &"walker" else world.mark
	if world.marks != _shown_marks:
		_put_marks(world)
	for number in _marks.size():
		_marks[number].tell(number == world.mark, number < passed)
	_person.visible = _mode != "first"
	_person.follow(world)
	if _mode == "follow":
		var behind: Vector3 = Vector3(1.1, 2.5, 3.3).rotated(Vector3.UP, world.walker.yaw_rad)
		var ahead: Vector3 = world.walker.feet() + Vector3.UP * 1.1
		var eye: Vector3 = _before_walls(ahead, world.walker.feet() + behind)
		_outside.global_transform = Transform3D(Basis.IDENTITY, eye).looking_at(ahead)
	elif _mode == "overview":
		var from := Vector3(0.52, 0.46, 0.52) * _extent_m
		_outside.global_transform = Transform3D(Basis.IDENTITY, _middle + from).looking_at(
			_middle + Vector3(0.02, -0.02, 0.03) * _extent_m
		)


## Looks through the eyes, from behind, or from above: see [constant CAMERAS].
func choose_camera(mode: String, rig: NavigationRig) -> void:
	_mode = mode
	if mode == "first":
		rig.camera.make_current()
	else:
		_outside.make_current()
	rig.show_view(mode == "first")


## The next camera.
func cycle_camera(rig: NavigationRig) -> void:
	choose_camera(CAMERAS[(CAMERAS.find(_mode) + 1) % CAMERAS.size()], rig)


## The point nearest to [param eye] from which [param aim] is seen.
func _before_walls(aim: Vector3, eye: Vector3) -> Vector3:
	for solid in _solids:
		var met: Variant = solid.intersects_segment(aim, eye)
		if met != null:
			eye = aim.lerp(met as Vector3, 0.92)
	return eye


func _add_box(box: CourseData.Box, material: Material) -> void:
	var size: Vector3 = box.size
	var at: Vector3 = box.position
	if box.kind == &"wall":
		# Drawn down to the foundations, so that no light shows between wall and floor.
		size.y += 1.0
		at.y -= 0.5
	var radius_m: float = 0.06 if box.kind in [&"block", &"wall"] else 0.012
	_add(RoundedBox.build(size, radius_m, 2), material, at)


func _put_marks(world: NavigationWorld) -> void:
	for old in _marks:
		old.queue_free()
	_marks.clear()
	_shown_marks = world.marks.duplicate()
	for number in _shown_marks.size():
		var mark := MarkLook.new(
			world.settings.rules.mark_radius_m, number == _shown_marks.size() - 1
		)
		mark.position = _shown_marks[number]
		add_child(mark)
		_marks.append(mark)


## Water below gardens, darkness below halls.
func _add_depth(bounds: AABB) -> void:
	var plane := PlaneMesh.new()
	plane.size = Vector2.ONE * (3000.0 if _is_outdoor else _extent_m * 1.6)
	var material := StandardMaterial3D.new()
	material.albedo_color = Color("3d7f95") if _is_outdoor else Color("14161d")
	material.roughness = 0.12 if _is_outdoor else 1.0
	material.metallic_specular = 0.7 if _is_outdoor else 0.0
	var height_m: float = -0.7 if _is_outdoor else -3.0
	_add(plane, material, Vector3(bounds.get_center().x, height_m, bounds.get_center().z))


func _light() -> void:
	var sky := ProceduralSkyMaterial.new()
	sky.sky_top_color = Color("5b9bd5") if _is_outdoor else Color("8f8a86")
	sky.sky_horizon_color = Color("cfe3ee") if _is_outdoor else Color("c9c0b4")
	sky.ground_horizon_color = Color("cfe3ee") if _is_outdoor else Color("c9c0b4")
	sky.ground_bottom_color = Color("6f93a0") if _is_outdoor else Color("5a5652")
	sky.sun_angle_max = 12.0
	var environment := Environment.new()
	environment.background_mode = Environment.BG_SKY
	environment.sky = Sky.new()
	environment.sky.sky_material = sky
	environment.ambient_light_source = Environment.AMBIENT_SOURCE_COLOR
	environment.ambient_light_color = Color("cfdcf0") if _is_outdoor else Color("f0e6d8")
	environment.ambient_light_energy = 0.55 if _is_outdoor else 0.7
	environment.tonemap_mode = Environment.TONE_MAPPER_FILMIC
	environment.tonemap_white = 3.0
	_surroundings.environment = environment
	_sun.light_color = Color("fff0d8") if _is_outdoor else Color("ffe9cc")
	_sun.light_energy = 1.15 if _is_outdoor else 0.75
	_sun.rotation_degrees = Vector3(-48.0, -38.0, 0.0) if _is_outdoor else Vector3(-68.0, 25.0, 0.0)


func _material(colours: Array) -> ShaderMaterial:
	var material := ShaderMaterial.new()
	material.shader = SURFACE
	material.set_shader_parameter(&"tint", colours[0])
	material.set_shader_parameter(&"other", colours[1])
	material.set_shader_parameter(&"seam", colours[2])
	material.set_shader_parameter(&"tile_m", colours[3])
	return material


func _add(mesh: Mesh, material: Material, at: Vector3) -> void:
	var shown := MeshInstance3D.new()
	shown.mesh = mesh
	shown.material_override = material
	shown.position = at
	add_child(shown)
	_built.append(shown)
