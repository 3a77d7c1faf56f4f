"""Distance between any two convex cores (Gilbert, Johnson, Keerthi), and the way out of a deep overlap."""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.cores import Core, perpendicular, support
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import BOX, CYLINDER
from godojo.twin.physics.vectors import add, cross, dot, mul, neg, sub

Vector = tuple[float, float, float]

_POINTS_B = 12
_WEIGHTS = 24
_OVERLAP_SQUARED = 1e-16


@inline
def _point(room: Any, index: int) -> Vector:
    return (room[3 * index], room[3 * index + 1], room[3 * index + 2])


@inline
def _move_point(room: Any, source: int, target: int) -> None:
    for axis in range(3):
        room[3 * target + axis] = room[3 * source + axis]
        room[_POINTS_B + 3 * target + axis] = room[_POINTS_B + 3 * source + axis]


@inline
def _triangle_weights(a: Vector, b: Vector, c: Vector) -> Vector:
    """Barycentric weights of the point of a triangle that is closest to the origin."""
    ab, ac = sub(b, a), sub(c, a)
    d1, d2 = -dot(ab, a), -dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return (1.0, 0.0, 0.0)
    d3, d4 = -dot(ab, b), -dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return (0.0, 1.0, 0.0)
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        share = d1 / (d1 - d3)
        return (1.0 - share, share, 0.0)
    d5, d6 = -dot(ab, c), -dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return (0.0, 0.0, 1.0)
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        share = d2 / (d2 - d6)
        return (1.0 - share, 0.0, share)
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and (d4 - d3) >= 0.0 and (d5 - d6) >= 0.0:
        share = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return (0.0, 1.0 - share, share)
    whole = va + vb + vc
    if whole == 0.0:
        return (1.0, 0.0, 0.0)
    return (va / whole, vb / whole, vc / whole)


@call
def _closest(room: Any, count: int) -> tuple[int, Vector]:
    """Reduces the simplex to the part that is closest to the origin; its new size and that point."""
    weights = (1.0, 0.0, 0.0)
    i0, i1, i2 = 0, 1, 2
    if count == 2:
        a, b = _point(room, 0), _point(room, 1)
        ab = sub(b, a)
        squared = dot(ab, ab)
        share = min(max(-dot(a, ab) / squared, 0.0), 1.0) if squared > 0.0 else 0.0
        weights = (1.0 - share, share, 0.0)
        i2 = 1
    elif count == 3:
        weights = _triangle_weights(_point(room, 0), _point(room, 1), _point(room, 2))
    elif count == 4:
        best = 1e300
        inside = True
        for face in range(4):
            f0 = 0 if face != 1 else 1
            f1 = 1 if face == 0 or face == 3 else 2
            f2 = 2 if face == 0 else 3
            opposite = 3 if face == 0 else (0 if face == 1 else (1 if face == 2 else 2))
            a, b, c, d = _point(room, f0), _point(room, f1), _point(room, f2), _point(room, opposite)
            normal = cross(sub(b, a), sub(c, a))
            side = dot(normal, sub(d, a))
            if -dot(normal, a) * side > 0.0 and abs(side) > 0.0:
                continue
            inside = False
            face_weights = _triangle_weights(a, b, c)
            near = add(add(mul(a, face_weights[0]), mul(b, face_weights[1])), mul(c, face_weights[2]))
            squared = dot(near, near)
            if squared < best:
                best = squared
                i0, i1, i2 = f0, f1, f2
                weights = face_weights
        if inside:
            return 4, (0.0, 0.0, 0.0)
    kept = 0
    result = (0.0, 0.0, 0.0)
    for place in range(3):
        weight = weights[0] if place == 0 else (weights[1] if place == 1 else weights[2])
        index = i0 if place == 0 else (i1 if place == 1 else i2)
        if weight > 0.0 and place < count:
            result = add(result, mul(_point(room, index), weight))
            _move_point(room, index, kept)
            room[_WEIGHTS + kept] = weight
            kept += 1
    return kept, result


