"""The server's side of a tick: when transforms take effect, and the step at its end."""

from typing import Any

import numpy as np

from godojo.twin.physics.areas import update_overlaps
from godojo.twin.physics.bounds import update_bounds
from godojo.twin.physics.engines import by_engine
from godojo.twin.physics.godot.pairs import has_moved
from godojo.twin.physics.godot.rigid import move_rigid_bodies as godot_move_rigid_bodies
from godojo.twin.physics.godot.rigid import orthonormalize, update_tensor
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.rigid import move_rigid_bodies as jolt_move_rigid_bodies
from godojo.twin.physics.rotations import quaternion_of, quaternion_product
from godojo.twin.physics.space import KINEMATIC, MOVED, MOVED_COUNT, RIGID, Space
from godojo.twin.physics.vectors import F0, is_zero, read3
from godojo.twin.physics.wake import come_first

_move_rigid_bodies = by_engine(jolt_move_rigid_bodies, godot_move_rigid_bodies)


@inline
def mark_moved(space: Space, body: int) -> None:
    """Notes that a node has a new transform; `target` must have it when `flush_transforms` is called."""
    record = space.bodies[body]
    if record.traits & MOVED == 0:
        record.traits |= MOVED
        space.moved[space.counts[MOVED_COUNT]] = body
        space.counts[MOVED_COUNT] += 1


@call
def set_body_transform(space: Space, body: int, transform: Any) -> None:
    """What setting a node's global transform (12 floats, without scale) does.

    Queries of others see it after `flush_transforms`; that of a kinematic body after the step.
    """
    record = space.bodies[body]
    for part in range(12):
        record.target[part] = transform[part]
    mark_moved(space, body)


@call
def flush_transforms(space: Space) -> None:
    """Hands the new transforms of nodes to the server, as Godot does before and after all `_physics_process`."""
    for place in range(space.counts[MOVED_COUNT]):
        body = space.moved[place]
        record = space.bodies[body]
        record.traits &= ~MOVED
        if record.kind == KINEMATIC:
            continue
        for part in range(12):
            record.transform[part] = record.target[part]
        if record.kind == RIGID:
            orthonormalize(record.transform)
            rotation = quaternion_of(record.transform)
            for part in range(4):
                record.rotation[part] = rotation[part]
            update_tensor(record)
        update_bounds(space, body)
        has_moved(space, body)
    space.counts[MOVED_COUNT] = 0


@call
def _aim_kinematic(space: Space, body: int, step: np.float32) -> None:
    """Gives a kinematic body the velocity that brings it to its target."""
    record = space.bodies[body]
    has_turned = False
    for part in range(9):
        has_turned |= record.transform[part] != record.target[part]
    rested = is_zero(read3(record.linear_velocity)) and is_zero(read3(record.angular_velocity))
    for axis in range(3):
        record.old_velocity[axis], record.old_spin[axis] = record.linear_velocity[axis], record.angular_velocity[axis]
        record.linear_velocity[axis] = (record.target[9 + axis] - record.transform[9 + axis]) / step
        record.angular_velocity[axis] = F0
    if has_turned:
        before, after = quaternion_of(record.transform), quaternion_of(record.target)
        turn = quaternion_product(after, (-before[0], -before[1], -before[2], before[3]))
        length = np.float32(np.sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]))
        if length > F0:
            angle = np.float32(2.0 * np.arctan2(length, abs(turn[3])))
            scale = (angle if turn[3] >= F0 else -angle) / length / step
            for axis in range(3):
                record.angular_velocity[axis] = turn[axis] * scale
    if rested and not is_zero(read3(record.linear_velocity)):
        come_first(space, record)


@call
def _move_kinematic(space: Space, body: int) -> None:
    record = space.bodies[body]
    has_moved = False
    for part in range(12):
        has_moved |= record.transform[part] != record.target[part]
        record.transform[part] = record.target[part]
    if has_moved:
        update_bounds(space, body)


@inline
def _count_movers(space: Space) -> int:
    movers = 0
    while movers < space.roster.shape[0] and space.roster[movers].mover >= 0:
        movers += 1
    return movers


@call
def begin_step(space: Space, delta: float) -> None:
    """The first part of a physics step: finds overlaps, and how fast kinematic bodies move."""
    step = np.float32(delta)
    flush_transforms(space)
    for place in range(_count_movers(space)):
        body = space.roster[place].mover
        if space.bodies[body].kind == KINEMATIC:
            _aim_kinematic(space, body, step)
    update_overlaps(space)


@call
def move_rigid_bodies(space: Space, gravity: Any, delta: float) -> None:
    """The second part; only games with rigid bodies have it, and compile it."""
    _move_rigid_bodies(space, _count_movers(space), gravity, np.float32(delta))


@call
def end_step(space: Space) -> None:
    """The last part: kinematic bodies are where they were moved to."""
    for place in range(_count_movers(space)):
        body = space.roster[place].mover
        if space.bodies[body].kind == KINEMATIC:
            _move_kinematic(space, body)


@call
def step_space(space: Space, gravity: Any, delta: float) -> None:
    """The physics step after all `_physics_process`: finds overlaps, moves rigid and kinematic bodies.

    Entered and exited pairs are in `space.events` afterwards, as many as `space.counts[EVENTS]` says; their signals are
    emitted before the next `_physics_process`. Those of contacts are in `space.announced`.
    """
    begin_step(space, delta)
    move_rigid_bodies(space, gravity, delta)
    end_step(space)
