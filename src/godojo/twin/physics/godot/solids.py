"""A shape in the world, and its farthest points and extents along a direction."""

from typing import Any, NamedTuple

import numpy as np

from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import BOX, CAPSULE, CYLINDER, SPHERE
from godojo.twin.physics.vectors import EPSILON, F0, F1, add, dot, length32, mul, neg, normalized32, read3, sub

Vector = Any
"""Three 32-bit floats."""

HALF = np.float32(0.5)


class Solid(NamedTuple):
    """A convex shape, or one triangle of a mesh: kind, basis by rows, origin, sizes, and its rows of vertices."""

    kind: Any
    r0: Vector
    r1: Vector
    r2: Vector
    origin: Vector
    half: Vector  # as in SHAPE
    first: Any
    corners: Any
    planes: Any
    edges: Any


@inline
def solid_of(shape: Any, transform: Any, origin: Any) -> Solid:
    """A shape of a body with the basis of `transform`, at `origin`."""
    s = shape.transform
    b0, b1, b2 = read3(transform), read3(transform[3:]), read3(transform[6:])
    at = read3(s[9:])
    c0, c1, c2 = (s[0], s[3], s[6]), (s[1], s[4], s[7]), (s[2], s[5], s[8])
    return Solid(
        np.int64(shape.kind),
        (dot(c0, b0), dot(c1, b0), dot(c2, b0)),
        (dot(c0, b1), dot(c1, b1), dot(c2, b1)),
        (dot(c0, b2), dot(c1, b2), dot(c2, b2)),
        (dot(b0, at) + origin[0], dot(b1, at) + origin[1], dot(b2, at) + origin[2]),
        read3(shape.half),
        np.int64(shape.first_vertex),
        np.int64(shape.vertex_count),
        np.int64(shape.plane_count),
        np.int64(shape.edge_count),
    )


@inline
def moved_to(solid: Solid, origin: Vector) -> Solid:
    return Solid(
        solid.kind,
        solid.r0,
        solid.r1,
        solid.r2,
        origin,
        solid.half,
        solid.first,
        solid.corners,
        solid.planes,
        solid.edges,
    )


@inline
def triangle_of(mesh: Solid, index: int) -> Solid:
    """The triangle of a mesh whose first corner is at a row of the vertices."""
    return Solid(
        mesh.kind,
        mesh.r0,
        mesh.r1,
        mesh.r2,
        mesh.origin,
        mesh.half,
        np.int64(index),
        np.int64(3),
        mesh.planes,
        mesh.edges,
    )


@inline
def turn(solid: Solid, v: Vector) -> Vector:
    """A direction of the shape's frame in the world: `basis.xform`."""
    return (dot(solid.r0, v), dot(solid.r1, v), dot(solid.r2, v))


@inline
def place(solid: Solid, v: Vector) -> Vector:
    """A point of the shape's frame in the world: `transform.xform`."""
    return (
        dot(solid.r0, v) + solid.origin[0],
        dot(solid.r1, v) + solid.origin[1],
        dot(solid.r2, v) + solid.origin[2],
    )


@inline
def local(solid: Solid, v: Vector) -> Vector:
    """A direction of the world in the shape's frame: `basis.xform_inv`."""
    return (
        solid.r0[0] * v[0] + solid.r1[0] * v[1] + solid.r2[0] * v[2],
        solid.r0[1] * v[0] + solid.r1[1] * v[1] + solid.r2[1] * v[2],
        solid.r0[2] * v[0] + solid.r1[2] * v[1] + solid.r2[2] * v[2],
    )


@inline
def column(solid: Solid, axis: int) -> Vector:
    return (solid.r0[axis], solid.r1[axis], solid.r2[axis])


@inline
def corner(solid: Solid, vertices: np.ndarray, index: Any) -> Vector:
    """A corner of a hull or triangle, in the shape's frame."""
    return read3(vertices[solid.first + index])


@inline
def _inverse(solid: Solid) -> tuple[Vector, Vector, Vector]:
    """The rows of `basis.inverse()`, which is general: it rounds otherwise than `local`."""
    a, b, c = solid.r0, solid.r1, solid.r2
    co0 = b[1] * c[2] - b[2] * c[1]
    co1 = b[2] * c[0] - b[0] * c[2]
    co2 = b[0] * c[1] - b[1] * c[0]
    s = F1 / (a[0] * co0 + a[1] * co1 + a[2] * co2)
    return (
        (co0 * s, (a[2] * c[1] - a[1] * c[2]) * s, (a[1] * b[2] - a[2] * b[1]) * s),
        (co1 * s, (a[0] * c[2] - a[2] * c[0]) * s, (a[2] * b[0] - a[0] * b[2]) * s),
        (co2 * s, (a[1] * c[0] - a[0] * c[1]) * s, (a[0] * b[1] - a[1] * b[0]) * s),
    )


@call
def turn_back(solid: Solid, v: Vector) -> Vector:
    """`basis.inverse().xform`."""
    x, y, z = _inverse(solid)
    return (dot(x, v), dot(y, v), dot(z, v))


@call
def place_back(solid: Solid, v: Vector) -> Vector:
    """`transform.affine_inverse().xform`."""
    x, y, z = _inverse(solid)
    back = neg(solid.origin)
    return (dot(x, v) + dot(x, back), dot(y, v) + dot(y, back), dot(z, v) + dot(z, back))


