"""The physics of a tick, as Godot's Jolt integrates a rigid body, and the ground below it.

32-bit numbers are summed and multiplied in Jolt's order, so that velocities and positions are the same to the bit.
"""

import math
from typing import Any

import numpy as np

from godojo.games.landing.settings import TICKS_PER_SECOND
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import kernel

CONTACT_M = 0.02
"""Jolt reports contacts of bodies that are closer than this (its speculative contact distance)."""
RAY_M = 100.0
MAX_MPS, MAX_RADPS = np.float32(500.0), np.float32(47.1238898)
"""Jolt's limits of velocities."""
MIN_TURN_RAD = np.float32(1e-6)
_ONE, _TWO, _HALF = np.float32(1.0), np.float32(2.0), np.float32(0.5)


@kernel
def length(x: np.float32, y: np.float32, z: np.float32) -> np.float32:
    return np.float32(math.sqrt(np.float32(np.float32(x * x + y * y) + z * z)))


@kernel
def update_basis(craft: Any) -> None:
    """The matrix of the rotation, as Godot's `Basis(Quaternion)`."""
    x, y, z, w = craft.rotation[0], craft.rotation[1], craft.rotation[2], craft.rotation[3]
    s = np.float32(_TWO / np.float32(np.float32(np.float32(x * x + y * y) + z * z) + w * w))
    xs, ys, zs = x * s, y * s, z * s
    wx, wy, wz = w * xs, w * ys, w * zs
    xx, xy, xz = x * xs, x * ys, x * zs
    yy, yz, zz = y * ys, y * zs, z * zs
    craft.basis[0, 0], craft.basis[0, 1], craft.basis[0, 2] = _ONE - (yy + zz), xy - wz, xz + wy
    craft.basis[1, 0], craft.basis[1, 1], craft.basis[1, 2] = xy + wz, _ONE - (xx + zz), yz - wx
    craft.basis[2, 0], craft.basis[2, 1], craft.basis[2, 2] = xz - wy, yz + wx, _ONE - (xx + yy)


@kernel
def turned(craft: Any, row: int, x: np.float32, y: np.float32, z: np.float32) -> np.float32:
    """A number of a vector of the craft's frame along a world axis."""
    b = craft.basis
    return np.float32(np.float32(b[row, 0] * x + b[row, 1] * y) + b[row, 2] * z)


@kernel
def fly(n: Any, craft: Any) -> None:
    """Velocities first, then the pose with the new ones."""
    has_fuel = craft.fuel_s > 0.0
    power = n.thrust_n if has_fuel else np.float32(0.0)
    if has_fuel:
        craft.fuel_s = max(craft.fuel_s - craft.burn / TICKS_PER_SECOND, 0.0)
    force_x, force_y, force_z = craft.thrust[X] * power, craft.thrust[Y] * power, craft.thrust[Z] * power
    for axis in range(3):
        force = turned(craft, axis, force_x, force_y, force_z)
        torque = turned(craft, axis, craft.torque[X], craft.torque[Y], craft.torque[Z])
        push = np.float32(n.inverse_mass * force)
        if axis == Y:
            push = np.float32(push - n.gravity)
        craft.velocity[axis] = craft.velocity[axis] * n.kept_velocity + n.tick_s * push
        craft.spin[axis] = craft.spin[axis] * n.kept_spin + n.tick_s * np.float32(n.inverse_inertia * torque)
    limit(craft.velocity, MAX_MPS)
    limit(craft.spin, MAX_RADPS)
    for axis in range(3):
        craft.position[axis] += craft.velocity[axis] * n.tick_s
    turn(n, craft)


@kernel
def limit(vector: np.ndarray, most: np.float32) -> None:
    size = length(vector[0], vector[1], vector[2])
    if size > most:
        for axis in range(3):
            vector[axis] *= most / size


