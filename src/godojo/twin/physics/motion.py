"""`body_test_motion` as Godot's Jolt module does it: recover, cast, collide. `move_and_collide` on top of it."""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.bounds import body_box, find_near, is_enabled
from godojo.twin.physics.cores import contact_points, core_of, has_face, kept_core
from godojo.twin.physics.distance import gap_to_shape
from godojo.twin.physics.engines import by_engine
from godojo.twin.physics.godot.motion import test_motion as godot_test_motion
from godojo.twin.physics.hits import HIT_SIZE, HITS, MAX_HITS, keep_hit
from godojo.twin.physics.impact import NEVER, time_of_impact
from godojo.twin.physics.jit import call
from godojo.twin.physics.meshes import collide_mesh, mesh_impact
from godojo.twin.physics.space import MAX_CONTACTS, MESH, STATIC, Space
from godojo.twin.physics.vectors import (
    EPSILON,
    F0,
    F1,
    add,
    cross,
    dot,
    length32,
    mul,
    narrow,
    neg,
    normalized32,
    read3,
    sub,
    wide,
    write3,
)

Vector = tuple[np.float32, np.float32, np.float32]

RECOVERY_ROUNDS = 4
RECOVERY_SHARE = np.float32(0.4)
_ROOM = 0.02
"""Metres that a recovery may move a body before the list of near bodies is made anew."""


@call
def search(blocked_from: float, length: np.float32) -> tuple[np.float32, np.float32, bool]:
    """The free and the blocked share that Jolt's search for a time of impact ends with; whether it met anything."""
    steps = 4
    if length > F0:
        steps = min(max(int(math.log(1000.0 * length) / math.log(2.0)), 4), 16)
    low, high, lean = F0, F1, np.float32(0.5)
    met = False
    for step in range(steps):
        middle = low + (high - low) * lean
        if middle >= blocked_from:
            met = True
            high = middle
            lean = np.float32(0.5) if step == 0 or low > F0 else np.float32(0.25)
        else:
            low = middle
            lean = np.float32(0.5) if step == 0 or high < F1 else np.float32(0.75)
    return low, high, met


@call
def collide(
    space: Space, me: int, transform: Any, origin: Any, margin: float, near: int, limit: int, by_depth: bool
) -> int:
    """Lists the contacts of a body at `origin` that are closer than the margin in `space.scratch`; how many."""
    body = space.bodies[me]
    room = space.scratch
    count = 0
    for local in range(body.shape_count):
        if not is_enabled(body, local):
            continue
        mine = core_of(space.shapes[body.first_shape + local], transform, wide(origin))
        for number in range(near):
            other = space.near[number]
            their = space.bodies[other]
            for place in range(their.shape_count):
                shape = space.shapes[their.first_shape + place]
                if not is_enabled(their, place):
                    continue
                index = np.int64(their.first_shape + place)
                if shape.kind == MESH:
                    core = kept_core(space, index)
                    count = collide_mesh(space, mine, core, margin, count, limit, by_depth, other, place, local)
                    continue
                gap, axis, point = gap_to_shape(space, mine, index, margin)
                if gap <= margin:
                    points = contact_points(mine, axis) if has_face(kept_core(space, index), axis) else 1
                    hit = (-gap, axis, point, other, place, local, points)
                    count = keep_hit(room, count, limit, by_depth, hit)
    return count


@call
def _recover(
    space: Space, me: int, transform: Any, origin: Vector, margin: np.float32, near: int
) -> tuple[bool, Vector]:
    """Pushes the body out of everything that is closer than the margin; whether there was anything, and how far."""
    room = space.scratch
    total = (F0, F0, F0)
    recovered = False
    for _ in range(RECOVERY_ROUNDS):
        hits = collide(space, me, transform, origin, np.float64(margin), near, MAX_HITS, False)
        if hits == 0:
            break
        recovered = True
        priorities = 0.0
        for hit in range(hits):
            priorities += space.bodies[int(room[HITS + hit * HIT_SIZE + 7])].priority
        average = max(priorities / hits, 1e-5)
        recovery = (F0, F0, F0)
        for hit in range(hits):
            start = HITS + hit * HIT_SIZE
            axis = narrow((room[start + 1], room[start + 2], room[start + 3]))
            depth = np.float32(room[start] + margin + dot(wide(axis), wide(recovery)))
            if depth <= F0:
                continue
            share = np.float32(space.bodies[int(room[start + 7])].priority / average)
            recovery = sub(recovery, mul(axis, depth * RECOVERY_SHARE * share))
        if recovery[0] == F0 and recovery[1] == F0 and recovery[2] == F0:
            break
        total = add(total, recovery)
        origin = add(origin, recovery)
    return recovered, total


@call
def _cast(
    space: Space, me: int, transform: Any, origin: Vector, motion: Vector, near: int
) -> tuple[bool, np.float32, np.float32]:
    """How much of the motion is free: whether something was met, safe and unsafe share."""
    body = space.bodies[me]
    length = length32(motion)
    wide_motion = wide(motion)
    safe, unsafe, met_any = F1, F1, False
    for local in range(body.shape_count):
        if not is_enabled(body, local):
            continue
        mine = core_of(space.shapes[body.first_shape + local], transform, wide(origin))
        shape_safe, shape_unsafe = F1, F1
        for number in range(near):
            their = space.bodies[space.near[number]]
            blocked_from = NEVER
            for place in range(their.shape_count):
                shape = space.shapes[their.first_shape + place]
                if not is_enabled(their, place):
                    continue
                index = np.int64(their.first_shape + place)
                if shape.kind == MESH:
                    blocked_from = min(blocked_from, mesh_impact(space, mine, kept_core(space, index), wide_motion))
                else:
                    blocked_from = min(blocked_from, time_of_impact(space, mine, index, wide_motion))
            if blocked_from <= 1.0:
                low, high, met = search(blocked_from, length)
                met_any |= met
                if low < shape_safe:
                    shape_safe, shape_unsafe = low, high
        safe = min(safe, shape_safe)
        unsafe = min(unsafe, shape_unsafe)
    return met_any, safe, unsafe


