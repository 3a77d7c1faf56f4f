"""Contacts of two shapes of GodotPhysics: which points are kept from step to step, and the impulses there."""

from typing import Any

import numpy as np

from godojo.twin.physics.godot.collide import collide_shapes
from godojo.twin.physics.godot.contacts import CONTACT_SIZE, CONTACTS
from godojo.twin.physics.godot.features import read_point
from godojo.twin.physics.godot.solids import extent, solid_of
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import LOOKS_AHEAD, RIGID, SCRATCH, TOO_FAST, Space
from godojo.twin.physics.vectors import (
    F0,
    F1,
    add,
    cross,
    dot,
    length32,
    mul,
    neg,
    normalized32,
    read3,
    sub,
    write3,
)

Vector = Any

RECYCLE_M = np.float32(0.01)  # project settings below physics/3d/solver
MAX_SEPARATION_M = np.float32(0.05)
ALLOWED_PENETRATION_M = np.float32(0.01)
BIAS = np.float32(0.8)
_LEAST_VELOCITY = np.float64(0.0001)
_LEAST_LENGTH = np.float64(0.00001)
_MAX_BIAS_TURN = np.pi / 8.0
_MOST = 4
_FAST_SHARE = np.float32(0.3)
STEP_AT = SCRATCH - 1
"""Where `Space.scratch` has the length of a step."""


@inline
def _out(t: Any, v: Vector) -> Vector:
    """`basis.xform`."""
    return (dot(read3(t), v), dot(read3(t[3:]), v), dot(read3(t[6:]), v))


@call
def _into(record: Any, v: Vector) -> Vector:
    """`basis.xform` of a body's inverse transform: transposed for a rigid body, a general inverse for others."""
    t = record.transform
    if record.kind == RIGID:
        return (
            t[0] * v[0] + t[3] * v[1] + t[6] * v[2],
            t[1] * v[0] + t[4] * v[1] + t[7] * v[2],
            t[2] * v[0] + t[5] * v[1] + t[8] * v[2],
        )
    a, b, c = read3(t), read3(t[3:]), read3(t[6:])
    co0 = b[1] * c[2] - b[2] * c[1]
    co1 = b[2] * c[0] - b[0] * c[2]
    co2 = b[0] * c[1] - b[1] * c[0]
    s = F1 / (a[0] * co0 + a[1] * co1 + a[2] * co2)
    return (
        dot((co0 * s, (a[2] * c[1] - a[1] * c[2]) * s, (a[1] * b[2] - a[2] * b[1]) * s), v),
        dot((co1 * s, (a[0] * c[2] - a[2] * c[0]) * s, (a[2] * b[0] - a[0] * b[2]) * s), v),
        dot((co2 * s, (a[1] * c[0] - a[0] * c[1]) * s, (a[0] * b[1] - a[1] * b[0]) * s), v),
    )


@inline
def _points(one: Any, two: Any, offset: Vector, contact: Any) -> tuple[Vector, Vector, Any]:
    """The contact's points relative to the first body, and how deep it is."""
    a = _out(one.transform, read3(contact.mine))
    b = add(_out(two.transform, read3(contact.theirs)), offset)
    return a, b, dot(sub(a, b), read3(contact.normal))


@call
def _validate(manifold: Any, one: Any, two: Any, offset: Vector) -> None:
    """Drops contacts that were not found in the last step, and those whose points have come apart."""
    place = 0
    while place < manifold.count:
        contact = manifold.contacts[place]
        drop = contact.used == 0
        if not drop:
            contact.used = 0
            a, b, depth = _points(one, two, offset, contact)
            apart = sub(add(b, mul(read3(contact.normal), depth)), a)
            drop = depth < -MAX_SEPARATION_M or dot(apart, apart) > MAX_SEPARATION_M * MAX_SEPARATION_M
        if drop:
            # The last one takes its place, and is looked at next.
            manifold.count -= 1
            if place < manifold.count:
                manifold.contacts[place] = manifold.contacts[manifold.count]
        else:
            place += 1


