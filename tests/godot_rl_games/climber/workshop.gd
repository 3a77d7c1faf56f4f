class_name Workshop
extends Node3D
## One of everything: what public games do besides running and jumping, in as few lines as possible.

var places := {}
var visits := {}
var hits := 0
var counted := 0
var inside := 0
var noise := 0.0
var trail: Array[Array] = []
var words: Array[float] = []
var stunned := false
var walker: CharacterBody3D
var turret: Node3D
var door: StaticBody3D
var clock: Timer
var controller: AIController3D


func _ready():
	walker = _body(CharacterBody3D.new(), Vector3(0, 0.5, 0), Vector3(0.8, 0.8, 0.8), "Walker")
	# Far enough from the door's ends: what is wedged is pushed in the broad phase's order.
	_body(StaticBody3D.new(), Vector3(4.5, 0.5, 0), Vector3(0.5, 2, 8), "Wall")
	_body(StaticBody3D.new(), Vector3(-4.5, 0.5, 0), Vector3(0.5, 2, 8), "Fence")
	door = _body(StaticBody3D.new(), Vector3(0, 0.5, 2), Vector3(6, 2, 0.5), "Door")
	for side in [-1, 1]:
		var area: Area3D = _body(
			Area3D.new(), Vector3(2.0 * side, 0.5, 0), Vector3(1, 1, 3), "Area%d" % side
		)
		area.body_entered.connect(_on_area_entered.bind(side, 0.25))
		area.body_exited.connect(_on_area_exited.bind(side))
	_body(StaticBody3D.new(), Vector3(2, 0.5, -1.2), Vector3(0.4, 0.4, 0.4), "Block")
	turret = Node3D.new()
	turret.position = Vector3(0, 2, -4)
	add_child(turret)
	for key in [0, 5, 7]:
		var mark := MeshInstance3D.new()
		mark.position = Vector3(key * 0.3 - 1.0, 0.5, 0)
		add_child(mark)
		places[key] = mark
	var lamp := MeshInstance3D.new()
	lamp.name = "Lamp"
	lamp.position = Vector3(1, 3, 0)
	add_child(lamp)
	lamp.owner = self
	lamp.unique_name_in_owner = true
	clock = Timer.new()
	clock.wait_time = 0.35
	clock.autostart = true
	clock.timeout.connect(_on_clock)
	add_child(clock)
	controller = WorkshopController.new()
	controller.reset_after = 90
	add_child(controller)
	controller.init(self)
	begin()


func _body(body, at: Vector3, size: Vector3, title: String):
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	shape.shape.size = size
	body.name = title
	body.position = at
	body.add_child(shape)
	add_child(body)
	return body


func begin():
	var keys = places.keys()
	var key = keys.pick_random()
	visits[key] = visits.get(key, 0) + 1
	walker.global_position = places[key].global_position
	if not visits.has(5) and visits.size() > 1:
		noise += 0.001
	if hits > 10000:
		add_child(Node3D.new())
	stunned = false


func _physics_process(delta):
	if controller.needs_reset:
		controller.done = true
		controller.cut = true
		begin()
		controller.reset()
	if not stunned:
		var step: Vector3 = Vector3(controller.move.x, 0, controller.move.y) * 5.0 * delta
		var met = walker.move_and_collide(step)
		if met:
			hits += 1
			walker.move_and_collide(met.get_normal() * 0.3)
			_rest()
	turret.look_at(walker.global_position, Vector3.UP)
	%Lamp.position.x += controller.move.x * delta
	var cell: Vector3i = walker.position
	noise = noise * 0.9 + cell.distance_to(Vector3i.ZERO) * 0.01
	_remember(controller.move)


## Rows of an array, functions inside functions, a dictionary of the function's own.
func _remember(move: Vector2):
	trail.push_back([move.x, move.y, walker.position.x])
	if trail.size() > 3:
		trail.pop_front()
	trail[-1][2] += 1.0
	var xs = []
	var signs := {}
	for row in trail:
		xs.append_array(row)
		signs[row[0] > 0.0] = signs.get(row[0] > 0.0, 0) + 1
	xs.sort_custom(func(a, b): return a > b)
	var small = xs.filter(func(x): return absf(x) < 0.5)
	words = [xs[0], small.size(), signs.get(true, 0)]
	words.append(xs.slice(1, 3).reduce(func(sum, x): return sum + x, 0.0))


func _rest():
	stunned = true
	call_deferred("_count")
	await get_tree().create_timer(0.1).timeout
	stunned = false


func _count():
	counted += 1


func _on_clock():
	if door.process_mode == Node.PROCESS_MODE_DISABLED:
		door.process_mode = Node.PROCESS_MODE_INHERIT
		clock.start(0.35)
	else:
		door.process_mode = Node.PROCESS_MODE_DISABLED
		clock.start(0.5)


func _on_area_entered(body, side, worth):
	inside += side
	if body == walker:
		controller.reward += worth * side


func _on_area_exited(_body, side):
	inside -= side
