"""What the vectors share: sums over 32-bit components."""

import numpy as np

from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.gdscript.runtime.scalars import round_away, snapped

f32, f64, i32, i64 = np.float32, np.float64, np.int32, np.int64
ZERO, ONE, TWO = f32(0), f32(1), f32(2)
EPSILON = f32(0.00001)
_UNIT_EPSILON = f32(0.001)


def x_of(other):
    """The x of a vector, or a number as 32-bit float: the right side of `*` and `/`."""
    return other._x if hasattr(other, "_x") else f32(other)


def y_of(other):
    return other._y if hasattr(other, "_y") else f32(other)


def z_of(other):
    return other._z if hasattr(other, "_z") else f32(other)


def xi_of(other):
    return other._x if hasattr(other, "_x") else i32(other)


def yi_of(other):
    return other._y if hasattr(other, "_y") else i32(other)


def zi_of(other):
    return other._z if hasattr(other, "_z") else i32(other)


@jitable
def close32(a, b):
    if a == b:
        return True
    tolerance = EPSILON * abs(a)
    if tolerance < EPSILON:
        tolerance = EPSILON
    return abs(a - b) < tolerance


@jitable
def is_unit(length_squared):
    return length_squared == ONE or abs(length_squared - ONE) < _UNIT_EPSILON


@jitable
def clamp32(x, low, high):
    return low if x < low else (high if x > high else x)


@jitable
def sign32(x):
    return ONE if x > ZERO else (-ONE if x < ZERO else ZERO)


@jitable
def round32(x):
    return f32(round_away(f64(x)))


@jitable
def snap32(x, step):
    return f32(snapped(f64(x), f64(step)))
