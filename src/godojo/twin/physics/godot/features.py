"""The point, edge or face of a shape that is farthest in a direction: what contacts are made of."""

from typing import Any

import numpy as np

from godojo.twin.physics.godot.solids import Solid, box_corner, corner, farthest_corner, place, support
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import BOX, CAPSULE, CYLINDER, MESH, SPHERE
from godojo.twin.physics.vectors import F0, add, cross, dot, mul, normalized32, read3, sub

Vector = Any

POINT, EDGE, FACE, CIRCLE = range(4)
MOST_POINTS = 16

# 64 bits, as Godot compares them.
_FACE = np.float64(0.9998)
_EDGE = np.float64(0.99999998)
_ACROSS = np.sqrt(1.0 - _EDGE * _EDGE)
_ROUND_FACE = np.float64(0.999)
_ROUND_EDGE = np.float64(0.999998)
_ROUND_ACROSS = np.sqrt(1.0 - _ROUND_EDGE * _ROUND_EDGE)


@inline
def write_point(room: Any, at: int, index: int, point: Vector) -> None:
    room[at + 3 * index] = point[0]
    room[at + 3 * index + 1] = point[1]
    room[at + 3 * index + 2] = point[2]


@inline
def read_point(room: Any, at: int, index: int) -> Vector:
    start = at + 3 * index
    return (np.float32(room[start]), np.float32(room[start + 1]), np.float32(room[start + 2]))


@inline
def plane_row(solid: Solid, index: Any) -> Any:
    """Where the normal of a face of a hull is; in the next row: distance, first row of its corners, their number."""
    return solid.first + solid.corners + 2 * index


@inline
def edge_row(solid: Solid, index: int) -> Any:
    """Where the two corners of an edge of a hull are; in the next row its two faces."""
    return solid.first + solid.corners + 2 * solid.planes + 2 * index


@call
def _box_feature(half: Vector, n: Vector, room: Any, at: int) -> tuple[int, int]:
    for axis in range(3):
        if abs(n[axis]) > _FACE:
            sign = np.float32(-1.0) if n[axis] < F0 else np.float32(1.0)
            one, two = (axis + 1) % 3, (axis + 2) % 3
            for index in range(4):
                # Seen from outside, always in the same direction around.
                turned = index if sign > F0 else (3 - index)
                u = half[one] if turned == 1 or turned == 2 else -half[one]
                v = half[two] if turned < 2 else -half[two]
                room[at + 3 * index + axis] = sign * half[axis]
                room[at + 3 * index + one] = sign * u
                room[at + 3 * index + two] = sign * v
            return 4, FACE
    for axis in range(3):
        if abs(n[axis]) < _ACROSS:
            one, two = (axis + 1) % 3, (axis + 2) % 3
            for index in range(2):
                room[at + 3 * index + axis] = half[axis] if index == 0 else -half[axis]
                room[at + 3 * index + one] = -half[one] if n[one] < F0 else half[one]
                room[at + 3 * index + two] = -half[two] if n[two] < F0 else half[two]
            return 2, EDGE
    write_point(room, at, 0, box_corner(half, n))
    return 1, POINT


@call
def _round_feature(solid: Solid, vertices: np.ndarray, n: Vector, room: Any, at: int) -> tuple[int, int]:
    """Of a capsule or a cylinder."""
    half = solid.half
    is_flat = solid.kind == CYLINDER
    if is_flat and abs(n[1]) > _ROUND_FACE:
        y = half[1] if n[1] > F0 else -half[1]
        write_point(room, at, 0, (F0, y, F0))
        write_point(room, at, 1, (half[0], y, F0))
        write_point(room, at, 2, (F0, y, half[0]))
        return 3, CIRCLE
    if half[1] > F0 and abs(n[1]) < (_ROUND_ACROSS if is_flat else _ACROSS):
        side = mul(normalized32((n[0], F0, n[2])), half[0])
        write_point(room, at, 0, (side[0], side[1] + half[1], side[2]))
        write_point(room, at, 1, (side[0], side[1] - half[1], side[2]))
        return 2, EDGE
    write_point(room, at, 0, support(solid, vertices, n))
    return 1, POINT


@call
def _hull_feature(solid: Solid, vertices: np.ndarray, n: Vector, room: Any, at: int) -> tuple[int, int]:
    top = farthest_corner(solid, vertices, n)
    for index in range(solid.planes):
        row = plane_row(solid, index)
        if dot(read3(vertices[row]), n) > _FACE:
            first: Any = np.int64(vertices[row + 1, 1])
            count: Any = np.int64(vertices[row + 1, 2])
            has_top = False
            for number in range(count):
                has_top |= np.int64(vertices[solid.first + first + number, 0]) == top
            if has_top:
                count = min(count, MOST_POINTS)
                for number in range(count):
                    which = np.int64(vertices[solid.first + first + number, 0])
                    write_point(room, at, number, corner(solid, vertices, which))
                return count, FACE
    for index in range(solid.edges):
        row = edge_row(solid, index)
        one, two = np.int64(vertices[row, 0]), np.int64(vertices[row, 1])
        if one == top or two == top:
            a, b = corner(solid, vertices, one), corner(solid, vertices, two)
            if abs(dot(normalized32(sub(a, b)), n)) < _ACROSS:
                write_point(room, at, 0, a)
                write_point(room, at, 1, b)
                return 2, EDGE
    write_point(room, at, 0, corner(solid, vertices, top))
    return 1, POINT


@call
def _triangle_feature(solid: Solid, vertices: np.ndarray, n: Vector, room: Any, at: int) -> tuple[int, int]:
    a, b, c = corner(solid, vertices, 0), corner(solid, vertices, 1), corner(solid, vertices, 2)
    if abs(dot(normalized32(cross(sub(a, c), sub(a, b))), n)) > _FACE:
        write_point(room, at, 0, a)
        write_point(room, at, 1, b)
        write_point(room, at, 2, c)
        return 3, FACE
    top = farthest_corner(solid, vertices, n)
    for one in range(3):
        two = (one + 1) % 3
        if one == top or two == top:
            a, b = corner(solid, vertices, one), corner(solid, vertices, two)
            if abs(dot(normalized32(sub(a, b)), n)) < _ACROSS:
                write_point(room, at, 0, a)
                write_point(room, at, 1, b)
                return 2, EDGE
    write_point(room, at, 0, corner(solid, vertices, top))
    return 1, POINT


@call
def write_feature(solid: Solid, vertices: np.ndarray, n: Vector, shift: Vector, room: Any, at: int) -> tuple[int, int]:
    """Writes the points of the farthest feature, in the world and shifted; how many, and what they are.

    `n` is in the shape's frame. A circle is its centre and two points on it, a quarter turn apart.
    """
    if solid.kind == SPHERE:
        write_point(room, at, 0, mul(n, solid.half[0]))
        count, kind = 1, POINT
    elif solid.kind == BOX:
        count, kind = _box_feature(solid.half, n, room, at)
    elif solid.kind == CAPSULE or solid.kind == CYLINDER:
        count, kind = _round_feature(solid, vertices, n, room, at)
    elif solid.kind == MESH:
        count, kind = _triangle_feature(solid, vertices, n, room, at)
    else:
        count, kind = _hull_feature(solid, vertices, n, room, at)
    for index in range(count):
        write_point(room, at, index, add(place(solid, read_point(room, at, index)), shift))
    return count, kind
