"""Separating axes: for two shapes the axis along which they overlap least, among those that Godot tries.

Which axes it tries, and in which order, differs for every pair of shapes, and some are missing: with a margin, shapes
that are close to each other at edges can count as touching before they do. The twin tries the same.
"""

from typing import Any

import numpy as np

from godojo.twin.physics.godot.axis_test import (
    APART,
    NOTHING_YET,
    Best,
    Pair,
    depth_along,
    measure,
    test,
    test_facing,
    test_unit,
    toward,
)
from godojo.twin.physics.godot.features import edge_row, plane_row
from godojo.twin.physics.godot.solids import Solid, box_corner, column, corner, local, place, turn
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import BOX, CAPSULE, CONVEX, CYLINDER, SPHERE
from godojo.twin.physics.vectors import (
    EPSILON,
    F0,
    add,
    cross,
    dot,
    mul,
    neg,
    normalized32,
    read3,
    sub,
)

Vector = Any

_BACK_FACE = np.float64(-0.0002)
_ROUGHLY = np.float32(4.0)
_HALF = np.float32(0.5)
_ASIDE_M = np.float32(0.001)


@inline
def _twice(a: Vector, b: Vector) -> Vector:
    """The part of `a` across `b`, turned around."""
    return cross(cross(a, b), b)


@inline
def _box_point(box: Solid, number: int) -> Vector:
    """A corner of a box; Godot adds up its axes."""
    half = box.half
    point = box.origin
    for axis in range(3):
        length = half[axis] if (number >> (2 - axis)) & 1 else -half[axis]
        point = add(point, mul(column(box, axis), length))
    return point


@inline
def _nearest_corner(box: Solid, direction: Vector) -> Vector:
    return place(box, box_corner(box.half, direction))


@inline
def _across(axis: Vector, point: Vector) -> Vector:
    return sub(point, mul(axis, dot(axis, point)))


@inline
def _box_faces(pair: Pair, box: Solid, best: Best) -> Best:
    """All three are looked at before the first one is measured: mostly one is far better than the others."""
    x, y, z = depth_along(pair, column(box, 0)), depth_along(pair, column(box, 1)), depth_along(pair, column(box, 2))
    least = min(min(x, y), min(z, best.depth)) + _ROUGHLY * (pair.rounding[0] + pair.rounding[1] + pair.rounding[2])
    if not x > least:
        best = test(pair, best, column(box, 0))
    if not y > least:
        best = test(pair, best, column(box, 1))
    if not z > least:
        best = test(pair, best, column(box, 2))
    return best


@call
def _hull_faces(pair: Pair, hull: Solid, best: Best) -> Best:
    for index in range(hull.planes):
        normal = read3(pair.vertices[plane_row(hull, index)])
        best = test(pair, best, turn(hull, normal))
        if best.depth < F0:
            return best
    return best


@inline
def _edge(pair: Pair, hull: Solid, index: int) -> tuple[Vector, Vector]:
    """The ends of an edge of a hull, in its frame."""
    row = edge_row(hull, index)
    one, two = np.int64(pair.vertices[row, 0]), np.int64(pair.vertices[row, 1])
    return corner(hull, pair.vertices, one), corner(hull, pair.vertices, two)


@inline
def _box_box(pair: Pair, best: Best, with_margin: bool) -> Best:
    a, b = pair.a, pair.b
    best = _box_faces(pair, a, best)
    best = _box_faces(pair, b, best)
    if best.depth < F0:
        return best
    for i in range(3):
        for j in range(3):
            axis = cross(column(a, i), column(b, j))
            if dot(axis, axis) >= EPSILON:
                best = test(pair, best, axis)
    if with_margin and best.depth >= F0:
        between = sub(b.origin, a.origin)
        apart = sub(_nearest_corner(a, local(a, between)), _nearest_corner(b, local(b, neg(between))))
        best = test(pair, best, apart)
        for i in range(3):
            best = test(pair, best, _twice(apart, column(a, i)))
            best = test(pair, best, _twice(apart, column(b, i)))
    return best


