"""The physics as functions at addresses: compiled once for all games, and never again with a game's own code.

Numba links a function into everything that calls it and optimizes it there anew. The physics is far larger than most
games, so generated code calls it through a table of addresses instead, which a world's row points to. An entry takes
the world's row and the offset of a node; other arguments and results are fields of `World`.
"""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import functools

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from godojo.kernels.compile import _FASTMATH
from godojo.twin.gdscript.runtime import Basis, Transform3D, Vector3
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.engines import GODOT
from godojo.twin.physics.godot.collide import collide_here, collide_shapes
from godojo.twin.physics.godot.contacts import QUESTION
from godojo.twin.physics.motion import move_and_collide
from godojo.twin.physics.rays import cast_ray
from godojo.twin.physics.slide import apply_floor_snap, move_and_slide
from godojo.twin.physics.space import RIGID
from godojo.twin.physics.step import flush_transforms, set_body_transform, step_space
from godojo.twin.world.kernels import (
    CLASSES,
    WORLD,
    character_of,
    godot_space_of,
    node_offset,
    room_for_bodies,
    room_for_transform,
    space_of,
    world_of,
)
from godojo.twin.world.nodes import body_node, global_transform, set_global_transform
from godojo.twin.world.ref_types import _reference
from godojo.twin.world.refs import record_at
from godojo.twin.world.space_type import GodotSpaceType, call_space, godot_space_at

_CHARACTER, _PHYSICS_BODY, _RAY = CLASSES["CharacterBody3D"], CLASSES["PhysicsBody3D"], CLASSES["RayCast3D"]
_BODY, _RIGID_BODY = CLASSES["CollisionObject3D"], CLASSES["RigidBody3D"]
f32 = np.float32
_SIGNATURE = types.int64(types.voidptr, types.int64)
_ENTRIES = []


def _entry(function):
    """Notes an entry of the table; returns its number."""
    _ENTRIES.append(function)
    return len(_ENTRIES) - 1


_of_godot = {}


def _for_godot(function):
    """Notes what takes the place of an entry in worlds of GodotPhysics3D: `_move` for `_godot_move`."""
    _of_godot[function.__name__.removeprefix("_godot")] = function
    return function


@functools.cache
def _compiled(function):
    return numba.cfunc(_SIGNATURE, cache=True, fastmath=_FASTMATH, error_model="numpy")(function)


@functools.cache
def _table(engine: str) -> np.ndarray:
    made = [_of_godot.get(entry.__name__, entry) if engine == GODOT else entry for entry in _ENTRIES]
    is_used = [engine == GODOT or entry is not _collide for entry in _ENTRIES]
    entries = zip(made, is_used, strict=True)
    return np.array([_compiled(function).address if used else 0 for function, used in entries], np.int64)


def addresses(engine: str | None) -> np.ndarray:
    """The table of an engine; it is compiled when the first world with bodies needs it. None: without bodies."""
    return np.zeros(len(_ENTRIES), np.int64) if engine is None else _table(engine)


@intrinsic
def call(typingctx, ref, table, number):
    """Calls an entry of the table for a node; returns an integer."""

    def make(context, builder, sig, args):
        node = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        integer = ir.IntType(64)
        entries = builder.inttoptr(args[1], integer.as_pointer())
        where = builder.load(builder.gep(entries, [args[2]]))
        kind = ir.FunctionType(integer, [ir.IntType(8).as_pointer(), integer])
        return builder.call(builder.inttoptr(where, kind.as_pointer()), [node.base, node.offset])

    return types.int64(ref, types.int64, types.int64), make


# Transforms between nodes and the physics


@jitable
def write_transform(value, room):
    rows = value.basis
    room[0], room[1], room[2] = rows._r0._x, rows._r0._y, rows._r0._z
    room[3], room[4], room[5] = rows._r1._x, rows._r1._y, rows._r1._z
    room[6], room[7], room[8] = rows._r2._x, rows._r2._y, rows._r2._z
    room[9], room[10], room[11] = value.origin._x, value.origin._y, value.origin._z


