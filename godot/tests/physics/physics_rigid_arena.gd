extends "res://tests/physics/physics_arena.gd"
## A walled floor with rigid bodies that meet each other, and a character that runs into them.

const _SHAPES: Dictionary[String, Array] = {
	"billiard": ["sphere"],
	"stack": ["box"],
	"pushed": ["box"],
	"tumble": ["box", "sphere", "capsule", "cylinder", "convex"],
	"woken": ["box", "sphere"],
	"vehicle": ["box"],
}
const _WHEEL: PackedStringArray = [
	"use_as_traction",
	"use_as_steering",
	"wheel_roll_influence",
	"wheel_radius",
	"wheel_rest_length",
	"wheel_friction_slip",
	"suspension_travel",
	"suspension_stiffness",
	"suspension_max_force",
	"damping_compression",
	"damping_relaxation",
]


func _build() -> void:
	_wishes = []
	_scene["gravity"] = ProjectSettings.get_setting("physics/3d/default_gravity")
	_scene["physics"] = ProjectSettings.get_setting("physics/3d/physics_engine")
	_add(StaticBody3D.new(), _shape("box", Vector3(12, 1, 12)), Vector3(0, -0.5, 0), Basis.IDENTITY)
	for side: int in 4:
		var turn: Basis = Basis(Vector3.UP, side * PI / 2.0)
		_add(StaticBody3D.new(), _shape("box", Vector3(12, 2, 1)), turn * Vector3(0, 1, 5.5), turn)
	_add_mover(Vector3(0, 1.2, 0) if _kind == "pushed" else Vector3(0, 30, 0))
	if _kind == "vehicle":
		for number: int in 4:
			var turn: Basis = Basis(Vector3.UP, number * PI / 2.0)
			_add_body(turn * Vector3(3.0, 0.3, 0.5), 0.6 * Vector3.ONE)
		_add_vehicle()
		return
	if _kind == "stack":
		for number: int in 6:
			var half: int = number % 3
			var offset: float = _chance.randf_range(-0.1, 0.1)
			_add_body(
				Vector3(-2.0 + 4.0 * (number / 3) + offset, 0.5 + 1.02 * half, 2.0), Vector3.ONE
			)
		return
	for number: int in 6:
		var size: Vector3 = Vector3(
			_chance.randf_range(0.5, 1.2),
			_chance.randf_range(0.5, 1.2),
			_chance.randf_range(0.5, 1.2)
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


func _add_vehicle() -> void:
	var car: VehicleBody3D = VehicleBody3D.new()
	car.mass = _chance.randf_range(30.0, 200.0)
	car.center_of_mass_mode = RigidBody3D.CENTER_OF_MASS_MODE_CUSTOM
	car.center_of_mass = Vector3(0, -0.1, 0)
	var wheels: Array = []
	for number: int in 4:
		var wheel: VehicleWheel3D = VehicleWheel3D.new()
		wheel.position = Vector3(-0.5 + number % 2, 0.0, -0.7 + 1.4 * (number / 2))
		wheel.use_as_traction = number >= 2
		wheel.use_as_steering = number < 2
		wheel.wheel_radius = 0.3
		wheel.wheel_friction_slip = _chance.randf_range(1.0, 8.0)
		wheel.wheel_roll_influence = _chance.randf_range(0.05, 0.6)
		wheel.suspension_stiffness = _chance.randf_range(20.0, 60.0)
		wheel.damping_compression = 0.8
		wheel.damping_relaxation = 0.9
		var row: Dictionary = {
			"place": _list(wheel.position), "down": [0, -1, 0], "axle": [1, 0, 0]
		}
		for property: String in _WHEEL:
			row[property] = float(wheel.get(property))
		wheels.append(row)
		car.add_child(wheel)
	var at: Vector3 = Vector3(_chance.randf_range(-2, 2), 0.6, _chance.randf_range(-2, 2))
	var turn: Basis = Basis(Vector3.UP, _chance.randf_range(0, TAU))
	_add(car, _shape("box", Vector3(1.0, 0.4, 1.8)), at, turn)
	var entry: Dictionary = (_scene["bodies"] as Array)[-1]
	entry["mass"] = car.mass
	entry["center_of_mass"] = _list(car.center_of_mass)
	entry["wheels"] = wheels


func _rigid(body: Node) -> Dictionary:
	var row: Dictionary = super._rigid(body)
	row["asleep"] = int((body as RigidBody3D).sleeping)
	var car := body as VehicleBody3D
	if car != null:
		if _tick % 30 == 0:
			car.engine_force = _chance.randf_range(-3.0, 6.0) * car.mass
			car.steering = _chance.randf_range(-0.5, 0.5)
			car.brake = 0.0
			if _chance.randf() < 0.3:
				car.engine_force = 0.0
				car.brake = _chance.randf_range(0.0, 0.3) * car.mass
		row["drive"] = [car.engine_force, car.brake, car.steering]
	return row


func _push() -> Vector3:
	var push: Vector3 = Vector3(_chance.randf_range(-20, 20), 0.0, _chance.randf_range(-20, 20))
	if _kind == "billiard" and _tick % 40 < 10:
		return push
	if _kind == "woken" and _tick % 90 >= 80:
		return push * 2.0
	return Vector3.ZERO
