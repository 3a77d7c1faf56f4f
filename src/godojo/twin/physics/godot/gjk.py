"""Whether two shapes are apart, by the search for the point of their difference that is closest to the origin (GJK).

Godot's search stops as soon as it finds a point within 1 cm of one that it has seen, and takes the shapes for separated
then. So it has to be followed step by step: a better search would give other answers.
"""

from typing import Any

import numpy as np

from godojo.twin.physics.godot.axis_test import room_along, rounding_of, span
from godojo.twin.physics.godot.solids import Solid, box_corner, column, local, place, support
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import BOX
from godojo.twin.physics.vectors import F0, F1, add, cross, dot, length32, mul, neg, normalized32, sub

Vector = Any

_MOST_ROUNDS = 128
_ACCURACY = np.float32(0.0001)
_TOUCHING_M = np.float32(0.0001)
_SAME_SQUARED = np.float32(0.0001)
_ALL = 15
_CLEAR_M = np.float32(0.0002)


@inline
def _difference(a: Solid, motion: Vector, b: Solid, vertices: np.ndarray, direction: Vector, length: Any) -> Vector:
    """The farthest point of `a`, swept along `motion` (in its frame), minus `b`, in a direction of this length."""
    d = (direction[0] / length, direction[1] / length, direction[2] / length)
    n = normalized32(local(a, d))
    point = support(a, vertices, n)
    if dot(n, motion) > F0:
        point = add(point, motion)
    back = local(b, neg(d))
    # The corner of a box is a matter of signs.
    other = box_corner(b.half, back) if b.kind == BOX else support(b, vertices, normalized32(back))
    return sub(place(a, point), place(b, other))


@inline
def _put(values: Any, index: Any, value: Any) -> Any:
    """Four values with one replaced."""
    return (
        value if index == 0 else values[0],
        value if index == 1 else values[1],
        value if index == 2 else values[2],
        value if index == 3 else values[3],
    )


@inline
def _det(a: Vector, b: Vector, c: Vector) -> Any:
    return (
        a[1] * b[2] * c[0]
        + a[2] * b[0] * c[1]
        - a[0] * b[2] * c[1]
        - a[1] * b[0] * c[2]
        + a[0] * b[1] * c[2]
        - a[2] * b[1] * c[0]
    )


# The point of a segment, triangle or tetrahedron that is closest to the origin: its squared distance (-1: degenerate),
# the weights of the corners, and a bit for each corner that counts.


@call
def _closest_2(a: Vector, b: Vector) -> tuple[Any, Any, Any, int]:
    d = sub(b, a)
    squared = dot(d, d)
    if squared > F0:
        t = -dot(a, d) / squared
        if t >= F1:
            return dot(b, b), F0, F1, 2
        if t <= F0:
            return dot(a, a), F1, F0, 1
        p = add(a, mul(d, t))
        return dot(p, p), F1 - t, t, 3
    return -F1, F0, F0, 0


@call
def _closest_3(a: Vector, b: Vector, c: Vector) -> tuple[Any, Any, int]:
    corners = (a, b, c)
    sides = (sub(a, b), sub(b, c), sub(c, a))
    n = cross(sides[0], sides[1])
    squared = dot(n, n)
    weights, mask = (F0, F0, F0, F0), 0
    if not squared > F0:
        return -F1, weights, mask
    least = -F1
    for i in range(3):
        if dot(corners[i], cross(sides[i], n)) > F0:
            j = (i + 1) % 3
            distance, first, second, part = _closest_2(corners[i], corners[j])
            if least < F0 or distance < least:
                least = distance
                mask = (1 << i if part & 1 else 0) + (1 << j if part & 2 else 0)
                weights = _put(_put(_put(weights, i, first), j, second), (j + 1) % 3, F0)
    if least < F0:
        p = mul(n, dot(a, n) / squared)
        least = dot(p, p)
        length = np.float32(np.sqrt(squared))
        first = length32(cross(sides[1], sub(b, p))) / length
        second = length32(cross(sides[2], sub(c, p))) / length
        weights, mask = (first, second, F1 - (first + second), F0), 7
    return least, weights, mask


