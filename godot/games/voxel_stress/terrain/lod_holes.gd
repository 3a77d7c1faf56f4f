class_name LodHoles
extends RefCounted
## Finds holes in what a terrain shows, by rule:
##
## - a chunk around the viewer shows nothing at all;
## - two neighbours differ by more than one level of detail: skirts hide the gap of one.
##
## What lasts shorter than [constant LASTS_TICKS] is not seen by anybody.

const LASTS_TICKS := 18
const _NEAR := 1.5

var _since: Dictionary[String, int] = {}


## Holes that have lasted, at this tick, one line each.
func look(terrain: VoxelTerrain, tick: int) -> PackedStringArray:
	var seen: Dictionary[String, int] = {}
	for cell in terrain.chunks:
		var level: int = terrain.chunks[cell].lod
		if level == VoxelChunk.NOTHING:
			if (cell - terrain.center).length() <= _NEAR:
				_note("no chunk at (%d, %d)" % [cell.x, cell.y], tick, seen)
			continue
		for side: Vector2i in [Vector2i.RIGHT, Vector2i.DOWN]:
			var other: VoxelChunk = terrain.chunks.get(cell + side)
			if other != null and other.lod != VoxelChunk.NOTHING and absi(other.lod - level) > 1:
				var place: Array = [cell.x, cell.y, level, other.cell.x, other.cell.y, other.lod]
				_note("(%d, %d) at level %d beside (%d, %d) at level %d" % place, tick, seen)
	_since = seen
	var found := PackedStringArray()
	for hole in seen:
		if tick - seen[hole] >= LASTS_TICKS:
			found.append(hole)
	return found


func _note(hole: String, tick: int, seen: Dictionary[String, int]) -> void:
	seen[hole] = _since.get(hole, tick)
