"""Whether two shapes overlap and where they touch, by separating axes, as GodotPhysics2D finds it.

Where two axes are equally good, Godot takes the one that it tests first. Its order differs from pair to pair; here
faces come first, then corners.
"""

from typing import Any

import numpy as np

from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.vectors import F0
from godojo.twin.physics_2d.shapes import (
    corner_towards,
    local_supports,
    normal_at,
    normal_count,
    point_at,
    point_count,
    project,
    supports,
)
from godojo.twin.physics_2d.space import BOUNDARY, CAPSULE, CIRCLE, RECTANGLE
from godojo.twin.physics_2d.vectors import (
    ZERO,
    Vector,
    add,
    affine_inverse,
    at_origin,
    basis_xform,
    dot,
    is_near_zero,
    is_zero,
    mul,
    neg,
    normalized,
    origin,
    orthogonal,
    sub,
    xform,
)

EPSILON = 0.00001
"""Godot's CMP_EPSILON, which is a 64-bit number."""
_HALF = np.float32(0.5)
NO_CONTACT = (0, ZERO, ZERO, ZERO, ZERO)


@call
def _corner_axis(a: Any, b: Any, vertices: Any, index: int, by_a: Vector, by_b: Vector) -> Any:
    """The axis through a corner or centre of each, after they have moved."""
    columns = point_count(b)
    i, j = index // columns, index % columns
    if a[0] == RECTANGLE and b[0] == RECTANGLE:
        return normalized(sub(corner_towards(a, origin(b[1])), corner_towards(b, origin(a[1]))))
    if a[0] == RECTANGLE:
        point = add(sub(point_at(b, vertices, j), by_a), by_b)
        return normalized(sub(corner_towards(a, point), point))
    if b[0] == RECTANGLE:
        point = add(sub(point_at(a, vertices, i), by_b), by_a)
        return normalized(sub(corner_towards(b, point), point))
    return normalized(sub(add(point_at(a, vertices, i), by_a), add(point_at(b, vertices, j), by_b)))


@inline
def _is_round(solid: Any) -> bool:
    return bool(solid[0] == CIRCLE or solid[0] == CAPSULE)


@inline
def _reach(solid: Any, vertices: Any, axis: Any, motion: Vector, margin: np.float32) -> Any:
    """The lowest and the highest place along an axis of a shape that is swept along a motion."""
    low, high = project(solid, vertices, axis)
    if not is_zero(motion):
        moved = at_origin(solid[1], add(origin(solid[1]), motion))
        low_there, high_there = project((solid[0], moved, solid[2], solid[3], solid[4], solid[5]), vertices, axis)
        low, high = min(low, low_there), max(high, high_there)
    return low - margin, high + margin


