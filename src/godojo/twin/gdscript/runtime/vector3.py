"""`Vector3`: a value of three 32-bit floats, and every sum rounded to them."""

import numpy as np

from godojo.twin.gdscript.runtime.components import (
    EPSILON,
    ONE,
    TWO,
    ZERO,
    clamp32,
    close32,
    is_unit,
    round32,
    sign32,
    snap32,
    x_of,
    y_of,
    z_of,
)
from godojo.twin.gdscript.runtime.scalars import atan2_32, cos32, is_finite, sin32

f32, f64 = np.float32, np.float64


class Vector3:
    """`_x`, `_y` and `_z` are the components; `x`, `y`, `z` read them as GDScript does, as 64-bit floats."""

    __slots__ = ("_x", "_y", "_z")

    def __init__(self, x=0.0, y=0.0, z=0.0):
        self._x, self._y, self._z = f32(x), f32(y), f32(z)

    @property
    def x(self):
        return f64(self._x)

    @property
    def y(self):
        return f64(self._y)

    @property
    def z(self):
        return f64(self._z)

    def __add__(self, other):
        return Vector3(self._x + other._x, self._y + other._y, self._z + other._z)

    def __sub__(self, other):
        return Vector3(self._x - other._x, self._y - other._y, self._z - other._z)

    def __mul__(self, other):
        return Vector3(self._x * x_of(other), self._y * y_of(other), self._z * z_of(other))

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return Vector3(self._x / x_of(other), self._y / y_of(other), self._z / z_of(other))

    def __neg__(self):
        return Vector3(-self._x, -self._y, -self._z)

    def __eq__(self, other):
        return self._x == other._x and self._y == other._y and self._z == other._z

    def __ne__(self, other):
        return not (self._x == other._x and self._y == other._y and self._z == other._z)

    __hash__ = None  # type: ignore[assignment]

    def with_x(self, value):
        return Vector3(f32(value), self._y, self._z)

    def with_y(self, value):
        return Vector3(self._x, f32(value), self._z)

    def with_z(self, value):
        return Vector3(self._x, self._y, f32(value))

    def length_squared(self):
        return f64(self._x * self._x + self._y * self._y + self._z * self._z)

    def length(self):
        return f64(np.sqrt(self._x * self._x + self._y * self._y + self._z * self._z))

    def normalized(self):
        squared = self._x * self._x + self._y * self._y + self._z * self._z
        if squared == ZERO:
            return Vector3(ZERO, ZERO, ZERO)
        length = np.sqrt(squared)
        return Vector3(self._x / length, self._y / length, self._z / length)

    def is_normalized(self):
        return is_unit(f32(self.length_squared()))

    def dot(self, other):
        return f64(self._x * other._x + self._y * other._y + self._z * other._z)

    def cross(self, other):
        return Vector3(
            self._y * other._z - self._z * other._y,
            self._z * other._x - self._x * other._z,
            self._x * other._y - self._y * other._x,
        )

    def distance_squared_to(self, other):
        return (other - self).length_squared()

    def distance_to(self, other):
        return (other - self).length()

    def direction_to(self, other):
        return (other - self).normalized()

    def angle_to(self, other):
        return f64(atan2_32(f32(self.cross(other).length()), f32(self.dot(other))))

    def signed_angle_to(self, other, axis):
        across = self.cross(other)
        angle = f64(atan2_32(f32(across.length()), f32(self.dot(other))))
        return -angle if across.dot(axis) < 0.0 else angle

    def rotated(self, axis, angle):
        """By the rows of Godot's `Basis(axis, angle)`."""
        x, y, z = axis._x, axis._y, axis._z
        sine, cosine = sin32(f32(angle)), cos32(f32(angle))
        rest = ONE - cosine
        xy, xz, yz = x * y * rest, x * z * rest, y * z * rest
        xs, ys, zs = x * sine, y * sine, z * sine
        xx, yy, zz = x * x, y * y, z * z
        return Vector3(
            (xx + cosine * (ONE - xx)) * self._x + (xy - zs) * self._y + (xz + ys) * self._z,
            (xy + zs) * self._x + (yy + cosine * (ONE - yy)) * self._y + (yz - xs) * self._z,
            (xz - ys) * self._x + (yz + xs) * self._y + (zz + cosine * (ONE - zz)) * self._z,
        )

    def lerp(self, other, weight):
        return self + (other - self) * weight

    def move_toward(self, other, delta):
        way = other - self
        length = f32(way.length())
        if length <= f32(delta) or length < EPSILON:
            return other
        return self + way / length * delta

    def limit_length(self, limit):
        length = f32(self.length())
        if length > ZERO and f32(limit) < length:
            return self / length * limit
        return self

    def project(self, other):
        return other * (f32(self.dot(other)) / f32(other.length_squared()))

    def slide(self, normal):
        return self - normal * self.dot(normal)

    def reflect(self, normal):
        return normal * TWO * self.dot(normal) - self

    def bounce(self, normal):
        return -self.reflect(normal)

    def inverse(self):
        return Vector3(ONE / self._x, ONE / self._y, ONE / self._z)

    def abs(self):
        return Vector3(abs(self._x), abs(self._y), abs(self._z))

    def sign(self):
        return Vector3(sign32(self._x), sign32(self._y), sign32(self._z))

    def floor(self):
        return Vector3(np.floor(self._x), np.floor(self._y), np.floor(self._z))

    def ceil(self):
        return Vector3(np.ceil(self._x), np.ceil(self._y), np.ceil(self._z))

    def round(self):
        return Vector3(round32(self._x), round32(self._y), round32(self._z))

    def snapped(self, step):
        return Vector3(snap32(self._x, step._x), snap32(self._y, step._y), snap32(self._z, step._z))

    def clamp(self, low, high):
        return Vector3(
            clamp32(self._x, low._x, high._x),
            clamp32(self._y, low._y, high._y),
            clamp32(self._z, low._z, high._z),
        )

    def min(self, other):
        return Vector3(
            self._x if self._x < other._x else other._x,
            self._y if self._y < other._y else other._y,
            self._z if self._z < other._z else other._z,
        )

    def max(self, other):
        return Vector3(
            self._x if self._x > other._x else other._x,
            self._y if self._y > other._y else other._y,
            self._z if self._z > other._z else other._z,
        )

    def is_equal_approx(self, other):
        return close32(self._x, other._x) and close32(self._y, other._y) and close32(self._z, other._z)

    def is_zero_approx(self):
        return abs(self._x) < EPSILON and abs(self._y) < EPSILON and abs(self._z) < EPSILON

    def is_finite(self):
        return is_finite(self._x) and is_finite(self._y) and is_finite(self._z)
