"""VehicleBody3D: wheels that stand on the ground by rays, with springs, an engine, brakes and steering.

What the node does when the physics tells it its new state, at the beginning of a tick: impulses of the springs, of the
wheels that do not slide sideways, of engine and brakes, limited by the grip of each wheel.
"""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.godot.manifolds import spun
from godojo.twin.physics.godot.rigid import update_tensor
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.rays import cast_ray
from godojo.twin.physics.rotations import turn_rows
from godojo.twin.physics.space import RIGID, Space
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
from godojo.twin.physics.wake import wake

Vector = Any

_STEEP = np.float32(-0.1)
_STEEP_LEAN = F1 / np.float32(0.1)
_SIDE_DAMPING = np.float32(0.2)
_HALF, _TEN_PERCENT_OVER = np.float32(0.5), np.float32(1.1)
_SLOWS = np.float32(0.99)


@inline
def _out(t: Any, v: Vector) -> Vector:
    return (dot(read3(t), v), dot(read3(t[3:]), v), dot(read3(t[6:]), v))


@inline
def _speed_at(record: Any, arm: Vector) -> Vector:
    return add(read3(record.linear_velocity), cross(read3(record.angular_velocity), arm))


@inline
def _kick(record: Any, impulse: Vector, position: Vector) -> None:
    """`apply_impulse`: the position is from the body's origin."""
    arm = sub(position, _out(record.transform, read3(record.center)))
    write3(record.linear_velocity, add(read3(record.linear_velocity), mul(impulse, record.inverse_mass)))
    write3(record.angular_velocity, add(read3(record.angular_velocity), spun(record, cross(arm, impulse))))


@call
def _hang(record: Any, wheel: Any) -> None:
    """Where the wheel is in the world."""
    t = record.transform
    write3(wheel.world_place, add(_out(t, read3(wheel.place)), read3(t[9:])))
    write3(wheel.world_down, normalized32(_out(t, read3(wheel.down))))
    write3(wheel.world_axle, normalized32(_out(t, read3(wheel.axle))))
    wheel.is_in_contact = 0


@inline
def _times(a: Any, b: Any) -> Any:
    """The product of two bases, by rows."""
    x, y, z = (b[0][0], b[1][0], b[2][0]), (b[0][1], b[1][1], b[2][1]), (b[0][2], b[1][2], b[2][2])
    return (
        (dot(x, a[0]), dot(y, a[0]), dot(z, a[0])),
        (dot(x, a[1]), dot(y, a[1]), dot(z, a[1])),
        (dot(x, a[2]), dot(y, a[2]), dot(z, a[2])),
    )


@call
def _show(record: Any, wheel: Any) -> None:
    """The transform of the wheel's node, and the direction across it."""
    _hang(record, wheel)
    up, right = neg(read3(wheel.world_down)), read3(wheel.world_axle)
    ahead = normalized32(cross(up, right))
    basis = ((right[0], up[0], ahead[0]), (right[1], up[1], ahead[1]), (right[2], up[2], ahead[2]))
    rows = _times(_times(turn_rows(up, wheel.steering), turn_rows(right, wheel.turned)), basis)
    write3(wheel.side, (rows[0][0], rows[1][0], rows[2][0]))
    t = record.transform
    away = sub(add(read3(wheel.world_place), mul(read3(wheel.world_down), wheel.length)), read3(t[9:]))
    columns = ((t[0], t[3], t[6]), (t[1], t[4], t[7]), (t[2], t[5], t[8]))
    inside = _times(columns, rows)
    for row in range(3):
        write3(wheel.transform[3 * row : 3 * row + 3], inside[row])
        wheel.transform[9 + row] = dot(columns[row], away)


