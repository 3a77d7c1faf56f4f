"""How functions over nodes are compiled, and what they stand on: a world's row and the arrays of its physics."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import ctypes
import inspect

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from godojo.kernels.compile import _FASTMATH
from godojo.kernels.linked import Linked
from godojo.twin.physics.space import CHARACTER, MOTION, Space
from godojo.twin.physics_2d import space as flat
from godojo.twin.world.ref_types import _reference, address, base_of, pointer
from godojo.twin.world.refs import RefClass, offset_of
from godojo.twin.world.space_type import SHARED, space_2d_at, space_arrays, space_at
from godojo.twin.world.tables import NATIVE

WORLD, WORLD_2D = RefClass(NATIVE, "World"), RefClass(NATIVE, "World2D")
CLASSES = {name: RefClass(NATIVE, name) for name in NATIVE.classes}


def generated(function):
    """A function of generated code, called from others; it is kept on disk as a part of them."""
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(fastmath=_FASTMATH, error_model="numpy", pipeline_class=Linked, **wrappers)(function)


FLAT = frozenset(("CanvasItem", "World2D", "KinematicCollision2D"))
"""Classes of 2D: they and what inherits them live in the 2D physics."""


def is_flat(ref):
    """Whether a reference, or its compiled type, is one of 2D."""
    table, cls = (ref.table, ref.cls) if hasattr(ref, "table") else (ref._table, ref._cls)
    return not FLAT.isdisjoint(table.lineage(cls))


def node_kernel(cls, cls_2d=None):
    """A function of a node of this class, or of any that inherits it: compiled once, for all games.

    One that has a 2D class as well is compiled for both, each when a game needs it.
    """

    def decorate(function):
        # They allocate nothing, so nothing counts references to the arrays of a space.
        compiled = numba.njit(cache=True, fastmath=_FASTMATH, error_model="numpy", _nrt=False)(function)
        first, *rest = inspect.signature(function).parameters
        words = ", ".join([first, *rest])
        text = f"def call({words}):\n    return compiled(native({first}){''.join(f', {word}' for word in rest)})\n"
        calls = []
        for name in (cls, cls_2d or cls):
            scope = {"compiled": compiled, "native": CLASSES[name]}
            exec(text, scope)  # noqa: S102 - our own text
            calls.append(scope["call"])
        scope = {"pick": lambda ref: calls[1] if cls_2d and is_flat(ref) else calls[0]}
        exec(f"def choose({words}):\n    return pick({first})\n", scope)  # noqa: S102 - the same
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
    return (WORLD_2D if is_flat(ref) else WORLD).at(ref._row, 0)


@overload(world_of)
def _world_of(ref):
    if is_flat(ref):
        return lambda ref: _reference(base_of(ref), 0, WORLD_2D)
    return lambda ref: _reference(base_of(ref), 0, WORLD)


def space_of(node):
    """The physics of a node's world."""
    world, row = WORLD.at(node._row, 0), node._row
    arrays = []
    for name, (dtype, shape) in space_arrays(is_flat(node)).items():
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
    if is_flat(node):
        return lambda node: space_2d_at(base_of(node))
    return lambda node: space_at(base_of(node))


CHARACTER_AT = NATIVE["CharacterBody3D"].by_name["character"].offset
CHARACTER_2D_AT = NATIVE["CharacterBody2D"].by_name["character"].offset
CHARACTER_2D = flat.CHARACTER


def character_of(body):
    """The physics' own record of a CharacterBody3D or CharacterBody2D."""
    dtype, at = (CHARACTER_2D, CHARACTER_2D_AT) if is_flat(body) else (CHARACTER, CHARACTER_AT)
    return body._row[body._offset + at : body._offset + at + dtype.itemsize].view(dtype)[0]


@overload(character_of)
def _character_of(body):
    if is_flat(body):
        return lambda body: _character_2d_at(base_of(body), offset_of(body) + CHARACTER_2D_AT)
    return lambda body: _character_at(base_of(body), offset_of(body) + CHARACTER_AT)


def _record_maker(dtype):
    """An intrinsic: the record at an offset of a row; one of an array would count references."""
    record = numba.from_dtype(dtype)

    def make(typingctx, base, offset):
        def get(context, builder, sig, args):
            return builder.bitcast(builder.gep(args[0], [args[1]]), context.get_value_type(record))

        return record(types.voidptr, types.int64), get

    return intrinsic(make)


_ROOM = np.dtype([("transform", "f4", 12), ("bodies", "i4", 4)])
_character_at, _motion_at, _room_at = map(_record_maker, (CHARACTER, MOTION, _ROOM))
_character_2d_at = _record_maker(CHARACTER_2D)


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


_BODY, _BODY_2D = CLASSES["CollisionObject3D"], CLASSES["CollisionObject2D"]


def body_node(world, body):
    """The node of a body of the physics, by its number there."""
    return (_BODY_2D if is_flat(world) else _BODY).at(world._row, node_offset(world, body))


@overload(body_node)
def _body_node(world, body):
    if is_flat(world):
        return lambda world, body: _reference(base_of(world), node_offset(world, body), _BODY_2D)
    return lambda world, body: _reference(base_of(world), node_offset(world, body), _BODY)


_ROOM_AT = NATIVE["World"].by_name["room"].offset


def room_of(world):
    """Room in a world for a transform and the numbers of four bodies, for a moment."""
    return world._row[_ROOM_AT : _ROOM_AT + _ROOM.itemsize].view(_ROOM).view(np.recarray)[0]


@overload(room_of)
def _room_of(world):
    return lambda world: _room_at(base_of(world), _ROOM_AT)


def motion_of(collision):
    """The physics' own record of a collision."""
    return collision._row[collision._offset : collision._offset + MOTION.itemsize].view(MOTION)[0]


@overload(motion_of)
def _motion_of(collision):
    return lambda collision: _motion_at(base_of(collision), offset_of(collision))
