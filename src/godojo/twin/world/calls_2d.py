"""The entry of 2D physics: what GodotPhysics2D does for the nodes of a world."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import numpy as np

from godojo.twin.gdscript.runtime import Transform2D, Vector2, Vector3
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.jit import call as _part
from godojo.twin.physics.space import AREAS_KNOWN, MOVED, MOVED_COUNT, RIGID
from godojo.twin.physics_2d.motion import cancel_sliding, clear_bounds, test_motion, update_bounds
from godojo.twin.physics_2d.rays import cast_ray
from godojo.twin.physics_2d.slide import apply_floor_snap, move_and_slide
from godojo.twin.physics_2d.space import BODY
from godojo.twin.physics_2d.step import flush_transforms, set_body_transform, step_space
from godojo.twin.world.entries import (
    APPLY_FLOOR_SNAP,
    APPLY_PROCESS_MODE,
    CAST,
    FLUSH_TRANSFORMS,
    INTERSECT_RAY,
    MOVE_AND_COLLIDE,
    MOVE_AND_SLIDE,
    PUT_IN,
    RENEW_BODIES,
    STEP_PHYSICS,
    SYNC_BODIES,
    TAKE_OUT,
    Entry,
)
from godojo.twin.world.kernels import (
    CLASSES,
    WORLD_2D,
    body_node,
    character_of,
    node_offset,
    room_of,
    space_of,
    world_of,
)
from godojo.twin.world.modes import apply_mode
from godojo.twin.world.nodes_2d import (
    _has_parent_2d,
    global_transform_2d,
    set_global_transform_2d,
    set_transform_2d,
)
from godojo.twin.world.pool_bodies import kind_inside, renew_body, take_out_body
from godojo.twin.world.ref_types import _reference
from godojo.twin.world.refs import record_at

_CHARACTER, _PHYSICS_BODY, _RAY = CLASSES["CharacterBody2D"], CLASSES["PhysicsBody2D"], CLASSES["RayCast2D"]
_BODY, _RIGID_BODY = CLASSES["CollisionObject2D"], CLASSES["RigidBody2D"]
_NODE, _SHAPE = CLASSES["Node"], CLASSES["CollisionShape2D"]
_BODY_SIZE = BODY.itemsize


@jitable
def write_transform_2d(value, room):
    room[0], room[1] = value._columnx._x, value._columnx._y
    room[2], room[3] = value._columny._x, value._columny._y
    room[4], room[5] = value._origin._x, value._origin._y


@jitable
def read_transform_2d(room):
    return Transform2D(Vector2(room[0], room[1]), Vector2(room[2], room[3]), Vector2(room[4], room[5]))


@_part
def _flush_transforms(base, offset):
    """Hands the transforms of nodes that have moved to the physics."""
    world = _reference(base, offset, WORLD_2D)
    space = space_of(world)
    for place in range(space.counts[MOVED_COUNT]):
        body = space.moved[place]
        node = body_node(world, body)
        if node.is_moved != 0:
            room = room_of(world).transform
            write_transform_2d(global_transform_2d(node), room)
            set_body_transform(space, body, room, node.is_moved)
            node.is_moved = 0
        else:  # it was only tried, or is another one by now
            space.bodies[body].traits &= ~MOVED
    world.moves = 0
    flush_transforms(space)
    return 0


@_part
def _step_physics(base, offset):
    """The physics step at the end of a tick."""
    world = _reference(base, offset, WORLD_2D)
    step_space(space_of(world), (world.gravity._x, world.gravity._y), world.delta)
    return 0


@_part
def _sync_bodies(base, offset):
    """Moves the nodes of rigid bodies to where the physics has brought them."""
    world = _reference(base, offset, WORLD_2D)
    space = space_of(world)
    for place in range(space.roster.shape[0]):
        body = space.roster[place].mover
        if body < 0:
            break
        record = space.bodies[body]
        if record.kind == RIGID and node_offset(world, body) >= 0:
            node = record_at(world, node_offset(world, body), _RIGID_BODY)
            set_global_transform_2d(node, read_transform_2d(record.transform))
            node.is_moved = 0
            node.linear_velocity_field = Vector2(record.linear_velocity[0], record.linear_velocity[1])
            node.angular_velocity_field = np.float64(record.angular_velocity)
    return 0


@jitable
def _begin(body):
    """A character where its node is."""
    character = character_of(body)
    write_transform_2d(global_transform_2d(body), character.transform)
    write_transform_2d(body.transform, character.local)
    character.has_parent = 0
    if _has_parent_2d(body):
        outer = global_transform_2d(body.parent_2d)
        character.has_parent = 1
        write_transform_2d(outer, character.parent)
        write_transform_2d(outer.affine_inverse(), character.parent_inverse)
    return character


@_part
def _move_and_slide(base, offset):
    body = _reference(base, offset, _CHARACTER)
    character = _begin(body)
    collided = move_and_slide(space_of(body), body.body, character, world_of(body).delta)
    set_transform_2d(body, read_transform_2d(character.local))
    return 1 if collided else 0


@_part
def _apply_floor_snap(base, offset):
    body = _reference(base, offset, _CHARACTER)
    character = _begin(body)
    apply_floor_snap(space_of(body), body.body, character, False)
    set_transform_2d(body, read_transform_2d(character.local))
    return 0


@_part
def _move_and_collide(base, offset):
    """By the world's `query_…`: the motion, whether to test only, the margin, and so on."""
    body = _reference(base, offset, _PHYSICS_BODY)
    world, space = world_of(body), space_of(body)
    room, result = room_of(world).transform, space.motion[0]
    here = global_transform_2d(body)
    write_transform_2d(here, room)
    motion, margin = (world.query_to._x, world.query_to._y), np.float32(world.query_margin)
    collided = test_motion(space, body.body, room, motion, margin, world.query_areas, -1, result)
    if world.query_bodies:
        cancel_sliding(result, motion, margin, collided)
    if not world.query_inside:
        travel = Vector2(result.travel[0], result.travel[1])
        set_global_transform_2d(body, here.with_origin(here.origin + travel))
    return 1 if collided else 0


