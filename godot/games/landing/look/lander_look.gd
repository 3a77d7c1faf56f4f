class_name LanderLook
extends Node3D
## The craft as it is seen: hull, legs, feet and the flames of its engine.

const FLAME_M := 5.0

var _shown: LandingSettings.Craft
var _flames: Array[MeshInstance3D] = []


## A plain material.
static func paint(color: Color, roughness: float = 0.5, glow: float = 0.0) -> StandardMaterial3D:
	var material := StandardMaterial3D.new()
	material.albedo_color = color
	material.roughness = roughness
	if glow > 0.0:
		material.emission_enabled = true
		material.emission = color
		material.emission_energy_multiplier = glow
	return material


## Builds the craft, if it is another one than before.
func show_craft(craft: LandingSettings.Craft) -> void:
	if craft == _shown:
		return
	_shown = craft
	for old in get_children():
		old.queue_free()
	var radius_m: float = craft.hull_radius_m
	_add(
		_drum(radius_m, radius_m * 0.9, 0.9), Vector3(0.0, -0.25, 0.0), paint(Color("d2a44a"), 0.35)
	)
	_add(
		_drum(radius_m * 0.8, radius_m * 0.45, 0.9), Vector3(0.0, 0.6, 0.0), paint(Color("dfe3e6"))
	)
	_add(_drum(0.2, 0.5, 0.5), Vector3(0.0, -0.95, 0.0), paint(Color("34373d")))
	for foot in Lander.feet(craft):
		var ball := SphereMesh.new()
		ball.radius = craft.foot_radius_m
		ball.height = craft.foot_radius_m
		var low: Vector3 = foot + Vector3.DOWN * craft.foot_radius_m * 0.5
		_add(ball, low, paint(Color("9aa0a6")))
		_add_leg(Vector3(foot.x, -0.2, foot.z) * 0.7, foot)
	_flames = []
	for axis in 3:
		var flame: MeshInstance3D = _add(
			_drum(0.05, 0.4, 1.0), Vector3.ZERO, paint(Color("ffb347"), 1.0, 4.0)
		)
		_flames.append(flame)
	show_thrust(Vector3.ZERO)


## Flames opposite to the thrust along each axis.
func show_thrust(thrust: Vector3) -> void:
	for axis in _flames.size():
		var power: float = thrust[axis]
		var flame: MeshInstance3D = _flames[axis]
		flame.visible = absf(power) > 0.02
		if not flame.visible:
			continue
		var way := Vector3.ZERO
		way[axis] = -signf(power)
		var length_m: float = FLAME_M * absf(power) * (1.0 if axis == 1 else 0.5)
		var wide: float = 1.0 if axis == 1 else 0.5
		var turn := Quaternion(Vector3.DOWN, way)
		# A drum points down with its narrow end.
		flame.basis = Basis(turn) * Basis.from_scale(Vector3(wide, length_m, wide))
		flame.position = way * ((1.1 if axis == 1 else 1.0) + length_m * 0.5)


static func _drum(bottom_m: float, top_m: float, height_m: float) -> CylinderMesh:
	var drum := CylinderMesh.new()
	drum.bottom_radius = bottom_m
	drum.top_radius = top_m
	drum.height = height_m
	drum.radial_segments = 24
	return drum


func _add_leg(from: Vector3, to: Vector3) -> void:
	var leg: MeshInstance3D = _add(
		_drum(0.07, 0.07, from.distance_to(to)), (from + to) * 0.5, paint(Color("c9ccd0"))
	)
	leg.basis = Basis(Quaternion(Vector3.UP, from.direction_to(to)))


func _add(mesh: Mesh, at: Vector3, material: Material) -> MeshInstance3D:
	var shown := MeshInstance3D.new()
	shown.mesh = mesh
	shown.material_override = material
	shown.position = at
	add_child(shown)
	return shown
