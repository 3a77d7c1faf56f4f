"""Forces and impulses on rigid bodies."""

from typing import Any

import numpy as np

from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.rotations import quaternion_product
from godojo.twin.physics.space import LOCK_ROTATION, Space
from godojo.twin.physics.vectors import add, cross, dot, mul, narrow, read3, sub, wide, write3


@inline
def apply_central_force(space: Space, body: int, force: Any) -> None:
    """`RigidBody3D.apply_central_force`: for the next step."""
    write3(space.bodies[body].force, add(read3(space.bodies[body].force), force))


@inline
def apply_torque(space: Space, body: int, torque: Any) -> None:
    """`RigidBody3D.apply_torque`: for the next step."""
    write3(space.bodies[body].torque, add(read3(space.bodies[body].torque), torque))


@inline
def center_of(record: Any) -> Any:
    """The centre of mass in the world."""
    t, c = record.transform, record.center
    return (
        t[9] + (t[0] * c[0] + t[1] * c[1] + t[2] * c[2]),
        t[10] + (t[3] * c[0] + t[4] * c[1] + t[5] * c[2]),
        t[11] + (t[6] * c[0] + t[7] * c[1] + t[8] * c[2]),
    )


@inline
def apply_force(space: Space, body: int, force: Any, offset: Any) -> None:
    """`RigidBody3D.apply_force`: the offset is from the body's origin, in the world's axes."""
    record = space.bodies[body]
    arm = sub(offset, sub(center_of(record), read3(record.transform[9:])))
    apply_central_force(space, body, force)
    apply_torque(space, body, cross(arm, force))


@inline
def apply_central_impulse(space: Space, body: int, impulse: Any) -> None:
    """`RigidBody3D.apply_central_impulse`: changes the velocity at once."""
    record = space.bodies[body]
    write3(record.linear_velocity, add(read3(record.linear_velocity), mul(impulse, record.inverse_mass)))


@inline
def apply_torque_impulse(space: Space, body: int, impulse: Any) -> None:
    """`RigidBody3D.apply_torque_impulse`."""
    record = space.bodies[body]
    write3(record.angular_velocity, add(read3(record.angular_velocity), narrow(turned(record, wide(impulse)))))


@inline
def apply_impulse(space: Space, body: int, impulse: Any, offset: Any) -> None:
    """`RigidBody3D.apply_impulse`: the offset is from the body's origin, in the world's axes."""
    record = space.bodies[body]
    arm = sub(offset, sub(center_of(record), read3(record.transform[9:])))
    apply_central_impulse(space, body, impulse)
    apply_torque_impulse(space, body, cross(arm, impulse))


@call
def turned(record: Any, torque: Any) -> Any:
    """The inverse inertia in the world, times a torque."""
    if record.traits & LOCK_ROTATION:
        return (0.0, 0.0, 0.0)
    i = record.inverse_inertia
    if i[0] == i[1] and i[1] == i[2]:
        return mul(torque, np.float64(i[0]))
    q = quaternion_product(
        (record.rotation[0], record.rotation[1], record.rotation[2], record.rotation[3]),
        (record.inertia_axes[0], record.inertia_axes[1], record.inertia_axes[2], record.inertia_axes[3]),
    )
    x, y, z, w = np.float64(q[0]), np.float64(q[1]), np.float64(q[2]), np.float64(q[3])
    ax = (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w))
    ay = (2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w))
    az = (2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y))
    return add(add(mul(ax, dot(ax, torque) * i[0]), mul(ay, dot(ay, torque) * i[1])), mul(az, dot(az, torque) * i[2]))
