"""The contacts of two shapes from their features: pairs of points, one on each shape, and a normal."""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.godot.features import CIRCLE, EDGE, FACE, POINT, read_point, write_point
from godojo.twin.physics.godot.solids import closest_on_line
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.vectors import EPSILON, F0, F1, add, cross, dot, length32, mul, neg, normalized32, sub

Vector = Any

# Places in `Space.scratch`.
CONTACTS = 0  # for each: point on the own shape, point on the other, normal, the other body, its shape, the own shape
CONTACT_SIZE = 12
MOST_CONTACTS = 32
FEATURE_A = CONTACTS + MOST_CONTACTS * CONTACT_SIZE
FEATURE_B = FEATURE_A + 3 * 16
_CLIPPED = FEATURE_B + 3 * 16
_MOST_CLIPPED = 32
_CIRCLE_SIDES = 8
_THIRDS = 3


@call
def emit(room: Any, count: int, a: Vector, b: Vector, normal: Vector, swap: bool) -> int:
    """Notes a contact; how many there are then. The least deep one makes room when the list is full."""
    if dot(normal, sub(b, a)) < F0:
        normal = neg(normal)
    if swap:
        a, b, normal = b, a, neg(normal)
    place = count
    if count == MOST_CONTACTS:
        least = np.float32(1e20)
        place = 0
        for index in range(count):
            start = CONTACTS + index * CONTACT_SIZE
            offset = sub(read_point(room, start, 0), read_point(room, start, 1))
            squared = dot(offset, offset)
            if squared < least:
                least, place = squared, index
        offset = sub(a, b)
        if dot(offset, offset) < least:
            return count
        count -= 1
    start = CONTACTS + place * CONTACT_SIZE
    write_point(room, start, 0, a)
    write_point(room, start, 1, b)
    write_point(room, start, 2, normal)
    return count + 1


@inline
def _plane(a: Vector, b: Vector, c: Vector) -> tuple[Vector, Any]:
    """Normal and distance of the plane of three points, clockwise."""
    normal = normalized32(cross(sub(a, c), sub(a, b)))
    return normal, dot(normal, a)


@inline
def _turned(center: Vector, x: Vector, y: Vector, angle: float) -> Vector:
    """A point of a circle."""
    return add(add(center, mul(x, np.float32(math.cos(angle)))), mul(y, np.float32(math.sin(angle))))


@call
def _edge_edge(room: Any, a_at: int, b_at: int, axis: Vector, swap: bool, count: int) -> int:
    a0, a1 = read_point(room, a_at, 0), read_point(room, a_at, 1)
    b0, b1 = read_point(room, b_at, 0), read_point(room, b_at, 1)
    along_a, along_b = sub(a1, a0), sub(b1, b0)
    c = cross(cross(along_a, along_b), along_b)
    if abs(dot(along_a, c)) < EPSILON:
        # Parallel: the two inner ones of the four ends.
        way = normalized32(along_a)
        base_a = sub(a0, mul(way, dot(way, a0)))
        base_b = sub(b0, mul(way, dot(way, b0)))
        p, q, r, s = dot(way, a0), dot(way, a1), dot(way, b0), dot(way, b1)
        low_a, high_a, low_b, high_b = min(p, q), max(p, q), min(r, s), max(r, s)
        middle = (max(low_a, low_b), min(high_a, high_b))
        for at in (min(middle[0], middle[1]), max(middle[0], middle[1])):
            count = emit(room, count, add(base_a, mul(way, at)), add(base_b, mul(way, at)), axis, swap)
        return count
    share = (dot(c, b0) - dot(a0, c)) / dot(along_a, c)
    share = min(max(share, F0), F1)
    closest_a = add(a0, mul(along_a, share))
    closest_b = closest_on_line(closest_a, b0, b1)
    normal = cross(along_a, along_b)
    length = length32(normal)
    normal = (normal[0] / length, normal[1] / length, normal[2] / length) if length > np.float64(1e-3) else axis
    return emit(room, count, closest_a, closest_b, normal, swap)


@call
def _onto_plane(
    room: Any, at: int, points: int, normal: Vector, distance: Any, axis: Vector, swap: bool, count: int
) -> int:
    """A contact for each point that is behind the plane of the other shape."""
    for index in range(points):
        p = read_point(room, at, index)
        q = sub(p, mul(normal, dot(normal, p) - distance))
        if dot(axis, p) < dot(axis, q):
            count = emit(room, count, p, q, normal, swap)
    return count


