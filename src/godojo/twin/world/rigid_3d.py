"""Rigid bodies and vehicles of 3D, as scripts see them."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import numpy as np

from godojo.twin.gdscript.runtime import Basis, Vector3
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.godot.rigid import update_tensor
from godojo.twin.physics.space import (
    AREAS_KNOWN,
    ASLEEP,
    KINEMATIC,
    LOCK_ROTATION,
    MEETING_COUNT,
    MOVES,
    PAIRED,
    RIGID,
    STATIC,
    STAYS_AWAKE,
)
from godojo.twin.physics.wake import wake
from godojo.twin.world.calls import read_transform
from godojo.twin.world.kernels import CLASSES, body_node, node_kernel, node_offset, space_of, world_of
from godojo.twin.world.nodes import global_transform, set_global_transform

f32, f64 = np.float32, np.float64
_RIGID_BODY, _BODY = CLASSES["RigidBody3D"], CLASSES["CollisionObject3D"]


@jitable
def _add3(target, value):
    target[0] += value._x
    target[1] += value._y
    target[2] += value._z


@jitable
def _set3(target, value):
    target[0], target[1], target[2] = value._x, value._y, value._z


@jitable
def _get3(source):
    return Vector3(source[0], source[1], source[2])


@jitable
def _record_of(body):
    return space_of(body).bodies[body.body]


@jitable
def _awake(body):
    """The record of a body that a script moves, which wakes it."""
    space = space_of(body)
    record = space.bodies[body.body]
    wake(space, record)
    return record


@jitable
def _turned(record, torque):
    """The inverse inertia times a torque."""
    t = record.tensor
    tensor = Basis(Vector3(t[0], t[1], t[2]), Vector3(t[3], t[4], t[5]), Vector3(t[6], t[7], t[8]))
    return tensor.xform(torque)


@jitable
def _arm(record, position):
    """From the centre of mass to a position that is counted from the body's origin."""
    return position - read_transform(record.transform).basis.xform(_get3(record.center))


# Velocities, forces and impulses


@jitable
def linear_velocity(body):
    return _RIGID_BODY(body).linear_velocity_field


@jitable
def angular_velocity(body):
    return _RIGID_BODY(body).angular_velocity_field


@node_kernel("RigidBody3D")
def set_linear_velocity(body, value):
    body.linear_velocity_field = value
    _set3(_awake(body).linear_velocity, value)


@node_kernel("RigidBody3D")
def set_angular_velocity(body, value):
    body.angular_velocity_field = value
    _set3(_awake(body).angular_velocity, value)


@node_kernel("RigidBody3D")
def set_axis_velocity(body, value):
    axis, velocity = value.normalized(), body.linear_velocity_field
    set_linear_velocity(body, velocity - axis * axis.dot(velocity) + value)


@node_kernel("RigidBody3D")
def apply_central_force(body, force):
    _add3(_awake(body).force, force)


@node_kernel("RigidBody3D")
def apply_torque(body, torque):
    _add3(_awake(body).torque, torque)


@node_kernel("RigidBody3D")
def apply_force(body, force, position):
    record = _awake(body)
    _add3(record.force, force)
    _add3(record.torque, _arm(record, position).cross(force))


@node_kernel("RigidBody3D")
def apply_central_impulse(body, impulse):
    record = _awake(body)
    _add3(record.linear_velocity, impulse * f64(record.inverse_mass))


@node_kernel("RigidBody3D")
def apply_torque_impulse(body, impulse):
    record = _awake(body)
    _add3(record.angular_velocity, _turned(record, impulse))


@node_kernel("RigidBody3D")
def apply_impulse(body, impulse, position):
    record = _awake(body)
    _add3(record.linear_velocity, impulse * f64(record.inverse_mass))
    _add3(record.angular_velocity, _turned(record, _arm(record, position).cross(impulse)))


@node_kernel("RigidBody3D")
def constant_force(body):
    return _get3(_record_of(body).constant_force)


@node_kernel("RigidBody3D")
def set_constant_force(body, value):
    _set3(_awake(body).constant_force, value)


@node_kernel("RigidBody3D")
def constant_torque(body):
    return _get3(_record_of(body).constant_torque)


@node_kernel("RigidBody3D")
def set_constant_torque(body, value):
    _set3(_awake(body).constant_torque, value)


