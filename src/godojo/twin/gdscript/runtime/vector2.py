"""`Vector2`: a value of two 32-bit floats, and every sum rounded to them."""

import numpy as np

from godojo.twin.gdscript.runtime.components import (
    EPSILON,
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
)
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.gdscript.runtime.scalars import atan2_32, cos32, is_finite, sin32

f32, f64 = np.float32, np.float64


class Vector2:
    """`_x` and `_y` are the components; `x` and `y` read them as GDScript does, as 64-bit floats."""

    __slots__ = ("_x", "_y")

    def __init__(self, x=0.0, y=0.0):
        self._x, self._y = f32(x), f32(y)

    @property
    def x(self):
        return f64(self._x)

    @property
    def y(self):
        return f64(self._y)

    def __add__(self, other):
        return Vector2(self._x + other._x, self._y + other._y)

    def __sub__(self, other):
        return Vector2(self._x - other._x, self._y - other._y)

    def __mul__(self, other):
        return Vector2(self._x * x_of(other), self._y * y_of(other))

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return Vector2(self._x / x_of(other), self._y / y_of(other))

    def __neg__(self):
        return Vector2(-self._x, -self._y)

    def __eq__(self, other):
        return self._x == other._x and self._y == other._y

    def __ne__(self, other):
        return not (self._x == other._x and self._y == other._y)

    __hash__ = None  # type: ignore[assignment]

    def with_x(self, value):
        return Vector2(f32(value), self._y)

    def with_y(self, value):
        return Vector2(self._x, f32(value))

    def length(self):
        return f64(np.sqrt(self._x * self._x + self._y * self._y))

    def length_squared(self):
        return f64(self._x * self._x + self._y * self._y)

    def normalized(self):
        squared = self._x * self._x + self._y * self._y
        if squared == ZERO:
            return self
        length = np.sqrt(squared)
        return Vector2(self._x / length, self._y / length)

    def is_normalized(self):
        return is_unit(self._x * self._x + self._y * self._y)

    def dot(self, other):
        return f64(self._x * other._x + self._y * other._y)

    def cross(self, other):
        return f64(self._x * other._y - self._y * other._x)

    def distance_squared_to(self, other):
        dx, dy = self._x - other._x, self._y - other._y
        return f64(dx * dx + dy * dy)

    def distance_to(self, other):
        return f64(np.sqrt(f32(self.distance_squared_to(other))))

    def direction_to(self, other):
        return (other - self).normalized()

    def angle(self):
        return f64(atan2_32(self._y, self._x))

    def angle_to(self, other):
        return f64(atan2_32(f32(self.cross(other)), f32(self.dot(other))))

    def angle_to_point(self, other):
        return (other - self).angle()

    def rotated(self, angle):
        sine, cosine = sin32(f32(angle)), cos32(f32(angle))
        return Vector2(self._x * cosine - self._y * sine, self._x * sine + self._y * cosine)

    def orthogonal(self):
        return Vector2(self._y, -self._x)

    def lerp(self, other, weight):
        w = f32(weight)
        return Vector2(self._x + (other._x - self._x) * w, self._y + (other._y - self._y) * w)

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

    def abs(self):
        return Vector2(abs(self._x), abs(self._y))

    def sign(self):
        return Vector2(sign32(self._x), sign32(self._y))

    def floor(self):
        return Vector2(np.floor(self._x), np.floor(self._y))

    def ceil(self):
        return Vector2(np.ceil(self._x), np.ceil(self._y))

    def round(self):
        return Vector2(round32(self._x), round32(self._y))

    def snapped(self, step):
        return Vector2(snap32(self._x, step._x), snap32(self._y, step._y))

    def clamp(self, low, high):
        return Vector2(clamp32(self._x, low._x, high._x), clamp32(self._y, low._y, high._y))

    def min(self, other):
        return Vector2(
            self._x if self._x < other._x else other._x,
            self._y if self._y < other._y else other._y,
        )

    def max(self, other):
        return Vector2(
            self._x if self._x > other._x else other._x,
            self._y if self._y > other._y else other._y,
        )

    def is_equal_approx(self, other):
        return close32(self._x, other._x) and close32(self._y, other._y)

    def is_zero_approx(self):
        return abs(self._x) < EPSILON and abs(self._y) < EPSILON

    def is_finite(self):
        return is_finite(self._x) and is_finite(self._y)


@jitable
def vector2_from_angle(angle):
    return Vector2(cos32(f32(angle)), sin32(f32(angle)))
