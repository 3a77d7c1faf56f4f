class_name ArenaBox
extends RefCounted
## A solid, axis-aligned box.

## Its centre.
var position: Vector3
## Its edges.
var size: Vector3
## [code]tall[/code], [code]low[/code] or [code]platform[/code]; [code]floor[/code],
## [code]wall[/code] or [code]ceiling[/code] when it is part of the shell.
var kind: StringName


## A box from its centre, edges and kind.
static func make(centre: Vector3, edges: Vector3, what: StringName) -> ArenaBox:
	var box := ArenaBox.new()
	box.position = centre
	box.size = edges
	box.kind = what
	return box


## The box as Godot's own type.
func aabb() -> AABB:
	return AABB(position - size * 0.5, size)
