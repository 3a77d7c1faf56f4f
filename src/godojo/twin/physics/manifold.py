"""The points at which a rigid body rests on another shape."""

from typing import Any

from godojo.twin.physics.cores import Core, has_face, out_of
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import BOX, CAPSULE, CYLINDER
from godojo.twin.physics.vectors import add, dot, mul, sub

_REACH_M = 0.02
"""Points farther than this from the other shape do not touch it."""


@inline
def contact_point_count(one: Core, two: Core, axis: Any) -> int:
    """How many points `contact_point` has to be asked for."""
    if not has_face(two, axis):
        return 1
    if one.kind == BOX or (one.kind == CYLINDER and abs(dot(one.y, axis)) > 0.7):
        return 4
    return 2 if one.kind in (CAPSULE, CYLINDER) else 1


@call
def contact_point(one: Core, two: Core, axis: Any, gap: float, on_two: Any, number: int) -> Any:
    """One point on each shape: whether they are close enough, the point on one, that on two.

    The points of a face or an edge of one that lies across the axis, against the plane through the closest point of
    two; faces are not clipped against each other.
    """
    on_one = sub(on_two, mul(axis, gap))
    if contact_point_count(one, two, axis) == 1:
        return True, on_one, on_two
    local = (dot(one.x, axis), dot(one.y, axis), dot(one.z, axis))
    first = 1.0 if number & 1 else -1.0
    second = 1.0 if number & 2 else -1.0
    r = one.radius
    if one.kind == CAPSULE:
        end = add(one.center, mul(one.y, first * one.size[1]))
        point = add(end, mul(axis, r))
    elif one.kind == CYLINDER and abs(local[1]) > 0.7:
        up = one.size[1] + r if local[1] > 0.0 else -one.size[1] - r
        across = one.size[0] + r
        corner = (first * across, up, 0.0) if number < 2 else (0.0, up, first * across)
        point = add(one.center, out_of(one, corner))
    elif one.kind == CYLINDER:
        flat = sub(axis, mul(one.y, local[1]))
        length = max(dot(flat, flat) ** 0.5, 1e-12)
        point = add(one.center, mul(flat, (one.size[0] + r) / length))
        point = add(point, mul(one.y, first * (one.size[1] + r)))
    else:
        hx, hy, hz = one.size[0] + r, one.size[1] + r, one.size[2] + r
        if abs(local[0]) >= abs(local[1]) and abs(local[0]) >= abs(local[2]):
            corner = (hx if local[0] > 0.0 else -hx, first * hy, second * hz)
        elif abs(local[1]) >= abs(local[2]):
            corner = (first * hx, hy if local[1] > 0.0 else -hy, second * hz)
        else:
            corner = (first * hx, second * hy, hz if local[2] > 0.0 else -hz)
        point = add(one.center, out_of(one, corner))
    away = dot(sub(on_two, point), axis)
    if away > _REACH_M:
        return False, point, point
    return True, point, add(point, mul(axis, away))
