"""Vectors as tuples of two 32-bit floats and transforms as tuples of six, with every sum in Godot's order."""

from typing import Any

import numpy as np

from godojo.twin.physics.jit import inline
from godojo.twin.physics.vectors import EPSILON, F0, F1

Vector = tuple[np.float32, np.float32]
ZERO = (F0, F0)


@inline
def add(a: Any, b: Any) -> Any:
    return (a[0] + b[0], a[1] + b[1])


@inline
def sub(a: Any, b: Any) -> Any:
    return (a[0] - b[0], a[1] - b[1])


@inline
def mul(a: Any, s: Any) -> Any:
    return (a[0] * s, a[1] * s)


@inline
def neg(a: Any) -> Any:
    return (-a[0], -a[1])


@inline
def dot(a: Any, b: Any) -> Any:
    return a[0] * b[0] + a[1] * b[1]


@inline
def slide(a: Any, normal: Any) -> Any:
    return sub(a, mul(normal, dot(a, normal)))


@inline
def orthogonal(a: Any) -> Any:
    return (a[1], -a[0])


@inline
def length(a: Any) -> Any:
    return np.float32(np.sqrt(a[0] * a[0] + a[1] * a[1]))


@inline
def normalized(a: Any) -> Any:
    squared = a[0] * a[0] + a[1] * a[1]
    if squared == F0:
        return (a[0], a[1])
    size = np.float32(np.sqrt(squared))
    return (a[0] / size, a[1] / size)


@inline
def is_zero(a: Any) -> bool:
    return bool((a[0] == F0) & (a[1] == F0))


@inline
def is_near_zero(a: Any) -> bool:
    """Godot's `is_zero_approx`."""
    return bool((abs(a[0]) < EPSILON) & (abs(a[1]) < EPSILON))


@inline
def read2(array: Any) -> Any:
    return (array[0], array[1])


@inline
def write2(array: Any, value: Any) -> None:
    array[0] = value[0]
    array[1] = value[1]


# Transforms


@inline
def read6(array: Any) -> Any:
    return (array[0], array[1], array[2], array[3], array[4], array[5])


@inline
def write6(array: Any, value: Any) -> None:
    for part in range(6):
        array[part] = value[part]


@inline
def origin(t: Any) -> Any:
    return (t[4], t[5])


@inline
def at_origin(t: Any, place: Any) -> Any:
    return (t[0], t[1], t[2], t[3], place[0], place[1])


@inline
def basis_xform(t: Any, v: Any) -> Any:
    return (t[0] * v[0] + t[2] * v[1], t[1] * v[0] + t[3] * v[1])


@inline
def basis_xform_inv(t: Any, v: Any) -> Any:
    return (t[0] * v[0] + t[1] * v[1], t[2] * v[0] + t[3] * v[1])


@inline
def xform(t: Any, v: Any) -> Any:
    return add(basis_xform(t, v), (t[4], t[5]))


@inline
def times(a: Any, b: Any) -> Any:
    x, y, o = basis_xform(a, (b[0], b[1])), basis_xform(a, (b[2], b[3])), xform(a, (b[4], b[5]))
    return (x[0], x[1], y[0], y[1], o[0], o[1])


@inline
def affine_inverse(t: Any) -> Any:
    scale = F1 / (t[0] * t[3] - t[1] * t[2])
    turned = (t[3] * scale, t[1] * -scale, t[2] * -scale, t[0] * scale, F0, F0)
    return at_origin(turned, basis_xform(turned, (-t[4], -t[5])))
