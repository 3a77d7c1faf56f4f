"""`Basis` and `Quaternion`: 32-bit floats, in the order of Godot's own sums."""

import numpy as np

from godojo.twin.gdscript.runtime.components import EPSILON, ONE, TWO, ZERO, close32, is_unit
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.gdscript.runtime.scalars import acos32, asin32, atan2_32, cos32, sin, sin32
from godojo.twin.gdscript.runtime.vector3 import Vector3

f32, f64 = np.float32, np.float64
_HALF = f32(0.5)
_QUARTER_TURN = f32(np.pi * 0.5)
_POLE = ONE - EPSILON


class Basis:
    """`_r0`, `_r1` and `_r2` are the rows; `x`, `y` and `z` are the columns, which GDScript sees."""

    __slots__ = ("_r0", "_r1", "_r2")

    def __init__(self, r0=Vector3(1, 0, 0), r1=Vector3(0, 1, 0), r2=Vector3(0, 0, 1)):  # noqa: B008 - values
        self._r0, self._r1, self._r2 = r0, r1, r2

    @property
    def x(self):
        return Vector3(self._r0._x, self._r1._x, self._r2._x)

    @property
    def y(self):
        return Vector3(self._r0._y, self._r1._y, self._r2._y)

    @property
    def z(self):
        return Vector3(self._r0._z, self._r1._z, self._r2._z)

    def __eq__(self, other):
        return self._r0 == other._r0 and self._r1 == other._r1 and self._r2 == other._r2

    def __ne__(self, other):
        return not (self._r0 == other._r0 and self._r1 == other._r1 and self._r2 == other._r2)

    __hash__ = None  # type: ignore[assignment]

    def with_x(self, v):
        return basis_of(v, self.y, self.z)

    def with_y(self, v):
        return basis_of(self.x, v, self.z)

    def with_z(self, v):
        return basis_of(self.x, self.y, v)

    def xform(self, v):
        return Vector3(_dot(self._r0, v), _dot(self._r1, v), _dot(self._r2, v))

    def xform_inv(self, v):
        return Vector3(_dot(self.x, v), _dot(self.y, v), _dot(self.z, v))

    def times(self, other):
        x, y, z = other.x, other.y, other.z
        return Basis(
            Vector3(_dot(x, self._r0), _dot(y, self._r0), _dot(z, self._r0)),
            Vector3(_dot(x, self._r1), _dot(y, self._r1), _dot(z, self._r1)),
            Vector3(_dot(x, self._r2), _dot(y, self._r2), _dot(z, self._r2)),
        )

    def times_number(self, number):
        return Basis(self._r0 * number, self._r1 * number, self._r2 * number)

    def transposed(self):
        return Basis(self.x, self.y, self.z)

    def determinant(self):
        a, b, c = self._r0, self._r1, self._r2
        return f64(
            a._x * (b._y * c._z - c._y * b._z) - b._x * (a._y * c._z - c._y * a._z) + c._x * (a._y * b._z - b._y * a._z)
        )

    def inverse(self):
        a, b, c = self._r0, self._r1, self._r2
        co0 = b._y * c._z - b._z * c._y
        co1 = b._z * c._x - b._x * c._z
        co2 = b._x * c._y - b._y * c._x
        s = ONE / (a._x * co0 + a._y * co1 + a._z * co2)
        return Basis(
            Vector3(co0 * s, (a._z * c._y - a._y * c._z) * s, (a._y * b._z - a._z * b._y) * s),
            Vector3(co1 * s, (a._x * c._z - a._z * c._x) * s, (a._z * b._x - a._x * b._z) * s),
            Vector3(co2 * s, (a._y * c._x - a._x * c._y) * s, (a._x * b._y - a._y * b._x) * s),
        )

    def orthonormalized(self):
        x = self.x.normalized()
        y, z = self.y, self.z
        y = (y - x * x.dot(y)).normalized()
        z = (z - x * x.dot(z) - y * y.dot(z)).normalized()
        return basis_of(x, y, z)

    def get_scale(self):
        det = self.determinant()
        sign = ONE if det > 0.0 else (-ONE if det < 0.0 else ZERO)
        return Vector3(self.x.length(), self.y.length(), self.z.length()) * sign

    def scaled(self, scale):
        return Basis(self._r0 * scale._x, self._r1 * scale._y, self._r2 * scale._z)

    def scaled_local(self, scale):
        return self.times(basis_from_scale(scale))

    def rotated(self, axis, angle):
        return basis_from_axis_angle(axis, angle).times(self)

    def get_euler(self):
        """In the order YXZ, Godot's default."""
        a, b, c = self._r0, self._r1, self._r2
        m12 = b._z
        if m12 < _POLE:
            if m12 > -_POLE:
                if b._x == ZERO and a._y == ZERO and a._z == ZERO and c._x == ZERO and a._x == ONE:
                    return Vector3(atan2_32(-m12, b._y), ZERO, ZERO)
                return Vector3(asin32(-m12), atan2_32(a._z, c._z), atan2_32(b._x, b._y))
            return Vector3(_QUARTER_TURN, atan2_32(a._y, a._x), ZERO)
        return Vector3(-_QUARTER_TURN, -atan2_32(a._y, a._x), ZERO)

    def get_quaternion(self):
        a, b, c = self._r0, self._r1, self._r2
        trace = a._x + b._y + c._z
        if trace > ZERO:
            s = np.sqrt(trace + ONE)
            w = s * _HALF
            s = _HALF / s
            return Quaternion((c._y - b._z) * s, (a._z - c._x) * s, (b._x - a._y) * s, w)
        largest = (2 if b._y < c._z else 1) if a._x < b._y else (2 if a._x < c._z else 0)
        if largest == 0:
            s = np.sqrt(a._x - b._y - c._z + ONE)
            part = s * _HALF
            s = _HALF / s
            return Quaternion(part, (b._x + a._y) * s, (c._x + a._z) * s, (c._y - b._z) * s)
        if largest == 1:
            s = np.sqrt(b._y - c._z - a._x + ONE)
            part = s * _HALF
            s = _HALF / s
            return Quaternion((a._y + b._x) * s, part, (c._y + b._z) * s, (a._z - c._x) * s)
        s = np.sqrt(c._z - a._x - b._y + ONE)
        part = s * _HALF
        s = _HALF / s
        return Quaternion((a._z + c._x) * s, (b._z + c._y) * s, part, (b._x - a._y) * s)

    def get_rotation_quaternion(self):
        m = self.orthonormalized()
        if m.determinant() < 0.0:
            m = m.scaled(Vector3(-ONE, -ONE, -ONE))
        return m.get_quaternion()

    def slerp(self, other, weight):
        basis = basis_from_quaternion(self.get_quaternion().slerp(other.get_quaternion(), weight))
        a = basis._r0 * _mix(self._r0.length(), other._r0.length(), weight)
        b = basis._r1 * _mix(self._r1.length(), other._r1.length(), weight)
        return Basis(a, b, basis._r2 * _mix(self._r2.length(), other._r2.length(), weight))

    def is_equal_approx(self, other):
        return (
            self._r0.is_equal_approx(other._r0)
            and self._r1.is_equal_approx(other._r1)
            and self._r2.is_equal_approx(other._r2)
        )


