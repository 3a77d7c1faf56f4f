extends Node
## Writes where bodies are, once a tick, just before the trainer is asked for a decision.
##
## A row is the ticks since the beginning and three numbers for each body: its global position, or
## NaN once it is gone.

var _file: FileAccess
var _bodies: Array[Node] = []
var _begin: int = 0


## Begins to follow [param bodies].
func follow(path: String, bodies: Array[Node]) -> void:
	_file = FileAccess.open(path, FileAccess.WRITE)
	_bodies = bodies
	_begin = Engine.get_physics_frames()
	if _file == null:
		printerr("Godojo: %s cannot be written" % path)


func _physics_process(_delta: float) -> void:
	if _file == null:
		return
	var row: PackedFloat32Array = [Engine.get_physics_frames() - _begin]
	for body: Variant in _bodies:
		var place := Vector3(NAN, NAN, NAN)
		if is_instance_valid(body) and (body as Node).is_inside_tree():
			if body is Node3D:
				place = (body as Node3D).global_position
			else:
				var flat: Vector2 = (body as Node2D).global_position
				place = Vector3(flat.x, flat.y, 0.0)
		row.append_array([place.x, place.y, place.z])
	_file.store_buffer(row.to_byte_array())
	_file.flush()
