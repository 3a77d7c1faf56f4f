"""Godot's nodes: the functions that `api` names, over the records of a world."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import numpy as np

from godojo.twin.gdscript.runtime import (
    Transform3D,
    Vector3,
    basis_from_axis_angle,
    basis_from_euler,
    basis_from_quaternion,
    basis_from_scale,
    basis_looking_at,
    deg_to_rad,
    identity_transform,
    rad_to_deg,
)
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.step import mark_moved as mark_body
from godojo.twin.world.kernels import CLASSES, node_kernel, space_of, world_of
from godojo.twin.world.pools import next_below
from godojo.twin.world.refs import is_null

f64 = np.float64
Node = CLASSES["Node"]
_TOP_LEVEL = 1 << 48
_STALE_ANGLES, _STALE_BASIS = 1, 2
"""Bits of `dirty`: rotation and scale must be read from the basis, or the basis made of them."""

# Node


@jitable
def get_parent(node):
    return node.parent


@jitable
def is_inside_tree(node):
    return True


is_node_ready = is_inside_tree


@jitable
def has_stopped(node):
    return world_of(node).error != 0


@jitable
def never(node):
    return False


@jitable
def get_physics_process_delta_time(node):
    return world_of(node).delta


get_process_delta_time = get_physics_process_delta_time


@jitable
def physics_frames(node):
    return world_of(node).ticks


@jitable
def ticks_per_second(node):
    return world_of(node).ticks_per_second


@jitable
def time_scale(node):
    return 1.0


@jitable
def ticks_msec(node):
    return world_of(node).ticks * 1000 // world_of(node).ticks_per_second


@jitable
def ticks_usec(node):
    return world_of(node).ticks * 1000000 // world_of(node).ticks_per_second


@node_kernel("Node")
def is_physics_processing(node):
    return (node.flags & 1) != 0


@node_kernel("Node")
def is_processing(node):
    return (node.flags & 2) != 0


@node_kernel("Node")
def set_physics_process(node, enabled):
    node.flags = (node.flags & ~1) | (1 if enabled else 0)


@node_kernel("Node")
def set_process(node, enabled):
    node.flags = (node.flags & ~2) | (2 if enabled else 0)


@node_kernel("Node")
def process_mode(node):
    return node.process_mode_field


@node_kernel("Node")
def can_process(node):
    """Whether neither the node nor one that it inherits its mode from is disabled; the tree is never paused here."""
    at = node
    while at.process_mode_field == 0 and not is_null(at.parent):
        at = at.parent
    return at.process_mode_field != 4 and at.process_mode_field != 2


@node_kernel("Node")
def get_instance_id(node):
    return node.node_index


@node_kernel("Node")
def _is_below(node, index):
    return node.node_index < index < node.subtree_end


@jitable
def is_ancestor_of(node, other):
    return _is_below(node, get_instance_id(other))


# Node3D: the transform, and what it is computed from


@node_kernel("Node3D")
def local_transform(node):
    """The node's transform; the basis is made of rotation and scale if one of them was set last."""
    if node.dirty & _STALE_BASIS:
        node.basis = basis_from_euler(node.euler).times(basis_from_scale(node.scale_field))
        node.dirty = node.dirty & ~_STALE_BASIS
    return node.transform


@node_kernel("Node3D")
def _global_version(node):
    """Another number whenever the node or one above it has moved: the sum of their versions, which only grow."""
    total, at = node.version, node
    while not at.top_level and not is_null(at.parent_3d):
        at = at.parent_3d
        total += at.version
    return total + _TOP_LEVEL if at.top_level else total


@node_kernel("Node3D")
def global_transform(node):
    """As Godot computes it: that of the parent times the node's own. It is kept until one of them moves."""
    version = _global_version(node)
    while node.global_version != version:
        at, wanted = node, version  # the topmost node that is out of date
        has_parent = not at.top_level and not is_null(at.parent_3d)
        while has_parent and at.parent_3d.global_version != wanted - at.version:
            wanted -= at.version
            at = at.parent_3d
            has_parent = not at.top_level and not is_null(at.parent_3d)
        result = local_transform(at)
        at.global_field = at.parent_3d.global_field.times(result) if has_parent else result
        at.global_version = wanted
    return node.global_field


