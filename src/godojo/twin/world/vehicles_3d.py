"""VehicleBody3D and VehicleWheel3D, as scripts see them."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import numpy as np

from godojo.twin.gdscript.runtime import Vector3
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.world.kernels import CLASSES, body_node, node_kernel, space_of, world_of

f32, f64 = np.float32, np.float64
_BODY, _VEHICLE = CLASSES["CollisionObject3D"], CLASSES["VehicleBody3D"]


@jitable
def engine_force(vehicle):
    return _VEHICLE(vehicle).engine_force_field


@node_kernel("VehicleBody3D")
def set_engine_force(vehicle, value):
    vehicle.engine_force_field = value
    space = space_of(vehicle)
    for place in range(vehicle.first_wheel, vehicle.end_wheel):
        if space.wheels[place].use_as_traction:
            space.wheels[place].engine_force = f32(value)


@jitable
def brake(vehicle):
    return _VEHICLE(vehicle).brake_field


@node_kernel("VehicleBody3D")
def set_brake(vehicle, value):
    vehicle.brake_field = value
    space = space_of(vehicle)
    for place in range(vehicle.first_wheel, vehicle.end_wheel):
        space.wheels[place].brake = f32(value)


@jitable
def steering(vehicle):
    return _VEHICLE(vehicle).steering_field


@node_kernel("VehicleBody3D")
def set_steering(vehicle, value):
    vehicle.steering_field = value
    space = space_of(vehicle)
    for place in range(vehicle.first_wheel, vehicle.end_wheel):
        if space.wheels[place].use_as_steering:
            space.wheels[place].steering = f32(value)


@node_kernel("VehicleWheel3D")
def wheel_is_in_contact(wheel):
    return space_of(wheel).wheels[wheel.wheel].is_in_contact != 0


@node_kernel("VehicleWheel3D")
def wheel_get_contact_body(wheel):
    ground = space_of(wheel).wheels[wheel.wheel].ground
    return body_node(world_of(wheel), ground) if ground >= 0 else _BODY()


@node_kernel("VehicleWheel3D")
def wheel_get_contact_point(wheel):
    point = space_of(wheel).wheels[wheel.wheel].contact_point
    return Vector3(point[0], point[1], point[2])


@node_kernel("VehicleWheel3D")
def wheel_get_contact_normal(wheel):
    normal = space_of(wheel).wheels[wheel.wheel].contact_normal
    return Vector3(normal[0], normal[1], normal[2])


@node_kernel("VehicleWheel3D")
def wheel_get_rpm(wheel):
    return f64(space_of(wheel).wheels[wheel.wheel].rpm)


@node_kernel("VehicleWheel3D")
def wheel_get_skidinfo(wheel):
    return f64(space_of(wheel).wheels[wheel.wheel].skid)


@node_kernel("VehicleWheel3D")
def wheel_engine_force(wheel):
    return f64(space_of(wheel).wheels[wheel.wheel].engine_force)


@node_kernel("VehicleWheel3D")
def set_wheel_engine_force(wheel, value):
    space_of(wheel).wheels[wheel.wheel].engine_force = f32(value)


@node_kernel("VehicleWheel3D")
def wheel_brake(wheel):
    return f64(space_of(wheel).wheels[wheel.wheel].brake)


@node_kernel("VehicleWheel3D")
def set_wheel_brake(wheel, value):
    space_of(wheel).wheels[wheel.wheel].brake = f32(value)


@node_kernel("VehicleWheel3D")
def wheel_steering(wheel):
    return f64(space_of(wheel).wheels[wheel.wheel].steering)


@node_kernel("VehicleWheel3D")
def set_wheel_steering(wheel, value):
    space_of(wheel).wheels[wheel.wheel].steering = f32(value)


@node_kernel("VehicleWheel3D")
def wheel_friction_slip(wheel):
    return f64(space_of(wheel).wheels[wheel.wheel].wheel_friction_slip)


@node_kernel("VehicleWheel3D")
def set_wheel_friction_slip(wheel, value):
    space_of(wheel).wheels[wheel.wheel].wheel_friction_slip = f32(value)