@call
def _place_of(manifold: Any, one: Any, two: Any, offset: Vector, mine: Vector, theirs: Vector, depth: Any) -> int:
    """Where a new contact goes: for one close by, behind the last, or for the least deep one; -1: nowhere."""
    for place in range(manifold.count):
        contact = manifold.contacts[place]
        here, there = sub(read3(contact.mine), mine), sub(read3(contact.theirs), theirs)
        if dot(here, here) < RECYCLE_M * RECYCLE_M and dot(there, there) < RECYCLE_M * RECYCLE_M:
            return place
    if manifold.count < _MOST:
        contact = manifold.contacts[manifold.count]
        manifold.count += 1
        _clear(contact)
        return int(manifold.count - 1)
    least = -1
    for place in range(_MOST):
        _, _, other = _points(one, two, offset, manifold.contacts[place])
        if other < depth:
            depth, least = other, place
    if least >= 0:
        _clear(manifold.contacts[least])
    return least


@inline
def _clear(contact: Any) -> None:
    contact.pressed = contact.pushed = contact.pushed_center = F0
    write3(contact.rubbed, (F0, F0, F0))


@call
def _look_ahead(space: Space, record: Any, shape: int) -> None:
    """Notes that a body is so fast that Godot would look where it gets to: by a third of its size in a step."""
    if record.traits & LOOKS_AHEAD == 0 or record.kind != RIGID:
        return
    velocity = read3(record.linear_velocity)
    speed = length32(velocity)
    if speed > _LEAST_LENGTH:
        axis = (velocity[0] / speed, velocity[1] / speed, velocity[2] / speed)
        low, high = extent(solid_of(space.shapes[shape], record.transform, (F0, F0, F0)), space.vertices, axis)
        if speed * np.float32(space.scratch[STEP_AT]) > (high - low) * _FAST_SHARE:
            space.counts[TOO_FAST] = 1


@call
def find_contacts(space: Space, index: int) -> bool:
    """Finds where two shapes touch now; whether they do."""
    manifold = space.manifolds[index]
    one, two = space.bodies[manifold.one], space.bodies[manifold.two]
    manifold.pushes_one = one.kind == RIGID and (two.layer & one.mask) != 0
    manifold.pushes_two = two.kind == RIGID and (one.layer & two.mask) != 0
    if not (manifold.pushes_one or manifold.pushes_two):
        return False
    offset = sub(read3(two.transform[9:]), read3(one.transform[9:]))
    _validate(manifold, one, two, offset)
    t = two.transform
    # Relative to the first body, where numbers are small.
    shifted = (t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], offset[0], offset[1], offset[2])
    collided, count = collide_shapes(
        space,
        np.int64(manifold.shape_one),
        one.transform,
        (F0, F0, F0),
        np.int64(manifold.shape_two),
        shifted,
        F0,
        index >= 0,
        np.int64(0),
    )
    if not collided:
        _look_ahead(space, one, manifold.shape_one)
        _look_ahead(space, two, manifold.shape_two)
    room = space.scratch
    for number in range(count):
        start = CONTACTS + number * CONTACT_SIZE
        a, b = read_point(room, start, 0), read_point(room, start, 1)
        normal = normalized32(sub(a, b))
        mine, theirs = _into(one, a), _into(two, sub(b, offset))
        depth = dot(sub(_out(one.transform, mine), add(_out(two.transform, theirs), offset)), normal)
        place = _place_of(manifold, one, two, offset, mine, theirs, depth)
        if place >= 0:
            contact = manifold.contacts[place]
            write3(contact.mine, mine)
            write3(contact.theirs, theirs)
            write3(contact.normal, normal)
            contact.used = 1
    return collided


@inline
def spun(record: Any, v: Vector) -> Vector:
    """The inverse inertia times a vector."""
    t = record.tensor
    return (dot(read3(t), v), dot(read3(t[3:]), v), dot(read3(t[6:]), v))


@inline
def center_of(record: Any) -> Vector:
    """The centre of mass, from the body's origin in the world's axes."""
    return _out(record.transform, read3(record.center))


