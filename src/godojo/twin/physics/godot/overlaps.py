"""What areas of GodotPhysics3D overlap and see."""

import numpy as np

from godojo.twin.physics.bounds import is_enabled
from godojo.twin.physics.godot.collide import collide_shapes
from godojo.twin.physics.jit import call
from godojo.twin.physics.space import AREA, AT_REST, MONITORABLE, MONITORING, REMOVED, STATIC, STEPPED, Space
from godojo.twin.physics.vectors import read3


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
        shape = np.int64(first.first_shape + i)
        for j in range(second.shape_count):
            if not is_enabled(second, j):
                continue
            hit, _ = collide_shapes(
                space,
                shape,
                first.transform,
                read3(first.transform[9:]),
                np.int64(second.first_shape + j),
                second.transform,
                np.float32(margin),
                i < 0,
                np.int64(0),
            )
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


@call
def was_there(space: Space, area: int, other: int) -> bool:
    """Whether it is a static body in an area at rest at the first step: Godot has paired them before."""
    at_rest = space.bodies[area].traits & AT_REST != 0
    return bool(space.counts[STEPPED] == 0 and space.bodies[other].kind == STATIC and at_rest)