@call
def _face_face(
    room: Any, a_at: int, a_count: int, b_at: int, b_count: int, axis: Vector, swap: bool, count: int
) -> int:
    """Clips an edge or a face by the sides of a face."""
    source, target = _CLIPPED, _CLIPPED + 3 * _MOST_CLIPPED
    for index in range(a_count):
        write_point(room, source, index, read_point(room, a_at, index))
    left = a_count
    normal, distance = _plane(read_point(room, b_at, 0), read_point(room, b_at, 1), read_point(room, b_at, 2))
    for side in range(b_count):
        b0, b1 = read_point(room, b_at, side), read_point(room, b_at, (side + 1) % b_count)
        clip = normalized32(cross(sub(b0, b1), normal))
        limit = dot(clip, b0)
        is_edge = left == 2
        kept = 0
        for index in range(left):
            a0, a1 = read_point(room, source, index), read_point(room, source, (index + 1) % left)
            d0, d1 = dot(clip, a0) - limit, dot(clip, a1) - limit
            if d0 <= F0 and kept < _MOST_CLIPPED:
                write_point(room, target, kept, a0)
                kept += 1
            if d0 * d1 < F0 and not (is_edge and index > 0) and kept < _MOST_CLIPPED:
                along = sub(a1, a0)
                share = -(dot(clip, a0) - limit) / dot(clip, along)
                write_point(room, target, kept, add(a0, mul(along, share)))
                kept += 1
        left = kept
        source, target = target, source
    return _onto_plane(room, source, left, normal, distance, axis, swap, count)


@call
def _edge_circle(room: Any, a_at: int, b_at: int, axis: Vector, swap: bool, count: int) -> int:
    center = read_point(room, b_at, 0)
    x, y = sub(read_point(room, b_at, 1), center), sub(read_point(room, b_at, 2), center)
    radius = length32(x)
    normal = normalized32(cross(x, y))
    distance = dot(normal, center)
    a0, a1 = read_point(room, a_at, 0), read_point(room, a_at, 1)
    p0 = sub(a0, mul(normal, dot(normal, a0) - distance))
    p1 = sub(a1, mul(normal, dot(normal, a1) - distance))
    offset, offset_1 = sub(p0, center), sub(p1, center)
    squared = dot(offset, offset)
    found = 0
    if squared <= radius * radius:
        write_point(room, _CLIPPED, found, a0)
        found += 1
    if dot(offset_1, offset_1) <= radius * radius:
        write_point(room, _CLIPPED, found, a1)
        found += 1
    if found < 2:
        along = sub(p1, p0)
        a = np.float64(dot(along, along))
        b = np.float64(np.float32(2.0) * dot(offset, along))
        c = np.float64(squared - radius * radius)
        root: Any = b * b - 4.0 * a * c
        if root >= 0.0 and a > 0.0:
            root = math.sqrt(root)
            edge = sub(a1, a0)
            first, second = np.float32((-b - root) / (2.0 * a)), np.float32((-b + root) / (2.0 * a))
            if F0 < first < F1:
                write_point(room, _CLIPPED, found, add(a0, mul(edge, first)))
                found += 1
            if F0 < second < F1 and abs(first - second) >= EPSILON and found < 2:
                write_point(room, _CLIPPED, found, add(a0, mul(edge, second)))
                found += 1
    return _onto_plane(room, _CLIPPED, found, normal, distance, axis, swap, count)


@call
def _face_circle(room: Any, a_at: int, a_count: int, b_at: int, axis: Vector, swap: bool, count: int) -> int:
    """Clips a face by an octagon, and then by the plane of the circle."""
    center = read_point(room, b_at, 0)
    x, y = sub(read_point(room, b_at, 1), center), sub(read_point(room, b_at, 2), center)
    octagon = _CLIPPED + 6 * _MOST_CLIPPED
    for index in range(_CIRCLE_SIDES):
        write_point(room, octagon, index, _turned(center, x, y, 2.0 * math.pi / _CIRCLE_SIDES * index))
    count = _face_face(room, a_at, a_count, octagon, _CIRCLE_SIDES, axis, swap, count)
    normal = normalized32(cross(x, y))
    distance = dot(normal, center)
    found = 0
    for index in range(a_count):
        a0, a1 = read_point(room, a_at, index), read_point(room, a_at, (index + 1) % a_count)
        d0, d1 = dot(normal, a0) - distance, dot(normal, a1) - distance
        # Godot multiplies with the distance of the plane from the origin here.
        if d0 * distance >= F0 and found < _MOST_CLIPPED:
            write_point(room, _CLIPPED, found, a0)
            found += 1
        if d0 * d1 < F0 and found < _MOST_CLIPPED:
            along = sub(a1, a0)
            share = -(dot(normal, a0) - distance) / dot(normal, along)
            write_point(room, _CLIPPED, found, add(a0, mul(along, share)))
            found += 1
    return _onto_plane(room, _CLIPPED, found, normal, distance, axis, swap, count)


