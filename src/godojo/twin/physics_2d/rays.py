"""Rays: the nearest shape that a segment enters, as GodotPhysics2D finds it."""

from typing import Any

import numpy as np

from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import AREA, REMOVED, Space
from godojo.twin.physics.vectors import F0, F1
from godojo.twin.physics_2d.motion import is_enabled, list_within
from godojo.twin.physics_2d.shapes import solid_of, vertex
from godojo.twin.physics_2d.space import BOUNDARY, CAPSULE, CIRCLE, RECTANGLE, SEGMENT
from godojo.twin.physics_2d.vectors import (
    ZERO,
    Vector,
    add,
    affine_inverse,
    basis_xform_inv,
    dot,
    mul,
    neg,
    normalized,
    orthogonal,
    read6,
    sub,
    times,
    xform,
)

_FAR = np.float32(1e10)
_EPSILON = np.float32(0.00001)
_HALF = np.float32(0.5)
_NO_HIT = (False, ZERO, ZERO)


@call
def _contains(solid: Any, vertices: Any, p: Vector) -> bool:
    """Whether a point in the shape's frame is inside it."""
    kind, size = solid[0], solid[2]
    if kind == CIRCLE:
        return bool(dot(p, p) < size[0] * size[0])
    if kind == RECTANGLE:
        return bool(-size[0] <= p[0] < size[0] and -size[1] <= p[1] < size[1])
    if kind == CAPSULE:
        y = max(abs(p[1]) - (size[1] * _HALF - size[0]), F0)
        return bool(p[0] * p[0] + y * y < size[0] * size[0])
    if kind == BOUNDARY:
        return bool(dot(solid[3], p) < size[0])
    if kind == SEGMENT:
        return False
    outside, inside = False, False
    for index in range(solid[5]):
        here = vertex(solid, vertices, index)
        after = vertex(solid, vertices, index + 1 if index + 1 < solid[5] else 0)
        n = normalized(orthogonal(sub(after, here)))
        if dot(n, p) - dot(n, here) > F0:
            outside = True
        else:
            inside = True
    return inside != outside


@inline
def _enter_circle(start: Any, end: Any, radius: Any) -> Any:
    """The share of a segment at which it enters a circle about the origin; -1 if it does not."""
    way = sub(end, start)
    a, b = dot(way, way), np.float32(2.0) * dot(start, way)
    c = dot(start, start) - radius * radius
    root = b * b - np.float32(4.0) * a * c
    if root < F0:
        return -F1
    share = (-b - np.float32(np.sqrt(root))) / (np.float32(2.0) * a)
    return -F1 if share < F0 or share > F1 + _EPSILON else share


@call
def _enter_box(start: Vector, end: Vector, half_x: np.float32, half_y: np.float32) -> Any:
    """Where a segment enters a box about the origin, and the normal there."""
    least, most, normal = F0, F1, ZERO
    for axis in range(2):
        here, there, half = (start[0], end[0], half_x) if axis == 0 else (start[1], end[1], half_y)
        size = there - here
        if here < there:
            if here > half or there < -half:
                return _NO_HIT
            first = (-half - here) / size if here < -half else F0
            last = (half - here) / size if there > half else F1
            side = -F1
        else:
            if there > half or here < -half:
                return _NO_HIT
            first = (half - here) / size if here > half else F0
            last = (-half - here) / size if there < -half else F1
            side = F1
        if first > least:
            least, normal = first, ((side, F0) if axis == 0 else (F0, side))
        most = min(most, last)
        if most < least:
            return _NO_HIT
    return True, add(start, mul(sub(end, start), least)), normal


@call
def _cross(start: Vector, end: Vector, one: Vector, two: Vector) -> Any:
    """Whether two segments cross, and where."""
    way, c, d = sub(end, start), sub(one, start), sub(two, start)
    squared = dot(way, way)
    if squared <= F0:
        return False, ZERO
    unit = (way[0] / squared, way[1] / squared)
    c = (c[0] * unit[0] + c[1] * unit[1], c[1] * unit[0] - c[0] * unit[1])
    d = (d[0] * unit[0] + d[1] * unit[1], d[1] * unit[0] - d[0] * unit[1])
    if (c[1] < -_EPSILON and d[1] < -_EPSILON) or (c[1] > _EPSILON and d[1] > _EPSILON):
        return False, ZERO
    if c[1] == d[1] or abs(c[1] - d[1]) < max(_EPSILON * abs(c[1]), _EPSILON):
        return False, ZERO
    share = d[0] + (c[0] - d[0]) * d[1] / (d[1] - c[1])
    if share < F0 or share > F1:
        return False, ZERO
    return True, add(start, mul(way, share))


