class_name ArenaData
extends RefCounted
## An arena as data: its size, its boxes and where rounds begin.
##
## The origin is the middle of the floor, y points up. Read one with [method load_file] or
## [method from_dict] and look at [member error] before using it.

## Where the hand-made arenas live.
const FOLDER := "res://games/tag/arenas"
## The arena that is played when none is asked for.
const DEFAULT := "pillars"

## Short name, as in its file's name.
var name: String
## Name for people.
var title: String
## Extent along x and z between the outer walls.
var size_m: Vector2
## Solid boxes inside.
var boxes: Array[ArenaBox] = []
## Where bodies may start.
var spawns: Array[SpawnArea] = []
## Why the arena was refused, in one line with its source and key; empty when it is good.
var error: String


## Names of the hand-made arenas: the files in their folder.
static func hand_made() -> PackedStringArray:
	var names: PackedStringArray = []
	for file in DirAccess.get_files_at(FOLDER):
		if file.get_extension() == "json":
			names.append(file.get_basename())
	names.sort()
	return names


## Reads and checks the arena at [param path]. With [param settings] it is checked against those
## instead of the defaults.
static func load_file(path: String, settings: TagSettings = null) -> ArenaData:
	return ArenaReader.new(path, settings).read_file()


## Checks an arena given as a [Dictionary] of the file's shape; [param source] names it in
## complaints.
static func from_dict(
	fields: Dictionary, source: String = "arena", settings: TagSettings = null
) -> ArenaData:
	return ArenaReader.new(source, settings).read(fields)


## A hand-made arena by its name.
static func load_named(arena_name: String, settings: TagSettings = null) -> ArenaData:
	var known: PackedStringArray = hand_made()
	if not known.has(arena_name):
		var refused := ArenaData.new()
		var asked: String = DojoUntrustedText.quoted(arena_name)
		refused.error = "%s: no such arena; known: %s" % [asked, " ".join(known)]
		return refused
	return load_file("%s/%s.json" % [FOLDER, arena_name], settings)


## What keeps bodies as in [param settings] from playing here, or an empty text.
func complaint_for(settings: TagSettings) -> String:
	return error if not error.is_empty() else ArenaReader.new(name, settings).check_spawns(self)


## Everything solid: floor, ceiling, four outer walls, then [member boxes].
func solids(shell: TagSettings.ArenaShell) -> Array[ArenaBox]:
	var t: float = shell.thickness_m
	var h: float = shell.collider_height_m
	var wide := Vector3(size_m.x + 2.0 * t, t, size_m.y + 2.0 * t)
	var all: Array[ArenaBox] = [
		ArenaBox.make(Vector3(0.0, -t * 0.5, 0.0), wide, &"floor"),
		ArenaBox.make(Vector3(0.0, h + t * 0.5, 0.0), wide, &"ceiling"),
	]
	for side: float in [-1.0, 1.0]:
		var x: float = side * (size_m.x + t) * 0.5
		var z: float = side * (size_m.y + t) * 0.5
		all.append(ArenaBox.make(Vector3(x, h * 0.5, 0.0), Vector3(t, h, wide.z), &"wall"))
		all.append(ArenaBox.make(Vector3(0.0, h * 0.5, z), Vector3(size_m.x, h, t), &"wall"))
	all.append_array(boxes)
	return all


## Whether a box stands between two points.
func blocks_sight(from: Vector3, to: Vector3) -> bool:
	for box in boxes:
		if box.aabb().intersects_segment(from, to):
			return true
	return false
