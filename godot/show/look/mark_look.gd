class_name MarkLook
extends Node3D
## A mark on the ground: a ring and a column of light; the goal's is taller and golden.

const COLOUR := Color("4fd6ff")
const GOAL := Color("ffc94a")

## Whether an agent has reached it.
var is_passed: bool = false

var _light := StandardMaterial3D.new()
var _beam := StandardMaterial3D.new()
var _ground := StandardMaterial3D.new()
var _is_goal: bool


func _init(radius_m: float, is_goal: bool) -> void:
	_is_goal = is_goal
	var colour: Color = GOAL if is_goal else COLOUR
	_light.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	_light.albedo_color = colour
	_ground.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	_ground.albedo_color = Color(colour, 0.5)
	_beam.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	_beam.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	_beam.cull_mode = BaseMaterial3D.CULL_DISABLED
	_beam.albedo_texture = _fading()
	_beam.blend_mode = BaseMaterial3D.BLEND_MODE_ADD
	var ring := TorusMesh.new()
	ring.inner_radius = radius_m - 0.07
	ring.outer_radius = radius_m
	_add(ring, _light, 0.03)
	if is_goal:
		var disc := CylinderMesh.new()
		disc.top_radius = radius_m
		disc.height = 0.01
		_add(disc, _ground, 0.02)
	var column := CylinderMesh.new()
	column.top_radius = radius_m
	column.bottom_radius = radius_m
	column.height = 3.0 if is_goal else 1.4
	column.cap_top = false
	column.cap_bottom = false
	_add(column, _beam, column.height * 0.5)


## Shows whether it is the mark in question, one that is still to come, or one that was passed.
func tell(is_next: bool, was_reached: bool) -> void:
	is_passed = was_reached
	var share: float = 0.1 if is_passed else (1.0 if is_next else 0.45)
	var colour: Color = GOAL if _is_goal else COLOUR
	_light.albedo_color = colour.darkened(0.4) if is_passed else colour
	_beam.albedo_color = Color(colour, 0.5 * share)


func _add(mesh: Mesh, material: Material, height_m: float) -> void:
	var shown := MeshInstance3D.new()
	shown.mesh = mesh
	shown.material_override = material
	shown.position.y = height_m
	shown.cast_shadow = GeometryInstance3D.SHADOW_CASTING_SETTING_OFF
	add_child(shown)


static func _fading() -> GradientTexture2D:
	var gradient := Gradient.new()
	gradient.colors = [Color(1, 1, 1, 0), Color(1, 1, 1, 1)]
	var texture := GradientTexture2D.new()
	texture.gradient = gradient
	texture.fill_from = Vector2(0, 0)
	texture.fill_to = Vector2(0, 0.5)
	return texture