@call
def _enter(solid: Any, vertices: Any, start: Vector, end: Vector) -> Any:
    """Where a segment in the shape's frame enters it: whether, the point, the normal."""
    kind, size = solid[0], solid[2]
    if kind == CIRCLE:
        share = _enter_circle(start, end, size[0])
        if share < F0:
            return _NO_HIT
        point = add(start, mul(sub(end, start), share))
        return True, point, normalized(point)
    if kind == RECTANGLE:
        return _enter_box(start, end, size[0], size[1])
    n = normalized(sub(end, start))
    nearest, hit, found, normal = _FAR, False, ZERO, ZERO
    if kind == CAPSULE:
        half = size[1] * _HALF - size[0]
        for index in range(2):
            shift = -half if index == 0 else half
            begin, stop = (start[0], start[1] + shift), (end[0], end[1] + shift)
            share = _enter_circle(begin, stop, size[0])
            if share >= F0:
                point = add(begin, mul(sub(stop, begin), share))
                place = (point[0], point[1] - shift)
                if dot(n, place) < nearest:
                    nearest, hit, found, normal = dot(n, place), True, place, normalized(point)
        is_side, place, side = _enter_box(start, end, size[0], half)
        if is_side and dot(n, place) < nearest:
            hit, found, normal = True, place, side
        return hit, found, normal
    if kind == BOUNDARY:
        level, way = solid[3], sub(start, end)
        down = dot(level, way)
        if abs(down) <= _EPSILON:
            return _NO_HIT
        share = (dot(level, start) - size[0]) / down
        if share < -_EPSILON or share > F1 + _EPSILON:
            return _NO_HIT
        return True, add(start, mul(way, -share)), level
    for index in range(1 if kind == SEGMENT else solid[5]):
        here = vertex(solid, vertices, index)
        after = vertex(solid, vertices, index + 1 if index + 1 < solid[5] else 0)
        crosses, place = _cross(start, end, here, after)
        if crosses and dot(n, place) < nearest:
            nearest, hit, found = dot(n, place), True, place
            if kind == SEGMENT:
                normal = solid[3] if dot(solid[3], start) > dot(solid[3], here) else neg(solid[3])
            else:
                normal = normalized(orthogonal(sub(after, here)))
    return hit, found, normal


@call
def cast_ray(
    space: Space,
    start: Vector,
    end: Vector,
    mask: int,
    with_bodies: bool,
    with_areas: bool,
    hit_from_inside: bool,
    exclude: int,
    excluded: Any,
) -> Any:
    """Whether a ray hits anything, the place, the normal, the body and its shape."""
    way = normalized(sub(end, start))
    nearest, hit, found, normal, body, index = _FAR, False, ZERO, ZERO, -1, -1
    vertices = space.vertices
    low, high = (min(start[0], end[0]), min(start[1], end[1])), (max(start[0], end[0]), max(start[1], end[1]))
    for at in range(list_within(space, low, high)):
        number = space.near[at]
        shape = space.shapes[number]
        them = space.bodies[shape.body]
        if (them.layer & mask) == 0 or them.kind == REMOVED or not is_enabled(them, shape):
            continue
        if not (with_areas if them.kind == AREA else with_bodies) or shape.body == exclude:
            continue
        is_left_out = False
        for place in range(excluded.shape[0]):
            is_left_out |= excluded[place] == shape.body
        if is_left_out:
            continue
        transform = read6(them.transform)
        solid = solid_of(shape, transform)
        inverse = times(affine_inverse(read6(shape.transform)), affine_inverse(transform))
        begin, stop = xform(inverse, start), xform(inverse, end)
        if _contains(solid, vertices, begin):
            if hit_from_inside:
                return True, start, ZERO, int(shape.body), int(shape.index)
            continue
        enters, point, side = _enter(solid, vertices, begin, stop)
        if enters:
            point = xform(solid[1], point)
            if dot(way, point) < nearest:
                nearest, hit, found = dot(way, point), True, point
                normal = normalized(basis_xform_inv(inverse, side))
                body, index = int(shape.body), int(shape.index)
    return hit, found, normal, body, index
