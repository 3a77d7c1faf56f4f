extends Node2D
## Everything that can go wrong, each by an input action of its name.

var health: int = 100
var _hoard: Array[PackedByteArray] = []


func _physics_process(_delta: float) -> void:
	if Input.is_action_just_pressed("crash"):
		OS.crash("as asked")
	if Input.is_action_just_pressed("freeze"):
		_spin()
	if Input.is_action_just_pressed("leave"):
		get_tree().quit(3)
	if Input.is_action_just_pressed("fail"):
		var nobody: Node = get_node_or_null("Nobody%d" % randi())
		nobody.queue_free()
	if Input.is_action_just_pressed("alert"):
		OS.alert("Close me")
	if Input.is_action_just_pressed("flood"):
		for line in 100_000:
			push_error("flood number %d" % line)
	if Input.is_action_just_pressed("not_a_number"):
		$Player.position = Vector2(NAN, 0.0)
	if Input.is_action_just_pressed("bury"):
		$Player.set_physics_process(false)
		$Player.position = $Floor.position
	if Input.is_action_pressed("leak"):
		for _number in 2:
			add_child(Node.new())
	if Input.is_action_pressed("orphan"):
		for _number in 10:
			Node.new()
	if Input.is_action_just_pressed("hurt"):
		health -= 150
	if Input.is_action_just_pressed("slow"):
		OS.delay_msec(600)
	if Input.is_action_pressed("swell"):
		var bytes := PackedByteArray()
		bytes.resize(100_000_000)
		bytes.fill(1)
		_hoard.append(bytes)
	if Input.is_action_just_pressed("dialog"):
		var dialog := AcceptDialog.new()
		add_child(dialog)
		dialog.popup_centered()


func _spin() -> void:
	var turns: int = 0
	while turns >= 0:
		turns = (turns + 1) % 1000
