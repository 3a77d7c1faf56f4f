"""The gap between two convex shapes: closed forms for the common pairs, GJK for the others."""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.cores import Core, into, kept_core, out_of
from godojo.twin.physics.gjk import core_distance, deep_overlap
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import BOX, CAPSULE, CYLINDER, SPHERE, Space
from godojo.twin.physics.vectors import add, dot, mul, sub

Vector = tuple[float, float, float]

_FLAT = 1e-7
"""Axes whose parts are this close to 0 or 1 count as parallel."""


@inline
def _excess(value: float, half: float) -> float:
    return value - half if value > half else (value + half if value < -half else 0.0)


@inline
def _slope(at: Vector, along: Vector, half: Vector, s: float) -> float:
    """Half the derivative of the squared distance from `at + s * along` to a box."""
    return (
        along[0] * _excess(at[0] + s * along[0], half[0])
        + along[1] * _excess(at[1] + s * along[1], half[1])
        + along[2] * _excess(at[2] + s * along[2], half[2])
    )


@inline
def _segment_to_box(at: Vector, along: Vector, half: Vector) -> float:
    """The place from -1 to 1 on a segment `at + s * along` that is closest to a box around the origin."""
    low, high = -1.0, 1.0
    slope_low, slope_high = _slope(at, along, half, low), _slope(at, along, half, high)
    if slope_low > 0.0:
        return low
    if slope_high < 0.0:
        return high
    # The slope grows with s and bends where the segment crosses the planes of the box's faces.
    for axis in range(3):
        if abs(along[axis]) > 1e-12:
            for side in (-1.0, 1.0):
                s = (side * half[axis] - at[axis]) / along[axis]
                if low < s < high:
                    slope = _slope(at, along, half, s)
                    if slope < 0.0:
                        low, slope_low = s, slope
                    else:
                        high, slope_high = s, slope
    rise = slope_high - slope_low
    if rise < 1e-14:
        return 0.5 * (low + high)
    return low + (high - low) * min(max(-slope_low / rise, 0.0), 1.0)


@inline
def _finish(offset: Vector, on_two: Vector, one: Core, two: Core) -> tuple[bool, float, Vector, Vector]:
    """From the vector between the closest points of two cores: found, gap, axis from one to two, point on two."""
    squared = dot(offset, offset)
    if squared < 1e-16:
        return False, 0.0, offset, on_two
    length = math.sqrt(squared)
    axis = mul(offset, 1.0 / length)
    return True, length - one.radius - two.radius, axis, sub(on_two, mul(axis, two.radius))


@inline
def _line_box(line: Core, box: Core) -> tuple[bool, float, Vector, Vector]:
    at = into(box, line.center)
    half_length = line.size[1]
    s = 0.0
    along = (0.0, 0.0, 0.0)
    if half_length > 0.0:
        along = (
            half_length * dot(box.x, line.y),
            half_length * dot(box.y, line.y),
            half_length * dot(box.z, line.y),
        )
        s = _segment_to_box(at, along, box.size)
    x, y, z = at[0] + s * along[0], at[1] + s * along[1], at[2] + s * along[2]
    ex, ey, ez = _excess(x, box.size[0]), _excess(y, box.size[1]), _excess(z, box.size[2])
    offset = out_of(box, (-ex, -ey, -ez))
    on_two = add(box.center, out_of(box, (x - ex, y - ey, z - ez)))
    return _finish(offset, on_two, line, box)


@call
def _line_line(one: Core, two: Core) -> tuple[bool, float, Vector, Vector]:
    d1, d2 = mul(one.y, one.size[1]), mul(two.y, two.size[1])
    r = sub(one.center, two.center)
    a, e = dot(d1, d1), dot(d2, d2)
    f, c, b = dot(d2, r), dot(d1, r), dot(d1, d2)
    s, t = 0.0, 0.0
    if a <= 1e-18 and e <= 1e-18:
        s, t = 0.0, 0.0
    elif a <= 1e-18:
        t = min(max(f / e, -1.0), 1.0)
    elif e <= 1e-18:
        s = min(max(-c / a, -1.0), 1.0)
    else:
        across = a * e - b * b
        s = min(max((b * f - c * e) / across, -1.0), 1.0) if across > 1e-12 * a * e else 0.0
        t = (b * s + f) / e
        if t < -1.0:
            t = -1.0
            s = min(max((-b - c) / a, -1.0), 1.0)
        elif t > 1.0:
            t = 1.0
            s = min(max((b - c) / a, -1.0), 1.0)
    on_one = add(one.center, mul(d1, s))
    on_two = add(two.center, mul(d2, t))
    return _finish(sub(on_two, on_one), on_two, one, two)