class Quaternion:
    """`_x` to `_w` are the components; `x` to `w` read them as 64-bit floats."""

    __slots__ = ("_w", "_x", "_y", "_z")

    def __init__(self, x=0.0, y=0.0, z=0.0, w=1.0):
        self._x, self._y, self._z, self._w = f32(x), f32(y), f32(z), f32(w)

    @property
    def x(self):
        return f64(self._x)

    @property
    def y(self):
        return f64(self._y)

    @property
    def z(self):
        return f64(self._z)

    @property
    def w(self):
        return f64(self._w)

    def __eq__(self, other):
        return self._x == other._x and self._y == other._y and self._z == other._z and self._w == other._w

    def __ne__(self, other):
        return not (self._x == other._x and self._y == other._y and self._z == other._z and self._w == other._w)

    __hash__ = None  # type: ignore[assignment]

    def with_x(self, value):
        return Quaternion(value, self._y, self._z, self._w)

    def with_y(self, value):
        return Quaternion(self._x, value, self._z, self._w)

    def with_z(self, value):
        return Quaternion(self._x, self._y, value, self._w)

    def with_w(self, value):
        return Quaternion(self._x, self._y, self._z, value)

    def dot(self, other):
        return f64(self._x * other._x + self._y * other._y + self._z * other._z + self._w * other._w)

    def length_squared(self):
        return f64(self._x * self._x + self._y * self._y + self._z * self._z + self._w * self._w)

    def length(self):
        return f64(np.sqrt(f32(self.length_squared())))

    def normalized(self):
        return self.times_number(ONE / f32(self.length()))

    def is_normalized(self):
        return is_unit(f32(self.length_squared()))

    def inverse(self):
        return Quaternion(-self._x, -self._y, -self._z, self._w)

    def times_number(self, number):
        s = f32(number)
        return Quaternion(self._x * s, self._y * s, self._z * s, self._w * s)

    def times(self, q):
        return Quaternion(
            self._w * q._x + self._x * q._w + self._y * q._z - self._z * q._y,
            self._w * q._y + self._y * q._w + self._z * q._x - self._x * q._z,
            self._w * q._z + self._z * q._w + self._x * q._y - self._y * q._x,
            self._w * q._w - self._x * q._x - self._y * q._y - self._z * q._z,
        )

    def xform(self, v):
        u = Vector3(self._x, self._y, self._z)
        uv = u.cross(v)
        return v + (uv * self._w + u.cross(uv)) * TWO

    def xform_inv(self, v):
        return self.inverse().xform(v)

    def slerp(self, other, weight):
        w = f32(weight)
        cosine = f32(self.dot(other))
        sign = ONE
        if cosine < ZERO:
            cosine, sign = -cosine, -ONE
        if ONE - cosine > EPSILON:
            omega = acos32(cosine)
            sine = sin32(omega)
            scale0 = f32(sin((1.0 - f64(w)) * f64(omega)) / f64(sine))
            scale1 = sin32(w * omega) / sine
        else:
            scale0, scale1 = ONE - w, w
        return Quaternion(
            scale0 * self._x + scale1 * (sign * other._x),
            scale0 * self._y + scale1 * (sign * other._y),
            scale0 * self._z + scale1 * (sign * other._z),
            scale0 * self._w + scale1 * (sign * other._w),
        )

    def get_euler(self):
        return basis_from_quaternion(self).get_euler()

    def get_angle(self):
        return f64(TWO * acos32(self._w))

    def is_equal_approx(self, q):
        return close32(self._x, q._x) and close32(self._y, q._y) and close32(self._z, q._z) and close32(self._w, q._w)