@call
def core_distance(
    one: Core, two: Core, vertices: np.ndarray, room: np.ndarray, limit: float
) -> tuple[float, Vector, Vector]:
    """Distance of two cores, unit vector from one to two, the closest point of two's core.

    0 where they overlap. Farther than `limit`, it is only a number above it.
    """
    between = sub(one.center, two.center)
    v = between
    squared = dot(v, v)
    if squared < 1e-20:
        v = (1.0, 0.0, 0.0)
        squared = 1.0
    count = 0
    is_first = True
    nothing = (0.0, 0.0, 0.0)
    for _ in range(48):
        on_two = support(two, vertices, v)
        w = sub(add(support(one, vertices, neg(v)), between), on_two)
        along = dot(v, w)
        if along > 0.0 and along * along > limit * limit * squared:
            return limit + 1.0, nothing, nothing
        if not is_first and squared - along <= 1e-11 * squared:
            break
        is_known = False
        for index in range(count):
            known = _point(room, index)
            if known[0] == w[0] and known[1] == w[1] and known[2] == w[2]:
                is_known = True
        if is_known:
            break
        for axis in range(3):
            room[3 * count + axis] = w[axis]
            room[_POINTS_B + 3 * count + axis] = on_two[axis]
        count += 1
        before = squared
        count, closest = _closest(room, count)
        new_squared = dot(closest, closest)
        if count == 4 or new_squared < _OVERLAP_SQUARED:
            return 0.0, nothing, nothing
        if not is_first and new_squared >= before:
            break
        v = closest
        squared = new_squared
        is_first = False
    distance = math.sqrt(squared)
    point = two.center
    for index in range(count):
        weight = room[_WEIGHTS + index]
        point = add(point, mul(_point(room[_POINTS_B:], index), weight))
    return distance, mul(v, -1.0 / distance), point


@inline
def _full(core: Core) -> Core:
    """The shape without rounded edges, as it is taken where cores overlap."""
    size = core.size
    if core.kind == BOX or core.kind == CYLINDER:
        more = core.radius
        size = (size[0] + more, size[1] + more, size[2] + more)
        return Core(core.kind, core.center, core.x, core.y, core.z, size, 0.0, core.first, core.corners)
    return core


@call
def deep_overlap(one: Core, two: Core, vertices: np.ndarray) -> tuple[float, Vector, Vector]:
    """Where cores overlap: the smallest depth over the axes that can separate such shapes, its axis, a point of two."""
    full_one, full_two = _full(one), _full(two)
    between = sub(two.center, one.center)
    best = 1e300
    best_axis = (0.0, 1.0, 0.0)
    for number in range(17):
        if number < 6:
            core = one if number < 3 else two
            which = number % 3
            axis = core.x if which == 0 else (core.y if which == 1 else core.z)
        elif number < 15:
            first, second = (number - 6) // 3, (number - 6) % 3
            axis = cross(
                one.x if first == 0 else (one.y if first == 1 else one.z),
                two.x if second == 0 else (two.y if second == 1 else two.z),
            )
        else:
            around = one.y if number == 15 else two.y
            axis = sub(between, mul(around, dot(around, between)))
        squared = dot(axis, axis)
        if squared < 1e-12:
            if number < 15:
                continue
            axis = perpendicular(one.y if number == 15 else two.y)
            squared = 1.0
        axis = mul(axis, 1.0 / math.sqrt(squared))
        for sign in (1.0, -1.0):
            way = mul(axis, sign)
            depth = (
                dot(support(full_one, vertices, way), way)
                + full_one.radius
                - dot(support(full_two, vertices, neg(way)), way)
                + full_two.radius
                - dot(between, way)
            )
            if depth < best - 1e-9:
                best = depth
                best_axis = way
    on_one = add(add(one.center, support(full_one, vertices, best_axis)), mul(best_axis, full_one.radius))
    return best, best_axis, sub(on_one, mul(best_axis, best))
