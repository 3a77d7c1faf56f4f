"""The server's side of a tick: when transforms take effect, and the step at its end."""

from typing import Any

import numpy as np

from godojo.twin.physics.areas import update_overlaps
from godojo.twin.physics.bounds import update_bounds
from godojo.twin.physics.engines import by_engine
from godojo.twin.physics.godot.rigid import move_rigid as godot_move_rigid
from godojo.twin.physics.jit import call
from godojo.twin.physics.rigid import move_rigid as jolt_move_rigid
from godojo.twin.physics.rotations import quaternion_of, quaternion_product
from godojo.twin.physics.space import KINEMATIC, MOVED, RIGID, Space
from godojo.twin.physics.vectors import F0

move_rigid = by_engine(jolt_move_rigid, godot_move_rigid)


@call
def set_body_transform(space: Space, body: int, transform: Any) -> None:
    """What setting a node's global transform (12 floats, without scale) does.

    Queries of others see it after `flush_transforms`; that of a kinematic body after the step.
    """
    record = space.bodies[body]
    for part in range(12):
        record.target[part] = transform[part]
    record.traits |= MOVED


@call
def flush_transforms(space: Space) -> None:
    """Hands the new transforms of nodes to the server, as Godot does before and after all `_physics_process`."""
    for body in range(space.bodies.shape[0]):
        record = space.bodies[body]
        if record.traits & MOVED == 0:
            continue
        record.traits &= ~MOVED
        if record.kind == KINEMATIC:
            continue
        for part in range(12):
            record.transform[part] = record.target[part]
        if record.kind == RIGID:
            rotation = quaternion_of(record.transform)
            for part in range(4):
                record.rotation[part] = rotation[part]
        update_bounds(space, body)


@call
def _aim_kinematic(space: Space, body: int, step: np.float32) -> None:
    """Gives a kinematic body the velocity that brings it to its target."""
    record = space.bodies[body]
    has_turned = False
    for part in range(9):
        has_turned |= record.transform[part] != record.target[part]
    for axis in range(3):
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


@call
def _move_kinematic(space: Space, body: int) -> None:
    record = space.bodies[body]
    has_moved = False
    for part in range(12):
        has_moved |= record.transform[part] != record.target[part]
        record.transform[part] = record.target[part]
    if has_moved:
        update_bounds(space, body)


@call
def step_space(space: Space, gravity: Any, delta: float) -> None:
    """The physics step after all `_physics_process`: finds overlaps, moves rigid and kinematic bodies.

    Entered and exited pairs are in `space.events[:space.counts[0]]` afterwards; their signals are emitted before the
    next `_physics_process`.
    """
    step = np.float32(delta)
    flush_transforms(space)
    bodies = space.bodies
    for body in range(bodies.shape[0]):
        if bodies[body].kind == KINEMATIC:
            _aim_kinematic(space, body, step)
    update_overlaps(space)
    for body in range(bodies.shape[0]):
        if bodies[body].kind == RIGID:
            move_rigid(space, body, gravity, step)
    for body in range(bodies.shape[0]):
        if bodies[body].kind == KINEMATIC:
            _move_kinematic(space, body)