@jitable
def _dot(a, b):
    return a._x * b._x + a._y * b._y + a._z * b._z


@jitable
def _mix(a, b, weight):
    return f32(a) + (f32(b) - f32(a)) * f32(weight)


@jitable
def basis_of(x, y, z):
    """From its columns, as `Basis(x, y, z)` in GDScript."""
    return Basis(Vector3(x._x, y._x, z._x), Vector3(x._y, y._y, z._y), Vector3(x._z, y._z, z._z))


@jitable
def identity_basis():
    return Basis(Vector3(ONE, ZERO, ZERO), Vector3(ZERO, ONE, ZERO), Vector3(ZERO, ZERO, ONE))


@jitable
def basis_from_scale(scale):
    return Basis(Vector3(scale._x, ZERO, ZERO), Vector3(ZERO, scale._y, ZERO), Vector3(ZERO, ZERO, scale._z))


@jitable
def basis_from_axis_angle(axis, angle):
    x, y, z = axis._x, axis._y, axis._z
    sine, cosine = sin32(f32(angle)), cos32(f32(angle))
    rest = ONE - cosine
    xy, xz, yz = x * y * rest, x * z * rest, y * z * rest
    xs, ys, zs = x * sine, y * sine, z * sine
    xx, yy, zz = x * x, y * y, z * z
    return Basis(
        Vector3(xx + cosine * (ONE - xx), xy - zs, xz + ys),
        Vector3(xy + zs, yy + cosine * (ONE - yy), yz - xs),
        Vector3(xz - ys, yz + xs, zz + cosine * (ONE - zz)),
    )


