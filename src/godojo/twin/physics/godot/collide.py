"""Whether two shapes overlap, with a margin around the first, and their contacts."""

from typing import Any

import numpy as np

from godojo.twin.physics.godot.axes import best_axis, triangle_axis
from godojo.twin.physics.godot.axis_test import Pair, pair_of
from godojo.twin.physics.godot.contacts import FEATURE_A, FEATURE_B, contacts_of, emit
from godojo.twin.physics.godot.features import write_feature
from godojo.twin.physics.godot.solids import (
    Solid,
    closest_of_segments,
    closest_on_segment,
    column,
    corner,
    extent,
    local,
    place,
    place_back,
    radius_of,
    solid_of,
    triangle_of,
)
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import BOX, CAPSULE, CYLINDER, MESH, SPHERE, Space
from godojo.twin.physics.vectors import EPSILON, F0, F1, add, dot, length32, mul, neg, normalized32, read3, sub

Vector = Any


@inline
def _rank(kind: Any) -> Any:
    """Godot's order of shapes: sphere, box, capsule, cylinder, hull."""
    return 3 - kind if CAPSULE <= kind <= BOX else kind


@call
def _balls(
    room: Any, a: Vector, radius_a: Any, b: Vector, radius_b: Any, swap: bool, wants: bool, count: int
) -> tuple[bool, int]:
    """Two balls, whose radii have the margins in them."""
    between = sub(a, b)
    distance = length32(between)
    overlap = radius_a + radius_b - distance
    if overlap < F0:
        return False, count
    if not wants:
        return True, count
    if distance < EPSILON:
        between = (F0, F1, F0)
    else:
        between = (between[0] / distance, between[1] / distance, between[2] / distance)
    if radius_a < radius_b:
        point_a = sub(a, mul(between, radius_a))
        point_b = add(point_a, mul(between, overlap))
    else:
        point_b = add(b, mul(between, radius_b))
        point_a = sub(point_b, mul(between, overlap))
    return True, emit(room, count, point_a, point_b, between, swap)


@call
def _ball_solid(
    room: Any,
    center: Vector,
    radius: Any,
    solid: Solid,
    margin_a: Any,
    margin_b: Any,
    swap: bool,
    wants: bool,
    count: int,
) -> tuple[bool, int]:
    """A ball and a box or a cylinder."""
    at = place_back(solid, center)
    half = solid.half
    if solid.kind == BOX:
        nearest = (
            min(max(at[0], -half[0]), half[0]),
            min(max(at[1], -half[1]), half[1]),
            min(max(at[2], -half[2]), half[2]),
        )
    else:
        x, z = at[0], at[2]
        r = np.float32(np.sqrt(x * x + z * z))
        if r > half[0]:
            scale = half[0] / r
            x, z = x * scale, z * scale
        nearest = (x, min(max(at[1], -half[1]), half[1]), z)
    point = place(solid, nearest)
    delta = sub(point, center)
    length = length32(delta)
    if length > radius + margin_a + margin_b:
        return False, count
    if not wants:
        return True, count
    if length == F0:
        axis = normalized32(sub(solid.origin, point))
    else:
        axis = (delta[0] / length, delta[1] / length, delta[2] / length)
    point_a = add(center, mul(axis, radius + margin_a))
    return True, emit(room, count, point_a, sub(point, mul(axis, margin_b)), axis, swap)


@inline
def _segment(capsule: Solid) -> tuple[Vector, Vector]:
    """The ends of the axis of a capsule or a cylinder."""
    axis = mul(column(capsule, 1), capsule.half[1])
    return add(capsule.origin, axis), sub(capsule.origin, axis)


@call
def _overlap(room: Any, pair: Pair, swap: bool, wants: bool, count: int) -> tuple[bool, int]:
    """By separating axes, for two convex shapes or a shape and a triangle."""
    with_margin = bool(pair.margin_a != F0 or pair.margin_b != F0)
    best = triangle_axis(pair, with_margin) if pair.b.kind == MESH else best_axis(pair, with_margin)
    if best.depth < F0:
        return False, count
    if not wants:
        return True, count
    axis = best.axis
    back = neg(axis)
    a, b = pair.a, pair.b
    count_a, kind_a = write_feature(
        a, pair.vertices, normalized32(local(a, back)), mul(back, pair.margin_a), room, FEATURE_A
    )
    count_b, kind_b = write_feature(
        b, pair.vertices, normalized32(local(b, axis)), mul(axis, pair.margin_b), room, FEATURE_B
    )
    return True, contacts_of(room, count_a, kind_a, count_b, kind_b, axis, swap, count)


