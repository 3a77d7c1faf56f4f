"""What bodies, areas and rays of 2D and 3D have in common."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from godojo.twin.gdscript.runtime import acos
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.space import ANNOUNCED_COUNT, AREA, AREAS_KNOWN, EVENTS, MONITORABLE, MONITORING, PAIRED
from godojo.twin.world import entries
from godojo.twin.world.entries import call
from godojo.twin.world.kernels import body_node, node_kernel, node_offset, space_of, world_of

# The phases of a tick


@jitable
def flush_transforms(world):
    call(world, world.calls_at, entries.FLUSH_TRANSFORMS)


@jitable
def step_physics(world):
    call(world, world.calls_at, entries.STEP_PHYSICS)


@jitable
def begin_step(world):
    call(world, world.calls_at, entries.BEGIN_STEP)


@jitable
def move_rigid_bodies(world):
    call(world, world.rigid_calls_at, entries.MOVE_RIGID_BODIES)


@jitable
def end_step(world):
    call(world, world.calls_at, entries.END_STEP)


@jitable
def move_vehicles(world):
    call(world, world.rigid_calls_at, entries.MOVE_VEHICLES)


@jitable
def sync_bodies(world):
    call(world, world.calls_at, entries.SYNC_BODIES)


# Bodies and areas


@jitable
def rid(node):
    return node


@node_kernel("CollisionObject3D", "CollisionObject2D")
def collision_layer(node):
    return np.int64(space_of(node).bodies[node.body].layer)


@node_kernel("CollisionObject3D", "CollisionObject2D")
def set_collision_layer(node, value):
    space = space_of(node)
    space.bodies[node.body].layer = np.uint32(value)
    space.counts[AREAS_KNOWN] = space.counts[PAIRED] = 0


@node_kernel("CollisionObject3D", "CollisionObject2D")
def collision_mask(node):
    return np.int64(space_of(node).bodies[node.body].mask)


@node_kernel("CollisionObject3D", "CollisionObject2D")
def set_collision_mask(node, value):
    space = space_of(node)
    space.bodies[node.body].mask = np.uint32(value)
    space.counts[AREAS_KNOWN] = space.counts[PAIRED] = 0


@jitable
def get_collision_layer_value(node, number):
    return (collision_layer(node) >> (number - 1)) & 1 == 1


@jitable
def get_collision_mask_value(node, number):
    return (collision_mask(node) >> (number - 1)) & 1 == 1


@jitable
def set_collision_layer_value(node, number, value):
    bit = 1 << (number - 1)
    set_collision_layer(node, (collision_layer(node) & ~bit) | (bit if value else 0))


@jitable
def set_collision_mask_value(node, number, value):
    bit = 1 << (number - 1)
    set_collision_mask(node, (collision_mask(node) & ~bit) | (bit if value else 0))


@node_kernel("CollisionShape3D", "CollisionShape2D")
def disabled(node):
    if node.shape_body < 0:
        return False
    return (space_of(node).bodies[node.shape_body].disabled >> np.uint64(node.shape_index)) & np.uint64(1) != 0


@node_kernel("CollisionShape3D", "CollisionShape2D")
def set_disabled(node, value):
    if node.shape_body >= 0:
        space = space_of(node)
        space.counts[AREAS_KNOWN] = space.counts[PAIRED] = 0
        body = space.bodies[node.shape_body]
        bit = np.uint64(1) << np.uint64(node.shape_index)
        body.disabled = (body.disabled | bit) if value else (body.disabled & ~bit)
        call(node, world_of(node).calls_at, entries.UPDATE_BOUNDS)


# Characters


@jitable
def move_and_slide(body):
    return call(body, world_of(body).calls_at, entries.MOVE_AND_SLIDE) != 0


@jitable
def apply_floor_snap(body):
    call(body, world_of(body).calls_at, entries.APPLY_FLOOR_SNAP)


@jitable
def is_on_floor(body):
    return body.on_floor


@jitable
def is_on_wall(body):
    return body.on_wall


@jitable
def is_on_ceiling(body):
    return body.on_ceiling


@jitable
def is_on_floor_only(body):
    return body.on_floor and not body.on_wall and not body.on_ceiling


@jitable
def is_on_wall_only(body):
    return body.on_wall and not body.on_floor and not body.on_ceiling


@jitable
def is_on_ceiling_only(body):
    return body.on_ceiling and not body.on_floor and not body.on_wall


@jitable
def get_floor_normal(body):
    return body.floor_normal


@jitable
def get_wall_normal(body):
    return body.wall_normal


@jitable
def get_real_velocity(body):
    return body.real_velocity


@jitable
def get_last_motion(body):
    return body.last_motion


@jitable
def get_platform_velocity(body):
    return body.platform_velocity


@jitable
def get_floor_angle(body, up):
    return acos(body.floor_normal.dot(up))


@jitable
def get_slide_collision_count(body):
    return body.slide_count


@jitable
def collision_get_travel(collision):
    return collision.travel


@jitable
def collision_get_remainder(collision):
    return collision.remainder


@jitable
def collision_get_depth(collision):
    return collision.depth


# Areas


@node_kernel("Area3D", "Area2D")
def _list_overlaps(area, wants_areas):
    world, space = world_of(area), space_of(area)
    found = area.overlaps
    found.clear()
    if world.pairs_count == 0:
        return found
    first = space.pairs[space.roster[area.body].first_pair]
    for index in range(first.first, first.end):
        pair = space.pairs[index]
        if (space.touching[index] & 2) != 0:
            if (space.bodies[pair.other].kind == AREA) == wants_areas and node_offset(world, pair.other) >= 0:
                found.append(body_node(world, pair.other))
    return found


@jitable
def get_overlapping_bodies(area):
    return _list_overlaps(area, False)


@jitable
def get_overlapping_areas(area):
    return _list_overlaps(area, True)


@jitable
def has_overlapping_bodies(area):
    return len(_list_overlaps(area, False)) > 0


@jitable
def has_overlapping_areas(area):
    return len(_list_overlaps(area, True)) > 0


@jitable
def overlaps_body(area, node):
    for one in _list_overlaps(area, False):
        if one == node:
            return True
    return False


@jitable
def overlaps_area(area, node):
    for one in _list_overlaps(area, True):
        if one == node:
            return True
    return False


@jitable
def _flag(node, bit):
    return (space_of(node).bodies[node.body].traits & bit) != 0


@jitable
def _set_flag(node, bit, value):
    space = space_of(node)
    space.counts[AREAS_KNOWN] = 0
    body = space.bodies[node.body]
    body.traits = (body.traits | bit) if value else (body.traits & ~bit)


@node_kernel("Area3D", "Area2D")
def monitoring(area):
    return _flag(area, MONITORING)


@node_kernel("Area3D", "Area2D")
def set_monitoring(area, value):
    _set_flag(area, MONITORING, value)


@node_kernel("Area3D", "Area2D")
def monitorable(area):
    return _flag(area, MONITORABLE)


@node_kernel("Area3D", "Area2D")
def set_monitorable(area, value):
    _set_flag(area, MONITORABLE, value)


@node_kernel("World", "World2D")
def event_count(world):
    return np.int64(space_of(world).counts[EVENTS])


@node_kernel("World", "World2D")
def event(world, index):
    """An area, what entered or left it, which of the two, and whether that is an area."""
    space = space_of(world)
    found = space.events[index]
    source, other = node_offset(world, found.area), node_offset(world, found.other)
    is_area = body_node(world, found.other).active_kind == AREA  # what it was, if it was taken out
    return source, other, np.int64(found.entered), np.int64(is_area)


@node_kernel("World")
def contact_count(world):
    return np.int64(space_of(world).counts[ANNOUNCED_COUNT])


@node_kernel("World")
def contact_event(world, index):
    """A rigid body, what it has met or left, and which of the two."""
    found = space_of(world).announced[index]
    return node_offset(world, found.area), node_offset(world, found.other), np.int64(found.entered)


@node_kernel("World")
def clear_contacts(world):
    space_of(world).counts[ANNOUNCED_COUNT] = 0


@node_kernel("World", "World2D")
def clear_events(world):
    space_of(world).counts[EVENTS] = 0


# Rays


@jitable
def force_raycast_update(ray):
    call(ray, world_of(ray).calls_at, entries.CAST)


@node_kernel("RayCast3D", "RayCast2D")
def update_ray(ray):
    if ray.enabled:
        force_raycast_update(ray)


@jitable
def is_colliding(ray):
    return ray.is_hit


@jitable
def ray_collider(ray):
    return ray.hit_node


@jitable
def get_collision_point(ray):
    return ray.hit_position


@jitable
def get_collision_normal(ray):
    return ray.hit_normal


@jitable
def get_collider_shape(ray):
    return ray.hit_shape


class RayQuery(NamedTuple):
    """`PhysicsRayQueryParameters3D` or `PhysicsRayQueryParameters2D`."""

    start: object
    to: object
    collision_mask: int
    collide_with_areas: bool
    collide_with_bodies: bool
    hit_from_inside: bool
    exclude: tuple


class RayHit(NamedTuple):
    """What `intersect_ray` finds."""

    hit: bool
    position: object
    normal: object
    collider: object
    collider_id: int
    shape: int


def _bodies(nodes):
    return tuple(int(node.body) for node in nodes)


@overload(_bodies)
def _bodies_of(nodes):
    count = len(nodes)
    if count == 0:
        return lambda nodes: (-1, -1, -1, -1)
    if count == 1:
        return lambda nodes: (_body_of(nodes[0]), -1, -1, -1)
    if count == 2:
        return lambda nodes: (_body_of(nodes[0]), _body_of(nodes[1]), -1, -1)
    if count == 3:
        return lambda nodes: (_body_of(nodes[0]), _body_of(nodes[1]), _body_of(nodes[2]), -1)
    return lambda nodes: (_body_of(nodes[0]), _body_of(nodes[1]), _body_of(nodes[2]), _body_of(nodes[3]))


@node_kernel("CollisionObject3D", "CollisionObject2D")
def _body_of(node):
    return node.body


@jitable
def ray_query(start, end, mask, exclude):
    return RayQuery(start, end, np.int64(mask), False, True, False, _bodies(exclude))


@jitable
def with_collision_mask(q, value):
    return RayQuery(q.start, q.to, value, q.collide_with_areas, q.collide_with_bodies, q.hit_from_inside, q.exclude)


@jitable
def with_collide_with_areas(q, value):
    return RayQuery(q.start, q.to, q.collision_mask, value, q.collide_with_bodies, q.hit_from_inside, q.exclude)


@jitable
def with_collide_with_bodies(q, value):
    return RayQuery(q.start, q.to, q.collision_mask, q.collide_with_areas, value, q.hit_from_inside, q.exclude)


@jitable
def with_hit_from_inside(q, value):
    return RayQuery(q.start, q.to, q.collision_mask, q.collide_with_areas, q.collide_with_bodies, value, q.exclude)


@jitable
def with_from(q, value):
    return RayQuery(
        value, q.to, q.collision_mask, q.collide_with_areas, q.collide_with_bodies, q.hit_from_inside, q.exclude
    )


@jitable
def with_to(q, value):
    return RayQuery(
        q.start, value, q.collision_mask, q.collide_with_areas, q.collide_with_bodies, q.hit_from_inside, q.exclude
    )


# Rigid bodies


@node_kernel("RigidBody3D", "RigidBody2D")
def gravity_scale(body):
    return np.float64(space_of(body).bodies[body.body].gravity_scale)


@node_kernel("RigidBody3D", "RigidBody2D")
def set_gravity_scale(body, value):
    space_of(body).bodies[body.body].gravity_scale = np.float32(value)


@node_kernel("RigidBody3D", "RigidBody2D")
def mass(body):
    return body.mass_field
