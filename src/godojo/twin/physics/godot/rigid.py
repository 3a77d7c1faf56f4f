"""Rigid bodies of GodotPhysics3D: forces, free flight, and contacts with bodies that are not rigid.

In a step: damping, gravity and forces; contacts where the bodies are; sixteen rounds over their impulses, each of which
also pushes out what overlaps by more than 1 cm; the move. Contacts keep their impulses while their points stay within
1 cm, and outlive the overlap by one step.
"""

from typing import Any

import numpy as np

from godojo.twin.physics.bounds import body_box, is_enabled, update_bounds
from godojo.twin.physics.forces import center_of, turned
from godojo.twin.physics.godot.collide import collide_shapes
from godojo.twin.physics.godot.contacts import CONTACT_SIZE, CONTACTS, FEATURE_A
from godojo.twin.physics.godot.features import read_point
from godojo.twin.physics.godot.motion import find_near
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.rotations import quaternion_of
from godojo.twin.physics.space import RIGID, Space
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
    normalized32,
    read3,
    sub,
    wide,
    write3,
)

Vector = Any

ROUNDS = 16  # project setting physics/3d/solver/solver_iterations, and so on
RECYCLE_M = np.float32(0.01)
MAX_SEPARATION_M = np.float32(0.05)
ALLOWED_PENETRATION_M = np.float32(0.01)
BIAS = np.float32(0.8)
_LEAST_VELOCITY = np.float32(0.0001)
_MAX_BIAS_TURN = np.float32(np.pi / 8.0)
_SLOTS = 8
_MINE, _THEIRS, _NORMAL, _PRESSED, _RUBBED, _PUSHED, _PUSHED_CENTER, _BOUNCE = 0, 3, 6, 9, 10, 13, 14, 15
"""Parts of a kept contact: its points in both frames, its normal, impulses, and the wanted bounce."""


@inline
def _out(transform: Any, v: Vector) -> Vector:
    return (dot(read3(transform), v), dot(read3(transform[3:]), v), dot(read3(transform[6:]), v))


@inline
def _into(transform: Any, v: Vector) -> Vector:
    return (
        transform[0] * v[0] + transform[3] * v[1] + transform[6] * v[2],
        transform[1] * v[0] + transform[4] * v[1] + transform[7] * v[2],
        transform[2] * v[0] + transform[5] * v[1] + transform[8] * v[2],
    )


@inline
def _spun(record: Any, v: Vector) -> Vector:
    """The inverse inertia times a vector."""
    return narrow(turned(record, wide(v)))


@call
def _push(record: Any, gravity: Vector, step: np.float32) -> None:
    """Damping, then gravity and forces."""
    mass = F1 / record.inverse_mass
    force = add(mul(mul(gravity, record.gravity_scale), mass), read3(record.force))
    force = add(force, read3(record.constant_force))
    torque = add(read3(record.torque), read3(record.constant_torque))
    damp = max(F1 - step * record.linear_damp, F0)
    spin_damp = max(F1 - step * record.angular_damp, F0)
    velocity = mul(read3(record.linear_velocity), damp)
    spin = mul(read3(record.angular_velocity), spin_damp)
    write3(record.linear_velocity, add(velocity, mul(mul(force, record.inverse_mass), step)))
    write3(record.angular_velocity, add(spin, mul(_spun(record, torque), step)))
    write3(record.force, (F0, F0, F0))
    write3(record.torque, (F0, F0, F0))


@call
def _validate(space: Space, me: int) -> None:
    """Drops contacts that were not found in the last step, and those whose points have come apart."""
    record = space.bodies[me]
    for slot in range(_SLOTS):
        met = record.met[slot]
        if met < 0:
            record.met[slot] = 0
        elif met > 0:
            record.met[slot] = -met
            kept = record.contacts[slot]
            their = space.bodies[space.shapes[met - 1].body]
            offset = sub(read3(their.transform[9:]), read3(record.transform[9:]))
            a = _out(record.transform, read3(kept[_MINE:]))
            b = add(_out(their.transform, read3(kept[_THEIRS:])), offset)
            normal = read3(kept[_NORMAL:])
            depth = dot(sub(a, b), normal)
            apart = sub(add(b, mul(normal, depth)), a)
            if depth < -MAX_SEPARATION_M or dot(apart, apart) > MAX_SEPARATION_M * MAX_SEPARATION_M:
                record.met[slot] = 0


