"""The entries of 3D physics: what Jolt and GodotPhysics3D do for the nodes of a world.

The engine is part of the type of a space (see `godojo.twin.physics.engines`).
"""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import numpy as np

from godojo.twin.gdscript.runtime import Basis, Transform3D, Vector3
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.bounds import update_bounds
from godojo.twin.physics.engines import GODOT, JOLT
from godojo.twin.physics.godot.pairs import has_moved
from godojo.twin.physics.godot.rigid import update_tensor
from godojo.twin.physics.jit import call as _part
from godojo.twin.physics.motion import move_and_collide
from godojo.twin.physics.rays import cast_ray
from godojo.twin.physics.rotations import quaternion_of
from godojo.twin.physics.slide import apply_floor_snap, move_and_slide
from godojo.twin.physics.space import AREAS_KNOWN, BODY, MOVED, MOVED_COUNT, RIGID
from godojo.twin.physics.step import begin_step, end_step, flush_transforms
from godojo.twin.world.entries import (
    APPLY_FLOOR_SNAP,
    APPLY_PROCESS_MODE,
    BEGIN_STEP,
    CAST,
    END_STEP,
    FLUSH_TRANSFORMS,
    INTERSECT_RAY,
    MOVE_AND_COLLIDE,
    MOVE_AND_SLIDE,
    PUT_IN,
    RENEW_BODIES,
    SYNC_BODIES,
    TAKE_OUT,
    Entry,
)
from godojo.twin.world.kernels import (
    CLASSES,
    WORLD,
    body_node,
    character_of,
    node_offset,
    room_of,
    world_of,
)
from godojo.twin.world.modes import apply_mode
from godojo.twin.world.nodes import global_transform, set_global_transform
from godojo.twin.world.pool_bodies import kind_inside, renew_body, take_out_body
from godojo.twin.world.ref_types import _reference
from godojo.twin.world.refs import record_at
from godojo.twin.world.space_type import godot_space_at, space_at

_CHARACTER, _PHYSICS_BODY, _RAY = CLASSES["CharacterBody3D"], CLASSES["PhysicsBody3D"], CLASSES["RayCast3D"]
_SHAPE = CLASSES["CollisionShape3D"]
_BODY_SIZE = BODY.itemsize
_NODE, _BODY, _RIGID_BODY = CLASSES["Node"], CLASSES["CollisionObject3D"], CLASSES["RigidBody3D"]

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


@_part
def _flush_transforms(base, offset, space):
    """Hands the transforms of nodes that have moved to the physics."""
    world = _reference(base, offset, WORLD)
    for place in range(space.counts[MOVED_COUNT]):
        body = space.moved[place]
        if node_offset(world, body) >= 0:
            write_transform(_without_scale(global_transform(body_node(world, body))), space.bodies[body].target)
    flush_transforms(space)
    return 0


@_part
def _begin_step(base, offset, space):
    """The physics step at the end of a tick, up to where rigid bodies move."""
    begin_step(space, _reference(base, offset, WORLD).delta)
    return 0


@_part
def _end_step(base, offset, space):
    """The rest of the physics step."""
    end_step(space)
    return 0


@_part
def _sync_bodies(base, offset, space):
    """Moves the nodes of rigid bodies to where the physics has brought them."""
    world = _reference(base, offset, WORLD)
    for place in range(space.roster.shape[0]):
        body = space.roster[place].mover
        if body < 0:
            break
        record = space.bodies[body]
        if record.kind == RIGID and node_offset(world, body) >= 0:
            node = record_at(world, node_offset(world, body), _RIGID_BODY)
            traits = record.traits
            record.traits = traits | MOVED  # the physics knows where it is; bodies below it are marked
            set_global_transform(node, read_transform(record.transform))
            record.traits = traits
            velocity, spin = record.linear_velocity, record.angular_velocity
            node.linear_velocity_field = Vector3(velocity[0], velocity[1], velocity[2])
            node.angular_velocity_field = Vector3(spin[0], spin[1], spin[2])
    return 0


@_part
def _move_and_slide(base, offset, space):
    body = _reference(base, offset, _CHARACTER)
    character = character_of(body)
    write_transform(global_transform(body), character.transform)
    collided = move_and_slide(space, body.body, character, world_of(body).delta)
    set_global_transform(body, read_transform(character.transform))
    return 1 if collided else 0


@_part
def _apply_floor_snap(base, offset, space):
    body = _reference(base, offset, _CHARACTER)
    character = character_of(body)
    write_transform(global_transform(body), character.transform)
    apply_floor_snap(space, body.body, character)
    set_global_transform(body, read_transform(character.transform))
    return 0


@_part
def _move_and_collide(base, offset, space):
    """By the world's `query_…`: the motion, whether to test only, the margin, and so on."""
    body = _reference(base, offset, _PHYSICS_BODY)
    world = world_of(body)
    room = room_of(world).transform
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


