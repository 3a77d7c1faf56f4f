"""Shapes where they are: how far they reach along an axis, their corners and normals, what supports a contact."""

from typing import Any

import numpy as np

from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.vectors import F0
from godojo.twin.physics_2d.space import CAPSULE, CIRCLE, CONVEX, RECTANGLE, SEGMENT
from godojo.twin.physics_2d.vectors import (
    ZERO,
    add,
    affine_inverse,
    basis_xform_inv,
    dot,
    length,
    mul,
    neg,
    normalized,
    origin,
    orthogonal,
    read2,
    read6,
    sub,
    times,
    xform,
)

FLAT = 0.99998
"""An edge supports a contact if its normal and the contact's have at least this cosine."""
_HALF = np.float32(0.5)


@inline
def solid_of(shape: Any, transform: Any) -> Any:
    """A shape on a body with this transform: kind, global transform, size, normal, first vertex, number of vertices."""
    return (
        shape.kind,
        times(transform, read6(shape.transform)),
        read2(shape.extent),
        read2(shape.normal),
        shape.first_vertex,
        shape.vertex_count,
    )


@inline
def vertex(solid: Any, vertices: Any, index: int) -> Any:
    row = vertices[solid[4] + index]
    return (row[0], row[1])


@call
def project(solid: Any, vertices: Any, axis: Any) -> Any:
    """The lowest and the highest place of a shape along an axis."""
    kind, t, size = solid[0], solid[1], solid[2]
    if kind == CIRCLE:
        middle = dot(axis, origin(t))
        reach = size[0] * length(basis_xform_inv(t, axis))
        return middle - reach, middle + reach
    if kind == CAPSULE:
        n = mul(normalized(basis_xform_inv(t, axis)), size[0])
        half = size[1] * _HALF - size[0]
        n = (n[0], n[1] + half if n[1] > F0 else n[1] - half)
        high, low = dot(axis, xform(t, n)), dot(axis, xform(t, neg(n)))
        return (low, high) if low <= high else (high, low)
    if kind == RECTANGLE:
        low, high = np.float32(1e20), np.float32(-1e20)
        for corner in range(4):
            x = size[0] if corner & 1 else -size[0]
            y = size[1] if corner & 2 else -size[1]
            place = dot(axis, xform(t, (x, y)))
            low, high = min(low, place), max(high, place)
        return low, high
    if kind in (SEGMENT, CONVEX):
        low = dot(axis, xform(t, vertex(solid, vertices, 0)))
        high = low
        for index in range(1, solid[5]):
            place = dot(axis, xform(t, vertex(solid, vertices, index)))
            low, high = min(low, place), max(high, place)
        return low, high
    return np.float32(-1e15), np.float32(1e15)


@inline
def normal_count(solid: Any) -> int:
    kind = solid[0]
    if kind == RECTANGLE:
        return 2
    if kind == CONVEX:
        return int(solid[5])
    return 0 if kind == CIRCLE else 1


@call
def normal_at(solid: Any, vertices: Any, index: int) -> Any:
    """A normal of the shape's faces, where it is."""
    kind, t = solid[0], solid[1]
    if kind in (RECTANGLE, CAPSULE):
        return normalized((t[0], t[1])) if index == 0 else normalized((t[2], t[3]))
    after = index + 1 if index + 1 < solid[5] else 0
    start, end = xform(t, vertex(solid, vertices, index)), xform(t, vertex(solid, vertices, after))
    return orthogonal(normalized(sub(end, start)))


@inline
def point_count(solid: Any) -> int:
    """Corners and centres that may be nearest to another shape; of a rectangle only one is."""
    kind = solid[0]
    if kind == CAPSULE:
        return 2
    return 1 if kind in (CIRCLE, RECTANGLE) else int(solid[5])


@inline
def point_at(solid: Any, vertices: Any, index: int) -> Any:
    kind, t = solid[0], solid[1]
    if kind == CIRCLE:
        return origin(t)
    if kind == CAPSULE:
        half = solid[2][1] * _HALF - solid[2][0]
        return add(origin(t), mul((t[2], t[3]), half if index == 0 else -half))
    return xform(t, vertex(solid, vertices, index))


@inline
def corner_towards(solid: Any, point: Any) -> Any:
    """The corner of a rectangle in the quadrant of a point."""
    local = xform(affine_inverse(solid[1]), point)
    size = solid[2]
    return xform(solid[1], (-size[0] if local[0] < F0 else size[0], -size[1] if local[1] < F0 else size[1]))


@call
def local_supports(solid: Any, vertices: Any, n: Any) -> Any:
    """How many points support a contact in a direction, and the two, all in the shape's own frame."""
    kind, size = solid[0], solid[2]
    if kind == CIRCLE:
        return 1, mul(n, size[0]), ZERO
    if kind == RECTANGLE:
        if abs(n[0]) > FLAT:
            x = size[0] if n[0] > F0 else -size[0]
            return 2, (x, size[1]), (x, -size[1])
        if abs(n[1]) > FLAT:
            y = size[1] if n[1] > F0 else -size[1]
            return 2, (size[0], y), (-size[0], y)
        return 1, (-size[0] if n[0] < F0 else size[0], -size[1] if n[1] < F0 else size[1]), ZERO
    if kind == CAPSULE:
        half = size[1] * _HALF - size[0]
        if half > F0 and abs(n[0]) > FLAT:
            x = size[0] if n[0] > F0 else -size[0]
            return 2, (x, half), (x, -half)
        y = n[1] * size[0]
        return 1, (n[0] * size[0], y + half if y > F0 else y - half), ZERO
    if kind == SEGMENT:
        start, end = vertex(solid, vertices, 0), vertex(solid, vertices, 1)
        if abs(dot(n, solid[3])) > FLAT:
            return 2, start, end
        return 1, (end if dot(n, sub(end, start)) > F0 else start), ZERO
    best, found = np.float32(-1e10), ZERO
    for index in range(solid[5]):
        here = vertex(solid, vertices, index)
        after = vertex(solid, vertices, index + 1 if index + 1 < solid[5] else 0)
        place = dot(n, here)
        if place > best:
            best, found = place, here
        if dot(normalized(orthogonal(sub(after, here))), n) > FLAT:
            return 2, here, after
    return 1, found, ZERO


@inline
def supports(solid: Any, vertices: Any, axis: Any, margin: np.float32) -> Any:
    """The same in the world, moved outwards by a margin."""
    count, one, two = local_supports(solid, vertices, normalized(basis_xform_inv(solid[1], axis)))
    one, two = xform(solid[1], one), xform(solid[1], two)
    if margin != F0:
        one, two = add(one, mul(axis, margin)), add(two, mul(axis, margin))
    return count, one, two
