extends Node3D
## A hall with crates. What is wrong happens only while its input action is held.

var _options: Control


func _ready() -> void:
	_box("Floor", Vector3(0, -0.5, 0), Vector3(20, 1, 20))
	_box("Wall", Vector3(4, 1, 0), Vector3(0.2, 2, 4))
	_box("Ghost", Vector3(-4, 1, 0), Vector3(2, 2, 2)).get_child(0).disabled = true
	_box("Layer", Vector3(0, 1, -4), Vector3(2, 2, 2)).collision_layer = 2
	for number in 3:
		var panel := Area3D.new()
		panel.name = ["One", "Two", "Dead"][number]
		panel.position = Vector3(4.0 * number - 4.0, 3.0, 6.0)
		var shape := CollisionShape3D.new()
		shape.shape = BoxShape3D.new()
		panel.add_child(shape)
		add_child(panel)
		if number < 2:
			panel.input_event.connect(_press)
	_open()
	# The menu of docs/hunt-detectors.md, written by the test.
	var menu := Node.new()
	menu.set_script(load("res://menu.gd"))
	menu.name = "PageMenu"
	menu.add_to_group("dojo_ui")
	add_child(menu)


func _physics_process(delta: float) -> void:
	var hero: CharacterBody3D = $Hero
	hero.velocity = Vector3.ZERO
	if Input.is_action_pressed("ghost"):
		_walk(Vector3.LEFT)
	if Input.is_action_pressed("layer"):
		_walk(Vector3.FORWARD)
	if Input.is_action_pressed("tunnel"):
		hero.velocity = Vector3.RIGHT * 4.0
		hero.position += hero.velocity * delta
	if Input.is_action_pressed("far_goal"):
		$Coin.position.x = 13.0
	if Input.is_action_pressed("shed") and Engine.get_physics_frames() % 8 == 0:
		add_child(Node3D.new())
	if Input.is_action_just_pressed("use_menu"):
		$PageMenu.set("presses", int($PageMenu.get("presses")) + 1)
	if Input.is_key_pressed(KEY_K):
		push_error("the key K")
	if Input.is_mouse_button_pressed(MOUSE_BUTTON_RIGHT):
		push_error("the right button")
	if Input.get_joy_axis(0, JOY_AXIS_LEFT_X) > 0.5:
		push_error("the stick")
	if Input.is_action_just_pressed("forget"):
		(_options.get_node("Sound") as CheckButton).button_pressed = false
		_options.free()
		_open()


func _walk(way: Vector3) -> void:
	$Hero.velocity = way * 4.0
	$Hero.move_and_slide()


func _press(_camera: Node, _event: InputEvent, _at: Vector3, _normal: Vector3, _shape: int) -> void:
	pass


func _open() -> void:
	_options = Control.new()
	_options.name = "Options"
	var sound := CheckButton.new()
	sound.name = "Sound"
	sound.button_pressed = true
	_options.add_child(sound)
	add_child(_options)


func _box(title: String, at: Vector3, size: Vector3) -> StaticBody3D:
	var box := StaticBody3D.new()
	box.name = title
	box.position = at
	var shape := CollisionShape3D.new()
	var solid := BoxShape3D.new()
	solid.size = size
	shape.shape = solid
	box.add_child(shape)
	var look := MeshInstance3D.new()
	var mesh := BoxMesh.new()
	mesh.size = size
	look.mesh = mesh
	box.add_child(look)
	add_child(box)
	return box
