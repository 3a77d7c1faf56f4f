"""Bodies and rays of 2D: what they do not share with those of 3D."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import numpy as np

from godojo.twin.gdscript.runtime import Vector2, Vector3, acos
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics_2d.space import CHARACTER, MOTION
from godojo.twin.world import entries
from godojo.twin.world.calls_2d import read_transform_2d
from godojo.twin.world.collisions import RayHit
from godojo.twin.world.entries import call
from godojo.twin.world.kernels import CLASSES, body_node, node_kernel, room_of, space_of, world_of
from godojo.twin.world.nodes_2d import global_position_2d, global_transform_2d, set_transform_2d
from godojo.twin.world.refs import is_null, offset_of, record_at
from godojo.twin.world.tables import NATIVE

f32, f64 = np.float32, np.float64
_BODY_2D, _COLLISION_2D = CLASSES["CollisionObject2D"], CLASSES["KinematicCollision2D"]
_RIGID_2D = CLASSES["RigidBody2D"]
_SLIDES_2D_AT = NATIVE["CharacterBody2D"].by_name["character"].offset + CHARACTER.fields["slides"][1]
_MOTION_2D_SIZE = MOTION.itemsize

# Characters


@jitable
def get_gravity_2d(body):
    """The physics finds it in each step: there is none before the first."""
    world = world_of(body)
    return Vector2(world.gravity.x, world.gravity.y) if world.ticks > 0 else Vector2(0.0, 0.0)


@node_kernel("CharacterBody2D")
def get_position_delta_2d(body):
    return global_position_2d(body) - body.previous_position


@node_kernel("CharacterBody2D")
def get_slide_collision_2d(body, index):
    return record_at(body, offset_of(body) + _SLIDES_2D_AT + index * _MOTION_2D_SIZE, _COLLISION_2D)


@node_kernel("CharacterBody2D")
def get_last_slide_collision_2d(body):
    if body.slide_count == 0:
        return _COLLISION_2D()
    return get_slide_collision_2d(body, body.slide_count - 1)


@jitable
def _try_motion(body, motion, test_only, margin, recovery_as_collision, cancels):
    """Whether it collides; `cancels`: what is found is as `move_and_collide` leaves it."""
    world = world_of(body)
    world.query_to, world.query_inside = Vector3(motion.x, motion.y, 0.0), test_only
    world.query_margin, world.query_areas, world.query_bodies = margin, recovery_as_collision, cancels
    return call(body, world.calls_at, entries.MOVE_AND_COLLIDE) != 0


@node_kernel("PhysicsBody2D")
def move_and_collide_2d(body, motion, test_only, margin, recovery_as_collision):
    if not _try_motion(body, motion, test_only, margin, recovery_as_collision, True):
        return _COLLISION_2D()
    return record_at(body, world_of(body).motion_at, _COLLISION_2D)


@node_kernel("PhysicsBody2D")
def test_move_2d(body, start, motion):
    before = body.transform
    is_moved = body.is_moved
    set_transform_2d(body, _inside_parent(body, start))
    collided = _try_motion(body, motion, True, 0.08, False, False)
    body.transform = before
    body.is_moved = is_moved
    return collided


@jitable
def _inside_parent(body, value):
    if body.top_level or is_null(body.parent_2d):
        return value
    return global_transform_2d(body.parent_2d).affine_inverse().times(value)


@jitable
def collision_get_normal_2d(collision):
    return collision.normal


@jitable
def collision_get_position_2d(collision):
    return collision.position


@jitable
def collision_get_collider_velocity(collision):
    return collision.velocity


@jitable
def collision_get_collider_2d(collision):
    return body_node(world_of(collision), collision.other_body)


@jitable
def collision_get_angle_2d(collision, up):
    return acos(collision.normal.dot(up))


# Rays


@jitable
def world_2d(node):
    return world_of(node)


@jitable
def intersect_ray_2d(world, query):
    others = room_of(world).bodies
    others[0], others[1] = query.exclude[0], query.exclude[1]
    others[2], others[3] = query.exclude[2], query.exclude[3]
    world.query_from = Vector3(query.start.x, query.start.y, 0.0)
    world.query_to = Vector3(query.to.x, query.to.y, 0.0)
    world.query_mask = query.collision_mask
    world.query_bodies, world.query_areas = query.collide_with_bodies, query.collide_with_areas
    world.query_inside = query.hit_from_inside
    hit = call(world, world.calls_at, entries.INTERSECT_RAY) != 0
    collider = body_node(world, world.query_body) if hit else _BODY_2D()
    position, normal = world.query_position, world.query_normal
    place, side = Vector2(position.x, position.y), Vector2(normal.x, normal.y)
    return RayHit(hit, place, side, collider, world.query_body, world.query_shape)


# Rigid bodies


@jitable
def _add2(target, value):
    target[0] += value._x
    target[1] += value._y


@jitable
def _set2(target, value):
    target[0], target[1] = value._x, value._y


@jitable
def linear_velocity_2d(body):
    return _RIGID_2D(body).linear_velocity_field


@jitable
def angular_velocity_2d(body):
    return _RIGID_2D(body).angular_velocity_field


@node_kernel("RigidBody2D")
def set_linear_velocity_2d(body, value):
    body.linear_velocity_field = value
    _set2(space_of(body).bodies[body.body].linear_velocity, value)


@node_kernel("RigidBody2D")
def set_angular_velocity_2d(body, value):
    body.angular_velocity_field = value
    space_of(body).bodies[body.body].angular_velocity = f32(value)


@node_kernel("RigidBody2D")
def apply_central_force_2d(body, force):
    _add2(space_of(body).bodies[body.body].force, force)


@node_kernel("RigidBody2D")
def apply_torque_2d(body, torque):
    space_of(body).bodies[body.body].torque += f32(torque)


@jitable
def _arm(record, position):
    center = Vector2(record.center[0], record.center[1])
    return position - read_transform_2d(record.transform).basis_xform(center)


@node_kernel("RigidBody2D")
def apply_force_2d(body, force, position):
    record = space_of(body).bodies[body.body]
    _add2(record.force, force)
    record.torque += f32(_arm(record, position).cross(force))


@node_kernel("RigidBody2D")
def apply_central_impulse_2d(body, impulse):
    record = space_of(body).bodies[body.body]
    _add2(record.linear_velocity, impulse * f64(record.inverse_mass))


@node_kernel("RigidBody2D")
def apply_impulse_2d(body, impulse, position):
    record = space_of(body).bodies[body.body]
    _add2(record.linear_velocity, impulse * f64(record.inverse_mass))
    record.angular_velocity += record.inverse_inertia * f32(_arm(record, position).cross(impulse))


@node_kernel("RigidBody2D")
def apply_torque_impulse_2d(body, torque):
    record = space_of(body).bodies[body.body]
    record.angular_velocity += record.inverse_inertia * f32(torque)


@node_kernel("RigidBody2D")
def constant_force_2d(body):
    force = space_of(body).bodies[body.body].constant_force
    return Vector2(force[0], force[1])


@node_kernel("RigidBody2D")
def set_constant_force_2d(body, value):
    _set2(space_of(body).bodies[body.body].constant_force, value)


@node_kernel("RigidBody2D")
def constant_torque_2d(body):
    return f64(space_of(body).bodies[body.body].constant_torque)


@node_kernel("RigidBody2D")
def set_constant_torque_2d(body, value):
    space_of(body).bodies[body.body].constant_torque = f32(value)


@jitable
def sleeping_2d(body):
    """The 2D physics of a twin never puts bodies to sleep."""
    return False


@jitable
def set_sleeping_2d(body, value):
    pass