@call
def _write_contacts(
    space: Space, hits: int, margin: np.float32, motion: Vector, max_collisions: int, result: Any
) -> int:
    """Keeps the contacts that oppose the motion, each as often as its face has points; how many."""
    room = space.scratch
    direction = normalized32(motion)
    is_moving = dot(motion, motion) > F0
    limit = min(max_collisions, MAX_CONTACTS)
    count = 0
    for hit in range(hits):
        start = HITS + hit * HIT_SIZE
        depth = np.float32(room[start]) + margin
        normal = neg(narrow((room[start + 1], room[start + 2], room[start + 3])))
        if depth <= F0 or (is_moving and dot(direction, normal) >= -EPSILON):
            continue
        position = narrow((room[start + 4], room[start + 5], room[start + 6]))
        other = int(room[start + 7])
        their = space.bodies[other]
        velocity = read3(their.linear_velocity)
        spin = read3(their.angular_velocity)
        if their.kind != STATIC:
            velocity = add(velocity, cross(spin, sub(position, read3(their.transform[9:]))))
        for _ in range(int(room[start + 10]) if max_collisions > 1 else 1):
            contact = result.contacts[count]
            contact.body = other
            contact.shape = int(room[start + 8])
            contact.local_shape = int(room[start + 9])
            contact.depth = depth
            write3(contact.normal, normal)
            write3(contact.position, position)
            write3(contact.velocity, velocity)
            write3(contact.angular_velocity, spin)
            count += 1
            if count == limit:
                return count
    return count


@call
def _test_motion(
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
    """Whether the body at `transform` collides on its way; `result` is a MOTION record. `exclude`: a body, or -1."""
    margin = max(margin, np.float32(0.0001))
    origin = read3(transform[9:])
    near = _find_near(space, body, transform, origin, motion, margin, exclude)
    recovered, recovery = False, (F0, F0, F0)
    hit, safe, unsafe = False, F1, F1
    collided = False
    if near > 0:
        recovered, recovery = _recover(space, body, transform, origin, margin, near)
        origin = add(origin, recovery)
        if recovered and length32(recovery) > np.float32(_ROOM):
            near = _find_near(space, body, transform, origin, motion, margin, exclude)
        hit, safe, unsafe = _cast(space, body, transform, origin, motion, near)
        if hit or (recovered and recovery_as_collision):
            there = add(origin, mul(motion, unsafe))
            limit = min(min(max_collisions, 32), MAX_HITS)
            hits = collide(space, body, transform, there, np.float64(margin), near, limit, True)
            count = _write_contacts(space, hits, margin, motion, max_collisions, result)
            collided = count > 0
            result.count = count
    if collided:
        free = mul(motion, safe)
        write3(result.travel, add(recovery, free))
        write3(result.remainder, sub(motion, free))
        result.depth = result.contacts[0].depth
        result.safe = safe
        result.unsafe = unsafe
    else:
        write3(result.travel, add(recovery, motion))
        write3(result.remainder, (F0, F0, F0))
        result.depth = F0
        result.safe = F1
        result.unsafe = F1
        result.count = 0
    return collided


test_motion = by_engine(_test_motion, godot_test_motion)
"""Whether a body collides on its way, by the rules of the space's engine; takes what `_test_motion` takes."""


@call
def _find_near(
    space: Space, body: int, transform: Any, origin: Vector, motion: Vector, margin: np.float32, exclude: int
) -> int:
    low, high = body_box(space, body, transform, wide(origin))
    more = np.float64(margin) + _ROOM
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
def move_and_collide(
    space: Space,
    body: int,
    transform: Any,
    motion: Vector,
    test_only: bool,
    margin: np.float32,
    recovery_as_collision: bool,
    max_collisions: Any,
    cancel_sliding: bool,
    axis_lock: int,
    exclude: Any,
    result: Any,
) -> bool:
    """`PhysicsBody3D.move_and_collide`: moves `transform` (the node's global one, 12 floats) unless `test_only`.

    GDScript's method cancels sliding. The caller hands the new transform to `set_body_transform`, as setting a node's
    transform does.
    """
    colliding = test_motion(
        space, body, transform, motion, margin, max_collisions, recovery_as_collision, exclude, result
    )
    if cancel_sliding:
        length = length32(motion)
        precision = np.float32(0.001)
        if colliding:
            precision += length * (result.unsafe - result.safe)
            if result.contacts[0].depth > margin + precision:
                cancel_sliding = False
        if cancel_sliding:
            direction = (F0, F0, F0)
            if length > EPSILON:
                direction = (motion[0] / length, motion[1] / length, motion[2] / length)
            travel = read3(result.travel)
            along = mul(direction, dot(travel, direction))
            if length32(sub(travel, along)) < margin + precision:
                write3(result.travel, along)
                write3(result.remainder, sub(motion, along))
    for axis in range(3):
        if axis_lock & (1 << axis):
            result.travel[axis] = F0
    if not test_only:
        for axis in range(3):
            transform[9 + axis] += result.travel[axis]
    return bool(colliding)