@jitable
def basis_from_euler(euler):
    """In the order YXZ, Godot's default."""
    c, s = cos32(euler._x), sin32(euler._x)
    x = Basis(Vector3(ONE, ZERO, ZERO), Vector3(ZERO, c, -s), Vector3(ZERO, s, c))
    c, s = cos32(euler._y), sin32(euler._y)
    y = Basis(Vector3(c, ZERO, s), Vector3(ZERO, ONE, ZERO), Vector3(-s, ZERO, c))
    c, s = cos32(euler._z), sin32(euler._z)
    z = Basis(Vector3(c, -s, ZERO), Vector3(s, c, ZERO), Vector3(ZERO, ZERO, ONE))
    return y.times(x).times(z)


@jitable
def basis_from_quaternion(q):
    s = TWO / f32(q.length_squared())
    xs, ys, zs = q._x * s, q._y * s, q._z * s
    wx, wy, wz = q._w * xs, q._w * ys, q._w * zs
    xx, xy, xz = q._x * xs, q._x * ys, q._x * zs
    yy, yz, zz = q._y * ys, q._y * zs, q._z * zs
    return Basis(
        Vector3(ONE - (yy + zz), xy - wz, xz + wy),
        Vector3(xy + wz, ONE - (xx + zz), yz - wx),
        Vector3(xz - wy, yz + wx, ONE - (xx + yy)),
    )


@jitable
def basis_looking_at(target, up, model_front):
    z = target.normalized()
    if not model_front:
        z = -z
    x = up.cross(z)
    if x.is_zero_approx():
        x = any_perpendicular(up)
    x = x.normalized()
    return basis_of(x, z.cross(x), z)


@jitable
def any_perpendicular(v):
    """Of `Vector3.get_any_perpendicular`: across the axis that is farthest from `v`."""
    ax, ay, az = abs(v._x), abs(v._y), abs(v._z)
    if ax <= ay and ax <= az:
        return v.cross(Vector3(ONE, ZERO, ZERO)).normalized()
    return v.cross(Vector3(ZERO, ONE, ZERO)).normalized()


@jitable
def quaternion_from_axis_angle(axis, angle):
    length = f32(axis.length())
    if length == ZERO:
        return Quaternion(ZERO, ZERO, ZERO, ZERO)
    half = f32(angle) * _HALF
    s = sin32(half) / length
    return Quaternion(axis._x * s, axis._y * s, axis._z * s, cos32(half))


@jitable
def quaternion_from_euler(euler):
    a1, a2, a3 = euler._y * _HALF, euler._x * _HALF, euler._z * _HALF
    c1, s1, c2, s2, c3, s3 = cos32(a1), sin32(a1), cos32(a2), sin32(a2), cos32(a3), sin32(a3)
    return Quaternion(
        s1 * c2 * s3 + c1 * s2 * c3,
        s1 * c2 * c3 - c1 * s2 * s3,
        -s1 * s2 * c3 + c1 * c2 * s3,
        s1 * s2 * s3 + c1 * c2 * c3,
    )
