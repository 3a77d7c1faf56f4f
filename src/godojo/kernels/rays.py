"""Rays against axis-aligned boxes. Rays are the inner loop, and nothing branches, so that a core casts many at once.

Every loop over rays ends with an unconditional store: a store under a mask, which the compiler makes of a lone minimum,
holds up the next load from the same place.
"""

from typing import Any

import numpy as np

from godojo.kernels.compile import device_kernel
from godojo.kernels.results import aligned_zeros

_TINY = np.float32(1e-9)
_FAR = np.float32(1e30)


def inverse_scratch(directions: np.ndarray, chunks: int) -> np.ndarray:
    """Space for `aim`, one piece a chunk; heights, which no heading changes, are filled in."""
    inverse = aligned_zeros(chunks, *directions.shape)
    inverse[:, 1] = np.float32(1.0) / np.where(np.abs(directions[1]) > _TINY, directions[1], _TINY)
    return inverse


@device_kernel
def aim(directions: np.ndarray, sine: np.float32, cosine: np.float32, inverse: np.ndarray) -> None:
    """Turns the directions (x, y, z rows in a body's frame, +z forward) by a heading; keeps one over each component."""
    for ray in range(directions.shape[1]):
        x = cosine * directions[0, ray] + sine * directions[2, ray]
        z = cosine * directions[2, ray] - sine * directions[0, ray]
        inverse[0, ray] = np.float32(1.0) / (x if abs(x) > _TINY else _TINY)
        inverse[2, ray] = np.float32(1.0) / (z if abs(z) > _TINY else _TINY)


@device_kernel
def cast_out(
    low_x: np.float32,
    low_y: np.float32,
    low_z: np.float32,
    high_x: np.float32,
    high_y: np.float32,
    high_z: np.float32,
    inverse: np.ndarray,
    nearest: np.ndarray,
) -> None:
    """From inside a room, whose corners are given relative to the eye: how far each ray gets."""
    for ray in range(nearest.shape[0]):
        x = max(low_x * inverse[0, ray], high_x * inverse[0, ray])
        y = max(low_y * inverse[1, ray], high_y * inverse[1, ray])
        z = max(low_z * inverse[2, ray], high_z * inverse[2, ray])
        nearest[ray] = min(x, min(y, z))


@device_kernel
def met_at(
    low_x: np.float32,
    low_y: np.float32,
    low_z: np.float32,
    high_x: np.float32,
    high_y: np.float32,
    high_z: np.float32,
    inverse: np.ndarray,
    ray: int,
) -> np.float32:
    """How far along the ray the box, whose corners are given relative to the eye, is met; very far if it is not."""
    x0 = low_x * inverse[0, ray]
    x1 = high_x * inverse[0, ray]
    y0 = low_y * inverse[1, ray]
    y1 = high_y * inverse[1, ray]
    z0 = low_z * inverse[2, ray]
    z1 = high_z * inverse[2, ray]
    enter = max(min(x0, x1), max(min(y0, y1), min(z0, z1)))
    leave = min(max(x0, x1), min(max(y0, y1), max(z0, z1)))
    return enter if (enter <= leave) & (enter > np.float32(0.0)) else _FAR


@device_kernel
def cast_at_boxes(
    arena: Any,
    chosen: np.ndarray,
    count: int,
    x: np.float32,
    y: np.float32,
    z: np.float32,
    inverse: np.ndarray,
    nearest: np.ndarray,
) -> None:
    """Shortens each ray from the eye at x, y, z that meets one of the arena's `chosen` boxes: two boxes at a time."""
    for place in range(0, count, 2):
        one = chosen[place]
        two = chosen[min(place + 1, count - 1)]
        low_x = arena.low[0, one] - x
        low_y = arena.low[1, one] - y
        low_z = arena.low[2, one] - z
        high_x = arena.high[0, one] - x
        high_y = arena.high[1, one] - y
        high_z = arena.high[2, one] - z
        low_x2 = arena.low[0, two] - x
        low_y2 = arena.low[1, two] - y
        low_z2 = arena.low[2, two] - z
        high_x2 = arena.high[0, two] - x
        high_y2 = arena.high[1, two] - y
        high_z2 = arena.high[2, two] - z
        for ray in range(nearest.shape[0]):
            met = min(nearest[ray], met_at(low_x, low_y, low_z, high_x, high_y, high_z, inverse, ray))
            nearest[ray] = min(met, met_at(low_x2, low_y2, low_z2, high_x2, high_y2, high_z2, inverse, ray))


@device_kernel
def cast_at_agent(
    low_x: np.float32,
    low_y: np.float32,
    low_z: np.float32,
    high_x: np.float32,
    high_y: np.float32,
    high_z: np.float32,
    inverse: np.ndarray,
    nearest: np.ndarray,
    hits: np.ndarray,
    hit: np.float32,
) -> None:
    """Shortens each ray that meets an agent's box, and notes `hit` for it."""
    for ray in range(nearest.shape[0]):
        met = met_at(low_x, low_y, low_z, high_x, high_y, high_z, inverse, ray)
        is_nearer = met < nearest[ray]
        hits[ray] = hit if is_nearer else hits[ray]
        nearest[ray] = min(met, nearest[ray])


@device_kernel
def is_blocked(
    arena: Any, box: int, from_x: float, from_y: float, from_z: float, to_x: float, to_y: float, to_z: float
) -> bool:
    """Whether the arena's box stands between two points."""
    enter = 0.0
    leave = 1.0
    for axis in range(3):
        start = from_x if axis == 0 else (from_y if axis == 1 else from_z)
        along = (to_x if axis == 0 else (to_y if axis == 1 else to_z)) - start
        low = arena.low[axis, box] - start
        high = arena.high[axis, box] - start
        if abs(along) < 1e-9:
            if low > 0.0 or high < 0.0:
                return False
        else:
            enter = max(enter, min(low / along, high / along))
            leave = min(leave, max(low / along, high / along))
    return enter <= leave