@inline
def _is_on_face(pair: Pair, at: Vector, up: Vector, face: int) -> bool:
    """Whether a capsule stands upright on a face of a box so far from its edges that no other axis is as good.

    `at` and `up` are the capsule's place and axis in the box's frame. Along any axis that is not the face's own, the
    ball above the face is deeper by what the axis leans times the way to the nearest edge. The axes to come lean at
    least as much as the way from that edge to the far end of the capsule; those across the corners of the box, which
    Godot measures from the world's origin, lean completely, unless a corner is right above or below that.
    """
    half, center = pair.a.half, local(pair.a, pair.a.origin)
    one, two = (face + 1) % 3, (face + 2) % 3
    inset = min(half[one] - abs(at[one]), half[two] - abs(at[two]))
    gap = abs(at[face]) - pair.b.half[1] - half[face]
    far = gap + pair.b.half[1] + pair.b.half[1]
    room = _ROUGHLY * (pair.rounding[0] + pair.rounding[1] + pair.rounding[2])
    aside = max(abs(abs(center[one]) - half[one]), abs(abs(center[two]) - half[two]))
    is_upright = abs(up[one]) < EPSILON and abs(up[two]) < EPSILON
    is_inside = gap >= F0 and inset > F0 and inset * inset > room * (inset + far)
    return bool(is_upright and is_inside and aside > _ASIDE_M + _ROUGHLY * EPSILON * abs(center[face]))


@inline
def _box_capsule(pair: Pair, best: Best) -> Best:
    box, capsule = pair.a, pair.b
    best = _box_faces(pair, box, best)
    along = normalized32(column(capsule, 1))
    if best.depth < F0:
        return best
    at, up, chosen = local(box, pair.between), local(box, along), local(box, best.axis)
    for face in range(3):
        if abs(chosen[face]) > _HALF and _is_on_face(pair, at, up, face):
            return best
    for i in range(3):
        axis = cross(column(box, i), along)
        if dot(axis, axis) >= EPSILON:
            best = test(pair, best, axis)
    for number in range(8):
        best = test(pair, best, _across(along, _box_point(box, number)))
    if best.depth < F0:
        return best
    axis = mul(column(capsule, 1), capsule.half[1])
    for end in range(2):
        ball = add(capsule.origin, axis) if end == 0 else sub(capsule.origin, axis)
        inside = local(box, sub(ball, box.origin))
        point = normalized32(sub(ball, _nearest_corner(box, inside)))
        best = test_unit(pair, best, point)
        for j in range(3):
            best = test(pair, best, _twice(point, column(box, j)))
    return best


@inline
def _rim(start: Vector, end: Vector, cap: Vector, along: Vector) -> tuple[bool, Vector]:
    """The axis across an edge and the tangent of a cylinder's rim where the edge meets the plane of a cap."""
    way = normalized32(sub(end, start))
    upright = dot(way, along)
    if abs(upright) < EPSILON:
        return False, way
    share = dot(sub(cap, start), along)
    step = mul(way, share)
    meeting = add(start, (step[0] / upright, step[1] / upright, step[2] / upright))
    return True, cross(cross(sub(cap, meeting), along), way)


@call
def _box_cylinder(pair: Pair, best: Best) -> Best:
    box, cylinder = pair.a, pair.b
    best = _box_faces(pair, box, best)
    along = normalized32(column(cylinder, 1))
    best = test_unit(pair, best, along)
    if best.depth < F0:
        return best
    for i in range(3):
        axis = cross(column(box, i), along)
        if dot(axis, axis) >= EPSILON:
            best = test(pair, best, axis)
    for number in range(8):
        best = test(pair, best, _across(along, _box_point(box, number)))
    if best.depth < F0:
        return best
    cap = mul(along, cylinder.half[1])
    for end in range(2):
        at = add(cylinder.origin, cap) if end == 0 else sub(cylinder.origin, cap)
        for direction in range(3):
            bit = 1 << direction  # edges along z, y, x
            for number in range(8):
                if number & bit == 0:
                    start, stop = _box_point(box, number), _box_point(box, number | bit)
                    is_crossing, axis = _rim(start, stop, at, along)
                    if is_crossing:
                        best = test(pair, best, axis)
    return best


