"""Triangle meshes (ConcavePolygonShape3D, CSG): each triangle is a hull that is met from its front alone.

Contacts with edges that lie between triangles are left out, as Jolt's internal edge removal does: a contact that does
not face its triangle counts only if no contact before it has touched the same edge or corner.
"""

from typing import Any

import numpy as np

from godojo.twin.physics.cores import Core, contact_points, into, out_of, support
from godojo.twin.physics.gjk import core_distance
from godojo.twin.physics.hits import keep_hit
from godojo.twin.physics.impact import NEVER
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import CONVEX, Space
from godojo.twin.physics.vectors import add, cross, dot, length64, mul, read3, sub, wide

_FACES = 0.999848  # cosine of one degree
_LATER, _LATER_SIZE, _MAX_LATER = 224, 8, 12
_VOID, _MAX_VOID = 320, 60
_SAME_SQUARED_M = 1e-8


@inline
def _triangle(core: Core, index: int) -> Core:
    return Core(CONVEX, core.center, core.x, core.y, core.z, (0.0, 0.0, 0.0), 0.0, index, 3)


@inline
def _bound(core: Core) -> float:
    """A radius around the centre that holds the whole shape."""
    return length64(core.size) + core.radius


@call
def _front(core: Core, vertices: np.ndarray, index: int, at: Any, reach_m: float) -> tuple[bool, Any]:
    """Whether a ball at a point of the mesh's frame can touch a triangle from its front; its normal in the world."""
    a, b, c = wide(read3(vertices[index])), wide(read3(vertices[index + 1])), wide(read3(vertices[index + 2]))
    nothing = (0.0, 0.0, 0.0)
    for axis in range(3):
        if min(a[axis], min(b[axis], c[axis])) > at[axis] + reach_m:
            return False, nothing
        if max(a[axis], max(b[axis], c[axis])) < at[axis] - reach_m:
            return False, nothing
    # Godot's front faces are clockwise.
    normal = cross(sub(c, a), sub(b, a))
    length = length64(normal)
    if length < 1e-12:
        return False, nothing
    normal = mul(normal, 1.0 / length)
    height = dot(normal, sub(at, a))
    if height < 0.0 or height > reach_m:
        return False, nothing
    return True, out_of(core, normal)


@call
def _triangle_gap(mine: Core, triangle: Core, normal: Any, space: Space, limit: float) -> tuple[float, Any, Any]:
    """As `find_gap`; where the cores overlap, the way out is along the normal."""
    distance, axis, point = core_distance(mine, triangle, space.vertices, space.scratch, limit + mine.radius)
    if distance > 0.0:
        return distance - mine.radius, axis, point
    corner = add(triangle.center, out_of(triangle, wide(read3(space.vertices[triangle.first]))))
    axis = mul(normal, -1.0)
    deepest = add(add(mine.center, support(mine, space.vertices, axis)), mul(axis, mine.radius))
    depth = dot(sub(deepest, corner), axis)
    return -depth, axis, sub(deepest, mul(axis, depth))


@inline
def _corner(core: Core, space: Space, index: int) -> Any:
    return add(core.center, out_of(core, wide(read3(space.vertices[index]))))


@call
def _is_void(space: Space, core: Core, corner: Any, voids: int) -> bool:
    """Whether a corner belongs to a triangle that has been dealt with."""
    for number in range(voids):
        first = int(space.scratch[_VOID + number])
        for which in range(3):
            offset = sub(_corner(core, space, first + which), corner)
            if dot(offset, offset) < _SAME_SQUARED_M:
                return True
    return False


@call
def _is_inner(space: Space, core: Core, index: int, point: Any, voids: int) -> bool:
    """Whether the edge or corner of a triangle that is closest to a contact point has been touched before."""
    best = 1e300
    best_one, best_two = 0, 0
    for which in range(3):
        one, two = _corner(core, space, index + which), _corner(core, space, index + (which + 1) % 3)
        along = sub(two, one)
        squared = dot(along, along)
        share = dot(sub(point, one), along) / squared if squared > 1e-14 else 0.0
        if share >= 1.0 - 1e-6:
            continue
        share = max(share, 0.0)
        offset = sub(add(one, mul(along, share)), point)
        distance = dot(offset, offset)
        if distance < best:
            best = distance
            best_one = which
            best_two = which if share < 1e-6 else (which + 1) % 3
    first = _is_void(space, core, _corner(core, space, index + best_one), voids)
    return first and (best_one == best_two or _is_void(space, core, _corner(core, space, index + best_two), voids))


