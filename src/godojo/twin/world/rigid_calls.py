"""The entry of rigid bodies and vehicles, of both engines of 3D physics: compiled for games that have some."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

from godojo.twin.physics.engines import GODOT, JOLT
from godojo.twin.physics.jit import call as _part
from godojo.twin.physics.space import TOO_FAST, TOO_MANY
from godojo.twin.physics.step import move_rigid_bodies
from godojo.twin.physics.vehicles import move_vehicles
from godojo.twin.world.calls import read_transform
from godojo.twin.world.entries import MOVE_RIGID_BODIES, Entry
from godojo.twin.world.kernels import CLASSES, WORLD
from godojo.twin.world.nodes import set_transform
from godojo.twin.world.ref_types import _reference
from godojo.twin.world.refs import CONTACTS_FULL, TOO_FAST_BODY, record_at
from godojo.twin.world.space_type import godot_space_at, space_at

_WHEEL = CLASSES["VehicleWheel3D"]


@_part
def _move_rigid_bodies(base, space):
    """The middle of the physics step."""
    world = _reference(base, 0, WORLD)
    gravity = world.gravity
    move_rigid_bodies(space, (gravity._x, gravity._y, gravity._z), world.delta)
    if space.counts[TOO_MANY] != 0 and world.error == 0:
        world.error = CONTACTS_FULL
    if space.counts[TOO_FAST] != 0 and world.error == 0:
        world.error = TOO_FAST_BODY
    return 0


@_part
def _move_vehicles(base, space):
    """What vehicles do at the beginning of a tick; their wheels go with them."""
    world = _reference(base, 0, WORLD)
    move_vehicles(space, world.delta)
    for place in range(space.wheels.shape[0]):
        wheel = space.wheels[place]
        if wheel.body >= 0 and wheel.node >= 0:
            set_transform(record_at(world, wheel.node, _WHEEL), read_transform(wheel.transform))
    return 0


@_part
def _enter(base, number, space):
    if number == MOVE_RIGID_BODIES:
        return _move_rigid_bodies(base, space)
    return _move_vehicles(base, space)


def _enter_jolt(base, offset, number):
    return _enter(base, number, space_at(base))


def _enter_godot(base, offset, number):
    return _enter(base, number, godot_space_at(base))


RIGID_ENTRIES = {JOLT: Entry(_enter_jolt), GODOT: Entry(_enter_godot)}