@call
def _box_hull(pair: Pair, best: Best, with_margin: bool) -> Best:
    box, hull = pair.a, pair.b
    best = _box_faces(pair, box, best)
    best = _hull_faces(pair, hull, best)
    for i in range(3):
        for index in range(hull.edges):
            if best.depth < F0:
                return best
            start, end = _edge(pair, hull, index)
            along = sub(turn(hull, start), turn(hull, end))
            best = test(pair, best, cross(column(box, i), along))
    if not with_margin or best.depth < F0:
        return best
    for index in range(hull.corners):
        point = place(hull, corner(hull, pair.vertices, index))
        apart = sub(_nearest_corner(box, local(box, sub(point, box.origin))), point)
        best = test(pair, best, apart)
        for i in range(3):
            best = test(pair, best, _twice(apart, column(box, i)))
    for number in range(8):
        point = _box_point(box, number)
        for index in range(hull.edges):
            start, end = _edge(pair, hull, index)
            p, q = place(hull, start), place(hull, end)
            best = test(pair, best, _twice(sub(point, q), sub(q, p)))
    return best


@call
def _sphere_hull(pair: Pair, best: Best) -> Best:
    center, hull = pair.a.origin, pair.b
    best = _hull_faces(pair, hull, best)
    if best.depth < F0:
        return best
    for index in range(hull.edges):
        start, end = _edge(pair, hull, index)
        p, q = place(hull, start), place(hull, end)
        along = sub(q, p)
        best = test(pair, best, cross(cross(along, sub(q, center)), along))
    for index in range(hull.corners):
        best = test(pair, best, sub(center, place(hull, corner(hull, pair.vertices, index))))
    return best


@call
def _capsule_hull(pair: Pair, best: Best) -> Best:
    capsule, hull = pair.a, pair.b
    best = _hull_faces(pair, hull, best)
    for index in range(hull.edges):
        if best.depth < F0:
            return best
        start, end = _edge(pair, hull, index)
        along = sub(turn(hull, start), turn(hull, end))
        best = test(pair, best, cross(along, column(capsule, 1)))
    axis = mul(column(capsule, 1), capsule.half[1])
    for end_number in range(2):
        ball = add(capsule.origin, axis) if end_number == 0 else sub(capsule.origin, axis)
        for index in range(hull.edges):
            if best.depth < F0:
                return best
            start, end = _edge(pair, hull, index)
            along = sub(turn(hull, start), turn(hull, end))
            best = test(pair, best, _twice(sub(ball, place(hull, start)), along))
    return best


@call
def _cylinder_cylinder(pair: Pair, best: Best) -> Best:
    a, b = pair.a, pair.b
    along_a, along_b = column(a, 1), column(b, 1)
    between = sub(b.origin, a.origin)
    best = test(pair, best, along_a)
    best = test(pair, best, along_b)
    best = test(pair, best, cross(cross(along_a, between), along_a))
    best = test(pair, best, cross(cross(along_b, between), along_b))
    axis = cross(along_a, along_b)
    if dot(axis, axis) >= EPSILON:
        # Godot searches for the deepest axis (EPA) here; where two sides meet, it is this one.
        best = test(pair, best, axis)
    return best


@call
def _cylinder_hull(pair: Pair, best: Best) -> Best:
    """Godot searches here for the deepest axis (EPA); these are the axes that the search can end with, but corners."""
    cylinder, hull = pair.a, pair.b
    best = _hull_faces(pair, hull, best)
    if best.depth < F0:
        return best
    along = normalized32(column(cylinder, 1))
    best = test_unit(pair, best, along)
    for index in range(hull.corners):
        point = sub(place(hull, corner(hull, pair.vertices, index)), cylinder.origin)
        best = test(pair, best, _across(along, point))
    cap = mul(along, cylinder.half[1])
    for index in range(hull.edges):
        start, end = _edge(pair, hull, index)
        p, q = place(hull, start), place(hull, end)
        axis = cross(sub(q, p), along)
        if dot(axis, axis) >= EPSILON:
            best = test(pair, best, axis)
        for number in range(2):
            at = add(cylinder.origin, cap) if number == 0 else sub(cylinder.origin, cap)
            is_crossing, axis = _rim(p, q, at, along)
            if is_crossing:
                best = test(pair, best, axis)
    return best


