"""`Transform3D` and `Transform2D`: 32-bit floats, in the order of Godot's own sums."""

import numpy as np

from godojo.twin.gdscript.runtime.basis import (
    Basis,
    basis_from_axis_angle,
    basis_from_quaternion,
    basis_from_scale,
    basis_looking_at,
    identity_basis,
)
from godojo.twin.gdscript.runtime.components import ONE, ZERO
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.gdscript.runtime.scalars import acos32, atan2_32, cos32, sin32
from godojo.twin.gdscript.runtime.vector2 import Vector2
from godojo.twin.gdscript.runtime.vector3 import Vector3

f32, f64 = np.float32, np.float64


class Transform3D:
    """A basis and an origin."""

    __slots__ = ("_basis", "_origin")

    def __init__(self, basis=Basis(), origin=Vector3()):  # noqa: B008 - both are values
        self._basis, self._origin = basis, origin

    @property
    def basis(self):
        return self._basis

    @property
    def origin(self):
        return self._origin

    def __eq__(self, other):
        return self._basis == other._basis and self._origin == other._origin

    def __ne__(self, other):
        return not (self._basis == other._basis and self._origin == other._origin)

    __hash__ = None  # type: ignore[assignment]

    def with_basis(self, basis):
        return Transform3D(basis, self._origin)

    def with_origin(self, origin):
        return Transform3D(self._basis, origin)

    def xform(self, v):
        return self._basis.xform(v) + self._origin

    def xform_inv(self, v):
        return self._basis.xform_inv(v - self._origin)

    def times(self, other):
        return Transform3D(self._basis.times(other._basis), self.xform(other._origin))

    def inverse(self):
        basis = self._basis.transposed()
        return Transform3D(basis, basis.xform(-self._origin))

    def affine_inverse(self):
        basis = self._basis.inverse()
        return Transform3D(basis, basis.xform(-self._origin))

    def orthonormalized(self):
        return Transform3D(self._basis.orthonormalized(), self._origin)

    def rotated(self, axis, angle):
        turn = basis_from_axis_angle(axis, angle)
        return Transform3D(turn.times(self._basis), turn.xform(self._origin))

    def rotated_local(self, axis, angle):
        return Transform3D(self._basis.times(basis_from_axis_angle(axis, angle)), self._origin)

    def scaled(self, scale):
        return Transform3D(self._basis.scaled(scale), self._origin * scale)

    def scaled_local(self, scale):
        return Transform3D(self._basis.scaled_local(scale), self._origin)

    def translated(self, offset):
        return Transform3D(self._basis, self._origin + offset)

    def translated_local(self, offset):
        return Transform3D(self._basis, self._origin + self._basis.xform(offset))

    def looking_at(self, target, up, model_front):
        return Transform3D(basis_looking_at(target - self._origin, up, model_front), self._origin)

    def interpolate_with(self, other, weight):
        turn = self._basis.get_rotation_quaternion().slerp(other._basis.get_rotation_quaternion(), weight)
        scale = self._basis.get_scale().lerp(other._basis.get_scale(), weight)
        basis = basis_from_quaternion(turn.normalized()).times(basis_from_scale(scale))
        return Transform3D(basis, self._origin.lerp(other._origin, weight))

    def is_equal_approx(self, other):
        return self._basis.is_equal_approx(other._basis) and self._origin.is_equal_approx(other._origin)


@jitable
def identity_transform():
    return Transform3D(identity_basis(), Vector3(ZERO, ZERO, ZERO))


