"""Rays against axis-aligned boxes. Rays are the inner loop, and nothing branches, so that a core casts many at once."""

from typing import Any

import numpy as np

from godojo.kernels.compile import kernel

_TINY = np.float32(1e-9)
_FAR = np.float32(1e30)


@kernel
def aim(directions: np.ndarray, sine: np.float32, cosine: np.float32, inverse: np.ndarray) -> None:
    """Turns the directions (x, y, z rows in a body's frame, +z forward) by a heading; keeps one over each component."""
    for ray in range(directions.shape[1]):
        x = cosine * directions[0, ray] + sine * directions[2, ray]
        z = cosine * directions[2, ray] - sine * directions[0, ray]
        y = directions[1, ray]
        inverse[0, ray] = np.float32(1.0) / (x if abs(x) > _TINY else _TINY)
        inverse[1, ray] = np.float32(1.0) / (y if abs(y) > _TINY else _TINY)
        inverse[2, ray] = np.float32(1.0) / (z if abs(z) > _TINY else _TINY)


@kernel
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


@kernel
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


@kernel
def cast_at(
    low_x: np.float32,
    low_y: np.float32,
    low_z: np.float32,
    high_x: np.float32,
    high_y: np.float32,
    high_z: np.float32,
    inverse: np.ndarray,
    nearest: np.ndarray,
) -> None:
    """Shortens each ray that meets the box."""
    for ray in range(nearest.shape[0]):
        met = met_at(low_x, low_y, low_z, high_x, high_y, high_z, inverse, ray)
        nearest[ray] = min(nearest[ray], met)


@kernel
def cast_at_agent(
    low_x: np.float32,
    low_y: np.float32,
    low_z: np.float32,
    high_x: np.float32,
    high_y: np.float32,
    high_z: np.float32,
    inverse: np.ndarray,
    nearest: np.ndarray,
    kinds: np.ndarray,
    kind: np.float32,
) -> None:
    """As `cast_at`, and notes for each ray that it shortens what was met."""
    for ray in range(nearest.shape[0]):
        met = met_at(low_x, low_y, low_z, high_x, high_y, high_z, inverse, ray)
        is_nearer = met < nearest[ray]
        nearest[ray] = met if is_nearer else nearest[ray]
        kinds[ray] = kind if is_nearer else kinds[ray]


@kernel
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