@jitable
def read_transform(room):
    return Transform3D(
        Basis(
            Vector3(room[0], room[1], room[2]),
            Vector3(room[3], room[4], room[5]),
            Vector3(room[6], room[7], room[8]),
        ),
        Vector3(room[9], room[10], room[11]),
    )


@jitable
def _without_scale(value):
    if value.basis.get_scale().is_equal_approx(Vector3(1.0, 1.0, 1.0)):
        return value
    return value.orthonormalized()


def _flush_transforms(base, offset):
    """Hands the transforms of nodes that have moved to the physics."""
    world = _reference(base, offset, WORLD)
    space = space_of(world)
    for body in range(world.body_count):
        if node_offset(world, body) >= 0:
            node = body_node(world, body)
            if node.is_moved != 0:
                node.is_moved = 0
                room = room_for_transform(world)
                write_transform(_without_scale(global_transform(node)), room)
                set_body_transform(space, body, room)
    flush_transforms(space)
    return 0


@jitable
def _step(world, space):
    gravity = world.gravity
    step_space(space, (gravity._x, gravity._y, gravity._z), world.delta)
    return 0


def _step_physics(base, offset):
    """The physics step at the end of a tick."""
    world = _reference(base, offset, WORLD)
    return _step(world, space_of(world))


@_for_godot
def _godot_step_physics(base, offset):
    world = _reference(base, offset, WORLD)
    return _step(world, godot_space_of(world))


def _sync_bodies(base, offset):
    """Moves the nodes of rigid bodies to where the physics has brought them."""
    world = _reference(base, offset, WORLD)
    space = space_of(world)
    for body in range(world.body_count):
        record = space.bodies[body]
        if record.kind == RIGID and node_offset(world, body) >= 0:
            node = record_at(world, node_offset(world, body), _RIGID_BODY)
            set_global_transform(node, read_transform(record.transform))
            node.is_moved = 0
            velocity, spin = record.linear_velocity, record.angular_velocity
            node.linear_velocity_field = Vector3(velocity[0], velocity[1], velocity[2])
            node.angular_velocity_field = Vector3(spin[0], spin[1], spin[2])
    return 0


@jitable
def _slide(body, space):
    character = character_of(body)
    write_transform(global_transform(body), character.transform)
    collided = move_and_slide(space, body.body, character, world_of(body).delta)
    set_global_transform(body, read_transform(character.transform))
    return 1 if collided else 0


def _move_and_slide(base, offset):
    body = _reference(base, offset, _CHARACTER)
    return _slide(body, space_of(body))


@_for_godot
def _godot_move_and_slide(base, offset):
    body = _reference(base, offset, _CHARACTER)
    return _slide(body, godot_space_of(body))


@jitable
def _snap(body, space):
    character = character_of(body)
    write_transform(global_transform(body), character.transform)
    apply_floor_snap(space, body.body, character)
    set_global_transform(body, read_transform(character.transform))
    return 0


def _apply_floor_snap(base, offset):
    body = _reference(base, offset, _CHARACTER)
    return _snap(body, space_of(body))


@_for_godot
def _godot_apply_floor_snap(base, offset):
    body = _reference(base, offset, _CHARACTER)
    return _snap(body, godot_space_of(body))


@jitable
def _move(body, space):
    """By the world's `query_…`: the motion, whether to test only, the margin, and so on."""
    world = world_of(body)
    room = room_for_transform(world)
    write_transform(global_transform(body), room)
    motion, test_only = world.query_to, world.query_inside
    collided = move_and_collide(
        space,
        body.body,
        room,
        (motion._x, motion._y, motion._z),
        test_only,
        np.float32(world.query_margin),
        world.query_areas,
        world.query_count,
        True,
        0,
        -1,
        space.motion[0],
    )
    if not test_only:
        set_global_transform(body, read_transform(room))
    return 1 if collided else 0


def _move_and_collide(base, offset):
    body = _reference(base, offset, _PHYSICS_BODY)
    return _move(body, space_of(body))


@_for_godot
def _godot_move_and_collide(base, offset):
    body = _reference(base, offset, _PHYSICS_BODY)
    return _move(body, godot_space_of(body))


