"""Convex shapes as Jolt takes them: a core (point, segment, box, cylinder, hull) and a radius around it."""

import math
from typing import Any, NamedTuple

import numpy as np

from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import BOX, CAPSULE, CONVEX, CYLINDER, SPHERE
from godojo.twin.physics.vectors import add, cross, dot, mul, read3, sub, write3

Vector = Any
"""Three 64-bit floats."""


class Core(NamedTuple):
    """A shape in the world: centre, axes as columns, half sizes of the core along them, radius around the core."""

    kind: Any
    center: Vector
    x: Vector
    y: Vector
    z: Vector
    size: Vector
    radius: float
    first: Any  # corners of a hull, among the vertices
    corners: Any


@inline
def core_of(shape: Any, transform: Any, origin: Any) -> Core:
    """The core of a shape of a body with the basis of `transform`, at `origin`; in 64 bits from here on."""
    kind = np.int64(shape.kind)
    t = shape.transform
    b00, b01, b02 = np.float64(transform[0]), np.float64(transform[1]), np.float64(transform[2])
    b10, b11, b12 = np.float64(transform[3]), np.float64(transform[4]), np.float64(transform[5])
    b20, b21, b22 = np.float64(transform[6]), np.float64(transform[7]), np.float64(transform[8])
    x = (
        b00 * t[0] + b01 * t[3] + b02 * t[6],
        b10 * t[0] + b11 * t[3] + b12 * t[6],
        b20 * t[0] + b21 * t[3] + b22 * t[6],
    )
    y = (
        b00 * t[1] + b01 * t[4] + b02 * t[7],
        b10 * t[1] + b11 * t[4] + b12 * t[7],
        b20 * t[1] + b21 * t[4] + b22 * t[7],
    )
    z = (
        b00 * t[2] + b01 * t[5] + b02 * t[8],
        b10 * t[2] + b11 * t[5] + b12 * t[8],
        b20 * t[2] + b21 * t[5] + b22 * t[8],
    )
    center = (
        origin[0] + (b00 * t[9] + b01 * t[10] + b02 * t[11]),
        origin[1] + (b10 * t[9] + b11 * t[10] + b12 * t[11]),
        origin[2] + (b20 * t[9] + b21 * t[10] + b22 * t[11]),
    )
    margin = np.float64(shape.margin)
    s0, s1, s2 = np.float64(shape.half[0]), np.float64(shape.half[1]), np.float64(shape.half[2])
    if kind == SPHERE:
        return Core(kind, center, x, y, z, (0.0, 0.0, 0.0), s0, 0, 0)
    if kind == CAPSULE:
        return Core(kind, center, x, y, z, (0.0, s1, 0.0), s0, 0, 0)
    if kind == BOX:
        return Core(kind, center, x, y, z, (s0 - margin, s1 - margin, s2 - margin), margin, 0, 0)
    if kind == CYLINDER:
        return Core(kind, center, x, y, z, (s0 - margin, s1 - margin, 0.0), margin, 0, 0)
    first, count = np.int64(shape.first_vertex), np.int64(shape.vertex_count)
    return Core(kind, center, x, y, z, (0.0, 0.0, 0.0), margin, first, count)


@inline
def keep_core(space: Any, index: Any, core: Core) -> None:
    """Notes a shape's core, where queries see it."""
    row = space.cores[index]
    write3(row.center, core.center)
    write3(row.x, core.x)
    write3(row.y, core.y)
    write3(row.z, core.z)
    write3(row.half, core.size)
    row.radius = core.radius


@inline
def kept_core(space: Any, index: Any) -> Core:
    """The core of a shape, where queries see it; `update_bounds` has noted it."""
    row, shape = space.cores[index], space.shapes[index]
    first, count = np.int64(0), np.int64(0)
    if shape.kind > CYLINDER:
        first, count = np.int64(shape.first_vertex), np.int64(shape.vertex_count)
    x, y, z = read3(row.x), read3(row.y), read3(row.z)
    return Core(np.int64(shape.kind), read3(row.center), x, y, z, read3(row.half), row.radius, first, count)


@inline
def moved(core: Core, by: Vector) -> Core:
    center = add(core.center, by)
    return Core(core.kind, center, core.x, core.y, core.z, core.size, core.radius, core.first, core.corners)


@call
def support(core: Core, vertices: np.ndarray, direction: Vector) -> Vector:
    """The point of the core that is farthest in a direction, from its centre."""
    if core.kind == SPHERE:
        return (0.0, 0.0, 0.0)
    along_y = dot(core.y, direction)
    if core.kind == CAPSULE:
        return mul(core.y, core.size[1] if along_y > 0.0 else -core.size[1])
    along_x = dot(core.x, direction)
    along_z = dot(core.z, direction)
    if core.kind == BOX:
        px = core.size[0] if along_x > 0.0 else -core.size[0]
        py = core.size[1] if along_y > 0.0 else -core.size[1]
        pz = core.size[2] if along_z > 0.0 else -core.size[2]
    elif core.kind == CYLINDER:
        across = math.sqrt(along_x * along_x + along_z * along_z)
        scale = core.size[0] / across if across > 1e-30 else 0.0
        px = along_x * scale
        py = core.size[1] if along_y > 0.0 else -core.size[1]
        pz = along_z * scale
    else:
        best = -1e300
        px, py, pz = 0.0, 0.0, 0.0
        for index in range(core.first, core.first + core.corners):
            value = along_x * vertices[index, 0] + along_y * vertices[index, 1] + along_z * vertices[index, 2]
            if value > best:
                best = value
                px = np.float64(vertices[index, 0])
                py = np.float64(vertices[index, 1])
                pz = np.float64(vertices[index, 2])
    return add(add(mul(core.x, px), mul(core.y, py)), mul(core.z, pz))


@call
def contact_points(core: Core, axis: Vector) -> int:
    """How many points of a face or an edge of this shape lie across an axis: 1, 2 or 4."""
    if core.kind == SPHERE:
        return 1
    if core.kind == CAPSULE:
        return 2 if abs(dot(core.y, axis)) * 2.0 * core.size[1] < 0.02 else 1
    if core.kind == CYLINDER:
        upright = abs(dot(core.y, axis))
        return 4 if upright > 0.999 else (2 if upright < 0.001 else 1)
    if core.kind == CONVEX:
        return 1
    across = 0
    for number in (abs(dot(core.x, axis)), abs(dot(core.y, axis)), abs(dot(core.z, axis))):
        if number < 0.002:
            across += 1
    return 4 if across == 2 else (2 if across == 1 else 1)


@inline
def has_face(core: Core, axis: Vector) -> bool:
    """Whether this shape has a face across an axis on which another one's edges can lie."""
    if core.kind == CYLINDER:
        return bool(abs(dot(core.y, axis)) > 0.7)
    return bool(core.kind != SPHERE and core.kind != CAPSULE)


@inline
def into(core: Core, point: Vector) -> Vector:
    """A point of the world in the core's frame."""
    offset = sub(point, core.center)
    return (dot(core.x, offset), dot(core.y, offset), dot(core.z, offset))


@inline
def out_of(core: Core, vector: Vector) -> Vector:
    """A direction of the core's frame in the world."""
    return add(add(mul(core.x, vector[0]), mul(core.y, vector[1])), mul(core.z, vector[2]))


@inline
def perpendicular(vector: Vector) -> Vector:
    """Some unit vector across this one."""
    other = (1.0, 0.0, 0.0) if abs(vector[0]) < 0.7 else (0.0, 1.0, 0.0)
    result = cross(vector, other)
    return mul(result, 1.0 / math.sqrt(dot(result, result)))
