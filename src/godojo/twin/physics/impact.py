"""When a moving shape touches another one."""

import math
from typing import Any

from godojo.twin.physics.cores import Core, moved
from godojo.twin.physics.distance import gap_to_shape
from godojo.twin.physics.jit import call
from godojo.twin.physics.space import Space
from godojo.twin.physics.vectors import dot, mul

NEVER = 2.0
_TOUCH_M = 1e-9


@call
def time_of_impact(space: Space, mine: Core, shape: Any, motion: tuple[float, float, float]) -> float:
    """The share of the motion after which a core touches a shape: 0 if it does from the start, 2 if it never does.

    The distance of convex shapes is a convex function of the time, so Newton's steps never overshoot.
    """
    time = 0.0
    length = math.sqrt(dot(motion, motion))
    for _ in range(24):
        gap, axis, _ = gap_to_shape(space, moved(mine, mul(motion, time)), shape, length)
        if gap <= _TOUCH_M:
            return time
        speed = dot(axis, motion)
        if gap > length or speed <= 0.0:
            return NEVER
        time += gap / speed
        if time > 1.0:
            return NEVER
    return time
