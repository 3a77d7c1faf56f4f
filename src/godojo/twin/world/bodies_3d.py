"""Bodies, areas and rays: nodes that the physics knows."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from godojo.twin.gdscript.runtime import Vector3, acos
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.space import AREA, CHARACTER, MONITORABLE, MONITORING, MOTION
from godojo.twin.world import calls
from godojo.twin.world.calls import call, read_transform
from godojo.twin.world.kernels import (
    CLASSES,
    motion_of,
    node_kernel,
    node_offset,
    room_for_bodies,
    space_of,
    world_of,
)
from godojo.twin.world.nodes import body_node, global_transform
from godojo.twin.world.refs import is_null, offset_of, record_at
from godojo.twin.world.tables import NATIVE

f32, f64 = np.float32, np.float64
_NODE_3D, _BODY, _COLLISION = CLASSES["Node3D"], CLASSES["CollisionObject3D"], CLASSES["KinematicCollision3D"]
_RIGID_BODY = CLASSES["RigidBody3D"]
_SLIDES_AT = NATIVE["CharacterBody3D"].by_name["character"].offset + CHARACTER.fields["slides"][1]
_MOTION_SIZE = MOTION.itemsize
_FLOOR_ANGLE_EPSILON = 0.01

# The phases of a tick


@jitable
def flush_transforms(world):
    call(world, world.calls_at, calls.FLUSH_TRANSFORMS)


@jitable
def step_physics(world):
    call(world, world.calls_at, calls.STEP_PHYSICS)


@jitable
def sync_bodies(world):
    call(world, world.calls_at, calls.SYNC_BODIES)


@jitable
def set_process_mode(node, value):
    node.process_mode_field = value
    if node.end_body > node.first_body:
        call(node, world_of(node).calls_at, calls.APPLY_PROCESS_MODE)


# CollisionObject3D


@jitable
def rid(node):
    return node


@node_kernel("CollisionObject3D")
def collision_layer(node):
    return np.int64(space_of(node).bodies[node.body].layer)


@node_kernel("CollisionObject3D")
def set_collision_layer(node, value):
    space = space_of(node)
    space.bodies[node.body].layer = np.uint32(value)
    space.counts[1] = 0


@node_kernel("CollisionObject3D")
def collision_mask(node):
    return np.int64(space_of(node).bodies[node.body].mask)


@node_kernel("CollisionObject3D")
def set_collision_mask(node, value):
    space = space_of(node)
    space.bodies[node.body].mask = np.uint32(value)
    space.counts[1] = 0


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


@node_kernel("CollisionShape3D")
def disabled(node):
    if node.shape_body < 0:
        return False
    return (space_of(node).bodies[node.shape_body].disabled >> np.uint64(node.shape_index)) & np.uint64(1) != 0


@node_kernel("CollisionShape3D")
def set_disabled(node, value):
    if node.shape_body >= 0:
        space = space_of(node)
        space.counts[1] = 0
        body = space.bodies[node.shape_body]
        bit = np.uint64(1) << np.uint64(node.shape_index)
        body.disabled = (body.disabled | bit) if value else (body.disabled & ~bit)


# Characters


@jitable
def get_gravity(body):
    """The physics finds it in each step: there is none before the first."""
    world = world_of(body)
    return world.gravity if world.ticks > 0 else Vector3(0.0, 0.0, 0.0)


@jitable
def move_and_slide(body):
    return call(body, world_of(body).calls_at, calls.MOVE_AND_SLIDE) != 0


@jitable
def apply_floor_snap(body):
    call(body, world_of(body).calls_at, calls.APPLY_FLOOR_SNAP)


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


@node_kernel("CharacterBody3D")
def get_position_delta(body):
    return global_transform(body).origin - body.previous_position


@jitable
def get_floor_angle(body, up):
    return acos(body.floor_normal.dot(up))


@jitable
def get_slide_collision_count(body):
    return body.slide_count


@node_kernel("CharacterBody3D")
def get_slide_collision(body, index):
    return record_at(body, offset_of(body) + _SLIDES_AT + index * _MOTION_SIZE, _COLLISION)


@node_kernel("CharacterBody3D")
def get_last_slide_collision(body):
    if body.slide_count == 0:
        return _COLLISION()
    return get_slide_collision(body, body.slide_count - 1)


@node_kernel("PhysicsBody3D")
def move_and_collide(body, motion, test_only, margin, recovery_as_collision, max_collisions):
    world = world_of(body)
    world.query_to, world.query_inside, world.query_margin = motion, test_only, margin
    world.query_areas, world.query_count = recovery_as_collision, max_collisions
    if call(body, world.calls_at, calls.MOVE_AND_COLLIDE) == 0:
        return _COLLISION()
    return record_at(world, world.motion_at, _COLLISION)


@jitable
def test_move(body, start, motion):
    return not is_null(move_and_collide(body, motion, True, 0.001, False, 1))


@jitable
def collision_get_normal(collision, index):
    normal = motion_of(collision).contacts[index].normal
    return Vector3(normal[0], normal[1], normal[2])


@jitable
def collision_get_position(collision, index):
    position = motion_of(collision).contacts[index].position
    return Vector3(position[0], position[1], position[2])


@jitable
def collision_get_collider(collision, index):
    return body_node(world_of(collision), motion_of(collision).contacts[index].body)


@jitable
def collision_get_angle(collision, index, up):
    return acos(collision_get_normal(collision, index).dot(up))


@jitable
def collision_get_travel(collision):
    return collision.travel


@jitable
def collision_get_remainder(collision):
    return collision.remainder


@jitable
def collision_get_depth(collision):
    return collision.depth


@jitable
def collision_get_collision_count(collision):
    return collision.count


# Areas


@node_kernel("Area3D")
def _list_overlaps(area, wants_areas):
    world, space = world_of(area), space_of(area)
    found = area.overlaps
    found.clear()
    for index in range(world.pairs_count):
        pair = space.pairs[index]
        if pair.area == area.body and (space.touching[index] & 2) != 0:
            if (space.bodies[pair.other].kind == AREA) == wants_areas and node_offset(world, pair.other) >= 0:
                found.append(record_at(world, node_offset(world, pair.other), _NODE_3D))
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
    space.counts[1] = 0
    body = space.bodies[node.body]
    body.traits = (body.traits | bit) if value else (body.traits & ~bit)


@node_kernel("Area3D")
def monitoring(area):
    return _flag(area, MONITORING)


@node_kernel("Area3D")
def set_monitoring(area, value):
    _set_flag(area, MONITORING, value)


@node_kernel("Area3D")
def monitorable(area):
    return _flag(area, MONITORABLE)


@node_kernel("Area3D")
def set_monitorable(area, value):
    _set_flag(area, MONITORABLE, value)


@node_kernel("World")
def event_count(world):
    return np.int64(space_of(world).counts[0])


@node_kernel("World")
def event(world, index):
    """An area, what entered or left it, which of the two, and whether that is an area."""
    space = space_of(world)
    found = space.events[index]
    source, other = node_offset(world, found.area), node_offset(world, found.other)
    return source, other, np.int64(found.entered), np.int64(space.bodies[found.other].kind == AREA)


@node_kernel("World")
def clear_events(world):
    space_of(world).counts[0] = 0


# Rays


@jitable
def force_raycast_update(ray):
    call(ray, world_of(ray).calls_at, calls.CAST)


@node_kernel("RayCast3D")
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
    """`PhysicsRayQueryParameters3D`."""

    start: Vector3
    to: Vector3
    collision_mask: int
    collide_with_areas: bool
    collide_with_bodies: bool
    hit_from_inside: bool
    exclude: tuple


class RayHit(NamedTuple):
    """What `intersect_ray` finds."""

    hit: bool
    position: Vector3
    normal: Vector3
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


@node_kernel("CollisionObject3D")
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


@jitable
def world_3d(node):
    return world_of(node)


@jitable
def space_state(world):
    return world


@jitable
def intersect_ray(world, query):
    others = room_for_bodies(world, 4)
    others[0], others[1] = query.exclude[0], query.exclude[1]
    others[2], others[3] = query.exclude[2], query.exclude[3]
    world.query_from, world.query_to, world.query_mask = query.start, query.to, query.collision_mask
    world.query_bodies, world.query_areas = query.collide_with_bodies, query.collide_with_areas
    world.query_inside = query.hit_from_inside
    hit = call(world, world.calls_at, calls.INTERSECT_RAY) != 0
    collider = body_node(world, world.query_body) if hit else _BODY()
    return RayHit(hit, world.query_position, world.query_normal, collider, world.query_body, world.query_shape)


# Rigid bodies


@jitable
def _add3(target, value):
    target[0] += value._x
    target[1] += value._y
    target[2] += value._z


@jitable
def _set3(target, value):
    target[0], target[1], target[2] = value._x, value._y, value._z


@jitable
def linear_velocity(body):
    return _RIGID_BODY(body).linear_velocity_field


@jitable
def angular_velocity(body):
    return _RIGID_BODY(body).angular_velocity_field


@node_kernel("RigidBody3D")
def set_linear_velocity(body, value):
    body.linear_velocity_field = value
    record = space_of(body).bodies[body.body]
    _set3(record.linear_velocity, value)


@node_kernel("RigidBody3D")
def set_angular_velocity(body, value):
    body.angular_velocity_field = value
    record = space_of(body).bodies[body.body]
    _set3(record.angular_velocity, value)


@node_kernel("RigidBody3D")
def apply_central_force(body, force):
    record = space_of(body).bodies[body.body]
    _add3(record.force, force)


@node_kernel("RigidBody3D")
def apply_torque(body, torque):
    record = space_of(body).bodies[body.body]
    _add3(record.torque, torque)


@node_kernel("RigidBody3D")
def apply_force(body, force, position):
    record = space_of(body).bodies[body.body]
    basis = read_transform(record.transform).basis
    center = basis.xform(Vector3(record.center[0], record.center[1], record.center[2]))
    _add3(record.force, force)
    _add3(record.torque, (position - center).cross(force))


@node_kernel("RigidBody3D")
def apply_central_impulse(body, impulse):
    record = space_of(body).bodies[body.body]
    _add3(record.linear_velocity, impulse * f64(record.inverse_mass))


@node_kernel("RigidBody3D")
def constant_force(body):
    force = space_of(body).bodies[body.body].constant_force
    return Vector3(force[0], force[1], force[2])


@node_kernel("RigidBody3D")
def set_constant_force(body, value):
    _set3(space_of(body).bodies[body.body].constant_force, value)


@node_kernel("RigidBody3D")
def constant_torque(body):
    torque = space_of(body).bodies[body.body].constant_torque
    return Vector3(torque[0], torque[1], torque[2])


@node_kernel("RigidBody3D")
def set_constant_torque(body, value):
    _set3(space_of(body).bodies[body.body].constant_torque, value)


@node_kernel("RigidBody3D")
def gravity_scale(body):
    return f64(space_of(body).bodies[body.body].gravity_scale)


@node_kernel("RigidBody3D")
def set_gravity_scale(body, value):
    space_of(body).bodies[body.body].gravity_scale = f32(value)


@node_kernel("RigidBody3D")
def mass(body):
    return body.mass_field


@jitable
def sleeping(body):
    """The physics of a twin never puts bodies to sleep."""
    return False


@jitable
def set_sleeping(body, value):
    pass


@node_kernel("RigidBody3D")
def add_constant_central_force(body, force):
    _add3(space_of(body).bodies[body.body].constant_force, force)


@node_kernel("RigidBody3D")
def add_constant_torque(body, torque):
    _add3(space_of(body).bodies[body.body].constant_torque, torque)
