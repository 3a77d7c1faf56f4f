extends Node2D
## A yard with four floors, the last of them open at its end. What is wrong happens only when its
## input action is pressed.

const LENGTH := 300.0

var _home := Vector2(150, 260)


func _ready() -> void:
	process_mode = Node.PROCESS_MODE_ALWAYS
	for number in 4:
		_floor(number)
	$Enemy.velocity = Vector2.RIGHT


func _floor(number: int) -> void:
	var body := StaticBody2D.new()
	body.name = "Floor%d" % (number + 1)
	body.position = Vector2(LENGTH * number, 300)
	var look := ColorRect.new()
	look.size = Vector2(LENGTH, 80)
	body.add_child(look)
	var shape := CollisionShape2D.new()
	var box := RectangleShape2D.new()
	box.size = look.size
	shape.shape = box
	shape.position = look.size / 2.0 - Vector2(100.0 * int(number == 3), 0.0)
	body.add_child(shape)
	add_child(body)


func _physics_process(delta: float) -> void:
	if Input.is_action_just_pressed("menu"):
		$Menu.show()
		$Menu.grab_focus()
		get_tree().paused = true
	if Input.is_action_just_pressed("go"):
		get_tree().paused = false
	if Input.is_action_just_pressed("stop"):
		get_tree().paused = true
		get_tree().reload_current_scene()
		return
	if Input.is_action_just_pressed("drain"):
		$Energy.text = "Energy -2/10"
	if Input.is_action_just_pressed("sink"):
		_home = Vector2(150, 460)
		$Player.position = Vector2(150, 2000)
	if Input.is_action_pressed("shed") and Engine.get_physics_frames() % 20 == 0:
		var dust := Node2D.new()
		dust.modulate.a = 0.0
		add_child(dust)
	if not get_tree().paused:
		_walk(delta)


func _walk(delta: float) -> void:
	var player: CharacterBody2D = $Player
	player.velocity.x = 300.0 * Input.get_action_strength("right")
	player.velocity.y += 900.0 * delta
	if Input.is_action_just_pressed("jump"):
		player.velocity.y = -400.0
	player.move_and_slide()
	if player.position.y > 660.0:
		player.position = _home
		player.velocity = Vector2.ZERO