@call
def _closest_4(a: Vector, b: Vector, c: Vector, d: Vector) -> tuple[Any, Any, int]:
    corners = (a, b, c)
    sides = (sub(a, d), sub(b, d), sub(c, d))
    volume = _det(sides[0], sides[1], sides[2])
    weights, mask = (F0, F0, F0, F0), 0
    is_turned = volume * dot(a, cross(sub(b, c), sub(a, b))) <= F0
    if not (is_turned and abs(volume) > F0):
        return -F1, weights, mask
    least = -F1
    for i in range(3):
        j = (i + 1) % 3
        if volume * dot(d, cross(sides[i], sides[j])) > F0:
            distance, found, part = _closest_3(corners[i], corners[j], d)
            if least < F0 or distance < least:
                least = distance
                mask = (1 << i if part & 1 else 0) + (1 << j if part & 2 else 0) + (8 if part & 4 else 0)
                weights = _put(_put(weights, i, found[0]), j, found[1])
                weights = _put(_put(weights, (j + 1) % 3, F0), 3, found[2])
    if least < F0:
        first, second, third = _det(c, b, d) / volume, _det(a, c, d) / volume, _det(b, a, d) / volume
        return F0, (first, second, third, F1 - (first + second + third)), _ALL
    return least, weights, mask


@inline
def _gap(a: Solid, motion: Vector, b: Solid, vertices: np.ndarray, between: Vector, v: Vector) -> Any:
    """About how far the shapes are apart along `v` of any length, times that length."""
    low_a, high_a = span(a, vertices, v)
    low_b, high_b = span(b, vertices, v)
    swept, shift = dot(local(a, v), motion), dot(between, v)
    return max((low_b + shift) - (high_a + max(swept, F0)), (low_a + min(swept, F0)) - (high_b + shift))


@inline
def _is_clear(a: Solid, motion: Vector, b: Solid, vertices: np.ndarray) -> bool:
    """Whether the shapes are so far apart along a likely axis that no search takes them for touching."""
    between = sub(b.origin, a.origin)
    rounding = add(rounding_of(a), rounding_of(b))
    if a.kind != BOX and b.kind != BOX:
        apart = _CLEAR_M * length32(between) + room_along(between, rounding)
        return bool(_gap(a, motion, b, vertices, between, between) > apart)
    box = b if b.kind == BOX else a
    for axis in range(3):
        v = column(box, axis)
        apart = _CLEAR_M * length32(v) + room_along(v, rounding)
        if _gap(a, motion, b, vertices, between, v) > apart:
            return True
    return False


@call
def is_separated(a: Solid, motion: Vector, b: Solid, vertices: np.ndarray) -> bool:
    """Whether Godot's distance of two shapes is above zero; `a` is swept along `motion`, which is in its own frame."""
    return _is_clear(a, motion, b, vertices) or search(a, motion, b, vertices)


@call
def search(a: Solid, motion: Vector, b: Solid, vertices: np.ndarray) -> bool:
    """As `is_separated`, step by step."""
    guess = sub(b.origin, a.origin)
    start = neg(guess) if dot(guess, guess) > F0 else (F1, F0, F0)
    first = _difference(a, motion, b, vertices, start, length32(start))
    simplex = (first, first, first, first)
    rank = 1
    ray = first
    seen = (first, first, first, first)
    last = 0
    reached = F0
    for _ in range(_MOST_ROUNDS):
        length = length32(ray)
        if length < _TOUCHING_M:
            return False
        w = _difference(a, motion, b, vertices, neg(ray), length)
        for index in range(4):
            offset = sub(w, seen[index])
            if dot(offset, offset) < _SAME_SQUARED:
                return True
        last = (last + 1) & 3
        seen = _put(seen, last, w)
        reached = max(dot(ray, w) / length, reached)
        if (length - reached) - _ACCURACY * length <= F0:
            return True
        simplex = _put(simplex, rank, w)
        rank += 1
        if rank == 2:
            squared, one, two, mask = _closest_2(simplex[0], simplex[1])
            weights = (one, two, F0, F0)
        elif rank == 3:
            squared, weights, mask = _closest_3(simplex[0], simplex[1], simplex[2])
        else:
            squared, weights, mask = _closest_4(simplex[0], simplex[1], simplex[2], simplex[3])
        if squared < F0:
            return True
        kept = simplex
        count = 0
        ray = (F0, F0, F0)
        for index in range(rank):
            if mask & (1 << index):
                kept = _put(kept, count, simplex[index])
                count += 1
                ray = add(ray, mul(simplex[index], weights[index]))
        simplex, rank = kept, count
        if mask == _ALL:
            return False
    return False