@call
def _stand(space: Space, wheel: Any) -> None:
    """Finds the ground below a wheel."""
    record = space.bodies[wheel.body]
    _hang(record, wheel)
    reach = wheel.wheel_rest_length + wheel.wheel_radius
    down, source = read3(wheel.world_down), read3(wheel.world_place)
    target = add(source, mul(down, reach))
    write3(wheel.contact_point, target)
    source = sub(source, mul(down, wheel.wheel_radius))
    mask: Any = np.int64(record.mask)
    vehicle: Any = np.int64(wheel.body)
    hit, position, normal, ground, _ = cast_ray(
        space, source, target, mask, True, False, False, True, vehicle, space.near[:0]
    )
    wheel.ground = -1
    if not hit:
        wheel.length, wheel.speed, wheel.lean = wheel.wheel_rest_length, F0, F1
        write3(wheel.contact_normal, neg(down))
        return
    position, normal = _narrow(position), _narrow(normal)
    wheel.is_in_contact, wheel.ground = 1, ground
    share = length32(sub(position, source)) / length32(sub(target, source))
    least, most = wheel.wheel_rest_length - wheel.suspension_travel, wheel.wheel_rest_length + wheel.suspension_travel
    wheel.length = min(max(share * reach - wheel.wheel_radius, least), most)
    write3(wheel.contact_point, position)
    write3(wheel.contact_normal, normal)
    against = dot(normal, down)
    speed = dot(normal, _speed_at(record, sub(position, read3(record.transform[9:]))))
    if against >= _STEEP:
        wheel.speed, wheel.lean = F0, _STEEP_LEAN
    else:
        wheel.lean = -F1 / against
        wheel.speed = speed * wheel.lean


@inline
def _narrow(v: Any) -> Vector:
    return (np.float32(v[0]), np.float32(v[1]), np.float32(v[2]))


@call
def _press(record: Any, wheel: Any) -> None:
    """The force of the spring and its damper."""
    wheel.force = F0
    if wheel.is_in_contact:
        force = wheel.suspension_stiffness * (wheel.wheel_rest_length - wheel.length) * wheel.lean
        force -= (wheel.damping_compression if wheel.speed < F0 else wheel.damping_relaxation) * wheel.speed
        wheel.force = max(force * record.mass, F0)


@inline
def _slip_at(space: Space, wheel: Any, arm: Vector) -> Vector:
    """How fast the vehicle moves over the ground at a wheel."""
    there = (F0, F0, F0)
    if wheel.ground >= 0:
        ground = space.bodies[wheel.ground]
        there = _speed_at(ground, sub(read3(wheel.contact_point), read3(ground.transform[9:])))
    return sub(_speed_at(space.bodies[wheel.body], arm), there)


@call
def _hold(space: Space, wheel: Any, step: np.float32) -> None:
    """The impulse that keeps a wheel from moving sideways."""
    record = space.bodies[wheel.body]
    wheel.side_impulse = wheel.ahead_impulse = F0
    if not wheel.is_in_contact:
        return
    normal, side = read3(wheel.contact_normal), read3(wheel.side)
    side = normalized32(sub(side, mul(normal, dot(side, normal))))
    write3(wheel.side, side)
    write3(wheel.ahead, normalized32(cross(normal, side)))
    if dot(side, side) > _TEN_PERCENT_OVER:
        return
    arm = sub(read3(wheel.contact_point), read3(record.transform[9:]))
    slip = dot(side, _slip_at(space, wheel, arm))
    damping = _SIDE_DAMPING
    if wheel.wheel_roll_influence > F0:
        damping = min(damping, step / wheel.wheel_roll_influence)
    light = space.bodies[wheel.ground].inverse_mass if wheel.ground >= 0 else F0
    mass = np.float32(1.0 / (1.0 / np.float64(record.mass) + np.float64(light)))
    wheel.side_impulse = -damping * slip * mass


