class_name StressPit
extends Node3D
## A pit that bodies fall into: boxes and balls on three collision layers. Esc quits.

## Collision layers that bodies are spread over, in turn; each collides with itself and the pit.
const LAYERS := 3
const _PIT_LAYER := 1 << LAYERS
const _SIDE_M := 8.0
const _COLOURS: Array[Color] = [Color("e4572e"), Color("17bebb"), Color("ffc914")]

## A body vanishes after this many ticks, so that a spawn rate leads to a number of bodies.
@export_range(1, 10000) var lifetime_ticks: int = 120

var bodies: Array[RigidBody3D] = []
## How many bodies are on each layer.
var on_layer := PackedInt32Array([0, 0, 0])
## Objects that are left of earlier rounds.
var leaked_objects: float = 0.0

var _objects_at_first: float = -1.0
var _meshes: Array[Mesh] = [BoxMesh.new(), SphereMesh.new()]
var _shapes: Array[Shape3D] = [BoxShape3D.new(), SphereShape3D.new()]
var _materials: Array[StandardMaterial3D] = []
# The tick of the round, and that of each body's birth.
var _tick: int = 0
var _born := PackedInt32Array()
var _spawned: int = 0

@onready var particles: GPUParticles3D = $Particles
@onready var _text: Label = %Text
@onready var _monitor: DojoPerformanceMonitor = $Monitor


func _ready() -> void:
	(_meshes[0] as BoxMesh).size = Vector3.ONE * 0.5
	(_shapes[0] as BoxShape3D).size = Vector3.ONE * 0.5
	(_meshes[1] as SphereMesh).radius = 0.25
	(_meshes[1] as SphereMesh).height = 0.5
	(_shapes[1] as SphereShape3D).radius = 0.25
	for colour in _COLOURS:
		var material := StandardMaterial3D.new()
		material.albedo_color = colour
		_materials.append(material)


func _process(_delta: float) -> void:
	_text.text = (
		"%d bodies\nphysics frame %.1f of 11.11 ms, worst %.1f ms"
		% [
			bodies.size(),
			_monitor.average(&"physics_frame_time_ms"),
			_monitor.maximum(&"physics_frame_time_ms"),
		]
	)


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"ui_cancel"):
		get_tree().quit()


## Frees all bodies, and counts what is left of earlier rounds.
func clear() -> void:
	for body in bodies:
		body.free()
	bodies.clear()
	_born.clear()
	_tick = 0
	_spawned = 0
	on_layer.fill(0)
	var objects: float = Performance.get_monitor(Performance.OBJECT_COUNT)
	if _objects_at_first < 0.0:
		_objects_at_first = objects
	leaked_objects = objects - _objects_at_first


## One tick: frees bodies that are too old and adds this many above the pit.
func spawn(count: int, chance: RandomNumberGenerator) -> void:
	_tick += 1
	var old: int = 0
	while old < bodies.size() and _tick - _born[old] > lifetime_ticks:
		on_layer[bodies[old].get_meta(&"layer")] -= 1
		bodies[old].queue_free()
		old += 1
	bodies = bodies.slice(old)
	_born = _born.slice(old)
	for _body in count:
		var body := RigidBody3D.new()
		var shape := CollisionShape3D.new()
		var look := MeshInstance3D.new()
		var kind: int = _spawned % _shapes.size()
		var layer: int = _spawned % LAYERS
		body.set_meta(&"layer", layer)
		shape.shape = _shapes[kind]
		look.mesh = _meshes[kind]
		look.material_override = _materials[layer]
		body.add_child(shape)
		body.add_child(look)
		body.collision_layer = 1 << layer
		body.collision_mask = 1 << layer | _PIT_LAYER
		var half: float = 0.5 * _SIDE_M - 0.5
		body.position = Vector3(
			chance.randf_range(-half, half),
			chance.randf_range(4.0, 8.0),
			chance.randf_range(-half, half)
		)
		add_child(body)
		bodies.append(body)
		_born.append(_tick)
		on_layer[layer] += 1
		_spawned += 1


## Grabs the last body and throws it.
func throw_last(impulse: Vector3) -> void:
	if not bodies.is_empty() and not impulse.is_zero_approx():
		bodies[-1].apply_central_impulse(impulse)