@node_kernel("Node3D")
def mark_moved(node):
    """Notes that the node and the bodies of all below it have moved; `flush_transforms` hands it on."""
    node.version += 1
    if node.first_body < node.end_body:
        space = space_of(node)
        for body in range(node.first_body, node.end_body):
            mark_body(space, body)
    if world_of(node).made > 0 and not is_null(node.first_child):
        _mark_made(node)


@node_kernel("Node3D")
def _mark_made(node):
    """The same for bodies of nodes below it that were made while the game runs."""
    space, at = space_of(node), next_below(node, Node(node))
    while not is_null(at):
        if not is_null(at.pool):
            for body in range(at.first_body, at.end_body):
                mark_body(space, body)
        at = next_below(node, at)


@node_kernel("Node3D")
def set_transform(node, value):
    node.transform = value
    node.dirty = _STALE_ANGLES
    mark_moved(node)


@node_kernel("Node3D")
def set_basis(node, value):
    node.basis = value
    node.dirty = _STALE_ANGLES
    mark_moved(node)


@node_kernel("Node3D")
def set_position(node, value):
    node.position = value
    mark_moved(node)


@node_kernel("Node3D")
def _update_angles(node):
    if node.dirty & _STALE_ANGLES:
        node.scale_field = node.basis.get_scale()
        node.euler = _euler_normalized(node.basis)
        node.dirty = node.dirty & ~_STALE_ANGLES


@jitable
def _euler_normalized(basis):
    plain = basis.orthonormalized()
    if plain.determinant() < 0.0:
        plain = plain.scaled(Vector3(-1.0, -1.0, -1.0))
    return plain.get_euler()


@node_kernel("Node3D")
def rotation(node):
    _update_angles(node)
    return node.euler


@node_kernel("Node3D")
def scale(node):
    _update_angles(node)
    return node.scale_field


@node_kernel("Node3D")
def set_rotation(node, value):
    if node.dirty & _STALE_ANGLES:
        node.scale_field = node.basis.get_scale()
    node.euler = value
    node.dirty = _STALE_BASIS
    mark_moved(node)


@node_kernel("Node3D")
def set_scale(node, value):
    if node.dirty & _STALE_ANGLES:
        node.euler = _euler_normalized(node.basis)
    node.scale_field = value
    node.dirty = _STALE_BASIS
    mark_moved(node)


@jitable
def _degrees(radians):
    return Vector3(rad_to_deg(radians.x), rad_to_deg(radians.y), rad_to_deg(radians.z))


@jitable
def _radians(degrees):
    return Vector3(deg_to_rad(degrees.x), deg_to_rad(degrees.y), deg_to_rad(degrees.z))


@jitable
def rotation_degrees(node):
    return _degrees(rotation(node))


@jitable
def set_rotation_degrees(node, value):
    set_rotation(node, _radians(value))


@jitable
def quaternion(node):
    return local_transform(node).basis.get_rotation_quaternion()


@node_kernel("Node3D")
def set_quaternion(node, value):
    scaling = basis_from_scale(local_transform(node).basis.get_scale())
    set_basis(node, basis_from_quaternion(value).times(scaling))


@jitable
def basis(node):
    return local_transform(node).basis


@jitable
def transform(node):
    return local_transform(node)


@jitable
def global_basis(node):
    return global_transform(node).basis


@jitable
def global_position(node):
    return global_transform(node).origin


@jitable
def global_rotation(node):
    return global_transform(node).basis.get_euler()


@jitable
def global_rotation_degrees(node):
    return _degrees(global_rotation(node))


@node_kernel("Node3D")
def set_global_transform(node, value):
    if node.top_level or is_null(node.parent_3d):
        set_transform(node, value)
    else:
        set_transform(node, global_transform(node.parent_3d).affine_inverse().times(value))


@node_kernel("Node3D")
def set_global_position(node, value):
    set_global_transform(node, Transform3D(global_transform(node).basis, value))


@node_kernel("Node3D")
def set_global_basis(node, value):
    set_global_transform(node, Transform3D(value, global_transform(node).origin))


@node_kernel("Node3D")
def set_global_rotation(node, value):
    before = global_transform(node)
    turned = basis_from_euler(value).times(basis_from_scale(before.basis.get_scale()))
    set_global_transform(node, Transform3D(turned, before.origin))