@_part
def _cast(base, offset):
    """A RayCast2D."""
    ray = _reference(base, offset, _RAY)
    here, to = global_transform_2d(ray), ray.target_position
    if to == Vector2(0.0, 0.0):
        to = Vector2(0.0, 0.01)
    end, start = here.xform(to), here.origin
    world = world_of(ray)
    hit, position, normal, body, shape = cast_ray(
        space_of(ray),
        (start._x, start._y),
        (end._x, end._y),
        ray.collision_mask,
        ray.collide_with_bodies,
        ray.collide_with_areas,
        ray.hit_from_inside,
        ray.parent_body if ray.exclude_parent else -1,
        room_of(world).bodies[:0],
    )
    ray.is_hit = hit
    ray.hit_node = body_node(world, body) if hit else _BODY()
    ray.hit_shape = shape if hit else 0
    if hit:
        ray.hit_position = Vector2(position[0], position[1])
        ray.hit_normal = Vector2(normal[0], normal[1])
    return 0


@_part
def _intersect_ray(base, offset):
    """By the world's `query_…`; bodies to leave out are in its room."""
    world = _reference(base, offset, WORLD_2D)
    start, end = world.query_from, world.query_to
    hit, position, normal, body, shape = cast_ray(
        space_of(world),
        (start._x, start._y),
        (end._x, end._y),
        world.query_mask,
        world.query_bodies,
        world.query_areas,
        world.query_inside,
        -1,
        room_of(world).bodies,
    )
    world.query_position = Vector3(position[0], position[1], 0.0)
    world.query_normal = Vector3(normal[0], normal[1], 0.0)
    world.query_body, world.query_shape = body, shape
    return 1 if hit else 0


@_part
def _update_bounds(base, offset):
    """After a CollisionShape2D was enabled or disabled."""
    shape = _reference(base, offset, _SHAPE)
    update_bounds(space_of(shape), shape.shape_body)
    return 0


@_part
def _apply_process_mode(base, offset):
    """For the bodies of a node and of all below it."""
    node, world = _reference(base, offset, _NODE), _reference(base, 0, WORLD_2D)
    space = space_of(world)
    for body in range(node.first_body, node.end_body):
        if apply_mode(world, space, body):
            update_bounds(space, body)
    return 0


@_part
def _renew_bodies(base, offset):
    """For the bodies of a node that was just made."""
    node, world = _reference(base, offset, _NODE), _reference(base, 0, WORLD_2D)
    for body in range(node.first_body, node.end_body):
        renew_body(world, space_of(world), body, _BODY_SIZE)
    return 0


@_part
def _put_in(base, offset):
    """For the bodies of a node that has come into the tree, where they are."""
    node, world = _reference(base, offset, _NODE), _reference(base, 0, WORLD_2D)
    space = space_of(world)
    for body in range(node.first_body, node.end_body):
        if node_offset(world, body) < 0:
            continue
        record = space.bodies[body]
        record.kind = kind_inside(world, body)
        write_transform_2d(global_transform_2d(body_node(world, body)), record.target)
        for part in range(6):
            record.transform[part] = record.target[part]
        space.counts[AREAS_KNOWN] = 0
        update_bounds(space, body)
    return 0


@_part
def _take_out(base, offset):
    """For the bodies of a node that leaves the tree."""
    node, world = _reference(base, offset, _NODE), _reference(base, 0, WORLD_2D)
    space = space_of(world)
    for body in range(node.first_body, node.end_body):
        take_out_body(space, body)
        clear_bounds(space, body)
    return 0


def _enter(base, offset, number):
    if number == FLUSH_TRANSFORMS:
        return _flush_transforms(base, offset)
    if number == STEP_PHYSICS:
        return _step_physics(base, offset)
    if number == SYNC_BODIES:
        return _sync_bodies(base, offset)
    if number == MOVE_AND_SLIDE:
        return _move_and_slide(base, offset)
    if number == APPLY_FLOOR_SNAP:
        return _apply_floor_snap(base, offset)
    if number == MOVE_AND_COLLIDE:
        return _move_and_collide(base, offset)
    if number == CAST:
        return _cast(base, offset)
    if number == INTERSECT_RAY:
        return _intersect_ray(base, offset)
    if number == APPLY_PROCESS_MODE:
        return _apply_process_mode(base, offset)
    if number == RENEW_BODIES:
        return _renew_bodies(base, offset)
    if number == PUT_IN:
        return _put_in(base, offset)
    if number == TAKE_OUT:
        return _take_out(base, offset)
    return _update_bounds(base, offset)


ENTRY_2D = Entry(_enter)
