"""Bodies that are axis-aligned cubes among axis-aligned boxes, moved one axis at a time."""

from typing import Any

import numpy as np

from godojo.kernels.compile import kernel

X, Y, Z = 0, 1, 2


@kernel
def is_box_near(arena: Any, at: np.ndarray, reach_x: float, reach_y: float, reach_z: float) -> bool:
    """Whether any box could matter to a body whose centre moves by no more than this, half its size included."""
    low_x = np.float32(at[X] - reach_x)
    low_y = np.float32(at[Y] - reach_y)
    low_z = np.float32(at[Z] - reach_z)
    high_x = np.float32(at[X] + reach_x)
    high_y = np.float32(at[Y] + reach_y)
    high_z = np.float32(at[Z] + reach_z)
    near = 0
    for box in range(arena.boxes):
        is_near = (
            (arena.low[X, box] < high_x)
            & (arena.high[X, box] > low_x)
            & (arena.low[Y, box] < high_y)
            & (arena.high[Y, box] > low_y)
            & (arena.low[Z, box] < high_z)
            & (arena.high[Z, box] > low_z)
        )
        near |= is_near
    return near != 0


@kernel
def free_m(
    arena: Any, boxes: int, at: np.ndarray, axis: int, distance: float, half_m: np.float32, skin_m: float
) -> float:
    """How far a body at `at` can go along the axis, of `distance` at most and never backwards.

    Floor, walls, ceiling and the first `boxes` boxes stop it at the skin. The arena's record has the corners of its boxes
    by axis (`low`, `high`) and those of the room (`room_low`, `room_high`).
    """
    one = (axis + 1) % 3
    two = (axis + 2) % 3
    here = at[axis]
    at_one = at[one]
    at_two = at[two]
    forward = distance > 0.0
    gap = arena.room_high[axis] - half_m - here if forward else here - arena.room_low[axis] - half_m
    for box in range(boxes):
        is_beside = (
            (at_one > arena.low[one, box] - half_m)
            & (at_one < arena.high[one, box] + half_m)
            & (at_two > arena.low[two, box] - half_m)
            & (at_two < arena.high[two, box] + half_m)
        )
        to_box = arena.low[axis, box] - half_m - here if forward else here - arena.high[axis, box] - half_m
        gap = to_box if is_beside & (to_box > -skin_m) & (to_box < gap) else gap
    return min(max(gap - skin_m, 0.0), abs(distance))
