"""`intersect_ray` and RayCast3D."""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.bounds import is_enabled, list_within
from godojo.twin.physics.cores import Core, core_of, into, kept_core, out_of
from godojo.twin.physics.engines import by_engine
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import AREA, BOX, CAPSULE, CONVEX, CYLINDER, MESH, REMOVED, SPHERE, Space
from godojo.twin.physics.vectors import F0, add, cross, dot, mul, narrow, read3, sub, wide

Vector = tuple[np.float32, np.float32, np.float32]

_NEVER = 2.0


@inline
def _ray_box(at: Any, way: Any, half: Any) -> tuple[float, int]:
    """Share of the way at which a ray enters a box around the origin (0 from inside), and the axis it enters across."""
    enter, leave = -1e300, 1e300
    side = 0
    for axis in range(3):
        if abs(way[axis]) < 1e-20:
            if abs(at[axis]) > half[axis]:
                return _NEVER, 0
            continue
        first = (-half[axis] - at[axis]) / way[axis]
        second = (half[axis] - at[axis]) / way[axis]
        near, far = min(first, second), max(first, second)
        if near > enter:
            enter = near
            side = axis
        leave = min(leave, far)
    if enter > leave or leave < 0.0:
        return _NEVER, 0
    return max(enter, 0.0), side


@inline
def _ray_ball(at: Any, way: Any, radius: Any) -> Any:
    """Share of the way at which a ray meets a ball around the origin; 0 from inside."""
    c = dot(at, at) - radius * radius
    if c <= 0.0:
        return 0.0
    a, b = dot(way, way), dot(at, way)
    root = b * b - a * c
    if b >= 0.0 or root < 0.0 or a == 0.0:
        return _NEVER
    return (-b - math.sqrt(root)) / a


@inline
def _ray_tube(at: Any, way: Any, radius: Any) -> Any:
    """As `_ray_ball`, for an endless cylinder around y; -1 where it is inside from the start."""
    c = at[0] * at[0] + at[2] * at[2] - radius * radius
    if c <= 0.0:
        return -1.0
    a = way[0] * way[0] + way[2] * way[2]
    b = at[0] * way[0] + at[2] * way[2]
    root = b * b - a * c
    if b >= 0.0 or root < 0.0 or a == 0.0:
        return _NEVER
    return (-b - math.sqrt(root)) / a


@call
def _ray_capsule(at: Any, way: Any, radius: float, half: float) -> tuple[float, Any]:
    """Share of the way, and the normal there in the capsule's frame."""
    share = _ray_tube(at, way, radius)
    y = at[1] + max(share, 0.0) * way[1]
    if share > 1.0:
        return _NEVER, (0.0, 0.0, 0.0)
    if abs(y) <= half:
        share = max(share, 0.0)
        return share, (at[0] + share * way[0], 0.0, at[2] + share * way[2])
    end = half if y > 0.0 else -half
    top = _ray_ball((at[0], at[1] - half, at[2]), way, radius)
    bottom = _ray_ball((at[0], at[1] + half, at[2]), way, radius)
    share = min(top, bottom)
    end = half if top <= bottom else -half
    return share, (at[0] + share * way[0], at[1] + share * way[1] - end, at[2] + share * way[2])


@call
def _ray_cylinder(at: Any, way: Any, radius: float, half: float) -> tuple[float, Any]:
    """Share of the way, and the normal there in the cylinder's frame."""
    share = _ray_tube(at, way, radius)
    if share > 1.0:
        return _NEVER, (0.0, 0.0, 0.0)
    y = at[1] + max(share, 0.0) * way[1]
    if abs(y) <= half:
        if share < 0.0:
            return 0.0, (0.0, 0.0, 0.0)
        return share, (at[0] + share * way[0], 0.0, at[2] + share * way[2])
    if way[1] == 0.0 or (y > 0.0) == (way[1] > 0.0):
        return _NEVER, (0.0, 0.0, 0.0)
    up = 1.0 if y > 0.0 else -1.0
    share = (up * half - at[1]) / way[1]
    x, z = at[0] + share * way[0], at[2] + share * way[2]
    if x * x + z * z > radius * radius:
        return _NEVER, (0.0, 0.0, 0.0)
    return share, (0.0, up, 0.0)


@call
def _ray_planes(at: Any, way: Any, vertices: np.ndarray, first: int, count: Any) -> tuple[float, Any]:
    """Share of the way at which a ray enters what lies behind all planes, 0 from inside; and the normal there."""
    enter, leave = -1.0, 1e300
    best = (0.0, 0.0, 0.0)
    for index in range(first, first + 2 * count, 2):
        normal = wide(read3(vertices[index]))
        height = dot(normal, at) - vertices[index + 1, 0]
        speed = dot(normal, way)
        if abs(speed) < 1e-20:
            if height > 0.0:
                return _NEVER, best
            continue
        share = -height / speed
        if speed < 0.0:
            if share > enter:
                enter = share
                best = normal
        else:
            leave = min(leave, share)
    if enter > leave or leave < 0.0:
        return _NEVER, best
    return max(enter, 0.0), best


@call
def _ray_triangles(core: Core, at: Any, way: Any, vertices: np.ndarray, back_faces: bool) -> tuple[float, Any]:
    """The nearest triangle of a mesh."""
    best = _NEVER
    best_normal = (0.0, 0.0, 0.0)
    for start in range(core.first, core.first + core.corners, 3):
        a = wide(read3(vertices[start]))
        b = wide(read3(vertices[start + 1]))
        c = wide(read3(vertices[start + 2]))
        ab, ac = sub(b, a), sub(c, a)
        normal = cross(ab, ac)
        facing = dot(normal, way)
        if abs(facing) < 1e-20 or (facing < 0.0 and not back_faces):
            continue
        p = cross(way, ac)
        scale = 1.0 / dot(ab, p)
        offset = sub(at, a)
        u = dot(offset, p) * scale
        if u < 0.0 or u > 1.0:
            continue
        q = cross(offset, ab)
        v = dot(way, q) * scale
        if v < 0.0 or u + v > 1.0:
            continue
        share = dot(ac, q) * scale
        if 0.0 <= share < best:
            best = share
            best_normal = normal
    return best, best_normal