@call
def _keep(space: Space, me: int, other: int, shape: Any, a: Vector, b: Vector, offset: Vector) -> None:
    """Takes a contact, with the impulses of the one that was there."""
    record, their = space.bodies[me], space.bodies[other]
    mine, theirs = _into(record.transform, a), _into(their.transform, sub(b, offset))
    free = -1
    for slot in range(_SLOTS):
        kept = record.contacts[slot]
        if record.met[slot] == 0:
            free = slot if free < 0 else free
        elif abs(record.met[slot]) == shape + 1:
            one, two = sub(read3(kept[_MINE:]), mine), sub(read3(kept[_THEIRS:]), theirs)
            if dot(one, one) < RECYCLE_M * RECYCLE_M and dot(two, two) < RECYCLE_M * RECYCLE_M:
                free = slot
                break
    if free < 0:
        return
    kept = record.contacts[free]
    if record.met[free] == 0:
        for part in range(_PRESSED, _BOUNCE + 1):
            kept[part] = F0
    record.met[free] = shape + 1
    write3(kept[_MINE:], mine)
    write3(kept[_THEIRS:], theirs)
    write3(kept[_NORMAL:], normalized32(sub(a, b)))


@call
def _find_contacts(space: Space, me: int) -> None:
    record = space.bodies[me]
    room = space.scratch
    origin = read3(record.transform[9:])
    low, high = body_box(space, me, record.transform, wide(origin))
    for number in range(find_near(space, me, low, high, np.int64(-1))):
        other = space.near[number]
        their = space.bodies[other]
        if their.kind == RIGID:
            continue
        offset = sub(read3(their.transform[9:]), origin)
        t = their.transform
        # Relative to the body, where numbers are small.
        shifted = (t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], offset[0], offset[1], offset[2])
        for own in range(record.shape_count):
            if not is_enabled(record, own):
                continue
            for place in range(their.shape_count):
                if not is_enabled(their, place):
                    continue
                shape = np.int64(their.first_shape + place)
                _, count = collide_shapes(
                    space,
                    np.int64(record.first_shape + own),
                    record.transform,
                    (F0, F0, F0),
                    shape,
                    shifted,
                    F0,
                    own >= 0,
                    np.int64(0),
                )
                for index in range(count):
                    start = CONTACTS + index * CONTACT_SIZE
                    _keep(space, me, other, shape, read_point(room, start, 0), read_point(room, start, 1), offset)


@inline
def _arms(record: Any, their: Any, kept: Any) -> tuple[Vector, Vector, Any]:
    """From the centres to the contact's points, and how deep it is."""
    offset = sub(read3(their.transform[9:]), read3(record.transform[9:]))
    a = _out(record.transform, read3(kept[_MINE:]))
    b = _out(their.transform, read3(kept[_THEIRS:]))
    depth = dot(sub(a, add(b, offset)), read3(kept[_NORMAL:]))
    return sub(a, sub(center_of(record), read3(record.transform[9:]))), b, depth


@inline
def _apply(record: Any, arm: Vector, impulse: Vector) -> None:
    write3(record.linear_velocity, sub(read3(record.linear_velocity), mul(impulse, record.inverse_mass)))
    write3(record.angular_velocity, sub(read3(record.angular_velocity), _spun(record, cross(arm, impulse))))


@inline
def _relative(record: Any, their: Any, arm: Vector, lever: Vector) -> Vector:
    """How fast the other's point moves away from the body's."""
    there = add(read3(their.linear_velocity), cross(read3(their.angular_velocity), lever))
    return sub(sub(there, read3(record.linear_velocity)), cross(read3(record.angular_velocity), arm))


@call
def _prepare(space: Space, me: int, slot: int, before: Vector, spin_before: Vector, step: np.float32) -> bool:
    """Starts with the impulses of the last step; whether the contact counts."""
    record = space.bodies[me]
    their = space.bodies[space.shapes[abs(record.met[slot]) - 1].body]
    kept = record.contacts[slot]
    arm, lever, depth = _arms(record, their, kept)
    if depth <= F0:
        return False
    normal = read3(kept[_NORMAL:])
    space.scratch[FEATURE_A + slot] = -BIAS / step * min(F0, ALLOWED_PENETRATION_M - depth)
    _apply(record, arm, add(mul(normal, kept[_PRESSED]), read3(kept[_RUBBED:])))
    bounce = min(max(record.bounce + their.bounce, F0), F1)
    if bounce != F0:
        there = add(read3(their.linear_velocity), cross(read3(their.angular_velocity), lever))
        bounce *= dot(sub(sub(there, before), cross(spin_before, arm)), normal)
    kept[_BOUNCE] = bounce
    return True


