"""Nodes of 2D: `Node2D` and its transform, over the records of a world."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import numpy as np

from godojo.twin.gdscript.runtime import Vector2, deg_to_rad, rad_to_deg, transform2d_of
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.step import mark_moved
from godojo.twin.world.kernels import CLASSES, body_node, node_kernel, node_offset, space_of, world_of
from godojo.twin.world.pools import next_below
from godojo.twin.world.refs import is_null

f32, f64 = np.float32, np.float64
_NODE, _NODE_2D = CLASSES["Node"], CLASSES["Node2D"]
_LEAST_SCALE = 0.00001


@node_kernel("Node2D")
def global_transform_2d(node):
    """The product of all transforms, from the outermost one on, as Godot multiplies and rounds them."""
    depth = 0
    at = node
    while not at.top_level and not is_null(at.parent_2d):
        at = at.parent_2d
        depth += 1
    result = at.transform
    for level in range(depth - 1, -1, -1):
        at = node
        for _ in range(level):
            at = at.parent_2d
        result = result.times(at.transform)
    return result


@node_kernel("Node2D")
def _has_parent_2d(node):
    return not node.top_level and not is_null(node.parent_2d)


@node_kernel("World2D")
def _mark_bodies(world, first, end):
    space = space_of(world)
    for body in range(first, end):
        moved = body_node(world, body)
        if node_offset(world, body) >= 0 and moved.is_moved == 0:
            world.moves = world.moves + 1
            moved.is_moved = world.moves
            mark_moved(space, body)


@node_kernel("Node2D")
def mark_moved_2d(node):
    """Notes that the bodies of the node and of all below it have moved, and in which order; `flush_transforms` hands
    it on."""
    world = world_of(node)
    if node.first_body < node.end_body:
        _mark_bodies(world, node.first_body, node.end_body)
    if world.made > 0 and not is_null(node.first_child):
        _mark_made_2d(node)


@node_kernel("Node2D")
def _mark_made_2d(node):
    """The same for bodies of nodes below it that were made while the game runs."""
    world, at = world_of(node), next_below(node, _NODE(node))
    while not is_null(at):
        if not is_null(at.pool):
            _mark_bodies(world, at.first_body, at.end_body)
        at = next_below(node, at)


@node_kernel("Node2D")
def _update_values(node):
    """Reads rotation, scale and skew from the transform if that was set last."""
    if node.dirty != 0:
        node.rotation_field = node.transform.get_rotation()
        node.scale_field = node.transform.get_scale()
        node.skew_field = node.transform.get_skew()
        node.dirty = 0


@node_kernel("Node2D")
def _rebuild(node, position):
    """Makes the transform of rotation, scale, skew and a position."""
    node.transform = transform2d_of(node.rotation_field, node.scale_field, node.skew_field, position)
    mark_moved_2d(node)


@node_kernel("Node2D")
def set_transform_2d(node, value):
    node.transform = value
    node.dirty = 1
    mark_moved_2d(node)


@node_kernel("Node2D")
def set_position_2d(node, value):
    _update_values(node)
    _rebuild(node, value)


@node_kernel("Node2D")
def rotation_2d(node):
    _update_values(node)
    return node.rotation_field


@node_kernel("Node2D")
def set_rotation_2d(node, value):
    _update_values(node)
    node.rotation_field = value
    _rebuild(node, node.position)


@jitable
def rotation_degrees_2d(node):
    return f64(f32(rad_to_deg(rotation_2d(node))))


@jitable
def set_rotation_degrees_2d(node, value):
    set_rotation_2d(node, deg_to_rad(value))


@node_kernel("Node2D")
def scale_2d(node):
    _update_values(node)
    return node.scale_field


@jitable
def _not_zero(number):
    return _LEAST_SCALE if abs(number) < _LEAST_SCALE else number


@node_kernel("Node2D")
def set_scale_2d(node, value):
    _update_values(node)
    node.scale_field = Vector2(_not_zero(value.x), _not_zero(value.y))
    _rebuild(node, node.position)


@node_kernel("Node2D")
def skew_2d(node):
    _update_values(node)
    return node.skew_field


@node_kernel("Node2D")
def set_skew_2d(node, value):
    _update_values(node)
    node.skew_field = value
    _rebuild(node, node.position)


@jitable
def global_position_2d(node):
    return global_transform_2d(node).origin


@node_kernel("Node2D")
def set_global_position_2d(node, value):
    if _has_parent_2d(node):
        set_position_2d(node, global_transform_2d(node.parent_2d).affine_inverse().xform(value))
    else:
        set_position_2d(node, value)


@node_kernel("Node2D")
def set_global_transform_2d(node, value):
    if _has_parent_2d(node):
        set_transform_2d(node, global_transform_2d(node.parent_2d).affine_inverse().times(value))
    else:
        set_transform_2d(node, value)


@jitable
def global_rotation_2d(node):
    return global_transform_2d(node).get_rotation()


@node_kernel("Node2D")
def set_global_rotation_2d(node, value):
    if _has_parent_2d(node):
        outer = global_transform_2d(node.parent_2d)
        before = outer.times(node.transform)
        turned = transform2d_of(value, before.get_scale(), before.get_skew(), before.origin)
        set_rotation_2d(node, outer.affine_inverse().times(turned).get_rotation())
    else:
        set_rotation_2d(node, value)


@jitable
def global_rotation_degrees_2d(node):
    return f64(f32(rad_to_deg(global_rotation_2d(node))))


@jitable
def set_global_rotation_degrees_2d(node, value):
    set_global_rotation_2d(node, deg_to_rad(value))


@jitable
def global_scale_2d(node):
    return global_transform_2d(node).get_scale()


@node_kernel("Node2D")
def to_local_2d(node, point):
    return global_transform_2d(node).affine_inverse().xform(point)


@node_kernel("Node2D")
def to_global_2d(node, point):
    return global_transform_2d(node).xform(point)


@node_kernel("Node2D")
def rotate_2d(node, angle):
    set_rotation_2d(node, f64(f32(rotation_2d(node)) + f32(angle)))


@node_kernel("Node2D")
def translate_2d(node, offset):
    set_position_2d(node, node.position + offset)


@node_kernel("Node2D")
def global_translate_2d(node, offset):
    set_global_position_2d(node, global_position_2d(node) + offset)


@node_kernel("Node2D")
def apply_scale_2d(node, ratio):
    set_scale_2d(node, scale_2d(node) * ratio)


@node_kernel("Node2D")
def move_local_x(node, delta, scaled):
    way = node.transform.x
    set_position_2d(node, node.position + (way if scaled else way.normalized()) * delta)


@node_kernel("Node2D")
def move_local_y(node, delta, scaled):
    way = node.transform.y
    set_position_2d(node, node.position + (way if scaled else way.normalized()) * delta)


@node_kernel("Node2D")
def get_angle_to(node, point):
    return (to_local_2d(node, point) * scale_2d(node)).angle()


@jitable
def look_at_2d(node, point):
    rotate_2d(node, get_angle_to(node, point))


@node_kernel("Node2D")
def show_2d(node):
    node.visible = True


@node_kernel("Node2D")
def hide_2d(node):
    node.visible = False
