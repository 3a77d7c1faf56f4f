"""Rigid bodies of GodotPhysics3D: one step of all of them.

Damping, gravity and forces; pairs of shapes whose boxes meet; islands of bodies that are linked by such pairs; sixteen
rounds over the contacts of each island, which also push out what overlaps by more than 1 cm; the move; sleep.
"""

from typing import Any

import numpy as np

from godojo.twin.physics.bounds import update_bounds
from godojo.twin.physics.godot.islands import gather, let_sleep, solve_island, sort_movers
from godojo.twin.physics.godot.manifolds import STEP_AT
from godojo.twin.physics.godot.pairs import update_pairs
from godojo.twin.physics.godot.reports import report_contacts
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.rotations import quaternion_of, turn_rows
from godojo.twin.physics.space import (
    ANNOUNCED_COUNT,
    ASLEEP,
    ISLANDS,
    KINEMATIC,
    LOCK_ROTATION,
    MOVES,
    OWN_FORCES,
    RIGID,
    Space,
)
from godojo.twin.physics.vectors import (
    EPSILON,
    F0,
    F1,
    add,
    dot,
    is_zero,
    length32,
    mul,
    normalized32,
    read3,
    sub,
    write3,
)

Vector = Any


@call
def update_tensor(record: Any) -> None:
    """The inverse inertia in the world: `_update_transform_dependent`."""
    t, axes, scale = record.transform, record.axes, record.inverse_inertia
    if record.traits & LOCK_ROTATION:
        for part in range(9):
            record.tensor[part] = F0
        return
    for row in range(3):
        for column in range(3):
            total = F0
            for part in range(3):
                mine = axes[part] * t[3 * row] + axes[3 + part] * t[3 * row + 1] + axes[6 + part] * t[3 * row + 2]
                other = (
                    axes[part] * t[3 * column] + axes[3 + part] * t[3 * column + 1] + axes[6 + part] * t[3 * column + 2]
                )
                total += other * (scale[part] * mine)
            record.tensor[3 * row + column] = total


@call
def _push(record: Any, gravity: Vector, step: np.float32) -> None:
    """Damping, then gravity and forces."""
    write3(record.old_velocity, read3(record.linear_velocity))
    write3(record.old_spin, read3(record.angular_velocity))
    if record.traits & OWN_FORCES == 0:
        force = add(mul(mul(gravity, record.gravity_scale), record.mass), read3(record.force))
        force = add(force, read3(record.constant_force))
        torque = add(read3(record.torque), read3(record.constant_torque))
        damp = max(F1 - step * record.linear_damp, F0)
        spin_damp = max(F1 - step * record.angular_damp, F0)
        velocity = mul(read3(record.linear_velocity), damp)
        spin = mul(read3(record.angular_velocity), spin_damp)
        t = record.tensor
        turn = (dot(read3(t), torque), dot(read3(t[3:]), torque), dot(read3(t[6:]), torque))
        write3(record.linear_velocity, add(velocity, mul(mul(force, record.inverse_mass), step)))
        write3(record.angular_velocity, add(spin, mul(turn, step)))
    nothing = (F0, F0, F0)
    write3(record.force, nothing)
    write3(record.torque, nothing)
    write3(record.push, nothing)
    write3(record.push_spin, nothing)


@call
def orthonormalize(t: Any) -> None:
    """`Basis.orthonormalize`."""
    a = normalized32((t[0], t[3], t[6]))
    b = (t[1], t[4], t[7])
    b = normalized32(sub(b, mul(a, dot(a, b))))
    d = (t[2], t[5], t[8])
    d = normalized32(sub(sub(d, mul(a, dot(a, d))), mul(b, dot(b, d))))
    for row in range(3):
        t[3 * row], t[3 * row + 1], t[3 * row + 2] = a[row], b[row], d[row]