@_part
def _cast(base, offset, space):
    """A RayCast3D."""
    ray = _reference(base, offset, _RAY)
    here, to = global_transform(ray), ray.target_position
    if to == Vector3(0.0, 0.0, 0.0):
        to = Vector3(0.0, 0.01, 0.0)
    end, start = here.xform(to), here.origin
    world = world_of(ray)
    hit, position, normal, body, shape = cast_ray(
        space,
        (start._x, start._y, start._z),
        (end._x, end._y, end._z),
        ray.collision_mask,
        ray.collide_with_bodies,
        ray.collide_with_areas,
        ray.hit_from_inside,
        ray.hit_back_faces,
        ray.parent_body if ray.exclude_parent else -1,
        room_of(world).bodies[:0],
    )
    ray.is_hit = hit
    ray.hit_node = body_node(world, body) if hit else _BODY()
    ray.hit_shape = shape if hit else 0
    if hit:
        ray.hit_position = Vector3(position[0], position[1], position[2])
        ray.hit_normal = Vector3(normal[0], normal[1], normal[2])
    return 0


@_part
def _intersect_ray(base, offset, space):
    """By the world's `query_…`; bodies to leave out are in its room."""
    world = _reference(base, offset, WORLD)
    start, end = world.query_from, world.query_to
    hit, position, normal, body, shape = cast_ray(
        space,
        (start._x, start._y, start._z),
        (end._x, end._y, end._z),
        world.query_mask,
        world.query_bodies,
        world.query_areas,
        world.query_inside,
        True,
        -1,
        room_of(world).bodies,
    )
    world.query_position = Vector3(position[0], position[1], position[2])
    world.query_normal = Vector3(normal[0], normal[1], normal[2])
    world.query_body, world.query_shape = body, shape
    return 1 if hit else 0


@_part
def _update_bounds(base, offset, space):
    """After a CollisionShape3D was enabled or disabled."""
    shape = _reference(base, offset, _SHAPE)
    update_bounds(space, shape.shape_body)
    return 0


@_part
def _apply_process_mode(base, offset, space):
    """For the bodies of a node and of all below it."""
    node, world = _reference(base, offset, _NODE), _reference(base, 0, WORLD)
    for body in range(node.first_body, node.end_body):
        if apply_mode(world, space, body):
            update_bounds(space, body)
    return 0


@_part
def _renew_bodies(base, offset, space):
    """For the bodies of a node that was just made."""
    node, world = _reference(base, offset, _NODE), _reference(base, 0, WORLD)
    for body in range(node.first_body, node.end_body):
        renew_body(world, space, body, _BODY_SIZE)
    return 0


@_part
def _put_in(base, offset, space):
    """For the bodies of a node that has come into the tree, where they are."""
    node, world = _reference(base, offset, _NODE), _reference(base, 0, WORLD)
    for body in range(node.first_body, node.end_body):
        if node_offset(world, body) < 0:
            continue
        record = space.bodies[body]
        record.kind = kind_inside(world, body)
        write_transform(_without_scale(global_transform(body_node(world, body))), record.target)
        for part in range(12):
            record.transform[part] = record.target[part]
        rotation = quaternion_of(record.transform)
        for part in range(4):
            record.rotation[part] = rotation[part]
        update_tensor(record)
        space.counts[AREAS_KNOWN] = 0
        update_bounds(space, body)
        has_moved(space, body)
    return 0


@_part
def _take_out(base, offset, space):
    """For the bodies of a node that leaves the tree."""
    node = _reference(base, offset, _NODE)
    for body in range(node.first_body, node.end_body):
        take_out_body(space, body)
        update_bounds(space, body)
    return 0


@_part
def _enter(base, offset, number, space):
    if number == FLUSH_TRANSFORMS:
        return _flush_transforms(base, offset, space)
    if number == BEGIN_STEP:
        return _begin_step(base, offset, space)
    if number == END_STEP:
        return _end_step(base, offset, space)
    if number == SYNC_BODIES:
        return _sync_bodies(base, offset, space)
    if number == MOVE_AND_SLIDE:
        return _move_and_slide(base, offset, space)
    if number == APPLY_FLOOR_SNAP:
        return _apply_floor_snap(base, offset, space)
    if number == MOVE_AND_COLLIDE:
        return _move_and_collide(base, offset, space)
    if number == CAST:
        return _cast(base, offset, space)
    if number == INTERSECT_RAY:
        return _intersect_ray(base, offset, space)
    if number == APPLY_PROCESS_MODE:
        return _apply_process_mode(base, offset, space)
    if number == RENEW_BODIES:
        return _renew_bodies(base, offset, space)
    if number == PUT_IN:
        return _put_in(base, offset, space)
    if number == TAKE_OUT:
        return _take_out(base, offset, space)
    return _update_bounds(base, offset, space)


def _enter_jolt(base, offset, number):
    return _enter(base, offset, number, space_at(base))


def _enter_godot(base, offset, number):
    return _enter(base, offset, number, godot_space_at(base))


ENTRIES = {JOLT: Entry(_enter_jolt), GODOT: Entry(_enter_godot)}