@inline
def radius_of(solid: Solid) -> Any:
    """Of a sphere or a capsule; Godot takes the scale from the first row of its basis."""
    return solid.half[0] * length32(solid.r0)


@inline
def box_corner(half: Vector, n: Vector) -> Vector:
    return (
        -half[0] if n[0] < F0 else half[0],
        -half[1] if n[1] < F0 else half[1],
        -half[2] if n[2] < F0 else half[2],
    )


@call
def farthest_corner(solid: Solid, vertices: np.ndarray, n: Vector) -> int:
    """Which corner of a hull or triangle is farthest in a direction."""
    best, most = 0, F0
    for index in range(solid.corners):
        value = dot(n, corner(solid, vertices, index))
        if index == 0 or value > most:
            best, most = index, value
    return best


@call
def support(solid: Solid, vertices: np.ndarray, n: Vector) -> Vector:
    """The point that is farthest in a direction of length 1, both in the shape's frame."""
    half = solid.half
    if solid.kind == BOX:
        return box_corner(half, n)
    if solid.kind == SPHERE:
        return mul(n, half[0])
    if solid.kind == CAPSULE:
        p = mul(n, half[0])
        return (p[0], p[1] + (half[1] if p[1] > F0 else -half[1]), p[2])
    if solid.kind == CYLINDER:
        y = half[1] if n[1] > F0 else -half[1]
        s = np.float32(np.sqrt(n[0] * n[0] + n[2] * n[2]))
        if abs(s) < EPSILON:
            return (half[0], y, F0)
        d = half[0] / s
        return (n[0] * d, y, n[2] * d)
    return corner(solid, vertices, farthest_corner(solid, vertices, n))


@call
def extent(solid: Solid, vertices: np.ndarray, n: Vector) -> tuple[Any, Any]:
    """The least and the greatest value of the shape along a direction of length 1 in the world."""
    half = solid.half
    if solid.kind == CAPSULE:
        p = mul(normalized32(local(solid, n)), half[0])
        p = (p[0], p[1] + (half[1] if p[1] > F0 else -half[1]), p[2])
        return dot(n, place(solid, neg(p))), dot(n, place(solid, p))
    if solid.kind == BOX or solid.kind == SPHERE or solid.kind == CYLINDER:
        middle = dot(n, solid.origin)
        inner = local(solid, n)
        if solid.kind == BOX:
            length = abs(inner[0]) * half[0] + abs(inner[1]) * half[1] + abs(inner[2]) * half[2]
        elif solid.kind == SPHERE:
            length = half[0] * length32(inner)
        else:
            along = dot(normalized32(column(solid, 1)), n)
            scale = length32(inner)
            length = half[1] * scale
            if abs(along) <= F1:
                across = np.sqrt(1.0 - np.float64(along * along))
                length = np.float32(np.float64(abs(along * length)) + np.float64(half[0] * scale) * across)
        return middle - length, middle + length
    low, high = F0, F0
    for index in range(solid.corners):
        value = dot(n, place(solid, corner(solid, vertices, index)))
        low = value if index == 0 or value < low else low
        high = value if index == 0 or value > high else high
    return low, high


@call
def closest_on_segment(p: Vector, a: Vector, b: Vector) -> Vector:
    along = sub(b, a)
    squared = dot(along, along)
    if squared < np.float32(1e-20):
        return a
    share = dot(along, sub(p, a)) / squared
    if share <= F0:
        return a
    if share >= F1:
        return b
    return add(a, mul(along, share))


@inline
def closest_on_line(p: Vector, a: Vector, b: Vector) -> Vector:
    along = sub(b, a)
    squared = dot(along, along)
    if squared < np.float32(1e-20):
        return a
    return add(a, mul(along, dot(along, sub(p, a)) / squared))


@inline
def _clamped(over: Any, under: Any) -> Any:
    """`over / under`, from 0 to 1."""
    if over <= F0:
        return F0
    if over >= under:
        return F1
    return over / under


@call
def closest_of_segments(p0: Vector, p1: Vector, q0: Vector, q1: Vector) -> tuple[Vector, Vector]:
    """The closest points of two segments (Eberly's distance of segments)."""
    p, q, r = sub(p1, p0), sub(q1, q0), sub(p0, q0)
    a, b, c, d, e = dot(p, p), dot(p, q), dot(q, q), dot(p, r), dot(q, r)
    det = a * c - b * b
    s, t = F0, F0
    if det > EPSILON:
        over = b * e - c * d
        if b * e <= c * d:
            if e <= F0:
                s = _clamped(-d, a)
            elif e < c:
                t = e / c
            else:
                s, t = _clamped(b - d, a), F1
        elif over >= det:
            if b + e <= F0:
                s = _clamped(-d, a)
            elif b + e < c:
                s, t = F1, (b + e) / c
            else:
                s, t = _clamped(b - d, a), F1
        elif a * e <= b * d:
            s = _clamped(-d, a)
        elif a * e - b * d >= det:
            s, t = _clamped(b - d, a), F1
        else:
            s, t = over / det, (a * e - b * d) / det
    elif e <= F0:
        s = _clamped(-d, a)
    elif e >= c:
        s, t = _clamped(b - d, a), F1
    else:
        t = e / c
    return add(mul(p0, F1 - s), mul(p1, s)), add(mul(q0, F1 - t), mul(q1, t))