@inline
def kick(record: Any, arm: Vector, center: Vector, impulse: Vector) -> None:
    """`apply_impulse` at an arm from the centre of mass."""
    arm = sub(add(arm, center), center)  # rounds as in Godot
    write3(record.linear_velocity, add(read3(record.linear_velocity), mul(impulse, record.inverse_mass)))
    write3(record.angular_velocity, add(read3(record.angular_velocity), spun(record, cross(arm, impulse))))


@inline
def _push(record: Any, arm: Vector, center: Vector, impulse: Vector, limit: Any) -> None:
    """`apply_bias_impulse`."""
    write3(record.push, add(read3(record.push), mul(impulse, record.inverse_mass)))
    if limit != F0:
        turn = spun(record, cross(sub(add(arm, center), center), impulse))
        if length32(turn) > limit:
            turn = mul(normalized32(turn), limit)
        write3(record.push_spin, add(read3(record.push_spin), turn))


@call
def prepare(space: Space, index: int, step: np.float32) -> bool:
    """Starts contacts with the impulses of the last step; whether any of them counts."""
    manifold = space.manifolds[index]
    one, two = space.bodies[manifold.one], space.bodies[manifold.two]
    offset = sub(read3(two.transform[9:]), read3(one.transform[9:]))
    center_one, center_two = center_of(one), center_of(two)
    rate = np.float32(1.0 / np.float64(step))
    counts = False
    for place in range(manifold.count):
        contact = manifold.contacts[place]
        contact.active = 0
        a, b, depth = _points(one, two, offset, contact)
        contact.depth = depth
        if depth <= F0:
            continue
        normal = read3(contact.normal)
        arm, lever = sub(a, center_one), sub(sub(b, center_two), offset)
        write3(contact.arm, arm)
        write3(contact.lever, lever)
        weight = F0
        turn_one = turn_two = (F0, F0, F0)
        if manifold.pushes_one:
            weight += one.inverse_mass
            turn_one = spun(one, cross(arm, normal))
        if manifold.pushes_two:
            weight += two.inverse_mass
            turn_two = spun(two, cross(lever, normal))
        weight += dot(normal, cross(turn_one, arm)) + dot(normal, cross(turn_two, lever))
        contact.weight = F1 / weight
        contact.bias = -BIAS * rate * min(F0, -depth + ALLOWED_PENETRATION_M)
        impulse = add(mul(normal, contact.pressed), read3(contact.rubbed))
        contact.active = 1
        counts = True
        if manifold.pushes_one:
            kick(one, arm, center_one, neg(impulse))
        if manifold.pushes_two:
            kick(two, lever, center_two, impulse)
        bounce = min(max(one.bounce + two.bounce, F0), F1)
        if bounce != F0:
            moving = sub(
                sub(add(read3(two.old_velocity), cross(read3(two.old_spin), lever)), read3(one.old_velocity)),
                cross(read3(one.old_spin), arm),
            )
            bounce = bounce * dot(moving, normal)
        contact.bounce = bounce
    return counts


@inline
def _parting(one: Any, two: Any, arm: Vector, lever: Vector) -> Vector:
    """How fast the second body's point moves away from the first's."""
    there = add(read3(two.linear_velocity), cross(read3(two.angular_velocity), lever))
    return sub(sub(there, read3(one.linear_velocity)), cross(read3(one.angular_velocity), arm))


@inline
def _pushing(one: Any, two: Any, arm: Vector, lever: Vector) -> Vector:
    """The same of the velocities that push out."""
    there = add(read3(two.push), cross(read3(two.push_spin), lever))
    return sub(sub(there, read3(one.push)), cross(read3(one.push_spin), arm))