@call
def ray_shape(
    core: Core, shape: Any, vertices: np.ndarray, start: Any, way: Any, inside: bool, back_faces: bool
) -> tuple[float, Any]:
    """Share of the way at which a ray meets a shape (above 1: not), and a normal in the world of any length."""
    at = into(core, start)
    local = (dot(core.x, way), dot(core.y, way), dot(core.z, way))
    nothing = (0.0, 0.0, 0.0)
    share = _NEVER
    normal = nothing
    if shape.kind == BOX:
        half = (np.float64(shape.half[0]), np.float64(shape.half[1]), np.float64(shape.half[2]))
        share, side = _ray_box(at, local, half)
        away = -1.0 if local[side] > 0.0 else 1.0
        normal = (away if side == 0 else 0.0, away if side == 1 else 0.0, away if side == 2 else 0.0)
    elif shape.kind == SPHERE:
        share = _ray_ball(at, local, np.float64(shape.half[0]))
        normal = add(at, mul(local, share))
    elif shape.kind == CAPSULE:
        share, normal = _ray_capsule(at, local, np.float64(shape.half[0]), np.float64(shape.half[1]))
    elif shape.kind == CYLINDER:
        share, normal = _ray_cylinder(at, local, np.float64(shape.half[0]), np.float64(shape.half[1]))
    elif shape.kind == CONVEX:
        first = core.first + core.corners
        share, normal = _ray_planes(at, local, vertices, first, np.int64(shape.plane_count))
    elif shape.kind == MESH:
        share, normal = _ray_triangles(core, at, local, vertices, back_faces and shape.one_sided == 0)
        return share, out_of(core, normal)
    if share <= 0.0:
        return (0.0 if inside else _NEVER), nothing
    return share, out_of(core, normal)


@inline
def _may_hit(origin: Any, way: Any, inverse: Any, bounds: np.ndarray, index: int, best: float) -> bool:
    """Whether a ray enters the box around a body before `best`; the box has room for rounding."""
    enter, leave = 0.0, best
    for axis in range(3):
        if abs(way[axis]) > 1e-20:
            first = (bounds[axis, index] - origin[axis]) * inverse[axis]
            second = (bounds[3 + axis, index] - origin[axis]) * inverse[axis]
            enter, leave = max(enter, min(first, second)), min(leave, max(first, second))
    return enter <= leave


@inline
def _core_here(space: Space, body: Any, index: Any) -> Core:
    return core_of(space.shapes[index], body.transform, read3(body.transform[9:]))


@inline
def _core_there(space: Space, _body: Any, index: Any) -> Core:
    return kept_core(space, index)


cast_core = by_engine(_core_there, _core_here)
"""The core of a shape of a body; GodotPhysics keeps none."""


@call
def cast_ray(
    space: Space,
    start: Vector,
    end: Vector,
    mask: int,
    with_bodies: bool,
    with_areas: bool,
    hit_from_inside: bool,
    hit_back_faces: bool,
    exclude: int,
    exceptions: np.ndarray,
) -> tuple[bool, Vector, Vector, int, int]:
    """The nearest hit from `start` to `end`: hit, position, normal, body, index of the shape among the body's.

    `exclude` is a body or -1, `exceptions` an int32 array of further bodies (may be empty; negative ones are ignored).
    """
    way32 = sub(end, start)
    origin, way = wide(start), wide(way32)
    bounds = space.bounds
    inverse = (1.0 / way[0], 1.0 / way[1], 1.0 / way[2])
    best = 1.0 + 1e-12
    best_normal = (0.0, 0.0, 0.0)
    body, place = -1, -1
    low = (min(start[0], end[0]), min(start[1], end[1]), min(start[2], end[2]))
    high = (max(start[0], end[0]), max(start[1], end[1]), max(start[2], end[2]))
    for at in range(list_within(space, low, high)):
        index = space.near[at]
        record = space.bodies[index]
        if index == exclude or record.kind == REMOVED or (record.layer & np.uint32(mask)) == 0:
            continue
        if not (with_areas if record.kind == AREA else with_bodies):
            continue
        is_exception = False
        for number in range(exceptions.shape[0]):
            is_exception |= exceptions[number] == index
        if is_exception:
            continue
        if not _may_hit(origin, way, inverse, bounds, index, best):
            continue
        for number in range(record.shape_count):
            if not is_enabled(record, number):
                continue
            shape = space.shapes[record.first_shape + number]
            core = cast_core(space, record, record.first_shape + number)
            share, normal = ray_shape(core, shape, space.vertices, origin, way, hit_from_inside, hit_back_faces)
            if share < best:
                best = share
                best_normal = normal
                body, place = index, number
    nothing = (F0, F0, F0)
    if body < 0:
        return False, nothing, nothing, -1, -1
    position = add(start, mul(way32, np.float32(best)))
    squared = dot(best_normal, best_normal)
    if best == 0.0 or squared == 0.0:
        return True, position, nothing, body, place
    unit = mul(best_normal, 1.0 / math.sqrt(squared))
    if dot(unit, way) > 0.0:
        unit = mul(unit, -1.0)
    return True, position, narrow(unit), body, place
