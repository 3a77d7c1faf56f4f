class_name WalkerLook
extends Node3D
## A person in a headset, for cameras that look from outside.

const SUIT := Color("e8743b")
const DARK := Color("23252f")
const SKIN := Color("e9c3a2")

var _head := Node3D.new()
var _hands: Array[Node3D] = []


func _init() -> void:
	_add(self, _capsule(0.2, 0.75), SUIT, Vector3(0.0, 1.0, 0.02))
	for side: float in [-1.0, 1.0]:
		_add(self, _capsule(0.085, 0.75), DARK, Vector3(0.1 * side, 0.38, 0.02))
		_hands.append(new_hand())
		add_child(_hands[-1])
	add_child(_head)
	var ball := SphereMesh.new()
	ball.radius = 0.135
	ball.height = 0.29
	_add(_head, ball, SKIN)
	var strap := TorusMesh.new()
	strap.inner_radius = 0.125
	strap.outer_radius = 0.15
	_add(_head, strap, DARK, Vector3(0.0, 0.03, 0.0))
	_add(_head, RoundedBox.build(Vector3(0.23, 0.13, 0.13), 0.04, 3), DARK, Vector3(0, 0.03, -0.1))
	_add(
		_head,
		RoundedBox.build(Vector3(0.19, 0.02, 0.02), 0.008, 2),
		Color("4fd6ff"),
		Vector3(0, 0.04, -0.16),
		true
	)


## A hand that holds a controller.
static func new_hand() -> Node3D:
	var hand := Node3D.new()
	_add(hand, RoundedBox.build(Vector3(0.09, 0.09, 0.2), 0.04, 3), DARK)
	var ring := TorusMesh.new()
	ring.inner_radius = 0.06
	ring.outer_radius = 0.08
	_add(hand, ring, Color("4fd6ff"), Vector3(0.0, 0.05, -0.08), true)
	return hand


## Goes where the walker of [param world] is.
func follow(world: NavigationWorld) -> void:
	var walker: Walker = world.walker
	transform = Transform3D(Basis(Vector3.UP, walker.yaw_rad), walker.feet())
	pose(world.settings.rig.eye_height_m, walker.roll_rad, walker.hands)


## Holds head and hands like this, in its own frame.
func pose(eye_height_m: float, roll_rad: float, hands: PackedVector3Array) -> void:
	_head.position = Vector3.UP * eye_height_m
	_head.rotation.z = roll_rad
	for hand in 2:
		_hands[hand].position = hands[hand]


static func _capsule(radius_m: float, height_m: float) -> CapsuleMesh:
	var mesh := CapsuleMesh.new()
	mesh.radius = radius_m
	mesh.height = height_m
	return mesh


static func _add(
	parent: Node3D, mesh: Mesh, colour: Color, at := Vector3.ZERO, glows: bool = false
) -> MeshInstance3D:
	var material := StandardMaterial3D.new()
	material.albedo_color = colour
	material.roughness = 0.6
	if glows:
		material.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	var shown := MeshInstance3D.new()
	shown.mesh = mesh
	shown.material_override = material
	shown.position = at
	parent.add_child(shown)
	return shown