@call
def collide_mesh(
    space: Space,
    mine: Core,
    core: Core,
    margin: float,
    count: int,
    limit: int,
    by_depth: bool,
    other: int,
    place: int,
    local: int,
) -> int:
    """Adds the contacts with a mesh to the list of hits; how many there are then."""
    room = space.scratch
    at = into(core, mine.center)
    reach_m = _bound(mine) + margin
    later, voids = 0, 0
    for index in range(core.first, core.first + core.corners, 3):
        is_front, normal = _front(core, space.vertices, index, at, reach_m)
        if not is_front:
            continue
        gap, axis, point = _triangle_gap(mine, _triangle(core, index), normal, space, margin)
        if gap > margin:
            continue
        if -dot(axis, normal) > _FACES or later == _MAX_LATER:
            count = keep_hit(
                room, count, limit, by_depth, (-gap, axis, point, other, place, local, contact_points(mine, axis))
            )
            if voids < _MAX_VOID:
                room[_VOID + voids] = index
                voids += 1
        else:
            # Deepest first.
            to = later
            while to > 0 and room[_LATER + (to - 1) * _LATER_SIZE + 1] < -gap:
                for part in range(_LATER_SIZE):
                    room[_LATER + to * _LATER_SIZE + part] = room[_LATER + (to - 1) * _LATER_SIZE + part]
                to -= 1
            start = _LATER + to * _LATER_SIZE
            room[start], room[start + 1] = index, -gap
            for part in range(3):
                room[start + 2 + part] = axis[part]
                room[start + 5 + part] = point[part]
            later += 1
    for number in range(later):
        start = _LATER + number * _LATER_SIZE
        index = int(room[start])
        axis = (room[start + 2], room[start + 3], room[start + 4])
        point = (room[start + 5], room[start + 6], room[start + 7])
        if not _is_inner(space, core, index, point, voids):
            hit = (room[start + 1], axis, point, other, place, local, contact_points(mine, axis))
            count = keep_hit(room, count, limit, by_depth, hit)
        if voids < _MAX_VOID:
            room[_VOID + voids] = index
            voids += 1
    return count


@call
def mesh_impact(space: Space, mine: Core, core: Core, motion: Any) -> float:
    """The share of the motion after which the shape touches a mesh (see `time_of_impact`)."""
    at = into(core, mine.center)
    length = length64(motion)
    reach_m = _bound(mine) + length
    best = NEVER
    for index in range(core.first, core.first + core.corners, 3):
        is_front, normal = _front(core, space.vertices, index, at, reach_m)
        if not is_front:
            continue
        triangle = _triangle(core, index)
        time = 0.0
        for _ in range(24):
            moving = Core(
                mine.kind,
                add(mine.center, mul(motion, time)),
                mine.x,
                mine.y,
                mine.z,
                mine.size,
                mine.radius,
                mine.first,
                mine.corners,
            )
            gap, axis, _point = _triangle_gap(moving, triangle, normal, space, length)
            if gap <= 1e-9:
                best = min(best, time)
                break
            speed = dot(axis, motion)
            if gap > length or speed <= 0.0:
                break
            time += gap / speed
            if time > 1.0:
                break
    return best


@call
def touches_mesh(space: Space, mine: Core, core: Core, margin: float) -> bool:
    """Whether a shape is closer than the margin to the front of any triangle."""
    at = into(core, mine.center)
    reach_m = _bound(mine) + margin
    for index in range(core.first, core.first + core.corners, 3):
        is_front, normal = _front(core, space.vertices, index, at, reach_m)
        if is_front:
            gap, _axis, _point = _triangle_gap(mine, _triangle(core, index), normal, space, margin)
            if gap <= margin:
                return True
    return False