def _cast(base, offset):
    """A RayCast3D."""
    ray = _reference(base, offset, _RAY)
    here, to = global_transform(ray), ray.target_position
    if to == Vector3(0.0, 0.0, 0.0):
        to = Vector3(0.0, 0.01, 0.0)
    end, start = here.xform(to), here.origin
    world = world_of(ray)
    hit, position, normal, body, shape = cast_ray(
        space_of(ray),
        (start._x, start._y, start._z),
        (end._x, end._y, end._z),
        ray.collision_mask,
        ray.collide_with_bodies,
        ray.collide_with_areas,
        ray.hit_from_inside,
        ray.hit_back_faces,
        ray.parent_body if ray.exclude_parent else -1,
        room_for_bodies(world, 0),
    )
    ray.is_hit = hit
    ray.hit_node = body_node(world, body) if hit else _BODY()
    ray.hit_shape = shape if hit else 0
    if hit:
        ray.hit_position = Vector3(position[0], position[1], position[2])
        ray.hit_normal = Vector3(normal[0], normal[1], normal[2])
    return 0


def _intersect_ray(base, offset):
    """By the world's `query_…`; bodies to leave out are in its room."""
    world = _reference(base, offset, WORLD)
    start, end = world.query_from, world.query_to
    hit, position, normal, body, shape = cast_ray(
        space_of(world),
        (start._x, start._y, start._z),
        (end._x, end._y, end._z),
        world.query_mask,
        world.query_bodies,
        world.query_areas,
        world.query_inside,
        True,
        -1,
        room_for_bodies(world, 4),
    )
    world.query_position = Vector3(position[0], position[1], position[2])
    world.query_normal = Vector3(normal[0], normal[1], normal[2])
    world.query_body, world.query_shape = body, shape
    return 1 if hit else 0


FLUSH_TRANSFORMS, STEP_PHYSICS, SYNC_BODIES = _entry(_flush_transforms), _entry(_step_physics), _entry(_sync_bodies)
MOVE_AND_SLIDE, APPLY_FLOOR_SNAP = _entry(_move_and_slide), _entry(_apply_floor_snap)
MOVE_AND_COLLIDE, CAST, INTERSECT_RAY = _entry(_move_and_collide), _entry(_cast), _entry(_intersect_ray)


# Shapes of GodotPhysics3D against each other, with the question and the answer in the scratch of the space


def _collide(base, offset):
    space = godot_space_at(base)
    at = space.scratch[QUESTION:]
    mine = (
        f32(at[5]),
        f32(at[6]),
        f32(at[7]),
        f32(at[8]),
        f32(at[9]),
        f32(at[10]),
        f32(at[11]),
        f32(at[12]),
        f32(at[13]),
    )
    theirs = (
        f32(at[17]),
        f32(at[18]),
        f32(at[19]),
        f32(at[20]),
        f32(at[21]),
        f32(at[22]),
        f32(at[23]),
        f32(at[24]),
        f32(at[25]),
        f32(at[26]),
        f32(at[27]),
        f32(at[28]),
    )
    origin = (f32(at[14]), f32(at[15]), f32(at[16]))
    hit, count = collide_here(space, int(at[0]), mine, origin, int(at[1]), theirs, f32(at[2]), at[3] != 0.0, int(at[4]))
    return 2 * count + (1 if hit else 0)


COLLIDE = _entry(_collide)


@overload(collide_shapes)
def _collide_shapes(space, shape, transform, origin, other_shape, other_transform, margin, wants, count):
    if not isinstance(space, GodotSpaceType):
        return None

    def ask(space, shape, transform, origin, other_shape, other_transform, margin, wants, count):
        at = space.scratch[QUESTION:]
        at[0], at[1], at[2], at[3], at[4] = shape, other_shape, margin, 1.0 if wants else 0.0, count
        for part in range(9):
            at[5 + part] = transform[part]
        at[14], at[15], at[16] = origin[0], origin[1], origin[2]
        for part in range(12):
            at[17 + part] = other_transform[part]
        answer = call_space(space, COLLIDE)
        return answer & 1 != 0, answer >> 1

    return ask
