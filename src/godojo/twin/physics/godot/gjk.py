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
def _det(a: Vector, b: Vector, c: Vector) -> Any:
    return (
        a[1] * b[2] * c[0]
        + a[2] * b[0] * c[1]
        - a[0] * b[2] * c[1]
        - a[1] * b[0] * c[2]
        + a[0] * b[1] * c[2]
        - a[2] * b[1] * c[0]
    )


@inline
def _is_same(a: Vector, b: Vector) -> bool:
    offset = sub(a, b)
    return bool(dot(offset, offset) < _SAME_SQUARED)


# The point of a segment, triangle or tetrahedron that is closest to the origin: its squared distance (-1: degenerate),
# the weights of the corners, and a bit for each corner that counts.


@inline
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
def _closest_3(a: Vector, b: Vector, c: Vector) -> tuple[Any, Vector, int]:
    ab, bc, ca = sub(a, b), sub(b, c), sub(c, a)
    n = cross(ab, bc)
    squared = dot(n, n)
    if not squared > F0:
        return -F1, (F0, F0, F0), 0
    least, weights, mask = -F1, (F0, F0, F0), 0
    if dot(a, cross(ab, n)) > F0:
        least, first, second, mask = _closest_2(a, b)
        weights = (first, second, F0)
    if dot(b, cross(bc, n)) > F0:
        distance, first, second, part = _closest_2(b, c)
        if least < F0 or distance < least:
            least, weights, mask = distance, (F0, first, second), part << 1
    if dot(c, cross(ca, n)) > F0:
        distance, first, second, part = _closest_2(c, a)
        if least < F0 or distance < least:
            least, weights, mask = distance, (second, F0, first), ((part & 1) << 2) | (part >> 1)
    if least < F0:
        p = mul(n, dot(a, n) / squared)
        length = np.float32(np.sqrt(squared))
        first = length32(cross(bc, sub(b, p))) / length
        second = length32(cross(ca, sub(c, p))) / length
        return dot(p, p), (first, second, F1 - (first + second)), 7
    return least, weights, mask


@inline
def _closest_4(a: Vector, b: Vector, c: Vector, d: Vector) -> tuple[Any, Any, int]:
    ad, bd, cd = sub(a, d), sub(b, d), sub(c, d)
    volume = _det(ad, bd, cd)
    is_turned = volume * dot(a, cross(sub(b, c), sub(a, b))) <= F0
    if not (is_turned and abs(volume) > F0):
        return -F1, (F0, F0, F0, F0), 0
    least, weights, mask = -F1, (F0, F0, F0, F0), 0
    if volume * dot(d, cross(ad, bd)) > F0:
        least, w, part = _closest_3(a, b, d)
        weights, mask = (w[0], w[1], F0, w[2]), (part & 3) | ((part & 4) << 1)
    if volume * dot(d, cross(bd, cd)) > F0:
        distance, w, part = _closest_3(b, c, d)
        if least < F0 or distance < least:
            least, weights, mask = distance, (F0, w[0], w[1], w[2]), part << 1
    if volume * dot(d, cross(cd, ad)) > F0:
        distance, w, part = _closest_3(c, a, d)
        if least < F0 or distance < least:
            least, weights = distance, (w[1], F0, w[0], w[2])
            mask = ((part & 1) << 2) | ((part & 2) >> 1) | ((part & 4) << 1)
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


@inline
def search(a: Solid, motion: Vector, b: Solid, vertices: np.ndarray) -> bool:
    """As `is_separated`, step by step."""
    guess = sub(b.origin, a.origin)
    start = neg(guess) if dot(guess, guess) > F0 else (F1, F0, F0)
    first = _difference(a, motion, b, vertices, start, length32(start))
    p, q, r, s = first, first, first, first  # the corners of a simplex, as many as `rank`
    rank = 1
    ray = first
    seen = (first, first, first, first)
    reached = F0
    for _ in range(_MOST_ROUNDS):
        length = length32(ray)
        if length < _TOUCHING_M:
            return False
        w = _difference(a, motion, b, vertices, neg(ray), length)
        if _is_same(w, seen[0]) or _is_same(w, seen[1]) or _is_same(w, seen[2]) or _is_same(w, seen[3]):
            return True
        seen = (w, seen[0], seen[1], seen[2])
        reached = max(dot(ray, w) / length, reached)
        if (length - reached) - _ACCURACY * length <= F0:
            return True
        if rank == 1:
            q = w
            squared, one, two, mask = _closest_2(p, q)
            weights = (one, two, F0, F0)
        elif rank == 2:
            r = w
            squared, three, mask = _closest_3(p, q, r)
            weights = (three[0], three[1], three[2], F0)
        else:
            s = w
            squared, weights, mask = _closest_4(p, q, r, s)
        if squared < F0:
            return True
        if mask == _ALL:
            return False
        ray = add(add(add(mul(p, weights[0]), mul(q, weights[1])), mul(r, weights[2])), mul(s, weights[3]))
        # Corners that do not count are left out.
        rank = (mask & 1) + ((mask >> 1) & 1) + ((mask >> 2) & 1) + (mask >> 3)
        if mask & 4 == 0:
            r = s
        if mask & 2 == 0:
            q, r = r, s
        if mask & 1 == 0:
            p, q, r = q, r, s
    return False