@call
def _solve(space: Space, me: int, slot: int, pushed: Any, step: np.float32) -> tuple[bool, Any]:
    """One round for a contact; whether anything has changed, and the velocities that push out."""
    record = space.bodies[me]
    their = space.bodies[space.shapes[abs(record.met[slot]) - 1].body]
    kept = record.contacts[slot]
    arm, lever, _ = _arms(record, their, kept)
    normal = read3(kept[_NORMAL:])
    weight = record.inverse_mass + dot(normal, cross(_spun(record, cross(arm, normal)), arm))
    wanted = np.float32(space.scratch[FEATURE_A + slot])
    changed = False
    way, turn = pushed
    missing = wanted + dot(add(way, cross(turn, arm)), normal)
    if abs(missing) > _LEAST_VELOCITY:
        old = kept[_PUSHED]
        kept[_PUSHED] = max(old + missing / weight, F0)
        impulse = mul(normal, kept[_PUSHED] - old)
        way = sub(way, mul(impulse, record.inverse_mass))
        more = _spun(record, cross(arm, impulse))
        limit = _MAX_BIAS_TURN / step
        if length32(more) > limit:
            more = mul(normalized32(more), limit)
        turn = sub(turn, more)
        missing = wanted + dot(add(way, cross(turn, arm)), normal)
        if abs(missing) > _LEAST_VELOCITY:
            old = kept[_PUSHED_CENTER]
            kept[_PUSHED_CENTER] = max(old + missing / record.inverse_mass, F0)
            way = sub(way, mul(mul(normal, kept[_PUSHED_CENTER] - old), record.inverse_mass))
        changed = True
    speed = dot(_relative(record, their, arm, lever), normal)
    if abs(speed) > _LEAST_VELOCITY:
        old = kept[_PRESSED]
        kept[_PRESSED] = max(old - (kept[_BOUNCE] + speed) / weight, F0)
        _apply(record, arm, mul(normal, kept[_PRESSED] - old))
        changed = True
    sliding = _relative(record, their, arm, lever)
    sliding = sub(sliding, mul(normal, dot(normal, sliding)))
    speed = length32(sliding)
    if speed > _LEAST_VELOCITY:
        along = (sliding[0] / speed, sliding[1] / speed, sliding[2] / speed)
        weight = record.inverse_mass + dot(along, cross(_spun(record, cross(arm, along)), arm))
        before = read3(kept[_RUBBED:])
        rubbed = add(before, mul(along, -speed / weight))
        length = length32(rubbed)
        most = kept[_PRESSED] * abs(min(record.friction, their.friction))
        if length > EPSILON and length > most:
            rubbed = mul(rubbed, most / length)
        write3(kept[_RUBBED:], rubbed)
        _apply(record, arm, sub(rubbed, before))
        changed = True
    return changed, (way, turn)


@call
def _turn(record: Any, axis: Vector, angle: np.float32) -> None:
    """Turns the body about its centre of mass: Godot's `Basis(axis, angle)`, and a new orthonormal basis."""
    t = record.transform
    c, s = np.float32(np.cos(angle)), np.float32(np.sin(angle))
    x, y, z = axis
    u = F1 - c
    r0 = (x * x + c * (F1 - x * x), x * y * u - z * s, x * z * u + y * s)
    r1 = (x * y * u + z * s, y * y + c * (F1 - y * y), y * z * u - x * s)
    r2 = (x * z * u - y * s, y * z * u + x * s, z * z + c * (F1 - z * z))
    before = _out(t, read3(record.center))
    a, b, d = (t[0], t[3], t[6]), (t[1], t[4], t[7]), (t[2], t[5], t[8])
    a = normalized32((dot(r0, a), dot(r1, a), dot(r2, a)))
    b = (dot(r0, b), dot(r1, b), dot(r2, b))
    b = normalized32(sub(b, mul(a, dot(a, b))))
    d = (dot(r0, d), dot(r1, d), dot(r2, d))
    d = normalized32(sub(sub(d, mul(a, dot(a, d))), mul(b, dot(b, d))))
    for row in range(3):
        t[3 * row], t[3 * row + 1], t[3 * row + 2] = a[row], b[row], d[row]
    shift = sub(before, _out(t, read3(record.center)))
    for part in range(3):
        t[9 + part] += shift[part]
    rotation = quaternion_of(t)
    for part in range(4):
        record.rotation[part] = rotation[part]


@call
def move_rigid(space: Space, body: int, gravity: Any, step: np.float32) -> None:
    """One step of a rigid body."""
    record = space.bodies[body]
    before, spin_before = read3(record.linear_velocity), read3(record.angular_velocity)
    _push(record, gravity, step)
    _validate(space, body)
    _find_contacts(space, body)
    active = 0
    for slot in range(_SLOTS):
        if record.met[slot] != 0 and _prepare(space, body, slot, before, spin_before, step):
            active |= 1 << slot
    nothing = (F0, F0, F0)
    pushed = (nothing, nothing)
    for _ in range(ROUNDS):
        for slot in range(_SLOTS):
            if active & (1 << slot):
                changed, pushed = _solve(space, body, slot, pushed, step)
                if not changed:
                    active &= ~(1 << slot)
        if active == 0:
            break
    spin = add(read3(record.angular_velocity), pushed[1])
    speed = length32(spin)
    if abs(speed) >= EPSILON:
        _turn(record, (spin[0] / speed, spin[1] / speed, spin[2] / speed), speed * step)
    way = mul(add(read3(record.linear_velocity), pushed[0]), step)
    for axis in range(3):
        record.transform[9 + axis] += way[axis]
    for part in range(12):
        record.target[part] = record.transform[part]
    update_bounds(space, body)