class Transform2D:
    """Two columns and an origin."""

    __slots__ = ("_columnx", "_columny", "_origin")

    def __init__(self, columnx=Vector2(1, 0), columny=Vector2(0, 1), origin=Vector2()):  # noqa: B008 - values
        self._columnx, self._columny, self._origin = columnx, columny, origin

    @property
    def x(self):
        return self._columnx

    @property
    def y(self):
        return self._columny

    @property
    def origin(self):
        return self._origin

    def __eq__(self, other):
        return self._columnx == other._columnx and self._columny == other._columny and self._origin == other._origin

    def __ne__(self, other):
        return not (
            self._columnx == other._columnx and self._columny == other._columny and self._origin == other._origin
        )

    __hash__ = None  # type: ignore[assignment]

    def with_x(self, v):
        return Transform2D(v, self._columny, self._origin)

    def with_y(self, v):
        return Transform2D(self._columnx, v, self._origin)

    def with_origin(self, v):
        return Transform2D(self._columnx, self._columny, v)

    def basis_xform(self, v):
        x, y = self._columnx, self._columny
        return Vector2(x._x * v._x + y._x * v._y, x._y * v._x + y._y * v._y)

    def xform(self, v):
        return self.basis_xform(v) + self._origin

    def basis_xform_inv(self, v):
        x, y = self._columnx, self._columny
        return Vector2(x._x * v._x + x._y * v._y, y._x * v._x + y._y * v._y)

    def xform_inv(self, v):
        return self.basis_xform_inv(v - self._origin)

    def times(self, other):
        return Transform2D(
            self.basis_xform(other._columnx), self.basis_xform(other._columny), self.xform(other._origin)
        )

    def inverse(self):
        x, y = self._columnx, self._columny
        turned = Transform2D(Vector2(x._x, y._x), Vector2(x._y, y._y), self._origin)
        return turned.with_origin(turned.basis_xform(-self._origin))

    def affine_inverse(self):
        x, y = self._columnx, self._columny
        scale = ONE / (x._x * y._y - x._y * y._x)
        made = Transform2D(Vector2(y._y * scale, x._y * -scale), Vector2(y._x * -scale, x._x * scale), self._origin)
        return made.with_origin(made.basis_xform(-self._origin))

    def get_rotation(self):
        return f64(atan2_32(self._columnx._y, self._columnx._x))

    def get_origin(self):
        return self._origin

    def determinant(self):
        return f64(self._columnx._x * self._columny._y - self._columnx._y * self._columny._x)

    def get_scale(self):
        sign = -1.0 if self.determinant() < 0.0 else 1.0 if self.determinant() > 0.0 else 0.0
        return Vector2(self._columnx.length(), sign * self._columny.length())

    def get_skew(self):
        sign = -1.0 if self.determinant() < 0.0 else 1.0 if self.determinant() > 0.0 else 0.0
        cosine = self._columnx.normalized().dot(self._columny.normalized() * sign)
        return f64(acos32(f32(cosine)) - f32(0.5) * f32(np.pi))

    def orthonormalized(self):
        x = self._columnx.normalized()
        y = (self._columny - x * x.dot(self._columny)).normalized()
        return Transform2D(x, y, self._origin)

    def translated(self, offset):
        return Transform2D(self._columnx, self._columny, self._origin + offset)

    def translated_local(self, offset):
        return Transform2D(self._columnx, self._columny, self._origin + self.basis_xform(offset))

    def scaled(self, scale):
        return Transform2D(self._columnx * scale, self._columny * scale, self._origin * scale)

    def rotated_local(self, angle):
        return self.times(transform2d_from_angle(angle, Vector2(ZERO, ZERO)))

    def rotated(self, angle):
        return transform2d_from_angle(angle, Vector2(ZERO, ZERO)).times(self)


@jitable
def transform2d_from_angle(angle, origin):
    c, s = cos32(f32(angle)), sin32(f32(angle))
    return Transform2D(Vector2(c, s), Vector2(-s, c), origin)


@jitable
def transform2d_of(rotation, scale, skew, origin):
    """From 32-bit numbers, as Node2D keeps them."""
    turned = f32(rotation) + f32(skew)
    x = Vector2(cos32(f32(rotation)) * scale._x, sin32(f32(rotation)) * scale._x)
    return Transform2D(x, Vector2(-sin32(turned) * scale._y, cos32(turned) * scale._y), origin)


@jitable
def identity_transform2d():
    return Transform2D(Vector2(ONE, ZERO), Vector2(ZERO, ONE), Vector2(ZERO, ZERO))