@call
def collide_convex(space: Space, mine: Solid, other: Solid, margin: Any, wants: bool, count: int) -> tuple[bool, int]:
    """Whether two convex shapes overlap; their contacts are added to those in `space.scratch` if `wants`."""
    room = space.scratch
    swap = bool(_rank(mine.kind) > _rank(other.kind))
    a, b = (other, mine) if swap else (mine, other)
    margin_a, margin_b = (F0, margin) if swap else (margin, F0)
    if a.kind == SPHERE:
        radius = radius_of(a)
        if b.kind == SPHERE:
            return _balls(room, a.origin, radius + margin_a, b.origin, radius_of(b) + margin_b, swap, wants, count)
        if b.kind == CAPSULE:
            top, bottom = _segment(b)
            closest = closest_on_segment(a.origin, top, bottom)
            return _balls(room, a.origin, radius + margin_a, closest, radius_of(b) + margin_b, swap, wants, count)
        if b.kind == BOX or b.kind == CYLINDER:
            return _ball_solid(room, a.origin, radius, b, margin_a, margin_b, swap, wants, count)
    if a.kind == CAPSULE and (b.kind == CAPSULE or b.kind == CYLINDER):
        top_a, bottom_a = _segment(a)
        top_b, bottom_b = _segment(b)
        closest_a, closest_b = closest_of_segments(top_a, bottom_a, top_b, bottom_b)
        if b.kind == CYLINDER:
            return _ball_solid(room, closest_a, radius_of(a), b, margin_a, margin_b, swap, wants, count)
        return _balls(room, closest_a, radius_of(a) + margin_a, closest_b, radius_of(b) + margin_b, swap, wants, count)
    return _overlap(room, pair_of(a, b, margin_a, margin_b, space.vertices), swap, wants, count)


@call
def is_near_triangle(vertices: np.ndarray, mesh: Solid, index: int, low: Vector, high: Vector) -> bool:
    """Whether the box around a triangle meets a box in the mesh's frame."""
    a, b, c = (
        corner(mesh, vertices, index),
        corner(mesh, vertices, index + 1),
        corner(mesh, vertices, index + 2),
    )
    for axis in range(3):
        if min(a[axis], min(b[axis], c[axis])) > high[axis] or max(a[axis], max(b[axis], c[axis])) < low[axis]:
            return False
    return True


@call
def box_in_frame(vertices: np.ndarray, solid: Solid, mesh: Solid, margin: Any) -> tuple[Vector, Vector]:
    """The box around a shape in the frame of a mesh."""
    lx, hx = extent(solid, vertices, column(mesh, 0))
    ly, hy = extent(solid, vertices, column(mesh, 1))
    lz, hz = extent(solid, vertices, column(mesh, 2))
    x, y, z = dot(column(mesh, 0), mesh.origin), dot(column(mesh, 1), mesh.origin), dot(column(mesh, 2), mesh.origin)
    low = (lx - x - margin, ly - y - margin, lz - z - margin)
    return low, (hx - x + margin, hy - y + margin, hz - z + margin)


@call
def collide(space: Space, mine: Solid, other: Solid, margin: Any, wants: bool, count: int) -> tuple[bool, int]:
    """As `collide_convex`; one of the two may be a mesh."""
    if mine.kind != MESH and other.kind != MESH:
        return collide_convex(space, mine, other, margin, wants, count)
    if mine.kind == MESH and other.kind == MESH:
        return False, count
    swap = bool(mine.kind == MESH)
    solid, mesh = (other, mine) if swap else (mine, other)
    low, high = box_in_frame(space.vertices, solid, mesh, margin)
    collided = False
    for index in range(0, mesh.corners, 3):
        if is_near_triangle(space.vertices, mesh, index, low, high):
            pair = pair_of(solid, triangle_of(mesh, mesh.first + index), margin, F0, space.vertices)
            hit, count = _overlap(space.scratch, pair, swap, wants, count)
            collided |= hit
            if hit and not wants:
                return True, count
    return collided, count


@call
def collide_shapes(
    space: Space,
    shape: Any,
    transform: Any,
    origin: Vector,
    other_shape: Any,
    other_transform: Any,
    margin: Any,
    wants: bool,
    count: Any,
) -> tuple[bool, int]:
    """`collide` for two of the space's shapes, by their numbers, in bodies with these transforms."""
    mine = solid_of(space.shapes[shape], transform, origin)
    other = solid_of(space.shapes[other_shape], other_transform, read3(other_transform[9:]))
    return collide(space, mine, other, margin, wants, count)