@call
def _drive(space: Space, wheel: Any, step: np.float32) -> bool:
    """The impulse of the engine or the brake, and whether the wheel slides."""
    record = space.bodies[wheel.body]
    wheel.skid = F1
    if not wheel.is_in_contact:
        return False
    arm = sub(read3(wheel.contact_point), read3(record.transform[9:]))
    if wheel.engine_force != F0:
        wheel.ahead_impulse = -wheel.engine_force * step
    else:
        ahead = read3(wheel.ahead)
        lever = cross(arm, ahead)
        t = record.tensor
        turn = (
            t[0] * lever[0] + t[3] * lever[1] + t[6] * lever[2],
            t[1] * lever[0] + t[4] * lever[1] + t[7] * lever[2],
            t[2] * lever[0] + t[5] * lever[1] + t[8] * lever[2],
        )
        weight = F1 / (record.inverse_mass + dot(ahead, cross(turn, arm)))
        wanted = -dot(ahead, _slip_at(space, wheel, arm)) * weight
        wheel.ahead_impulse = min(max(wanted, -wheel.brake), wheel.brake)
    grip = wheel.force * step * wheel.wheel_friction_slip
    x, y = wheel.ahead_impulse * _HALF, wheel.side_impulse
    squared = x * x + y * y
    if squared > grip * grip:
        wheel.skid = grip / np.float32(math.sqrt(squared))
        return True
    return False


@call
def _grip(record: Any, wheel: Any, slides: bool) -> None:
    """Applies what a wheel does along the ground."""
    if slides and wheel.side_impulse != F0 and wheel.skid < F1:
        wheel.ahead_impulse *= wheel.skid
        wheel.side_impulse *= wheel.skid
    arm = sub(read3(wheel.contact_point), read3(record.transform[9:]))
    if wheel.ahead_impulse != F0:
        _kick(record, mul(read3(wheel.ahead), wheel.ahead_impulse), arm)
    if wheel.side_impulse != F0:
        t = record.transform
        up = (t[1], t[4], t[7])
        arm = sub(arm, mul(up, dot(up, arm) * (F1 - wheel.wheel_roll_influence)))
        _kick(record, mul(read3(wheel.side), wheel.side_impulse), arm)


@call
def _roll(record: Any, wheel: Any, step: np.float32) -> None:
    """How fast a wheel turns."""
    t = record.transform
    if wheel.is_in_contact:
        velocity = _speed_at(record, sub(read3(wheel.world_place), read3(t[9:])))
        ahead = (t[2], t[5], t[8])
        if wheel.use_as_steering:
            r0, r1, r2 = turn_rows((F0, F1, F0), wheel.steering)
            ahead = (dot(r0, ahead), dot(r1, ahead), dot(r2, ahead))
        normal = read3(wheel.contact_normal)
        ahead = normalized32(sub(ahead, mul(normal, dot(ahead, normal))))
        wheel.turns = dot(ahead, velocity) * step / wheel.wheel_radius
    wheel.turned += wheel.turns
    wheel.rpm = np.float32(np.float64(wheel.turns / step * np.float32(60.0)) / (2.0 * math.pi))
    wheel.turns *= _SLOWS


@call
def _move_vehicle(space: Space, first: int, end: int, step: np.float32) -> None:
    wheels = space.wheels
    record = space.bodies[wheels[first].body]
    update_tensor(record)
    for place in range(first, end):
        _show(record, wheels[place])
    for place in range(first, end):
        _stand(space, wheels[place])
    for place in range(first, end):
        _press(record, wheels[place])
    for place in range(first, end):
        wheel = wheels[place]
        force = min(wheel.force, wheel.suspension_max_force)
        impulse = mul(mul(read3(wheel.contact_normal), force), step)
        _kick(record, impulse, sub(read3(wheel.contact_point), read3(record.transform[9:])))
    for place in range(first, end):
        _hold(space, wheels[place], step)
    slides = False
    for place in range(first, end):
        slides |= _drive(space, wheels[place], step)
    for place in range(first, end):
        _grip(record, wheels[place], slides)
    for place in range(first, end):
        _roll(record, wheels[place], step)


@call
def move_vehicles(space: Space, delta: float) -> None:
    """What vehicles do after a step, before the next `_physics_process`."""
    wheels, first = space.wheels, 0
    while first < wheels.shape[0] and wheels[first].body >= 0:
        body, end = wheels[first].body, first
        while end < wheels.shape[0] and wheels[end].body == body:
            end += 1
        if space.bodies[body].kind == RIGID:
            wake(space, space.bodies[body])  # impulses, even of nothing, keep it awake
            _move_vehicle(space, first, end, np.float32(delta))
        first = end
