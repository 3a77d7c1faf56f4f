"""Rigid bodies: forces, free flight, and contacts with bodies that are not rigid, solved as Jolt does.

In a step: damping and gravity (Godot), forces (Jolt), contacts at the positions before the step, ten rounds over their
impulses, the move, and two rounds that push out what overlaps more than the slop. Rigid bodies do not meet each other.
"""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.bounds import body_box, find_near, is_enabled, update_bounds
from godojo.twin.physics.cores import core_of
from godojo.twin.physics.distance import find_gap
from godojo.twin.physics.forces import center_of, turned
from godojo.twin.physics.godot.rigid import update_tensor
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.manifold import contact_point, contact_point_count
from godojo.twin.physics.rotations import quaternion_product, write_basis
from godojo.twin.physics.space import LOCK_ROTATION, MESH, MOVES, RIGID, STATIC, Space
from godojo.twin.physics.vectors import F0, F1, add, cross, dot, mul, narrow, read3, sub, wide, write3

VELOCITY_ROUNDS = 10
POSITION_ROUNDS = 2
SPECULATIVE_M = 0.02
SLOP_M = 0.02
BAUMGARTE = 0.2
MAX_PENETRATION_M = 0.2
BOUNCE_MPS = 1.0
KEEP_SQUARED_M = 0.01 * 0.01
"""Impulses are kept for contact points that have moved less than this on both bodies."""
MAX_MPS = 500.0
MAX_RADPS = 47.12389
"""Project settings below `physics/jolt_physics_3d`, and Jolt's defaults."""

_CONTACTS = 16
_SIZE = 40
_MAX = 10
_GJK = 420
# A contact in `Space.scratch`: normal, arm, impulses (normal, friction), bias, friction, other body, point on this body
# and on the other, shape. `_prepare` adds two tangents, the velocity of the surface, the spin that an impulse of 1
# along the normal and the tangents gives, and their effective masses.
_NORMAL, _ARM, _IMPULSE, _BIAS, _FRICTION, _OTHER, _MINE, _THEIRS, _SHAPE = 0, 3, 6, 9, 10, 11, 12, 15, 18
_FIRST, _SECOND, _SURFACE, _LEVERS, _MASSES = 19, 22, 25, 28, 37


@inline
def _capped(vector: Any, limit: float) -> Any:
    squared = dot(vector, vector)
    if squared > limit * limit:
        return mul(vector, limit / math.sqrt(squared))
    return vector


@call
def _push(record: Any, gravity: Any, step: np.float32) -> None:
    """Damping and gravity, then forces."""
    slower = max(F1 - record.linear_damp * step, F0)
    slower_turn = max(F1 - record.angular_damp * step, F0)
    velocity = add(mul(read3(record.linear_velocity), slower), mul(mul(gravity, record.gravity_scale), step))
    spin = mul(read3(record.angular_velocity), slower_turn)
    force = add(read3(record.force), read3(record.constant_force))
    torque = add(read3(record.torque), read3(record.constant_torque))
    velocity = add(velocity, mul(mul(force, record.inverse_mass), step))
    spin = add(spin, mul(narrow(turned(record, wide(torque))), step))
    write3(record.linear_velocity, narrow(_capped(wide(velocity), MAX_MPS)))
    write3(record.angular_velocity, narrow(_capped(wide(spin), MAX_RADPS)))
    write3(record.force, (F0, F0, F0))
    write3(record.torque, (F0, F0, F0))


@inline
def _read(room: Any, contact: int, part: int) -> Any:
    start = _CONTACTS + contact * _SIZE + part
    return (room[start], room[start + 1], room[start + 2])


@inline
def _write(room: Any, contact: int, part: int, value: Any) -> None:
    start = _CONTACTS + contact * _SIZE + part
    room[start], room[start + 1], room[start + 2] = value[0], value[1], value[2]


@inline
def _tangents(normal: Any) -> Any:
    if abs(normal[0]) > abs(normal[1]):
        length = math.sqrt(normal[0] * normal[0] + normal[2] * normal[2])
        first = (normal[2] / length, 0.0, -normal[0] / length)
    else:
        length = math.sqrt(normal[1] * normal[1] + normal[2] * normal[2])
        first = (0.0, normal[2] / length, -normal[1] / length)
    return first, cross(normal, first)