@call
def _turn(record: Any, axis: Vector, angle: np.float32) -> None:
    """Turns the body about its centre of mass: Godot's `Basis(axis, angle)`, and a new orthonormal basis."""
    t = record.transform
    r0, r1, r2 = turn_rows(axis, angle)
    a, b, d = (t[0], t[3], t[6]), (t[1], t[4], t[7]), (t[2], t[5], t[8])
    center = read3(record.center)
    if not is_zero(center):
        left = ((F1 - r0[0], -r0[1], -r0[2]), (-r1[0], F1 - r1[1], -r1[2]), (-r2[0], -r2[1], F1 - r2[2]))
        t[9] += dot((dot(left[0], a), dot(left[0], b), dot(left[0], d)), center)
        t[10] += dot((dot(left[1], a), dot(left[1], b), dot(left[1], d)), center)
        t[11] += dot((dot(left[2], a), dot(left[2], b), dot(left[2], d)), center)
    t[0], t[1], t[2] = dot(r0, a), dot(r0, b), dot(r0, d)
    t[3], t[4], t[5] = dot(r1, a), dot(r1, b), dot(r1, d)
    t[6], t[7], t[8] = dot(r2, a), dot(r2, b), dot(r2, d)
    orthonormalize(t)


@inline
def _lock(record: Any) -> None:
    """Takes away what locked axes do not allow."""
    for axis in range(3):
        if record.locks & (1 << axis):
            record.linear_velocity[axis] = record.push[axis] = F0
        if record.locks & (8 << axis):
            record.angular_velocity[axis] = record.push_spin[axis] = F0


@call
def _move(space: Space, body: int, step: np.float32) -> None:
    record = space.bodies[body]
    _lock(record)
    spin = add(read3(record.angular_velocity), read3(record.push_spin))
    speed = length32(spin)
    if abs(speed) >= EPSILON:
        _turn(record, (spin[0] / speed, spin[1] / speed, spin[2] / speed), speed * step)
    way = mul(add(read3(record.linear_velocity), read3(record.push)), step)
    for axis in range(3):
        record.transform[9 + axis] += way[axis]
    for part in range(12):
        record.target[part] = record.transform[part]
    rotation = quaternion_of(record.transform)
    for part in range(4):
        record.rotation[part] = rotation[part]
    update_tensor(record)
    update_bounds(space, body)


@inline
def _is_moving(record: Any) -> bool:
    return bool(not is_zero(read3(record.linear_velocity)) or not is_zero(read3(record.angular_velocity)))


@call
def move_rigid_bodies(space: Space, movers: int, gravity: Any, step: np.float32) -> None:
    """One step of all rigid bodies; contacts that have begun or ended are in `space.announced`."""
    bodies, roster = space.bodies, space.roster
    if space.order.shape[0] == 1:  # no rigid body, and no room for lists
        return
    space.counts[ANNOUNCED_COUNT] = 0
    space.scratch[STEP_AT] = step
    for place in range(movers):
        record = bodies[roster[place].mover]
        record.traits &= ~MOVES
        if record.kind == RIGID and record.traits & ASLEEP == 0:
            record.traits |= MOVES
            _push(record, gravity, step)
    sorted_at = sort_movers(space, movers)
    update_pairs(space, movers, sorted_at)
    before = space.counts[ISLANDS]
    linked = members = 0
    for place in range(sorted_at, sorted_at + movers):
        record = bodies[space.order[place]]
        is_active = record.traits & MOVES != 0 or (record.kind == KINEMATIC and _is_moving(record))
        if is_active and record.island <= before:
            space.counts[ISLANDS] += 1
            first = linked
            linked, members = gather(space, space.order[place], before, linked, members)
            solve_island(space, first, linked, step)
    for place in range(movers):
        if bodies[roster[place].mover].traits & MOVES:
            _move(space, roster[place].mover, step)
    report_contacts(space, sorted_at, movers, linked)
    let_sleep(space, members, step)
