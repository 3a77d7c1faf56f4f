"""Vectors as tuples of three floats, of 32 or 64 bits as their parts are, with every sum in Godot's order."""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.jit import inline

F0, F1 = np.float32(0.0), np.float32(1.0)
EPSILON = np.float32(0.00001)
"""Godot's CMP_EPSILON."""


@inline
def add(a: Any, b: Any) -> Any:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inline
def sub(a: Any, b: Any) -> Any:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inline
def mul(a: Any, s: Any) -> Any:
    return (a[0] * s, a[1] * s, a[2] * s)


@inline
def neg(a: Any) -> Any:
    return (-a[0], -a[1], -a[2])


@inline
def dot(a: Any, b: Any) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def cross(a: Any, b: Any) -> Any:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inline
def slide(a: Any, normal: Any) -> Any:
    return sub(a, mul(normal, dot(a, normal)))


@inline
def read3(array: Any) -> Any:
    return (array[0], array[1], array[2])


@inline
def write3(array: Any, value: Any) -> None:
    array[0] = value[0]
    array[1] = value[1]
    array[2] = value[2]


@inline
def wide(a: Any) -> Any:
    return (np.float64(a[0]), np.float64(a[1]), np.float64(a[2]))


@inline
def narrow(a: Any) -> Any:
    return (np.float32(a[0]), np.float32(a[1]), np.float32(a[2]))


@inline
def length32(a: Any) -> Any:
    return np.float32(np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]))


@inline
def normalized32(a: Any) -> Any:
    squared = a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
    if squared == F0:
        return (F0, F0, F0)
    length = np.float32(np.sqrt(squared))
    return (a[0] / length, a[1] / length, a[2] / length)


@inline
def is_near_zero(a: Any) -> bool:
    """Godot's `is_zero_approx`."""
    return bool((abs(a[0]) < EPSILON) & (abs(a[1]) < EPSILON) & (abs(a[2]) < EPSILON))


@inline
def is_zero(a: Any) -> bool:
    return bool((a[0] == F0) & (a[1] == F0) & (a[2] == F0))


@inline
def acos32(x: Any) -> Any:
    if x >= F1:
        return F0
    return np.float32(math.acos(max(x, -F1)))


@inline
def length64(a: Any) -> float:
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