@call
def _line_cylinder(line: Core, cylinder: Core) -> tuple[bool, float, Vector, Vector]:
    """For a point, or a segment parallel to the cylinder."""
    at = into(cylinder, line.center)
    across = math.sqrt(at[0] * at[0] + at[2] * at[2])
    outside = max(across - cylinder.size[0], 0.0)
    above = _excess(at[1], cylinder.size[1] + line.size[1])
    scale = outside / across if outside > 0.0 else 0.0
    offset = (-at[0] * scale, -above, -at[2] * scale)
    y = min(max(at[1] + offset[1], -cylinder.size[1]), cylinder.size[1])
    on_two = (at[0] + offset[0], y, at[2] + offset[2])
    return _finish(out_of(cylinder, offset), add(cylinder.center, out_of(cylinder, on_two)), line, cylinder)


@inline
def _is_flat(number: float) -> bool:
    return abs(number) < _FLAT or abs(number) > 1.0 - _FLAT


@call
def _box_box(one: Core, two: Core) -> tuple[bool, float, Vector, Vector]:
    """For boxes whose axes are parallel."""
    at = into(two, one.center)
    hx = (
        abs(dot(two.x, one.x)) * one.size[0]
        + abs(dot(two.x, one.y)) * one.size[1]
        + abs(dot(two.x, one.z)) * one.size[2]
    )
    hy = (
        abs(dot(two.y, one.x)) * one.size[0]
        + abs(dot(two.y, one.y)) * one.size[1]
        + abs(dot(two.y, one.z)) * one.size[2]
    )
    hz = (
        abs(dot(two.z, one.x)) * one.size[0]
        + abs(dot(two.z, one.y)) * one.size[1]
        + abs(dot(two.z, one.z)) * one.size[2]
    )
    ex, ey, ez = _excess(at[0], two.size[0] + hx), _excess(at[1], two.size[1] + hy), _excess(at[2], two.size[2] + hz)
    on_two = (
        min(max(at[0], -two.size[0]), two.size[0]),
        min(max(at[1], -two.size[1]), two.size[1]),
        min(max(at[2], -two.size[2]), two.size[2]),
    )
    return _finish(out_of(two, (-ex, -ey, -ez)), add(two.center, out_of(two, on_two)), one, two)


@inline
def _turned(result: tuple[bool, float, Vector, Vector]) -> tuple[bool, float, Vector, Vector]:
    """The result for two and one, as one for one and two."""
    found, gap, axis, on_one = result
    return found, gap, mul(axis, -1.0), sub(on_one, mul(axis, gap))


@inline
def _find_gap(
    one: Core, two: Core, vertices: np.ndarray, room: np.ndarray, limit: float
) -> tuple[float, Vector, Vector]:
    """Gap between two shapes (negative: their depth), unit vector from one to two, point on the surface of two.

    A gap above `limit` is only known to be that.
    """
    nothing = (0.0, 0.0, 0.0)
    result = (False, 0.0, nothing, nothing)
    one_is_line = one.kind == CAPSULE or one.kind == SPHERE
    two_is_line = two.kind == CAPSULE or two.kind == SPHERE
    is_closed_form = True
    if one_is_line and two.kind == BOX:
        result = _line_box(one, two)
    elif one_is_line and two_is_line:
        result = _line_line(one, two)
    elif one.kind == BOX and two_is_line:
        result = _turned(_line_box(two, one))
    elif one_is_line and two.kind == CYLINDER and (one.size[1] == 0.0 or abs(dot(one.y, two.y)) > 1.0 - 1e-9):
        result = _line_cylinder(one, two)
    elif two_is_line and one.kind == CYLINDER and (two.size[1] == 0.0 or abs(dot(one.y, two.y)) > 1.0 - 1e-9):
        result = _turned(_line_cylinder(two, one))
    elif (
        one.kind == BOX
        and two.kind == BOX
        and _is_flat(dot(one.x, two.x))
        and _is_flat(dot(one.x, two.y))
        and _is_flat(dot(one.y, two.y))
        and _is_flat(dot(one.y, two.x))
    ):
        result = _box_box(one, two)
    else:
        is_closed_form = False
    if is_closed_form:
        found, gap, axis, on_two = result
        if found:
            return gap, axis, on_two
    else:
        radius = one.radius + two.radius
        distance, axis, on_two = core_distance(one, two, vertices, room, limit + radius)
        if distance > 0.0:
            return distance - radius, axis, sub(on_two, mul(axis, two.radius))
    depth, axis, on_two = deep_overlap(one, two, vertices)
    return -depth, axis, on_two


@call
def find_gap(
    one: Core, two: Core, vertices: np.ndarray, room: np.ndarray, limit: float
) -> tuple[float, Vector, Vector]:
    """As `_find_gap`."""
    return _find_gap(one, two, vertices, room, limit)


@call
def gap_to_shape(space: Space, mine: Core, shape: Any, limit: float) -> tuple[float, Vector, Vector]:
    """The same for a core and a shape of the space, where queries see it."""
    return _find_gap(mine, kept_core(space, shape), space.vertices, space.scratch, limit)
