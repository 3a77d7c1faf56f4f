"""`body_test_motion` as GodotPhysics3D does it: recover, cast, collide."""

from typing import Any

import numpy as np

from godojo.twin.physics.bounds import body_box, is_enabled, list_within
from godojo.twin.physics.godot.collide import box_in_frame, collide_shapes, is_near_triangle
from godojo.twin.physics.godot.contacts import CONTACT_SIZE, CONTACTS
from godojo.twin.physics.godot.features import read_point
from godojo.twin.physics.godot.gjk import is_separated
from godojo.twin.physics.godot.solids import Solid, solid_of, triangle_of, turn_back
from godojo.twin.physics.jit import call
from godojo.twin.physics.space import AREA, MAX_CONTACTS, MESH, REMOVED, STATIC, Space
from godojo.twin.physics.vectors import (
    EPSILON,
    F0,
    F1,
    add,
    cross,
    dot,
    is_zero,
    length32,
    mul,
    narrow,
    normalized32,
    read3,
    sub,
    wide,
    write3,
)

Vector = tuple[np.float32, np.float32, np.float32]

_ROUNDS = 4
_SHARE = 0.4  # 64 bits, as in Godot
_LEAST_MARGIN = np.float32(0.0001)
_DEPTH_SHARE = 0.05
_EPSILON = np.float64(0.00001)
_STEPS = 8
_HALF, _QUARTER, _THREE = np.float32(0.5), np.float32(0.25), np.float32(0.75)
_ROOM_M = 0.02
"""A recovery may move a body so far before the list of near bodies is made anew."""


