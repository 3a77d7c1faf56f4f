class_name ScriptedWalker
extends RefCounted
## Walks to the next mark and turns toward it, without looking where it goes.


## The action as strafe, forward, rotate.
static func act(world: NavigationWorld) -> Vector3:
	var way: Vector3 = world.walker.own(world.next_mark() - world.walker.feet())
	var off_rad: float = atan2(way.x, -way.z)
	var rotate: float = clampf(2.0 * off_rad, -0.6, 0.6)
	return Vector3(0.0, 0.75 if absf(off_rad) < 0.35 else 0.0, rotate)
