extends Node3D
## One world of the hunt: a small terrain and the hunter on it.

@onready var _terrain: VoxelTerrain = $VoxelTerrain


func _ready() -> void:
	# Jobs take the same number of ticks on every machine, so that steps can be replayed.
	_terrain.waits_for_jobs = true
