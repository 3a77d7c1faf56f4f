"""Bodies and rays of 3D: what they do not share with those of 2D."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

from godojo.twin.gdscript.runtime import Vector3, acos
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.space import CHARACTER, MOTION
from godojo.twin.world import entries
from godojo.twin.world.collisions import RayHit
from godojo.twin.world.entries import call
from godojo.twin.world.kernels import CLASSES, body_node, motion_of, node_kernel, room_of, world_of
from godojo.twin.world.nodes import global_transform
from godojo.twin.world.refs import is_null, offset_of, record_at
from godojo.twin.world.tables import NATIVE

_BODY, _COLLISION = CLASSES["CollisionObject3D"], CLASSES["KinematicCollision3D"]
_SLIDES_AT = NATIVE["CharacterBody3D"].by_name["character"].offset + CHARACTER.fields["slides"][1]
_MOTION_SIZE = MOTION.itemsize

# Characters


@jitable
def get_gravity(body):
    """The physics finds it in each step: there is none before the first."""
    world = world_of(body)
    return world.gravity if world.ticks > 0 else Vector3(0.0, 0.0, 0.0)


@node_kernel("CharacterBody3D")
def get_position_delta(body):
    return global_transform(body).origin - body.previous_position


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
    if call(body, world.calls_at, entries.MOVE_AND_COLLIDE) == 0:
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
def collision_get_collision_count(collision):
    return collision.count


@jitable
def world_3d(node):
    return world_of(node)


@jitable
def space_state(world):
    return world


@jitable
def intersect_ray(world, query):
    others = room_of(world).bodies
    others[0], others[1] = query.exclude[0], query.exclude[1]
    others[2], others[3] = query.exclude[2], query.exclude[3]
    world.query_from, world.query_to, world.query_mask = query.start, query.to, query.collision_mask
    world.query_bodies, world.query_areas = query.collide_with_bodies, query.collide_with_areas
    world.query_inside = query.hit_from_inside
    hit = call(world, world.calls_at, entries.INTERSECT_RAY) != 0
    collider = body_node(world, world.query_body) if hit else _BODY()
    return RayHit(hit, world.query_position, world.query_normal, collider, world.query_body, world.query_shape)