@kernel
def turn(n: Any, craft: Any) -> None:
    """By the angular velocity, about its own axis."""
    x, y, z = craft.spin[X] * n.tick_s, craft.spin[Y] * n.tick_s, craft.spin[Z] * n.tick_s
    angle = length(x, y, z)
    if angle <= MIN_TURN_RAD:
        return
    sine = np.float32(math.sin(_HALF * angle))
    w = np.float32(math.cos(_HALF * angle))
    x, y, z = x / angle * sine, y / angle * sine, z / angle * sine
    a, b, c, d = craft.rotation[0], craft.rotation[1], craft.rotation[2], craft.rotation[3]
    i = w * a + x * d + y * c - z * b
    j = w * b - x * c + y * d + z * a
    k = w * c + x * b - y * a + z * d
    r = w * d - x * a - y * b - z * c
    size = np.float32(math.sqrt(i * i + j * j + k * k + r * r))
    craft.rotation[0], craft.rotation[1], craft.rotation[2], craft.rotation[3] = i / size, j / size, k / size, r / size
    update_basis(craft)


@kernel
def above_ground(n: Any, ground: np.ndarray, x: float, y: float, z: float) -> tuple[float, float]:
    """Height above the triangle below or above a point, and the vertical part of its normal; 1e9 beside the ground."""
    across, along = (x + n.half_m) / n.cell_m, (z + n.half_m) / n.cell_m
    i, j = math.floor(across), math.floor(along)
    if i < 0 or j < 0 or i >= ground.shape[0] - 1 or j >= ground.shape[1] - 1:
        return 1e9, 1.0
    u, v = across - i, along - j
    if u + v <= 1.0:
        corner = float(ground[i, j])
        slope_x, slope_z = float(ground[i + 1, j]) - corner, float(ground[i, j + 1]) - corner
    else:
        corner = float(ground[i + 1, j + 1])
        slope_x, slope_z = corner - float(ground[i, j + 1]), corner - float(ground[i + 1, j])
        u, v = u - 1.0, v - 1.0
    height = corner + slope_x * u + slope_z * v
    steep = (slope_x * slope_x + slope_z * slope_z) / (n.cell_m * n.cell_m)
    return y - height, 1.0 / math.sqrt(1.0 + steep)


@kernel
def ground_distance(n: Any, ground: np.ndarray, craft: Any) -> float:
    """Of a ray straight down; `RAY_M` where it meets nothing."""
    gap, _ = above_ground(n, ground, float(craft.position[X]), float(craft.position[Y]), float(craft.position[Z]))
    return gap if 0.0 <= gap < RAY_M else RAY_M


@kernel
def ball_touches(n: Any, ground: np.ndarray, x: float, y: float, z: float, radius_m: float) -> bool:
    """Whether the plane of the triangle below a ball's centre is within reach."""
    gap, upright = above_ground(n, ground, x, y, z)
    return abs(gap) * upright < radius_m + CONTACT_M


@kernel
def touches(n: Any, ground: np.ndarray, craft: Any) -> bool:
    """Whether the hull or a foot touches the ground."""
    x, y, z = float(craft.position[X]), float(craft.position[Y]), float(craft.position[Z])
    gap, _ = above_ground(n, ground, x, y, z)
    if gap > 16.0 or gap < -16.0:  # far out of reach for any foot
        return False
    if ball_touches(n, ground, x, y, z, n.hull_radius_m):
        return True
    out, down = np.float32(n.foot_out_m), np.float32(-n.foot_down_m)
    for foot in range(4):
        side = out if foot % 2 == 0 else -out
        ahead = out if foot < 2 else -out
        foot_x = x + float(turned(craft, X, side, down, ahead))
        foot_y = y + float(turned(craft, Y, side, down, ahead))
        foot_z = z + float(turned(craft, Z, side, down, ahead))
        if ball_touches(n, ground, foot_x, foot_y, foot_z, n.foot_radius_m):
            return True
    return False
