"""`Vector2i` and `Vector3i`: values of 32-bit integers that wrap."""

import numpy as np

from godojo.twin.gdscript.runtime.components import xi_of, yi_of, zi_of
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.gdscript.runtime.scalars import int_div, int_mod
from godojo.twin.gdscript.runtime.vector2 import Vector2
from godojo.twin.gdscript.runtime.vector3 import Vector3

i32, i64 = np.int32, np.int64


class Vector2i:
    """`_x` and `_y` are the components; `x` and `y` read them as 64-bit integers."""

    __slots__ = ("_x", "_y")

    def __init__(self, x=0, y=0):
        self._x, self._y = i32(x), i32(y)

    @property
    def x(self):
        return i64(self._x)

    @property
    def y(self):
        return i64(self._y)

    def __add__(self, other):
        return Vector2i(self._x + other._x, self._y + other._y)

    def __sub__(self, other):
        return Vector2i(self._x - other._x, self._y - other._y)

    def __mul__(self, other):
        return Vector2i(self._x * xi_of(other), self._y * yi_of(other))

    def __rmul__(self, other):
        return self * other

    def __neg__(self):
        return Vector2i(-self._x, -self._y)

    def __eq__(self, other):
        return self._x == other._x and self._y == other._y

    def __ne__(self, other):
        return not (self._x == other._x and self._y == other._y)

    __hash__ = None  # type: ignore[assignment]

    def with_x(self, value):
        return Vector2i(i32(value), self._y)

    def with_y(self, value):
        return Vector2i(self._x, i32(value))

    def divided(self, other):
        return Vector2i(int_div(self.x, i64(xi_of(other))), int_div(self.y, i64(yi_of(other))))

    def remainder(self, other):
        return Vector2i(int_mod(self.x, i64(xi_of(other))), int_mod(self.y, i64(yi_of(other))))

    def abs(self):
        return Vector2i(abs(self._x), abs(self._y))

    def length_squared(self):
        return i64(self._x) * i64(self._x) + i64(self._y) * i64(self._y)

    def length(self):
        return np.sqrt(np.float64(self.length_squared()))

    def distance_to(self, to):
        return (to - self).length()

    def distance_squared_to(self, to):
        return (to - self).length_squared()


class Vector3i:
    """`_x`, `_y` and `_z` are the components; `x`, `y`, `z` read them as 64-bit integers."""

    __slots__ = ("_x", "_y", "_z")

    def __init__(self, x=0, y=0, z=0):
        self._x, self._y, self._z = i32(x), i32(y), i32(z)

    @property
    def x(self):
        return i64(self._x)

    @property
    def y(self):
        return i64(self._y)

    @property
    def z(self):
        return i64(self._z)

    def __add__(self, other):
        return Vector3i(self._x + other._x, self._y + other._y, self._z + other._z)

    def __sub__(self, other):
        return Vector3i(self._x - other._x, self._y - other._y, self._z - other._z)

    def __mul__(self, other):
        return Vector3i(self._x * xi_of(other), self._y * yi_of(other), self._z * zi_of(other))

    def __rmul__(self, other):
        return self * other

    def __neg__(self):
        return Vector3i(-self._x, -self._y, -self._z)

    def __eq__(self, other):
        return self._x == other._x and self._y == other._y and self._z == other._z

    def __ne__(self, other):
        return not (self._x == other._x and self._y == other._y and self._z == other._z)

    __hash__ = None  # type: ignore[assignment]

    def with_x(self, value):
        return Vector3i(i32(value), self._y, self._z)

    def with_y(self, value):
        return Vector3i(self._x, i32(value), self._z)

    def with_z(self, value):
        return Vector3i(self._x, self._y, i32(value))

    def divided(self, other):
        x, y, z = i64(xi_of(other)), i64(yi_of(other)), i64(zi_of(other))
        return Vector3i(int_div(self.x, x), int_div(self.y, y), int_div(self.z, z))

    def remainder(self, other):
        x, y, z = i64(xi_of(other)), i64(yi_of(other)), i64(zi_of(other))
        return Vector3i(int_mod(self.x, x), int_mod(self.y, y), int_mod(self.z, z))

    def abs(self):
        return Vector3i(abs(self._x), abs(self._y), abs(self._z))

    def length_squared(self):
        x, y, z = i64(self._x), i64(self._y), i64(self._z)
        return x * x + y * y + z * z

    def length(self):
        return np.sqrt(np.float64(self.length_squared()))

    def distance_to(self, to):
        return (to - self).length()

    def distance_squared_to(self, to):
        return (to - self).length_squared()


@jitable
def to_vector2i(v):
    """Towards zero, as `Vector2i(v)`."""
    return Vector2i(i32(v._x), i32(v._y))


@jitable
def to_vector3i(v):
    return Vector3i(i32(v._x), i32(v._y), i32(v._z))


@jitable
def to_vector2(v):
    return Vector2(np.float32(v._x), np.float32(v._y))


@jitable
def to_vector3(v):
    return Vector3(np.float32(v._x), np.float32(v._y), np.float32(v._z))
