class_name LandingLook
extends Node3D
## What is seen: the ground, the pad, the craft with its flame, and a camera.

const CAMERAS: PackedStringArray = ["follow", "overview"]
const GROUND := Color("8a8076")
const STEEP := Color("5f574f")
const PAD_M := 7.0

var _mode: String = "follow"
var _camera := Camera3D.new()
var _craft := LanderLook.new()


func _ready() -> void:
	_add_light()
	var pad_radius_m: float = LandingSettings.load_defaults().rules.pad_radius_m
	_add(_ground_mesh(LandingTerrain.read_faces()), Vector3.ZERO)
	_add_disc(PAD_M, 0.04, Color("3b4048"))
	_add_disc(PAD_M * 0.62, 0.06, Color("e8e2d4"))
	_add_disc(PAD_M * 0.58, 0.08, Color("3b4048"))
	_add_disc(pad_radius_m, 0.10, Color("e0a52f"))
	add_child(_craft)
	_camera.far = 4000.0
	_camera.fov = 50.0
	add_child(_camera)
	_camera.make_current()


func choose_camera(mode: String) -> void:
	_mode = mode


func cycle_camera() -> void:
	_mode = CAMERAS[(CAMERAS.find(_mode) + 1) % CAMERAS.size()]


## Shows the craft where it is, with its engine at [param thrust].
func follow(pose: Transform3D, thrust: Vector3, craft: LandingSettings.Craft) -> void:
	_craft.show_craft(craft)
	_craft.transform = pose
	_craft.show_thrust(thrust)
	var at: Vector3 = pose.origin
	if _mode == "overview":
		var far_m: float = at.length()
		_look(Vector3(0.3, 0.35, 0.8) * (60.0 + far_m), at * 0.45)
		return
	# Behind the craft, and higher up the farther the pad is, so that both are seen.
	var back := Vector3(5.0, 5.0 + minf(at.y * 0.02, 10.0), 14.0 + minf(at.y * 0.02, 10.0))
	_look(at + back, at + Vector3(0.0, -1.0, 0.0))


func _look(eye: Vector3, aim: Vector3) -> void:
	_camera.global_transform = Transform3D(Basis.IDENTITY, eye).looking_at(aim)


static func _ground_mesh(faces: PackedVector3Array) -> ArrayMesh:
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	for first in range(0, faces.size(), 3):
		var normal: Vector3 = Plane(faces[first], faces[first + 1], faces[first + 2]).normal
		normal = -normal if normal.y < 0.0 else normal
		var shade: float = clampf((1.0 - normal.y) * 9.0, 0.0, 1.0)
		# Clockwise seen from above, which is the front.
		for corner: int in [0, 1, 2]:
			tool.set_normal(normal)
			tool.set_color(GROUND.lerp(STEEP, shade))
			tool.add_vertex(faces[first + corner])
	var mesh: ArrayMesh = tool.commit()
	var material := StandardMaterial3D.new()
	material.vertex_color_use_as_albedo = true
	material.vertex_color_is_srgb = true
	material.roughness = 1.0
	material.cull_mode = BaseMaterial3D.CULL_DISABLED
	mesh.surface_set_material(0, material)
	return mesh


func _add_disc(radius_m: float, height_m: float, color: Color) -> void:
	var disc := CylinderMesh.new()
	disc.top_radius = radius_m
	disc.bottom_radius = radius_m
	disc.height = height_m
	disc.material = LanderLook.paint(color, 0.8)
	_add(disc, Vector3(0.0, height_m * 0.5, 0.0))


func _add(mesh: Mesh, at: Vector3) -> void:
	var shown := MeshInstance3D.new()
	shown.mesh = mesh
	shown.position = at
	add_child(shown)


func _add_light() -> void:
	var environment := Environment.new()
	environment.background_mode = Environment.BG_COLOR
	environment.background_color = Color("0b0d14")
	environment.ambient_light_source = Environment.AMBIENT_SOURCE_COLOR
	environment.ambient_light_color = Color("9fb0d0")
	environment.ambient_light_energy = 0.35
	environment.tonemap_mode = Environment.TONE_MAPPER_FILMIC
	var surroundings := WorldEnvironment.new()
	surroundings.environment = environment
	add_child(surroundings)
	var sun := DirectionalLight3D.new()
	sun.rotation_degrees = Vector3(-32.0, -50.0, 0.0)
	sun.light_color = Color("fff2dc")
	sun.light_energy = 1.3
	sun.shadow_enabled = true
	sun.directional_shadow_max_distance = 200.0
	add_child(sun)