@inline
def _from_body(record: Any, point: Any) -> Any:
    """A point of the world in a body's frame."""
    t = record.transform
    o = sub(point, wide(read3(t[9:])))
    return (
        t[0] * o[0] + t[3] * o[1] + t[6] * o[2],
        t[1] * o[0] + t[4] * o[1] + t[7] * o[2],
        t[2] * o[0] + t[5] * o[1] + t[8] * o[2],
    )


@inline
def _to_world(record: Any, p: Any) -> Any:
    t = record.transform
    return (
        t[9] + (t[0] * p[0] + t[1] * p[1] + t[2] * p[2]),
        t[10] + (t[3] * p[0] + t[4] * p[1] + t[5] * p[2]),
        t[11] + (t[6] * p[0] + t[7] * p[1] + t[8] * p[2]),
    )


@inline
def _velocity_of(record: Any, point: Any) -> Any:
    """The velocity of a point of a body that is not rigid."""
    if record.kind == STATIC:
        return (0.0, 0.0, 0.0)
    arm = sub(point, wide(read3(record.transform[9:])))
    return add(wide(read3(record.linear_velocity)), cross(wide(read3(record.angular_velocity)), arm))


@call
def _add_contact(
    space: Space,
    me: int,
    other: int,
    shape: int,
    axis: Any,
    on_one: Any,
    on_two: Any,
    count: int,
    fall: Any,
    step: float,
) -> int:
    """One contact point; impulses of the last step are taken over from a point close by."""
    room = space.scratch
    record, their = space.bodies[me], space.bodies[other]
    middle = mul(add(on_one, on_two), 0.5)
    arm = sub(middle, wide(center_of(record)))
    moving = sub(
        _velocity_of(their, middle),
        add(wide(read3(record.linear_velocity)), cross(wide(read3(record.angular_velocity)), arm)),
    )
    along = dot(moving, axis)
    depth = dot(sub(on_one, on_two), axis)
    bias = max(0.0, -depth / step)
    bounce = min(max(np.float64(record.bounce) + their.bounce, 0.0), 1.0)
    if bounce > 0.0 and along < -BOUNCE_MPS and along < -bias:
        # Without what gravity has added in this step: the body has not fallen that far yet.
        bias = bounce * (along + dot(fall, axis))
    mine, theirs = _from_body(record, on_one), _from_body(their, on_two)
    _write(room, count, _NORMAL, axis)
    _write(room, count, _ARM, arm)
    _write(room, count, _IMPULSE, (0.0, 0.0, 0.0))
    _write(room, count, _MINE, mine)
    _write(room, count, _THEIRS, theirs)
    start = _CONTACTS + count * _SIZE
    room[start + _BIAS] = bias
    room[start + _FRICTION] = abs(min(record.friction, their.friction))
    room[start + _OTHER] = other
    room[start + _SHAPE] = shape
    for known in range(4):
        if record.met[known] == shape + 1:
            kept = record.contacts[known]
            a, b = sub(wide(read3(kept)), mine), sub(wide(read3(kept[3:])), theirs)
            if dot(a, a) < KEEP_SQUARED_M and dot(b, b) < KEEP_SQUARED_M:
                _write(room, count, _IMPULSE, wide(read3(kept[6:])))
                break
    return count + 1


@call
def _find_contacts(space: Space, me: int, fall: Any, step: float) -> int:
    record = space.bodies[me]
    origin = wide(read3(record.transform[9:]))
    low, high = body_box(space, me, record.transform, origin)
    more = (SPECULATIVE_M, SPECULATIVE_M, SPECULATIVE_M)
    near = find_near(space, me, sub(low, more), add(high, more), -1)
    count = 0
    for local in range(record.shape_count):
        if not is_enabled(record, local):
            continue
        mine = core_of(space.shapes[record.first_shape + local], record.transform, origin)
        for number in range(near):
            other = space.near[number]
            their = space.bodies[other]
            if their.kind == RIGID:
                continue
            for place in range(their.shape_count):
                index = their.first_shape + place
                shape = space.shapes[index]
                if shape.kind == MESH or not is_enabled(their, place):
                    continue
                core = core_of(shape, their.transform, wide(read3(their.transform[9:])))
                room = space.scratch[_GJK:]
                gap, axis, on_two = find_gap(mine, core, space.vertices, room, SPECULATIVE_M)
                if gap > SPECULATIVE_M:
                    continue
                for point in range(contact_point_count(mine, core, axis)):
                    found, on_one, there = contact_point(mine, core, axis, gap, on_two, point)
                    if found and count < _MAX:
                        count = _add_contact(space, me, other, index, axis, on_one, there, count, fall, step)
    return count


