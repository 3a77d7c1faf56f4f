class_name VoxelChunk
extends MeshInstance3D
## One chunk of the terrain: what is shown of it, what can be stood on, and the memory it takes.

## Nothing is shown yet.
const NOTHING := -1
const _BYTES_PER_VERTEX := 40

var cell: Vector2i
## The level of detail that is shown, and the one that should be.
var lod: int = NOTHING
var wanted_lod: int = NOTHING
## The job that is making it, if one is.
var job: VoxelJob
## Since when it is out of sight, in ticks; -1 while it is not.
var unwanted_since: int = -1
## Whether the terrain has dropped it.
var is_unloaded: bool = false
## Voxels, vertices and collision faces.
var memory_bytes: int = 0

var _faces := PackedVector3Array()
var _body: StaticBody3D


func _init(at: Vector2i, material: Material) -> void:
	cell = at
	name = "Chunk %d %d" % [at.x, at.y]
	position = Vector3(at.x, 0, at.y) * VoxelGenerator.SIDE
	material_override = material


## Shows what a job has made.
func take(finished: VoxelJob) -> void:
	lod = finished.lod
	memory_bytes = finished.voxels.size()
	_faces = PackedVector3Array()
	var shape_mesh := ArrayMesh.new()
	if not finished.surface.is_empty():
		_faces = finished.surface[Mesh.ARRAY_VERTEX]
		shape_mesh.add_surface_from_arrays(Mesh.PRIMITIVE_TRIANGLES, finished.surface)
		memory_bytes += _faces.size() * _BYTES_PER_VERTEX
	mesh = shape_mesh
	if _body != null:
		make_solid(false)
		make_solid(true)


## Whether bodies can stand on it.
func is_solid() -> bool:
	return _body != null


func make_solid(solid: bool) -> void:
	if solid and _body == null:
		var shape := ConcavePolygonShape3D.new()
		shape.set_faces(_faces)
		var owner_shape := CollisionShape3D.new()
		owner_shape.shape = shape
		_body = StaticBody3D.new()
		_body.add_child(owner_shape)
		add_child(_body)
	elif not solid and _body != null:
		_body.queue_free()
		_body = null