@call
def find_near(space: Space, me: int, low: Any, high: Any, exclude: Any) -> int:
    """Lists in `space.near` the bodies that a body can meet within a box, in Godot's order; how many.

    Static bodies come first. What cannot be met is replaced by the last of the list, then looked at again.
    """
    near = space.near
    bodies = space.bodies
    found = list_within(space, narrow(low), narrow(high))
    if found == 0:
        return 0
    # A stable partition of the reversed list: static ones first.
    for number in range(found // 2):
        near[number], near[found - 1 - number] = near[found - 1 - number], near[number]
    statics = 0
    for number in range(found):
        index = near[number]
        if bodies[index].kind == STATIC:
            for place in range(number, statics, -1):
                near[place] = near[place - 1]
            near[statics] = index
            statics += 1
    mask = bodies[me].mask
    number = 0
    while number < found:
        index = near[number]
        body = bodies[index]
        if index == me or body.kind == AREA or body.kind == REMOVED or (body.layer & mask) == 0:
            found -= 1
            near[number] = near[found]
        else:
            number += 1
    kept = 0
    for number in range(found):
        if near[number] != exclude:
            near[kept] = near[number]
            kept += 1
    return kept


@call
def _find_around(
    space: Space, body: int, transform: Any, origin: Vector, motion: Vector, margin: np.float32, exclude: int
) -> int:
    low, high = body_box(space, body, transform, wide(origin))
    more = np.float64(margin) + _ROOM_M
    start = (
        low[0] + min(motion[0], F0) - more,
        low[1] + min(motion[1], F0) - more,
        low[2] + min(motion[2], F0) - more,
    )
    end = (
        high[0] + max(motion[0], F0) + more,
        high[1] + max(motion[1], F0) + more,
        high[2] + max(motion[2], F0) + more,
    )
    return find_near(space, body, start, end, exclude)


@call
def _list_contacts(space: Space, me: int, transform: Any, origin: Vector, margin: np.float32, near: int) -> int:
    """The contacts of a body at `origin` with all near ones; how many."""
    body = space.bodies[me]
    room = space.scratch
    count = 0
    for own in range(body.shape_count):
        if not is_enabled(body, own):
            continue
        shape = np.int64(body.first_shape + own)
        for number in range(near):
            other = space.near[number]
            their = space.bodies[other]
            for place in range(their.shape_count):
                if not is_enabled(their, place):
                    continue
                before = count
                solid = np.int64(their.first_shape + place)
                _, count = collide_shapes(
                    space, shape, transform, origin, solid, their.transform, margin, count >= 0, count
                )
                for index in range(before, count):
                    room[CONTACTS + index * CONTACT_SIZE + 9] = other
    return count


@call
def _recover(
    space: Space, me: int, transform: Any, origin: Vector, margin: np.float32, near: int
) -> tuple[bool, Vector]:
    """Pushes the body out of what is closer than the margin; whether there was anything, and where it is then."""
    room = space.scratch
    least = np.float32(np.float64(margin) * _DEPTH_SHARE)
    recovered = False
    for _ in range(_ROUNDS):
        count = _list_contacts(space, me, transform, origin, margin, near)
        if count == 0:
            break
        recovered = True
        weights = F0
        for index in range(count):
            weights += space.bodies[int(room[CONTACTS + index * CONTACT_SIZE + 9])].priority
        scale = F1 if abs(weights) < EPSILON else np.float32(count) / weights
        way = (F0, F0, F0)
        for index in range(count):
            start = CONTACTS + index * CONTACT_SIZE
            a, b = read_point(room, start, 0), read_point(room, start, 1)
            n = normalized32(sub(a, b))
            depth = dot(n, add(a, way)) - dot(n, b)
            if np.float64(depth) > np.float64(least) + _EPSILON:
                priority = space.bodies[int(room[start + 9])].priority
                push = mul(mul(mul(mul(n, depth - least), np.float32(_SHARE)), priority), scale)
                way = sub(way, push)
        if is_zero(way):
            break
        origin = add(origin, way)
    return recovered, origin


@call
def _is_free(space: Space, mine: Solid, motion: Vector, other: Solid, sweep: Vector) -> bool:
    """Whether a shape, swept along `motion` (in its own frame; `sweep` in the world), meets nothing of another one."""
    if other.kind != MESH:
        return is_separated(mine, motion, other, space.vertices)
    low, high = box_in_frame(space.vertices, mine, other, length32(sweep) + np.float32(_ROOM_M))
    for index in range(0, other.corners, 3):
        if is_near_triangle(space.vertices, other, index, low, high) and not is_separated(
            mine, motion, triangle_of(other, other.first + index), space.vertices
        ):
            return False
    return True


@call
def _search(space: Space, mine: Solid, other: Solid, motion: Vector) -> tuple[np.float32, np.float32]:
    """The free and the blocked share of a motion that is blocked somewhere."""
    low, high, lean = F0, F1, _HALF
    for step in range(_STEPS):
        share = low + (high - low) * lean
        if _is_free(space, mine, turn_back(mine, mul(motion, share)), other, motion):
            low = share
            lean = _HALF if step == 0 or high < F1 else _THREE
        else:
            high = share
            lean = _HALF if step == 0 or low > F0 else _QUARTER
    return low, high


@call
def _cast(
    space: Space, me: int, transform: Any, origin: Vector, motion: Vector, near: int
) -> tuple[np.float32, np.float32, int]:
    """Safe and unsafe share of the motion, and which shape is stopped; -1: none."""
    body = space.bodies[me]
    safe, unsafe, stopped = F1, F1, -1
    still = (F0, F0, F0)
    for own in range(body.shape_count):
        if not is_enabled(body, own):
            continue
        mine = solid_of(space.shapes[body.first_shape + own], transform, origin)
        whole = turn_back(mine, motion)
        best_safe, best_unsafe = F1, F1
        for number in range(near):
            their = space.bodies[space.near[number]]
            for place in range(their.shape_count):
                if not is_enabled(their, place):
                    continue
                other = solid_of(space.shapes[their.first_shape + place], their.transform, read3(their.transform[9:]))
                if _is_free(space, mine, whole, other, motion):
                    continue
                if not _is_free(space, mine, still, other, motion):
                    return F0, F0, own
                low, high = _search(space, mine, other, motion)
                if low < best_safe:
                    best_safe, best_unsafe = low, high
        if best_safe < safe:
            safe, unsafe, stopped = best_safe, best_unsafe, own
    return safe, unsafe, stopped


@call
def _write_contact(
    space: Space, result: Any, place: int, index: int, depth: np.float32, other: int, shape: int, own: int
) -> None:
    """Copies a contact of the scratch into the result."""
    start = CONTACTS + index * CONTACT_SIZE
    contact = result.contacts[place]
    position = read_point(space.scratch, start, 1)
    body = space.bodies[other]
    spin = read3(body.angular_velocity)
    contact.body, contact.shape, contact.local_shape, contact.depth = other, shape, own, depth
    write3(contact.normal, read_point(space.scratch, start, 2))
    write3(contact.position, position)
    write3(contact.velocity, add(read3(body.linear_velocity), cross(spin, sub(position, read3(body.transform[9:])))))
    write3(contact.angular_velocity, spin)


@call
def _copy_contact(result: Any, target: int, source: int) -> None:
    a, b = result.contacts[target], result.contacts[source]
    a.body, a.local_shape, a.depth = b.body, b.local_shape, b.depth
    a["shape"] = b["shape"]  # in plain Python, `shape` is that of an array
    write3(a.normal, read3(b.normal))
    write3(a.position, read3(b.position))
    write3(a.velocity, read3(b.velocity))
    write3(a.angular_velocity, read3(b.angular_velocity))


@call
def _keep(
    space: Space, result: Any, count: int, most: int, index: int, least: np.float32, other: int, shape: int, own: int
) -> int:
    """Takes a contact into the result: the deepest is first, each other one replaces a less deep one or is appended."""
    start = CONTACTS + index * CONTACT_SIZE
    depth = length32(sub(read_point(space.scratch, start, 1), read_point(space.scratch, start, 0)))
    if depth < least:
        return count
    deepest = result.contacts[0].depth if count > 0 else F0
    is_best = bool(depth > deepest)
    if most > 1 and count > 0:
        before = count
        count += 1
        tested = deepest if is_best else depth
        place = 0
        while place < before - 1:
            if tested > result.contacts[place + 1].depth:
                count -= 1
                break
            place += 1
        if place < most - 1:
            if is_best:
                _copy_contact(result, place + 1, 0)
            else:
                _write_contact(space, result, place + 1, index, depth, other, shape, own)
        else:
            count -= 1
    elif is_best:
        count = 1
    if is_best:
        _write_contact(space, result, 0, index, depth, other, shape, own)
    return count


@call
def _rest(
    space: Space,
    me: int,
    transform: Any,
    origin: Vector,
    margin: np.float32,
    least: np.float32,
    near: int,
    stopped: int,
    most: int,
    result: Any,
) -> int:
    """Writes the contacts at the end of the motion; how many."""
    body = space.bodies[me]
    count = 0
    for own in range(body.shape_count):
        if not is_enabled(body, own) or (stopped >= 0 and own != stopped):
            continue
        shape = np.int64(body.first_shape + own)
        for number in range(near):
            other = space.near[number]
            their = space.bodies[other]
            for place in range(their.shape_count):
                if not is_enabled(their, place):
                    continue
                solid = np.int64(their.first_shape + place)
                _, found = collide_shapes(
                    space, shape, transform, origin, solid, their.transform, margin, count >= 0, np.int64(0)
                )
                for index in range(found):
                    count = _keep(space, result, count, most, index, least, other, place, own)
    return count


@call
def test_motion(
    space: Space,
    body: int,
    transform: Any,
    motion: Vector,
    margin: np.float32,
    max_collisions: int,
    recovery_as_collision: bool,
    exclude: int,
    result: Any,
) -> bool:
    """As `test_motion` of Jolt."""
    margin = max(margin, _LEAST_MARGIN)
    start = read3(transform[9:])
    origin = start
    near = _find_around(space, body, transform, origin, motion, margin, exclude)
    safe, unsafe = F1, F1
    collided = False
    if near > 0:
        recovered, origin = _recover(space, body, transform, origin, margin, near)
        if recovered and length32(sub(origin, start)) > np.float32(_ROOM_M):
            near = _find_around(space, body, transform, origin, motion, margin, exclude)
        safe, unsafe, stopped = _cast(space, body, transform, origin, motion, near)
        if safe < F1 or (recovered and recovery_as_collision):
            least = min(length32(motion), np.float32(np.float64(margin) * _DEPTH_SHARE))
            there = add(origin, mul(motion, unsafe))
            most = min(max_collisions, MAX_CONTACTS)
            count = _rest(space, body, transform, there, margin, least, near, stopped, most, result)
            collided = count > 0
            result.count = count
    recovery = sub(origin, start)
    if collided:
        free = mul(motion, safe)
        write3(result.travel, add(free, recovery))
        write3(result.remainder, sub(motion, free))
        result.depth = result.contacts[0].depth
        result.safe = safe
        result.unsafe = unsafe
    else:
        write3(result.travel, add(motion, recovery))
        write3(result.remainder, (F0, F0, F0))
        result.depth = F0
        result.safe = F1
        result.unsafe = F1
        result.count = 0
    return collided