@inline
def _taken(motion: Any, record: Any, direction: Any, lever: Any, impulse: Any) -> Any:
    """The velocity and the spin of a body without an impulse along a direction; `lever` is that of its spin."""
    velocity, spin = motion
    velocity = sub(velocity, mul(direction, impulse * record.inverse_mass))
    spin = sub(spin, mul(lever, impulse))
    return wide(narrow(velocity)), wide(narrow(spin))


@call
def _effective_mass(record: Any, direction: Any, arm: Any) -> Any:
    lever = cross(arm, direction)
    return 1.0 / (record.inverse_mass + dot(lever, turned(record, lever)))


@inline
def _approach(motion: Any, direction: Any, arm: Any, surface: Any) -> Any:
    own = add(motion[0], cross(motion[1], arm))
    return dot(direction, sub(own, surface))


@call
def _prepare(space: Space, me: int, contact: int) -> None:
    """What all rounds over a contact need: its tangents, the spin along each direction, effective masses, and so on."""
    room = space.scratch
    record = space.bodies[me]
    start = _CONTACTS + contact * _SIZE
    normal, arm = _read(room, contact, _NORMAL), _read(room, contact, _ARM)
    their = space.bodies[int(room[start + _OTHER])]
    first, second = _tangents(normal)
    _write(room, contact, _FIRST, first)
    _write(room, contact, _SECOND, second)
    _write(room, contact, _SURFACE, _velocity_of(their, add(wide(center_of(record)), arm)))
    for number in range(3):
        lever = cross(arm, normal if number == 0 else (first if number == 1 else second))
        spin = turned(record, lever)
        _write(room, contact, _LEVERS + 3 * number, spin)
        room[start + _MASSES + number] = 1.0 / (record.inverse_mass + dot(lever, spin))


@inline
def _warm(room: Any, record: Any, contact: int, motion: Any) -> Any:
    """Applies the impulses of the last step."""
    impulse = _read(room, contact, _IMPULSE)
    motion = _taken(motion, record, _read(room, contact, _FIRST), _read(room, contact, _LEVERS + 3), impulse[1])
    motion = _taken(motion, record, _read(room, contact, _SECOND), _read(room, contact, _LEVERS + 6), impulse[2])
    return _taken(motion, record, _read(room, contact, _NORMAL), _read(room, contact, _LEVERS), impulse[0])


@inline
def _solve(room: Any, record: Any, contact: int, motion: Any) -> Any:
    """One round over one contact: friction first, limited by the normal impulse so far, then the normal."""
    start = _CONTACTS + contact * _SIZE
    normal, arm, impulse = _read(room, contact, _NORMAL), _read(room, contact, _ARM), _read(room, contact, _IMPULSE)
    surface = _read(room, contact, _SURFACE)
    has_changed = False
    if room[start + _FRICTION] > 0.0:
        first, second = _read(room, contact, _FIRST), _read(room, contact, _SECOND)
        one = impulse[1] + room[start + _MASSES + 1] * _approach(motion, first, arm, surface)
        two = impulse[2] + room[start + _MASSES + 2] * _approach(motion, second, arm, surface)
        limit = room[start + _FRICTION] * impulse[0]
        squared = one * one + two * two
        if squared > limit * limit:
            scale = limit / math.sqrt(squared)
            one, two = one * scale, two * scale
        if one != impulse[1]:
            motion = _taken(motion, record, first, _read(room, contact, _LEVERS + 3), one - impulse[1])
            has_changed = True
        if two != impulse[2]:
            motion = _taken(motion, record, second, _read(room, contact, _LEVERS + 6), two - impulse[2])
            has_changed = True
        impulse = (impulse[0], one, two)
    towards = _approach(motion, normal, arm, surface) - room[start + _BIAS]
    total = max(impulse[0] + room[start + _MASSES] * towards, 0.0)
    if total != impulse[0]:
        motion = _taken(motion, record, normal, _read(room, contact, _LEVERS), total - impulse[0])
        has_changed = True
    _write(room, contact, _IMPULSE, (total, impulse[1], impulse[2]))
    return has_changed, motion


