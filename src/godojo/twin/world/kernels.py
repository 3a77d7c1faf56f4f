"""How functions over nodes are compiled, and what they stand on: a world's row and the arrays of its physics."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import ctypes
import inspect

import numba
import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic, overload

from godojo.kernels.compile import _FASTMATH
from godojo.twin.physics.engines import GodotSpace
from godojo.twin.physics.space import CHARACTER, MOTION, Space
from godojo.twin.world.ref_types import _reference, address, base_of, pointer
from godojo.twin.world.refs import RefClass, offset_of
from godojo.twin.world.space_type import SHARED, godot_space_at, space_arrays, space_at
from godojo.twin.world.tables import NATIVE

WORLD = RefClass(NATIVE, "World")
CLASSES = {name: RefClass(NATIVE, name) for name in NATIVE.classes}


def generated(function):
    """A function of generated code, called from others."""
    return numba.njit(cache=True, fastmath=_FASTMATH, error_model="numpy")(function)


def node_kernel(cls):
    """A function of a node of this class, or of any that inherits it: compiled once, for all games."""

    def decorate(function):
        compiled = numba.njit(cache=True, fastmath=_FASTMATH, error_model="numpy")(function)
        first, *rest = inspect.signature(function).parameters
        words = ", ".join([first, *rest])
        scope = {"compiled": compiled, "native": CLASSES[cls]}
        text = f"def call({words}):\n    return compiled(native({first}){''.join(f', {word}' for word in rest)})\n"
        exec(text, scope)  # noqa: S102 - our own text
        call = scope["call"]
        exec(f"def choose({words}):\n    return call\n", scope | {"call": call}, scope)  # noqa: S102 - the same
        overload(function, strict=False)(scope["choose"])
        return function

    return decorate


def world_at(rows, index):
    """The world in a row of an array of bytes."""
    return WORLD.at(rows[index], 0)


@overload(world_at)
def _world_at(rows, index):
    return lambda rows, index: _reference(pointer(rows[index].ctypes.data), 0, WORLD)


def world_of(ref):
    """The world of a node."""
    return WORLD.at(ref._row, 0)


@overload(world_of)
def _world_of(ref):
    return lambda ref: _reference(base_of(ref), 0, WORLD)


def space_of(node):
    """The physics of a node's world."""
    world, row = WORLD.at(node._row, 0), node._row
    arrays = []
    for name, (dtype, shape) in space_arrays().items():
        at, count = int(getattr(world, f"{name}_at")), int(getattr(world, f"{name}_count"))
        extents = (*shape, count, 3) if name == "vertices" else (*shape, count)
        size = int(np.prod(extents)) * dtype.itemsize
        if name in SHARED:
            data = np.frombuffer((ctypes.c_uint8 * size).from_address(at), np.uint8)
        else:
            data = row[at : at + size]
        arrays.append(data.view(dtype).reshape(extents))
    return Space(*arrays)


@overload(space_of)
def _space_of(node):
    return lambda node: space_at(base_of(node))


def godot_space_of(node):
    """As `space_of`, of GodotPhysics3D."""
    return GodotSpace(*space_of(node))


@overload(godot_space_of)
def _godot_space_of(node):
    return lambda node: godot_space_at(base_of(node))


CHARACTER_AT = NATIVE["CharacterBody3D"].by_name["character"].offset


def character_of(body):
    """The physics' own record of a CharacterBody3D."""
    at = body._offset + CHARACTER_AT
    return body._row[at : at + CHARACTER.itemsize].view(CHARACTER)[0]


@overload(character_of)
def _character_of(body):
    def get(body):
        return carray(address(base_of(body), offset_of(body) + CHARACTER_AT), (1,), CHARACTER)[0]

    return get


def node_offset(world, body):
    """Where the node of a body is, by its number in the physics."""
    at = int(world.body_nodes_at) + 4 * int(body)
    return np.int64(world._row[at : at + 4].view(np.int32)[0])


@overload(node_offset)
def _node_offset(world, body):
    return lambda world, body: _int32_at(address(base_of(world), world.body_nodes_at + 4 * body))


@intrinsic
def _int32_at(typingctx, place):
    """The number at an address; an array there would count references."""

    def load(context, builder, sig, args):
        value = builder.load(builder.bitcast(args[0], ir.IntType(32).as_pointer()))
        return builder.sext(value, ir.IntType(64))

    return types.int64(types.voidptr), load


_INT32, _FLOAT32 = np.dtype(np.int32), np.dtype(np.float32)
_ROOM_AT = NATIVE["World"].by_name["room"].offset


def room_for_transform(world):
    """Twelve 32-bit floats of a world, for a moment."""
    return world._row[_ROOM_AT : _ROOM_AT + 48].view(np.float32)


@overload(room_for_transform)
def _room_for_transform(world):
    return lambda world: carray(address(base_of(world), _ROOM_AT), (12,), _FLOAT32)


def room_for_bodies(world, count):
    """The numbers of a few bodies of a world, for a moment."""
    return world._row[_ROOM_AT + 48 : _ROOM_AT + 48 + 4 * count].view(np.int32)


@overload(room_for_bodies)
def _room_for_bodies(world, count):
    return lambda world, count: carray(address(base_of(world), _ROOM_AT + 48), (count,), _INT32)


def motion_of(collision):
    """The physics' own record of a collision."""
    return collision._row[collision._offset : collision._offset + MOTION.itemsize].view(MOTION)[0]


@overload(motion_of)
def _motion_of(collision):
    return lambda collision: carray(address(base_of(collision), offset_of(collision)), (1,), MOTION)[0]