@call
def separation(
    a: Any, b: Any, by_a: Vector, by_b: Vector, margin_a: np.float32, margin_b: np.float32, vertices: Any
) -> Any:
    """Whether the shapes overlap; if so, how deep and along which axis, towards the first.

    One of the two is swept along a motion, `by_a` or `by_b`. The kind of `a` is not above that of `b`.
    """
    is_cast = not (is_zero(by_a) and is_zero(by_b))
    first, second = normal_count(a), normal_count(b)
    faces = (2 if is_cast else 0) + first + second
    corners = 0
    if margin_a != F0 or margin_b != F0 or _is_round(a) or _is_round(b):
        corners = point_count(a) * point_count(b) * (2 if is_cast else 1)
    depth, best = np.float32(1e15), ZERO
    for number in range(faces + corners):
        index = number - 2 if is_cast else number
        if index < 0:
            axis = normalized(add(by_a, by_b))
            if index == -1:
                axis = orthogonal(axis)
        elif index < first:
            axis = normal_at(a, vertices, index)
        elif index < first + second:
            axis = normal_at(b, vertices, index - first)
        else:
            index -= first + second
            if is_cast and index % 2:
                axis = _corner_axis(a, b, vertices, index // 2, by_a, by_b)
            else:
                axis = _corner_axis(a, b, vertices, index // 2 if is_cast else index, ZERO, ZERO)
        if is_near_zero(axis):
            axis = (F0, np.float32(1.0))
        low_a, high_a = _reach(a, vertices, axis, by_a, margin_a)
        low_b, high_b = _reach(b, vertices, axis, by_b, margin_b)
        low = low_b - (high_a - low_a) * _HALF - (low_a + high_a) * _HALF
        high = high_b + (high_a - low_a) * _HALF - (low_a + high_a) * _HALF
        if low > F0 or high < F0:
            return False, depth, best
        low = abs(low)
        if high < low:
            if high < depth:
                depth, best = high, axis
        elif low < depth:
            depth, best = low, neg(axis)
    return not is_zero(best), depth, best


@call
def _below_boundary(boundary: Any, solid: Any, motion: Vector, margin: np.float32, vertices: Any) -> Any:
    """Contacts with a world boundary: how many, and points of the shape and on the boundary, in turn."""
    n = normalized(basis_xform(boundary[1], boundary[3]))
    level = dot(n, xform(boundary[1], mul(boundary[3], boundary[2][0])))
    count, one, two = local_supports(solid, vertices, normalized(basis_xform(affine_inverse(solid[1]), neg(n))))
    found, a0, b0, a1, b1 = 0, ZERO, ZERO, ZERO, ZERO
    for index in range(count):
        point = one if index == 0 else two
        point = add(xform(solid[1], add(point, mul(normalized(point), margin))), motion)
        place = dot(n, point)
        if place >= level:
            continue
        top = sub(point, mul(n, place - level))
        if found == 0:
            a0, b0 = point, top
        else:
            a1, b1 = point, top
        found += 1
    return found, a0, b0, a1, b1


@call
def touches(mover: Any, other: Any, motion: Vector, margin: np.float32, vertices: Any) -> bool:
    """Whether a shape that is swept along a motion meets another one."""
    if other[0] == BOUNDARY or mover[0] == BOUNDARY:
        if mover[0] == other[0]:
            return False
        if other[0] == BOUNDARY:
            return bool(_below_boundary(other, mover, motion, margin, vertices)[0] > 0)
        return bool(_below_boundary(mover, other, neg(motion), F0, vertices)[0] > 0)
    if mover[0] > other[0]:
        return bool(separation(other, mover, ZERO, motion, F0, margin, vertices)[0])
    return bool(separation(mover, other, motion, ZERO, margin, F0, vertices)[0])


@call
def _edges(a0: Vector, a1: Vector, b0: Vector, b1: Vector, n: Vector) -> Any:
    """The two middle ends of two edges that lie on each other, each with its place on the other edge."""
    t = orthogonal(n)
    level_a, level_b = dot(n, a0), dot(n, b0)
    places = (dot(t, a0), dot(t, a1), dot(t, b0), dot(t, b1))
    found, p0, q0, p1, q1 = 0, ZERO, ZERO, ZERO, ZERO
    for rank in range(1, 3):
        for index in range(4):
            before = 0
            for other in range(4):
                if places[other] < places[index] or (places[other] == places[index] and other < index):
                    before += 1
            if before != rank:
                continue
            if index < 2:
                a = a0 if index == 0 else a1
                b = sub(a, mul(n, dot(n, a) - level_b))
            else:
                b = b0 if index == 2 else b1
                a = sub(b, mul(n, dot(n, b) - level_a))
            if np.float64(dot(n, a)) > np.float64(dot(n, b)) - EPSILON:
                continue
            if found == 0:
                p0, q0 = a, b
            else:
                p1, q1 = a, b
            found += 1
    return found, p0, q0, p1, q1


@inline
def _on_line(point: Any, start: Any, end: Any) -> Any:
    way = sub(end, start)
    squared = dot(way, way)
    if squared < np.float32(1e-20):
        return start
    return add(start, mul(way, dot(way, sub(point, start)) / squared))


@call
def contacts(mover: Any, other: Any, margin: np.float32, vertices: Any) -> Any:
    """How many contacts two shapes have (2 at most); for each, the point of the first and that of the second."""
    if other[0] == BOUNDARY or mover[0] == BOUNDARY:
        if mover[0] == other[0]:
            return NO_CONTACT
        if other[0] == BOUNDARY:
            return _below_boundary(other, mover, ZERO, margin, vertices)
        found, b0, a0, b1, a1 = _below_boundary(mover, other, ZERO, F0, vertices)
        return found, a0, b0, a1, b1
    is_swapped = mover[0] > other[0]
    a, b = (other, mover) if is_swapped else (mover, other)
    margin_a, margin_b = (F0, margin) if is_swapped else (margin, F0)
    overlaps, _, axis = separation(a, b, ZERO, ZERO, margin_a, margin_b, vertices)
    if not overlaps:
        return NO_CONTACT
    count_a, a0, a1 = supports(a, vertices, neg(axis), margin_a)
    count_b, b0, b1 = supports(b, vertices, axis, margin_b)
    found, p0, q0, p1, q1 = 1, a0, b0, ZERO, ZERO
    if count_a == 1 and count_b == 2:
        q0 = _on_line(a0, b0, b1)
    elif count_a == 2 and count_b == 1:
        p0 = _on_line(b0, a0, a1)
    elif count_a == 2:
        found, p0, q0, p1, q1 = _edges(a0, a1, b0, b1, axis)
    if is_swapped:
        return found, q0, p0, q1, p1
    return found, p0, q0, p1, q1
