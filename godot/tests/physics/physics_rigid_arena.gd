extends "res://tests/physics/physics_arena.gd"
## A walled floor with rigid bodies that meet each other, and a character that runs into them.

const _SHAPES: Dictionary[String, Array] = {
	"billiard": ["sphere"],
	"stack": ["box"],
	"pushed": ["box"],
	"tumble": ["box", "sphere", "capsule", "cylinder", "convex"],
}


func _build() -> void:
	_wishes = []
	_scene["gravity"] = ProjectSettings.get_setting("physics/3d/default_gravity")
	_scene["physics"] = ProjectSettings.get_setting("physics/3d/physics_engine")
	_add(StaticBody3D.new(), _shape("box", Vector3(12, 1, 12)), Vector3(0, -0.5, 0), Basis.IDENTITY)
	for side: int in 4:
		var turn: Basis = Basis(Vector3.UP, side * PI / 2.0)
		_add(StaticBody3D.new(), _shape("box", Vector3(12, 2, 1)), turn * Vector3(0, 1, 5.5), turn)
	_add_mover(Vector3(0, 1.2, 0) if _kind == "pushed" else Vector3(0, 30, 0))
	if _kind == "stack":
		for number: int in 6:
			var half: int = number % 3
			var offset: float = _chance.randf_range(-0.1, 0.1)
			_add_body(Vector3(-2.0 + 4.0 * (number / 3) + offset, 0.5 + 1.02 * half, 2.0), Vector3.ONE)
		return
	for number: int in 6:
		var size: Vector3 = Vector3(
			_chance.randf_range(0.5, 1.2), _chance.randf_range(0.5, 1.2), _chance.randf_range(0.5, 1.2)
		)
		var at: Vector3 = Vector3(-3.0 + 3.0 * (number % 3), 0.62, -2.5 + 5.0 * (number / 3))
		if _kind == "tumble":
			at.y = 1.5
		_add_body(at, size)


func _add_body(at: Vector3, size: Vector3) -> void:
	var body: RigidBody3D = RigidBody3D.new()
	var material: PhysicsMaterial = PhysicsMaterial.new()
	material.friction = _chance.randf_range(0.2, 1.0)
	material.bounce = _chance.randf_range(0.0, 0.6) if _kind == "billiard" else 0.0
	body.physics_material_override = material
	body.mass = _chance.randf_range(0.5, 3.0)
	var kinds: Array = _SHAPES[_kind]
	var shape: Shape3D = _shape(kinds[_chance.randi_range(0, kinds.size() - 1)] as String, size)
	var turn: Basis = Basis.IDENTITY
	if _kind == "tumble":
		turn = super._random_basis()
	elif _kind == "pushed":
		turn = Basis(Vector3.UP, _chance.randf_range(0, TAU))
	_add(body, shape, at, turn)
	if _kind in ["billiard", "tumble"]:
		body.linear_velocity = Vector3(_chance.randf_range(-4, 4), 0.0, _chance.randf_range(-4, 4))
	var entry: Dictionary = (_scene["bodies"] as Array)[-1]
	entry["mass"] = body.mass
	entry["friction"] = material.friction
	entry["bounce"] = material.bounce


func _rigid(body: Node) -> Dictionary:
	var row: Dictionary = super._rigid(body)
	row["asleep"] = int((body as RigidBody3D).sleeping)
	return row


func _push() -> Vector3:
	if _kind == "billiard" and _tick % 40 < 10:
		return Vector3(_chance.randf_range(-20, 20), 0.0, _chance.randf_range(-20, 20))
	return Vector3.ZERO