@call
def _push_apart(manifold: Any, one: Any, two: Any, contact: Any, step: np.float32) -> bool:
    """Velocities, for this step alone, that end an overlap; whether anything has changed."""
    normal, arm, lever = read3(contact.normal), read3(contact.arm), read3(contact.lever)
    missing = -dot(_pushing(one, two, arm, lever), normal) + contact.bias
    if not abs(missing) > _LEAST_VELOCITY:
        return False
    center_one, center_two = center_of(one), center_of(two)
    limit = np.float32(_MAX_BIAS_TURN / np.float64(step))
    old = contact.pushed
    contact.pushed = max(old + missing * contact.weight, F0)
    impulse = mul(normal, contact.pushed - old)
    if manifold.pushes_one:
        _push(one, arm, center_one, neg(impulse), limit)
    if manifold.pushes_two:
        _push(two, lever, center_two, impulse, limit)
    missing = -dot(_pushing(one, two, arm, lever), normal) + contact.bias
    if abs(missing) > _LEAST_VELOCITY:
        light = (one.inverse_mass if manifold.pushes_one else F0) + (two.inverse_mass if manifold.pushes_two else F0)
        old = contact.pushed_center
        contact.pushed_center = max(old + missing / light, F0)
        impulse = mul(normal, contact.pushed_center - old)
        if manifold.pushes_one:
            _push(one, arm, center_one, neg(impulse), F0)
        if manifold.pushes_two:
            _push(two, lever, center_two, impulse, F0)
    return True


@call
def _rub(manifold: Any, one: Any, two: Any, contact: Any) -> bool:
    """Friction, limited by the impulse along the normal; whether anything has changed."""
    normal, arm, lever = read3(contact.normal), read3(contact.arm), read3(contact.lever)
    here = add(read3(one.linear_velocity), cross(read3(one.angular_velocity), arm))
    there = add(read3(two.linear_velocity), cross(read3(two.angular_velocity), lever))
    sliding = sub(there, here)
    sliding = sub(sliding, mul(normal, dot(normal, sliding)))
    speed = length32(sliding)
    if not speed > _LEAST_VELOCITY:
        return False
    along = (sliding[0] / speed, sliding[1] / speed, sliding[2] / speed)
    light_one = light_two = F0
    turn_one = turn_two = (F0, F0, F0)
    if manifold.pushes_one:
        light_one, turn_one = one.inverse_mass, spun(one, cross(arm, along))
    if manifold.pushes_two:
        light_two, turn_two = two.inverse_mass, spun(two, cross(lever, along))
    weight = light_one + light_two + dot(along, add(cross(turn_one, arm), cross(turn_two, lever)))
    before = read3(contact.rubbed)
    rubbed = add(before, mul(along, -speed / weight))
    length = length32(rubbed)
    most = contact.pressed * abs(min(one.friction, two.friction))
    if length > _LEAST_LENGTH and length > most:
        rubbed = mul(rubbed, most / length)
    write3(contact.rubbed, rubbed)
    impulse = sub(rubbed, before)
    if manifold.pushes_one:
        kick(one, arm, center_of(one), neg(impulse))
    if manifold.pushes_two:
        kick(two, lever, center_of(two), impulse)
    return True


@call
def solve(space: Space, index: int, step: np.float32) -> bool:
    """One round over the contacts of a pair; whether any of them needs another one."""
    manifold = space.manifolds[index]
    one, two = space.bodies[manifold.one], space.bodies[manifold.two]
    again = False
    for place in range(manifold.count):
        contact = manifold.contacts[place]
        if contact.active == 0:
            continue
        changed = _push_apart(manifold, one, two, contact, step)
        normal, arm, lever = read3(contact.normal), read3(contact.arm), read3(contact.lever)
        speed = dot(_parting(one, two, arm, lever), normal)
        if abs(speed) > _LEAST_VELOCITY:
            old = contact.pressed
            contact.pressed = max(old + -(contact.bounce + speed) * contact.weight, F0)
            impulse = mul(normal, contact.pressed - old)
            if manifold.pushes_one:
                kick(one, arm, center_of(one), neg(impulse))
            if manifold.pushes_two:
                kick(two, lever, center_of(two), impulse)
            changed = True
        changed |= _rub(manifold, one, two, contact)
        contact.active = changed
        again |= changed
    return again
