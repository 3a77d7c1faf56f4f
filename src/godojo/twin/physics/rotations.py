"""Quaternions (x, y, z, w) and the bases of transforms, as Godot and Jolt convert them."""

from typing import Any

import numpy as np

from godojo.twin.physics.jit import call

_ONE, _TWO, _HALF, _ZERO = np.float32(1.0), np.float32(2.0), np.float32(0.5), np.float32(0.0)


@call
def quaternion_of(transform: Any) -> Any:
    """The rotation of a transform without scale."""
    m00, m01, m02 = transform[0], transform[1], transform[2]
    m10, m11, m12 = transform[3], transform[4], transform[5]
    m20, m21, m22 = transform[6], transform[7], transform[8]
    trace = m00 + m11 + m22
    if trace > _ZERO:
        s = np.float32(np.sqrt(trace + _ONE))
        w = s * _HALF
        s = _HALF / s
        return ((m21 - m12) * s, (m02 - m20) * s, (m10 - m01) * s, w)
    if m00 >= m11 and m00 >= m22:
        s = np.float32(np.sqrt(m00 - m11 - m22 + _ONE))
        x = s * _HALF
        s = _HALF / s
        return (x, (m10 + m01) * s, (m20 + m02) * s, (m21 - m12) * s)
    if m11 >= m22:
        s = np.float32(np.sqrt(m11 - m22 - m00 + _ONE))
        y = s * _HALF
        s = _HALF / s
        return ((m10 + m01) * s, y, (m21 + m12) * s, (m02 - m20) * s)
    s = np.float32(np.sqrt(m22 - m00 - m11 + _ONE))
    z = s * _HALF
    s = _HALF / s
    return ((m20 + m02) * s, (m21 + m12) * s, z, (m10 - m01) * s)


@call
def write_basis(rotation: Any, transform: Any) -> None:
    """Writes the basis of a unit quaternion into a transform."""
    x, y, z, w = rotation[0], rotation[1], rotation[2], rotation[3]
    tx, ty, tz = x + x, y + y, z + z
    xx, yy, zz = tx * x, ty * y, tz * z
    xy, xz, xw = tx * y, tx * z, tx * w
    yz, yw, zw = ty * z, ty * w, tz * w
    transform[0], transform[1], transform[2] = (_ONE - yy) - zz, xy - zw, xz + yw
    transform[3], transform[4], transform[5] = xy + zw, (_ONE - zz) - xx, yz - xw
    transform[6], transform[7], transform[8] = xz - yw, yz + xw, (_ONE - xx) - yy


@call
def quaternion_product(a: Any, b: Any) -> Any:
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


@call
def turn_rows(axis: Any, angle: Any) -> Any:
    """The rows of Godot's `Basis(axis, angle)`."""
    c, s = np.float32(np.cos(angle)), np.float32(np.sin(angle))
    x, y, z = axis
    u = _ONE - c
    return (
        (x * x + c * (_ONE - x * x), x * y * u - z * s, x * z * u + y * s),
        (x * y * u + z * s, y * y + c * (_ONE - y * y), y * z * u - x * s),
        (x * z * u - y * s, y * z * u + x * s, z * z + c * (_ONE - z * z)),
    )