@jitable
def set_global_rotation_degrees(node, value):
    set_global_rotation(node, _radians(value))


@jitable
def to_local(node, point):
    return global_transform(node).affine_inverse().xform(point)


@jitable
def to_global(node, point):
    return global_transform(node).xform(point)


@node_kernel("Node3D")
def rotate(node, axis, angle):
    set_basis(node, basis_from_axis_angle(axis, angle).times(local_transform(node).basis))


@jitable
def rotate_x(node, angle):
    rotate(node, Vector3(1.0, 0.0, 0.0), angle)


@jitable
def rotate_y(node, angle):
    rotate(node, Vector3(0.0, 1.0, 0.0), angle)


@jitable
def rotate_z(node, angle):
    rotate(node, Vector3(0.0, 0.0, 1.0), angle)


@node_kernel("Node3D")
def rotate_object_local(node, axis, angle):
    set_basis(node, local_transform(node).basis.times(basis_from_axis_angle(axis, angle)))


@node_kernel("Node3D")
def global_rotate(node, axis, angle):
    before = global_transform(node)
    set_global_transform(node, Transform3D(basis_from_axis_angle(axis, angle).times(before.basis), before.origin))


@node_kernel("Node3D")
def translate(node, offset):
    set_transform(node, local_transform(node).translated_local(offset))


@node_kernel("Node3D")
def translate_object_local(node, offset):
    step = Transform3D(identity_transform().basis, offset)
    set_transform(node, local_transform(node).times(step))


@node_kernel("Node3D")
def global_translate(node, offset):
    before = global_transform(node)
    set_global_transform(node, Transform3D(before.basis, before.origin + offset))


@node_kernel("Node3D")
def scale_object_local(node, factor):
    set_basis(node, local_transform(node).basis.times(basis_from_scale(factor)))


@node_kernel("Node3D")
def orthonormalize(node):
    set_transform(node, local_transform(node).orthonormalized())


@node_kernel("Node3D")
def set_identity(node):
    set_transform(node, identity_transform())


@node_kernel("Node3D")
def look_at_from_position(node, start, target, up, model_front):
    if start.is_equal_approx(target) or up.is_zero_approx():
        return
    before = scale(node)
    set_global_transform(node, Transform3D(basis_looking_at(target - start, up, model_front), start))
    set_scale(node, before)


@jitable
def look_at(node, target, up, model_front):
    look_at_from_position(node, global_position(node), target, up, model_front)


@jitable
def force_update_transform(node):
    pass


@node_kernel("Node3D")
def show(node):
    node.visible = True


@node_kernel("Node3D")
def hide(node):
    node.visible = False


@node_kernel("Node3D")
def set_top_level(node, value):
    """The node stays where it is."""
    if node.top_level != value:
        here = global_transform(node)
        node.top_level = value
        set_global_transform(node, here)


@node_kernel("Node3D")
def parent_node_3d(node):
    return node.parent_3d


# Timer


@node_kernel("Timer")
def timer_start(timer, time_s):
    if time_s > 0.0:
        timer.wait_time = time_s
    timer.time_left = timer.wait_time
    timer.is_running = True


@node_kernel("Timer")
def timer_stop(timer):
    timer.time_left = -1.0
    timer.is_running = False


@node_kernel("Timer")
def timer_autostart(timer):
    """When it is ready."""
    if timer.autostart:
        timer_start(timer, -1.0)


@node_kernel("Timer")
def timer_is_stopped(timer):
    return not timer.is_running


@node_kernel("Timer")
def tick_timer(timer):
    """Whether it times out in this tick."""
    if not timer.is_running or timer.paused:
        return False
    timer.time_left -= world_of(timer).delta
    if timer.time_left >= 0.0:
        return False
    if timer.one_shot:
        timer_stop(timer)
    else:
        timer.time_left += timer.wait_time
    return True


@jitable
def assign_array(array, items):
    """`array = items` for an array in a record: its items are copied."""
    length = len(items)
    while len(array) > length:
        array.pop()
    for i in range(length):
        if i < len(array):
            array[i] = items[i]
        else:
            array.append(items[i])