@inline
def _is_crossing(pair: Pair, i: int, j: int, e1: Vector, e2: Vector) -> bool:
    """Whether an edge of each hull makes a face of their difference."""
    a, b = pair.a, pair.b
    row_a, row_b = edge_row(a, i) + 1, edge_row(b, j) + 1
    u1 = normalized32(turn(a, read3(pair.vertices[plane_row(a, np.int64(pair.vertices[row_a, 0]))])))
    v1 = normalized32(turn(a, read3(pair.vertices[plane_row(a, np.int64(pair.vertices[row_a, 1]))])))
    u2 = neg(normalized32(turn(b, read3(pair.vertices[plane_row(b, np.int64(pair.vertices[row_b, 0]))]))))
    v2 = neg(normalized32(turn(b, read3(pair.vertices[plane_row(b, np.int64(pair.vertices[row_b, 1]))]))))
    cba, dba = dot(u2, neg(e1)), dot(v2, neg(e1))
    adc, bdc = dot(u1, neg(e2)), dot(v1, neg(e2))
    return bool(cba * dba < F0 and adc * bdc < F0 and cba * bdc > F0)


@call
def _hull_hull(pair: Pair, best: Best, with_margin: bool) -> Best:
    a, b = pair.a, pair.b
    best = _hull_faces(pair, a, best)
    best = _hull_faces(pair, b, best)
    if best.depth < F0:
        return best
    for i in range(a.edges):
        start, end = _edge(pair, a, i)
        e1 = sub(place(a, end), place(a, start))
        for j in range(b.edges):
            start, end = _edge(pair, b, j)
            e2 = sub(place(b, end), place(b, start))
            if _is_crossing(pair, i, j, e1, e2):
                best = test(pair, best, cross(e1, e2))
    if with_margin and best.depth >= F0:
        for i in range(a.corners):
            point = place(a, corner(a, pair.vertices, i))
            for j in range(b.corners):
                best = test(pair, best, sub(point, place(b, corner(b, pair.vertices, j))))
        best = _shell(pair, a, b, best)
        best = _shell(pair, b, a, best)
    return best


@call
def _shell(pair: Pair, edges: Solid, points: Solid, best: Best) -> Best:
    """Edges of one hull against corners of the other; Godot forgets the place of the edges here."""
    for i in range(edges.edges):
        start, end = _edge(pair, edges, i)
        e1, e2 = turn(edges, start), turn(edges, end)
        for j in range(points.corners):
            point = place(points, corner(points, pair.vertices, j))
            best = test(pair, best, _twice(sub(e1, point), sub(e2, e1)))
    return best


# A triangle of a mesh is always the second shape.


@call
def _sphere_triangle(pair: Pair, best: Best, v: Any, normal: Vector) -> Best:
    for i in range(3):
        n1 = toward(sub(v[i], pair.a.origin), normal)
        best = test(pair, best, n1)
        best = test_facing(pair, best, _twice(n1, sub(v[(i + 1) % 3], v[i])), normal)
    return best


@call
def _box_triangle(pair: Pair, best: Best, v: Any, normal: Vector, with_margin: bool) -> Best:
    box = pair.a
    for i in range(3):
        best = test_facing(pair, best, column(box, i), normal)
    for i in range(3):
        edge = sub(v[i], v[(i + 1) % 3])
        for j in range(3):
            best = test_facing(pair, best, cross(edge, column(box, j)), normal)
    if not with_margin or best.depth < F0:
        return best
    for i in range(3):
        apart = sub(_nearest_corner(box, local(box, sub(v[i], box.origin))), v[i])
        apart = toward(apart, normal)
        best = test(pair, best, apart)
        for j in range(3):
            best = test_facing(pair, best, _twice(apart, column(box, j)), normal)
    for number in range(8):
        point = _box_point(box, number)
        for i in range(3):
            p, q = v[i], v[(i + 1) % 3]
            best = test_facing(pair, best, _twice(sub(point, q), sub(q, p)), normal)
    return best


@call
def _capsule_triangle(pair: Pair, best: Best, v: Any, normal: Vector) -> Best:
    capsule = pair.a
    along = mul(column(capsule, 1), capsule.half[1])
    for i in range(3):
        edge = sub(v[i], v[(i + 1) % 3])
        best = test_facing(pair, best, cross(edge, along), normal)
        best = test_facing(pair, best, _twice(sub(capsule.origin, v[i]), along), normal)
        for end in range(2):
            ball = add(capsule.origin, along) if end == 0 else sub(capsule.origin, along)
            n1 = toward(sub(ball, v[i]), normal)
            best = test(pair, best, n1)
            best = test_facing(pair, best, _twice(n1, edge), normal)
    return best


