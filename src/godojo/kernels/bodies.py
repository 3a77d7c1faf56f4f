"""Bodies that are axis-aligned cubes among axis-aligned boxes, moved one axis at a time."""

import math
from typing import Any

import numpy as np

from godojo.kernels.compile import device_kernel

X, Y, Z = 0, 1, 2
GRAZE_M = np.float32(1e-6)
"""Jolt takes an overlap of less than this for none."""


@device_kernel
def find_near(arena: Any, at: np.ndarray, reach_m: float, near: np.ndarray) -> int:
    """Lists the boxes that a body can meet whose faces come no farther than this from its centre; says how many."""
    low_x = np.float32(at[X] - reach_m)
    low_y = np.float32(at[Y] - reach_m)
    low_z = np.float32(at[Z] - reach_m)
    high_x = np.float32(at[X] + reach_m)
    high_y = np.float32(at[Y] + reach_m)
    high_z = np.float32(at[Z] + reach_m)
    # Mostly there are none, and a loop that only asks whether there are any runs on many boxes at once.
    is_any_near = False
    for box in range(arena.boxes):
        is_any_near |= (
            (arena.low[X, box] < high_x)
            & (arena.high[X, box] > low_x)
            & (arena.low[Y, box] < high_y)
            & (arena.high[Y, box] > low_y)
            & (arena.low[Z, box] < high_z)
            & (arena.high[Z, box] > low_z)
        )
    found = 0
    if is_any_near:
        for box in range(arena.boxes):
            if arena.low[X, box] < high_x and arena.high[X, box] > low_x:
                near[found] = box
                found += (arena.low[Z, box] < high_z) & (arena.high[Z, box] > low_z)
    return found


@device_kernel
def free_m(
    arena: Any,
    near: np.ndarray,
    near_count: int,
    at: np.ndarray,
    axis: int,
    distance: float,
    half_m: np.float32,
    skin_m: float,
) -> float:
    """How far a body at `at` can go along the axis, of `distance` at most and never backwards.

    Floor, walls, ceiling and the boxes listed in `near` stop it about a skin before they touch. The arena's record has
    the corners of its boxes by axis (`low`, `high`) and those of the room (`room_low`, `room_high`).
    """
    one = (axis + 1) % 3
    two = (axis + 2) % 3
    here = at[axis]
    at_one = at[one]
    at_two = at[two]
    forward = distance > 0.0
    gap = (arena.room_high[axis] - here) - half_m if forward else (here - arena.room_low[axis]) - half_m
    for place in range(near_count):
        box = near[place]
        is_beside = (
            (at_one > arena.low[one, box] - half_m)
            & (at_one < arena.high[one, box] + half_m)
            & (at_two > arena.low[two, box] - half_m)
            & (at_two < arena.high[two, box] + half_m)
        )
        to_box = (arena.low[axis, box] - here) - half_m if forward else (here - arena.high[axis, box]) - half_m
        gap = to_box if is_beside & (to_box > -half_m) & (to_box < gap) else gap
    gap += GRAZE_M
    reach = np.float32(abs(distance) + skin_m)
    if gap >= reach:
        return abs(distance)
    free = search(float(gap / reach), float(reach)) * float(reach) - skin_m
    return min(max(free, 0.0), abs(distance))


@device_kernel
def search(blocked_from: float, length_m: float) -> float:
    """The share of a path that Jolt takes for free when it is blocked from this share on.

    Jolt does not solve for it but searches: one step for each doubling of a millimetre, leaning to the side on which it
    has not been wrong yet (`_cast_motion_impl` in Godot's sources).
    """
    steps = 4  # and one more for each doubling from 32 mm on
    doubled_m = 0.032
    while doubled_m <= length_m and steps < 16:
        doubled_m *= 2.0
        steps += 1
    low = 0.0
    high = 1.0
    lean = 0.5
    left = steps
    while left > 0 and (low == 0.0 or high == 1.0):
        middle = low + (high - low) * lean
        if middle > blocked_from:
            high = middle
            lean = 0.25 if left < steps and low == 0.0 else 0.5
        else:
            low = middle
            lean = 0.75 if left < steps and high == 1.0 else 0.5
        left -= 1
    # Once it has been wrong on both sides, the rest is plain halving, which can be done at once.
    width = (high - low) / (1 << left)
    return low + math.floor((blocked_from - low) / width) * width


@device_kernel
def wrapped(angle: float) -> float:
    """The same angle from -pi to pi, for one that is no more than a turn off."""
    if angle >= math.pi:
        return angle - 2.0 * math.pi
    return angle + 2.0 * math.pi if angle < -math.pi else angle
