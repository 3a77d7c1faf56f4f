class_name ArenaLook
extends Node3D
## How an arena looks: matted floor, rounded blocks, and outer walls that duck when they stand in
## the way.

const FLOOR_SHADER: Shader = preload("res://show/look/floor.gdshader")
const BLOCK_SHADER: Shader = preload("res://show/look/block.gdshader")
const SURROUND_SHADER: Shader = preload("res://show/look/surround.gdshader")
## The ground around the arena reaches this far beyond it.
const SURROUND_M: float = 400.0
## It is this deep below a flat floor, so that it never flickers, and below one made of boxes, so
## that gaps are seen.
const SURROUND_DEPTH_M := Vector2(0.05, 1.5)
## The shaders know no more blocks and agents than these.
const MAX_BLOCKS: int = 24
const MAX_AGENTS: int = 8
## How fast an outer wall ducks and rises, in heights a second.
const DUCK_RATE: float = 5.0

var _floor_material := ShaderMaterial.new()
var _block_materials: Dictionary[StringName, ShaderMaterial] = {}
var _surround_material := ShaderMaterial.new()
var _wall_normals: PackedVector3Array = []
var _walls: Array[Node3D] = []
var _half := Vector2(10, 10)
var _centre := Vector3.ZERO
var _wall_height_m: float = 2.5


## Builds the look of [param layout] anew.
func show_layout(layout: ShowLayout) -> void:
	for child in get_children():
		child.queue_free()
	_walls.clear()
	_wall_normals.clear()
	_half = layout.size_m * 0.5
	_centre = layout.centre
	_wall_height_m = layout.wall_height_m
	physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	_floor_material.shader = FLOOR_SHADER
	_surround_material.shader = SURROUND_SHADER
	_add_surround(layout)
	for index in layout.boxes.size():
		var box: AABB = layout.boxes[index]
		_add_mesh(self, box.get_center(), box.size, layout.kinds[index])
	if layout.has_floor:
		_add_floor(layout)
	if _wall_height_m > 0.0:
		_add_walls()


## Tells all materials the same thing.
func set_parameter(parameter: StringName, value: Variant) -> void:
	_floor_material.set_shader_parameter(parameter, value)
	for kind in _block_materials:
		_block_materials[kind].set_shader_parameter(parameter, value)


## Ducks the outer walls that [param camera] looks at from outside; at once when [param delta] is
## infinite.
func duck_walls(camera: Vector3, delta: float) -> void:
	var seen_from: Vector3 = to_local(camera) - _centre
	for index in _walls.size():
		var normal: Vector3 = _wall_normals[index]
		var distance: float = absf(normal.x) * _half.x + absf(normal.z) * _half.y
		var outside: bool = seen_from.dot(normal) > distance
		var wanted: float = ShowStyle.CURB_HEIGHT_M / _wall_height_m if outside else 1.0
		_walls[index].scale.y = move_toward(_walls[index].scale.y, wanted, DUCK_RATE * delta)


func _add_floor(layout: ShowLayout) -> void:
	var plane := PlaneMesh.new()
	plane.size = layout.size_m
	var ground := MeshInstance3D.new()
	ground.mesh = plane
	ground.position = layout.centre
	ground.material_override = _floor_material
	add_child(ground)
	var shown: int = mini(layout.boxes.size(), MAX_BLOCKS)
	var footprints: PackedVector4Array = []
	for box: AABB in layout.boxes.slice(0, shown):
		var at: Vector3 = box.get_center()
		footprints.append(
			Vector4(at.x - _centre.x, at.z - _centre.z, box.size.x * 0.5, box.size.z * 0.5)
		)
	footprints.resize(MAX_BLOCKS)
	_paint_mats(_floor_material)
	_floor_material.set_shader_parameter(&"half_size_m", _half)
	_floor_material.set_shader_parameter(&"block_count", shown)
	_floor_material.set_shader_parameter(&"blocks", footprints)


func _paint_mats(material: ShaderMaterial) -> void:
	material.set_shader_parameter(&"mat_color", ShowStyle.FLOOR)
	material.set_shader_parameter(&"other_color", ShowStyle.FLOOR_OTHER)
	material.set_shader_parameter(&"seam_color", ShowStyle.SEAM)


func _add_surround(layout: ShowLayout) -> void:
	var all: AABB = layout.bounds()
	var half := Vector2(all.size.x, all.size.z) * 0.5
	var thick := Vector2.ONE * ShowStyle.WALL_THICKNESS_M
	var depth_m: float = SURROUND_DEPTH_M.x if layout.has_floor else SURROUND_DEPTH_M.y
	_surround_material.set_shader_parameter(&"backdrop_color", ShowStyle.BACKDROP)
	_surround_material.set_shader_parameter(&"glow_color", ShowStyle.BACKDROP_GLOW)
	_surround_material.set_shader_parameter(&"half_size_m", half + thick)
	var plane := PlaneMesh.new()
	plane.size = Vector2.ONE * SURROUND_M
	var ground := MeshInstance3D.new()
	ground.mesh = plane
	ground.position = Vector3(all.get_center().x, all.position.y - depth_m, all.get_center().z)
	ground.material_override = _surround_material
	ground.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	add_child(ground)


func _add_walls() -> void:
	var thick: float = ShowStyle.WALL_THICKNESS_M
	for normal: Vector3 in [Vector3.LEFT, Vector3.RIGHT, Vector3.FORWARD, Vector3.BACK]:
		var wall := Node3D.new()
		wall.position = (
			_centre + normal * (Vector3(_half.x, 0.0, _half.y) + Vector3(thick, 0.0, thick) * 0.5)
		)
		add_child(wall)
		_walls.append(wall)
		_wall_normals.append(normal)
		var size := Vector3(thick, _wall_height_m, _half.y * 2.0 + thick * 2.0)
		if normal.z != 0.0:
			size = Vector3(_half.x * 2.0, _wall_height_m, thick)
		var middle := Vector3(0.0, size.y * 0.5, 0.0)
		_add_mesh(wall, middle, size, &"wall")


## A mesh that may become transparent, and one that is never seen and casts its shadow.
func _add_mesh(parent: Node3D, middle: Vector3, size: Vector3, kind: StringName) -> void:
	var mesh: ArrayMesh = RoundedBox.build(size, ShowStyle.BLOCK_RADIUS_M, 3)
	var seen := MeshInstance3D.new()
	seen.mesh = mesh
	seen.position = middle
	seen.material_override = _block_material(kind)
	seen.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	parent.add_child(seen)
	var shade := MeshInstance3D.new()
	shade.mesh = mesh
	shade.position = middle
	shade.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_SHADOWS_ONLY
	parent.add_child(shade)


func _block_material(kind: StringName) -> ShaderMaterial:
	if not _block_materials.has(kind):
		var material := ShaderMaterial.new()
		material.shader = BLOCK_SHADER
		material.set_shader_parameter(&"block_color", ShowStyle.block_color(kind))
		material.set_shader_parameter(&"is_matted", kind == &"floor")
		_paint_mats(material)
		_block_materials[kind] = material
	return _block_materials[kind]
