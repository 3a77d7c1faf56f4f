"""What areas of GodotPhysics3D overlap and see."""

import numpy as np

from godojo.twin.physics.bounds import is_enabled
from godojo.twin.physics.godot.collide import collide
from godojo.twin.physics.godot.solids import solid_of
from godojo.twin.physics.jit import call
from godojo.twin.physics.space import AREA, MONITORABLE, MONITORING, REMOVED, STATIC, Space
from godojo.twin.physics.vectors import F0, read3


@call
def overlaps(space: Space, one: int, two: int, margin: float) -> bool:
    """As `overlaps` of `areas.py`."""
    bounds = space.bounds
    for axis in range(3):
        if bounds[axis, one] - margin > bounds[3 + axis, two] or bounds[axis, two] - margin > bounds[3 + axis, one]:
            return False
    # A body is the first of the two.
    if space.bodies[one].kind == AREA:
        one, two = two, one
    first, second = space.bodies[one], space.bodies[two]
    for i in range(first.shape_count):
        if not is_enabled(first, i):
            continue
        mine = solid_of(space.shapes[first.first_shape + i], first.transform, read3(first.transform[9:]))
        for j in range(second.shape_count):
            if not is_enabled(second, j):
                continue
            other = solid_of(space.shapes[second.first_shape + j], second.transform, read3(second.transform[9:]))
            hit, _ = collide(space, mine, other, F0 + np.float32(margin), False, 0)
            if hit:
                return True
    return False


@call
def can_see(space: Space, area: int, other: int) -> bool:
    """As `can_see` of `areas.py`; a monitorable area sees static bodies, too."""
    me, them = space.bodies[area], space.bodies[other]
    if me.kind != AREA or me.traits & MONITORING == 0 or (me.mask & them.layer) == 0:
        return False
    if them.kind == AREA:
        return bool(them.traits & MONITORABLE)
    if them.kind == STATIC:
        return bool(me.traits & MONITORABLE)
    return bool(them.kind != REMOVED)