@call
def _turn(record: Any, by: Any) -> None:
    """Turns the body by a rotation vector, about its centre of mass."""
    angle = math.sqrt(dot(by, by))
    if angle <= 1e-6 or record.traits & LOCK_ROTATION:
        return
    center = wide(center_of(record))
    scale = math.sin(0.5 * angle) / angle
    step = (by[0] * scale, by[1] * scale, by[2] * scale, math.cos(0.5 * angle))
    r = record.rotation
    q = quaternion_product(step, (np.float64(r[0]), np.float64(r[1]), np.float64(r[2]), np.float64(r[3])))
    length = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    for part in range(4):
        r[part] = np.float32(q[part] / length)
    write_basis((r[0], r[1], r[2], r[3]), record.transform)
    _shift(record, sub(center, wide(center_of(record))))


@inline
def _shift(record: Any, by: Any) -> None:
    for axis in range(3):
        record.transform[9 + axis] = np.float32(record.transform[9 + axis] + by[axis])


@call
def _push_out(space: Space, me: int, contact: int) -> bool:
    """Moves the body out of what it overlaps by more than the slop, a fifth of the way."""
    room = space.scratch
    record = space.bodies[me]
    their = space.bodies[int(room[_CONTACTS + contact * _SIZE + _OTHER])]
    normal = _read(room, contact, _NORMAL)
    on_one = _to_world(record, _read(room, contact, _MINE))
    on_two = _to_world(their, _read(room, contact, _THEIRS))
    separation = max(dot(sub(on_two, on_one), normal) + SLOP_M, -MAX_PENETRATION_M)
    if separation >= 0.0:
        return False
    arm = sub(mul(add(on_one, on_two), 0.5), wide(center_of(record)))
    impulse = -_effective_mass(record, normal, arm) * BAUMGARTE * separation
    turn = mul(turned(record, cross(arm, normal)), -impulse)
    _shift(record, mul(normal, -impulse * record.inverse_mass))
    _turn(record, turn)
    return True


@call
def _keep_contacts(space: Space, me: int, count: int) -> None:
    room = space.scratch
    record = space.bodies[me]
    for place in range(4):
        record.met[place] = 0
        if place < count:
            record.met[place] = int(room[_CONTACTS + place * _SIZE + _SHAPE]) + 1
            write3(record.contacts[place], narrow(_read(room, place, _MINE)))
            write3(record.contacts[place][3:], narrow(_read(room, place, _THEIRS)))
            write3(record.contacts[place][6:], narrow(_read(room, place, _IMPULSE)))


@call
def _move_rigid(space: Space, body: int, gravity: Any, step: np.float32) -> None:
    """One step of a rigid body."""
    record = space.bodies[body]
    _push(record, gravity, step)
    fall = wide(mul(mul(gravity, record.gravity_scale), step))
    count = _find_contacts(space, body, fall, np.float64(step))
    room = space.scratch
    motion = (wide(read3(record.linear_velocity)), wide(read3(record.angular_velocity)))
    for contact in range(count):
        _prepare(space, body, contact)
        motion = _warm(room, record, contact, motion)
    if count > 0:
        for _ in range(VELOCITY_ROUNDS):
            has_changed = False
            for contact in range(count):
                changed, motion = _solve(room, record, contact, motion)
                has_changed |= changed
            if not has_changed:
                break
        write3(record.linear_velocity, narrow(motion[0]))
        write3(record.angular_velocity, narrow(motion[1]))
    _keep_contacts(space, body, count)
    _shift(record, mul(wide(read3(record.linear_velocity)), np.float64(step)))
    _turn(record, mul(wide(read3(record.angular_velocity)), np.float64(step)))
    for _ in range(POSITION_ROUNDS):
        has_changed = False
        for contact in range(count):
            has_changed |= _push_out(space, body, contact)
        if not has_changed:
            break
    for part in range(12):
        record.target[part] = record.transform[part]
    update_bounds(space, body)


@call
def move_rigid_bodies(space: Space, movers: int, gravity: Any, step: np.float32) -> None:
    """One step of all rigid bodies; they do not meet each other."""
    for place in range(movers):
        record = space.bodies[space.roster[place].mover]
        record.traits &= ~MOVES
        if record.kind == RIGID:
            record.traits |= MOVES
            _move_rigid(space, space.roster[place].mover, gravity, step)
            update_tensor(record)
