class_name TickClock
extends Node
## Measures what one physics tick costs the main thread, from the first script to the terrain's.

## Of the last tick, and the worst since [method clear].
var physics_ms: float = 0.0
var worst_ms: float = 0.0

var _terrain: VoxelTerrain
var _clock: ThreadClock


func _init(terrain: VoxelTerrain) -> void:
	_terrain = terrain
	# Before every node but DojoSync.
	process_physics_priority = -999_999


func _physics_process(_delta: float) -> void:
	_clock = ThreadClock.new()


## Ends the measurement of this tick; called by the last node to be processed.
func stop() -> void:
	physics_ms = maxf(_clock.elapsed_ms() - _terrain.waited_ms, 0.0) if _clock != null else 0.0
	worst_ms = maxf(worst_ms, physics_ms)
