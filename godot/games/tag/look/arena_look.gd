class_name ArenaLook
extends Node3D
## How an arena looks: matted floor, rounded blocks, and outer walls that duck when they stand in
## the way.

const FLOOR_SHADER: Shader = preload("res://games/tag/look/floor.gdshader")
const BLOCK_SHADER: Shader = preload("res://games/tag/look/block.gdshader")
const SURROUND_SHADER: Shader = preload("res://games/tag/look/surround.gdshader")
## The ground around the arena reaches this far beyond it, and lies this deep, so that it never
## flickers.
const SURROUND_M := Vector2(400.0, -0.05)
## The floor shader knows no more blocks than this.
const MAX_BLOCKS: int = 24
## How fast an outer wall ducks and rises, in heights a second.
const DUCK_RATE: float = 5.0

## Everything that can hide an agent, in the arena's own space.
var solids: Array[AABB] = []

var _floor_material := ShaderMaterial.new()
var _block_materials: Dictionary[Color, ShaderMaterial] = {}
var _surround_material := ShaderMaterial.new()
var _wall_normals: PackedVector3Array = []
var _walls: Array[Node3D] = []
var _half := Vector2(10, 10)
var _wall_height_m: float = 2.5


## Builds the look of [param arena] anew, with outer walls of [param wall_height_m].
func show_arena(arena: ArenaData, wall_height_m: float) -> void:
	for child in get_children():
		child.queue_free()
	solids.clear()
	_walls.clear()
	_wall_normals.clear()
	_half = arena.size_m * 0.5
	_wall_height_m = wall_height_m
	physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	_floor_material.shader = FLOOR_SHADER
	_surround_material.shader = SURROUND_SHADER
	_add_floor(arena)
	_add_surround()
	for box in arena.boxes:
		_add_block(box.position, box.size, TagStyle.block_color(box.kind))
		solids.append(box.aabb())
	_add_walls()


## Tells all materials the same thing.
func set_parameter(parameter: StringName, value: Variant) -> void:
	_floor_material.set_shader_parameter(parameter, value)
	for color in _block_materials:
		_block_materials[color].set_shader_parameter(parameter, value)


## Ducks the outer walls that [param camera] looks at from outside; at once when [param delta] is
## infinite.
func duck_walls(camera: Vector3, delta: float) -> void:
	var seen_from: Vector3 = to_local(camera)
	for index in _walls.size():
		var normal: Vector3 = _wall_normals[index]
		var distance: float = absf(normal.x) * _half.x + absf(normal.z) * _half.y
		var outside: bool = seen_from.dot(normal) > distance
		var wanted: float = TagStyle.CURB_HEIGHT_M / _wall_height_m if outside else 1.0
		_walls[index].scale.y = move_toward(_walls[index].scale.y, wanted, DUCK_RATE * delta)


func _add_floor(arena: ArenaData) -> void:
	var plane := PlaneMesh.new()
	plane.size = arena.size_m
	var ground := MeshInstance3D.new()
	ground.mesh = plane
	ground.material_override = _floor_material
	add_child(ground)
	var shown: int = mini(arena.boxes.size(), MAX_BLOCKS)
	var footprints: PackedVector4Array = []
	footprints.resize(MAX_BLOCKS)
	for index in shown:
		var box: ArenaBox = arena.boxes[index]
		footprints[index] = Vector4(
			box.position.x, box.position.z, box.size.x * 0.5, box.size.z * 0.5
		)
	_floor_material.set_shader_parameter(&"mat_color", TagStyle.FLOOR)
	_floor_material.set_shader_parameter(&"other_color", TagStyle.FLOOR_OTHER)
	_floor_material.set_shader_parameter(&"seam_color", TagStyle.SEAM)
	_floor_material.set_shader_parameter(&"half_size_m", _half)
	_floor_material.set_shader_parameter(&"block_count", shown)
	_floor_material.set_shader_parameter(&"blocks", footprints)


func _add_surround() -> void:
	var thick := Vector2.ONE * TagStyle.WALL_THICKNESS_M
	_surround_material.set_shader_parameter(&"backdrop_color", TagStyle.BACKDROP)
	_surround_material.set_shader_parameter(&"glow_color", TagStyle.BACKDROP_GLOW)
	_surround_material.set_shader_parameter(&"half_size_m", _half + thick)
	var plane := PlaneMesh.new()
	plane.size = Vector2.ONE * SURROUND_M.x
	var ground := MeshInstance3D.new()
	ground.mesh = plane
	ground.position.y = SURROUND_M.y
	ground.material_override = _surround_material
	ground.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	add_child(ground)


func _add_walls() -> void:
	var thick: float = TagStyle.WALL_THICKNESS_M
	for normal: Vector3 in [Vector3.LEFT, Vector3.RIGHT, Vector3.FORWARD, Vector3.BACK]:
		var wall := Node3D.new()
		wall.position = normal * (Vector3(_half.x, 0.0, _half.y) + Vector3(thick, 0.0, thick) * 0.5)
		add_child(wall)
		_walls.append(wall)
		_wall_normals.append(normal)
		var size := Vector3(thick, _wall_height_m, _half.y * 2.0 + thick * 2.0)
		if normal.z != 0.0:
			size = Vector3(_half.x * 2.0, _wall_height_m, thick)
		var middle := Vector3(0.0, size.y * 0.5, 0.0)
		_add_mesh(wall, middle, size, TagStyle.WALL)


func _add_block(middle: Vector3, size: Vector3, color: Color) -> void:
	_add_mesh(self, middle, size, color)


## A mesh that may become transparent, and one that is never seen and casts its shadow.
func _add_mesh(parent: Node3D, middle: Vector3, size: Vector3, color: Color) -> void:
	var mesh: ArrayMesh = RoundedBox.build(size, TagStyle.BLOCK_RADIUS_M, 3)
	var seen := MeshInstance3D.new()
	seen.mesh = mesh
	seen.position = middle
	seen.material_override = _block_material(color)
	seen.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	parent.add_child(seen)
	var shade := MeshInstance3D.new()
	shade.mesh = mesh
	shade.position = middle
	shade.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_SHADOWS_ONLY
	parent.add_child(shade)


func _block_material(color: Color) -> ShaderMaterial:
	if not _block_materials.has(color):
		var material := ShaderMaterial.new()
		material.shader = BLOCK_SHADER
		material.set_shader_parameter(&"block_color", color)
		_block_materials[color] = material
	return _block_materials[color]
