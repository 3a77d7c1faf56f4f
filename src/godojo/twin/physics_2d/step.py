"""The server's side of a tick: when transforms take effect, areas, and the step at its end."""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.jit import call
from godojo.twin.physics.space import AREA, AREAS_KNOWN, KINEMATIC, MOVED, MOVED_COUNT, RIGID, Space
from godojo.twin.physics.step import mark_moved
from godojo.twin.physics.vectors import F0, F1
from godojo.twin.physics_2d.areas import FLUSHES, MOST_MOVES, update_overlaps
from godojo.twin.physics_2d.motion import update_bounds
from godojo.twin.physics_2d.space import LAST_STEP
from godojo.twin.physics_2d.vectors import ZERO, add, dot, length, mul, read2, sub, write2

_TURN = 2.0 * math.pi


@call
def set_body_transform(space: Space, body: int, transform: Any, order: int) -> None:
    """What setting a node's global transform does: queries of others see it after `flush_transforms`; that of a
    kinematic body after the step. `order`: how many nodes were moved before it since the last flush."""
    record = space.bodies[body]
    for part in range(6):
        record.target[part] = transform[part]
    mark_moved(space, body)
    if record.kind == AREA or record.stamp == 0:
        # Nodes that moved last are handed on first, and what is handed on last comes first in Godot's lists.
        record.stamp = (np.int64(space.counts[FLUSHES]) + 1) * MOST_MOVES + MOST_MOVES - 1 - min(order, MOST_MOVES - 2)


@call
def flush_transforms(space: Space) -> None:
    """Hands the new transforms of nodes to the server."""
    space.counts[FLUSHES] += 1
    for place in range(space.counts[MOVED_COUNT]):
        body = space.moved[place]
        record = space.bodies[body]
        if record.traits & MOVED == 0:
            continue
        record.traits &= ~MOVED
        if record.kind != KINEMATIC:
            space.counts[AREAS_KNOWN] = 0
            for part in range(6):
                record.transform[part] = record.target[part]
            update_bounds(space, body)
    space.counts[MOVED_COUNT] = 0


# Bodies


@call
def _rotation(transform: Any) -> Any:
    return np.float32(math.atan2(transform[1], transform[0]))


@call
def _aim_kinematic(space: Space, body: int, step: np.float32) -> None:
    """Gives a kinematic body the velocity that brings it to its target."""
    record = space.bodies[body]
    moved = sub(read2(record.target[4:]), read2(record.transform[4:]))
    write2(record.linear_velocity, add(read2(record.constant_velocity), (moved[0] / step, moved[1] / step)))
    turn = F0
    if record.target[0] != record.transform[0] or record.target[1] != record.transform[1]:
        angle = np.float64(_rotation(record.target) - _rotation(record.transform))
        turn = np.float32(angle - _TURN * np.round(angle / _TURN)) / step
    record.angular_velocity = record.constant_spin + turn


@call
def _add_forces(space: Space, body: int, gravity: Any, step: np.float32) -> None:
    record = space.bodies[body]
    pull = mul(gravity, record.gravity_scale)
    force = add(add(mul(pull, record.mass), read2(record.force)), read2(record.constant_force))
    velocity = mul(read2(record.linear_velocity), max(F1 - step * record.linear_damp, F0))
    write2(record.linear_velocity, add(velocity, mul(mul(force, record.inverse_mass), step)))
    torque = record.torque + record.constant_torque
    spin = record.angular_velocity * max(F1 - step * record.angular_damp, F0)
    record.angular_velocity = spin + record.inverse_inertia * torque * step
    write2(record.force, ZERO)
    record.torque = F0


@call
def _move_rigid(space: Space, body: int, step: np.float32) -> None:
    record = space.bodies[body]
    t = record.transform
    turn = record.angular_velocity * step
    angle = _rotation(t) + turn
    place = add(read2(t[4:]), mul(read2(record.linear_velocity), step))
    center = (t[0] * record.center[0] + t[2] * record.center[1], t[1] * record.center[0] + t[3] * record.center[1])
    if dot(center, center) > np.float32(1e-10):
        c, s = np.float32(math.cos(turn)), np.float32(math.sin(turn))
        place = add(place, sub(center, (center[0] * c - center[1] * s, center[0] * s + center[1] * c)))
    size_x, size_y = length((t[0], t[1])), length((t[2], t[3]))
    if t[0] * t[3] - t[1] * t[2] < F0:
        size_y = -size_y
    c, s = np.float32(math.cos(angle)), np.float32(math.sin(angle))
    t[0], t[1], t[2], t[3] = c * size_x, s * size_x, -s * size_y, c * size_y
    write2(t[4:], place)
    for part in range(6):
        record.target[part] = t[part]
    update_bounds(space, body)


@call
def _move_kinematic(space: Space, body: int) -> None:
    record = space.bodies[body]
    has_moved = False
    for part in range(6):
        has_moved |= record.transform[part] != record.target[part]
        record.transform[part] = record.target[part]
    if has_moved:
        update_bounds(space, body)
    if record.linear_velocity[0] == F0 and record.linear_velocity[1] == F0 and record.angular_velocity == F0:
        record.stamp = 0


@call
def step_space(space: Space, gravity: Any, delta: float) -> None:
    """The physics step after all `_physics_process`: finds overlaps, moves rigid and kinematic bodies.

    Entered and exited pairs are in `space.events` afterwards, as many as `space.counts[EVENTS]` says; their signals are
    emitted before the next `_physics_process`.
    """
    step = np.float32(delta)
    space.scratch[LAST_STEP] = delta
    flush_transforms(space)
    bodies, roster = space.bodies, space.roster
    movers = 0
    while movers < roster.shape[0] and roster[movers].mover >= 0:
        body = roster[movers].mover
        if bodies[body].kind == KINEMATIC:
            _aim_kinematic(space, body, step)
        elif bodies[body].kind == RIGID:
            _add_forces(space, body, gravity, step)
        movers += 1
    update_overlaps(space)
    for place in range(movers):
        body = roster[place].mover
        if bodies[body].kind == RIGID:
            _move_rigid(space, body, step)
        elif bodies[body].kind == KINEMATIC:
            _move_kinematic(space, body)