@call
def _circle_circle(room: Any, a_at: int, b_at: int, axis: Vector, swap: bool, count: int) -> int:
    center_a, center_b = read_point(room, a_at, 0), read_point(room, b_at, 0)
    xa, ya = sub(read_point(room, a_at, 1), center_a), sub(read_point(room, a_at, 2), center_a)
    xb, yb = sub(read_point(room, b_at, 1), center_b), sub(read_point(room, b_at, 2), center_b)
    radius_a, radius_b = length32(xa), length32(xb)
    normal_a, normal_b = normalized32(cross(xa, ya)), normalized32(cross(xb, yb))
    between = sub(center_b, center_a)
    upright = mul(normal_a, dot(normal_a, between))
    across = sub(between, upright)
    apart = length32(across)
    found = 0
    if abs(apart) >= EPSILON:
        across = (across[0] / apart, across[1] / apart, across[2] / apart)
        if apart > radius_a - radius_b and apart > radius_b - radius_a:
            squared = apart * apart
            s = np.float32((1.0 + np.float64((radius_a * radius_a - radius_b * radius_b) / squared)) * 0.5)
            h = np.float32(math.sqrt(max(np.float64(radius_a * radius_a - squared * s * s), 0.0)))
            middle = add(center_a, mul(mul(across, s), apart))
            side = mul(cross(normal_a, across), h)
            write_point(room, _CLIPPED, 0, add(middle, side))
            write_point(room, _CLIPPED, 1, sub(middle, side))
            write_point(room, _CLIPPED, 2, add(center_a, mul(across, radius_a)))
            write_point(room, _CLIPPED, 3, sub(sub(center_b, mul(across, radius_b)), upright))
            found = 4
    if found == 0:
        found = _THIRDS
        for index in range(_THIRDS):
            angle = 2.0 * math.pi * index / _THIRDS
            if radius_a < radius_b:
                point = _turned(center_a, xa, ya, angle)
            else:
                point = sub(_turned(center_b, xb, yb, angle), upright)
            write_point(room, _CLIPPED, index, point)
    return _onto_plane(room, _CLIPPED, found, normal_b, dot(normal_b, center_b), axis, swap, count)


@call
def contacts_of(
    room: Any, a_count: int, a_kind: int, b_count: int, b_kind: int, axis: Vector, swap: bool, count: int
) -> int:
    """Adds the contacts of the features at FEATURE_A and FEATURE_B; how many contacts there are then."""
    a_at, b_at = FEATURE_A, FEATURE_B
    if a_kind > b_kind:
        a_at, b_at, a_count, b_count, a_kind, b_kind = b_at, a_at, b_count, a_count, b_kind, a_kind
        swap = not swap
        axis = neg(axis)
    if a_kind == POINT:
        p = read_point(room, a_at, 0)
        if b_kind == POINT:
            return emit(room, count, p, read_point(room, b_at, 0), axis, swap)
        if b_kind == EDGE:
            q = closest_on_line(p, read_point(room, b_at, 0), read_point(room, b_at, 1))
            return emit(room, count, p, q, axis, swap)
        normal, distance = _plane(read_point(room, b_at, 0), read_point(room, b_at, 1), read_point(room, b_at, 2))
        return emit(room, count, p, sub(p, mul(normal, dot(normal, p) - distance)), normal, swap)
    if b_kind == FACE:
        return _face_face(room, a_at, a_count, b_at, b_count, axis, swap, count)
    if a_kind == EDGE:
        if b_kind == EDGE:
            return _edge_edge(room, a_at, b_at, axis, swap, count)
        return _edge_circle(room, a_at, b_at, axis, swap, count)
    if a_kind == CIRCLE:
        return _circle_circle(room, a_at, b_at, axis, swap, count)
    return _face_circle(room, a_at, a_count, b_at, axis, swap, count)