@node_kernel("RigidBody3D")
def add_constant_central_force(body, force):
    _add3(_awake(body).constant_force, force)


@node_kernel("RigidBody3D")
def add_constant_torque(body, torque):
    _add3(_awake(body).constant_torque, torque)


@node_kernel("RigidBody3D")
def add_constant_force(body, force, position):
    record = _awake(body)
    _add3(record.constant_force, force)
    _add3(record.constant_torque, _arm(record, position).cross(force))


# Modes


@node_kernel("RigidBody3D")
def sleeping(body):
    return (_record_of(body).traits & ASLEEP) != 0


@node_kernel("RigidBody3D")
def set_sleeping(body, value):
    record = _awake(body)
    if value:
        _set3(record.linear_velocity, Vector3(0.0, 0.0, 0.0))
        _set3(record.angular_velocity, Vector3(0.0, 0.0, 0.0))
        record.traits |= ASLEEP


@node_kernel("RigidBody3D")
def can_sleep(body):
    return (_record_of(body).traits & STAYS_AWAKE) == 0


@node_kernel("RigidBody3D")
def set_can_sleep(body, value):
    record = _awake(body)
    record.traits = (record.traits & ~STAYS_AWAKE) if value else (record.traits | STAYS_AWAKE)


@jitable
def freeze(body):
    return _RIGID_BODY(body).freeze_field


@node_kernel("RigidBody3D")
def set_freeze(body, value):
    if body.freeze_field == value:
        return
    space, record = space_of(body), _awake(body)
    body.freeze_field = value
    kind = (STATIC if body.freeze_mode == 0 else KINEMATIC) if value else RIGID
    if record.kind == body.active_kind:
        record.kind = kind
    body.active_kind = kind
    if value:
        _set3(record.linear_velocity, Vector3(0.0, 0.0, 0.0))
        _set3(record.angular_velocity, Vector3(0.0, 0.0, 0.0))
    space.counts[AREAS_KNOWN], space.counts[PAIRED] = 0, 0


@node_kernel("RigidBody3D")
def lock_rotation(body):
    return (_record_of(body).traits & LOCK_ROTATION) != 0


@node_kernel("RigidBody3D")
def set_lock_rotation(body, value):
    record = _awake(body)
    record.traits = (record.traits | LOCK_ROTATION) if value else (record.traits & ~LOCK_ROTATION)
    update_tensor(record)
    if value:
        _set3(record.angular_velocity, Vector3(0.0, 0.0, 0.0))


@node_kernel("RigidBody3D")
def get_colliding_bodies(body):
    world, space = world_of(body), space_of(body)
    found = body.colliding
    found.clear()
    for place in range(space.counts[MEETING_COUNT]):
        meeting = space.meetings[place]
        if meeting.body != body.body or node_offset(world, meeting.other) < 0:
            continue
        other, is_new = body_node(world, meeting.other), True
        for one in found:
            is_new &= _BODY(one) != other
        if is_new:
            found.append(other)
    return found


@node_kernel("RigidBody3D")
def get_contact_count(body):
    space, count = space_of(body), 0
    for place in range(space.counts[MEETING_COUNT]):
        count += space.meetings[place].body == body.body
    return count


@node_kernel("RigidBody3D")
def is_simulated(body):
    """Whether the physics has moved a body in its last step."""
    return (_record_of(body).traits & MOVES) != 0


# The argument of `_integrate_forces` is the body itself, as the physics has it


@node_kernel("PhysicsDirectBodyState3D")
def state_transform(state):
    return global_transform(state)


@jitable
def set_state_transform(state, value):
    set_global_transform(state, value)


@node_kernel("PhysicsDirectBodyState3D")
def state_linear_velocity(state):
    return _get3(_record_of(state).linear_velocity)


@node_kernel("PhysicsDirectBodyState3D")
def state_angular_velocity(state):
    return _get3(_record_of(state).angular_velocity)


@node_kernel("PhysicsDirectBodyState3D")
def state_inverse_mass(state):
    return f64(_record_of(state).inverse_mass)


@node_kernel("PhysicsDirectBodyState3D")
def state_total_gravity(state):
    return world_of(state).gravity * f64(_record_of(state).gravity_scale)