@call
def _cylinder_triangle(pair: Pair, best: Best, v: Any, normal: Vector) -> Best:
    cylinder = pair.a
    along = toward(normalized32(column(cylinder, 1)), normal)
    best = test_unit(pair, best, along)
    for i in range(3):
        axis = cross(sub(v[i], v[(i + 1) % 3]), along)
        if dot(axis, axis) >= EPSILON:
            best = test_facing(pair, best, axis, normal)
    for i in range(3):
        best = test_facing(pair, best, _across(along, sub(v[i], cylinder.origin)), normal)
    cap = mul(along, cylinder.half[1])
    for end in range(2):
        at = add(cylinder.origin, cap) if end == 0 else sub(cylinder.origin, cap)
        for i in range(3):
            is_crossing, axis = _rim(v[i], v[(i + 1) % 3], at, along)
            if is_crossing:
                best = test_facing(pair, best, axis, normal)
    return best


@call
def _hull_triangle(pair: Pair, best: Best, v: Any, normal: Vector, with_margin: bool) -> Best:
    hull = pair.a
    for index in range(hull.planes):
        axis = turn(hull, read3(pair.vertices[plane_row(hull, index)]))
        best = test_facing(pair, best, axis, normal)
    for index in range(hull.edges):
        start, end = _edge(pair, hull, index)
        e1 = sub(place(hull, start), place(hull, end))
        for i in range(3):
            best = test_facing(pair, best, cross(e1, sub(v[i], v[(i + 1) % 3])), normal)
    if not with_margin or best.depth < F0:
        return best
    for index in range(hull.corners):
        point = place(hull, corner(hull, pair.vertices, index))
        for i in range(3):
            best = test_facing(pair, best, sub(point, v[i]), normal)
    for index in range(hull.edges):
        start, end = _edge(pair, hull, index)
        e1, e2 = turn(hull, start), turn(hull, end)
        for i in range(3):
            best = test_facing(pair, best, _twice(sub(e1, v[i]), sub(e2, e1)), normal)
    for i in range(3):
        n = sub(v[(i + 1) % 3], v[i])
        for index in range(hull.corners):
            point = place(hull, corner(hull, pair.vertices, index))
            best = test_facing(pair, best, _twice(sub(v[i], point), n), normal)
    return best


@call
def triangle_axis(pair: Pair, with_margin: bool) -> Best:
    """The best axis of a shape and a triangle; apart where it is touched from behind."""
    p, q, r = (
        place(pair.b, corner(pair.b, pair.vertices, 0)),
        place(pair.b, corner(pair.b, pair.vertices, 1)),
        place(pair.b, corner(pair.b, pair.vertices, 2)),
    )
    v = (p, q, r)
    normal = normalized32(cross(sub(p, r), sub(p, q)))
    best = measure(pair, Best(NOTHING_YET, (F0, F0, F0)), normal)
    if best.depth < F0:
        return best
    if pair.a.kind == SPHERE:
        best = _sphere_triangle(pair, best, v, normal)
    elif pair.a.kind == BOX:
        best = _box_triangle(pair, best, v, normal, with_margin)
    elif pair.a.kind == CAPSULE:
        best = _capsule_triangle(pair, best, v, normal)
    elif pair.a.kind == CYLINDER:
        best = _cylinder_triangle(pair, best, v, normal)
    else:
        best = _hull_triangle(pair, best, v, normal, with_margin)
    if best.depth >= F0 and dot(best.axis, normal) < _BACK_FACE:
        return Best(APART, normal)
    return best


@inline
def best_axis(pair: Pair, with_margin: bool) -> Best:
    """The axis along which two convex shapes overlap least, pointing from the second to the first."""
    best = Best(NOTHING_YET, (F0, F0, F0))
    a, b = pair.a.kind, pair.b.kind
    if a == BOX:
        if b == BOX:
            return _box_box(pair, best, with_margin)
        if b == CAPSULE:
            return _box_capsule(pair, best)
        if b == CYLINDER:
            return _box_cylinder(pair, best)
        return _box_hull(pair, best, with_margin)
    if a == SPHERE:
        return _sphere_hull(pair, best)
    if a == CAPSULE:
        return _capsule_hull(pair, best)
    if a == CONVEX:
        return _hull_hull(pair, best, with_margin)
    return _cylinder_cylinder(pair, best) if b == CYLINDER else _cylinder_hull(pair, best)
