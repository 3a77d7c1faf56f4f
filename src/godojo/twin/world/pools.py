"""Nodes that are made and freed while a game runs: instances of pools, lists of children, what is queued to be freed.

An instance is a part of the world's row from the beginning. Making one copies its bytes, and those of its bodies, from
the row that every world begins with; freeing it takes its bodies out of the physics. The one that was freed first is
made again first, so that references to freed nodes stay invalid for as long as possible.
"""

# mypy: ignore-errors
# Compiled code is checked by Numba.

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.space import EVENTS
from godojo.twin.world import entries
from godojo.twin.world.entries import call
from godojo.twin.world.kernels import CLASSES, node_kernel, space_of, world_of
from godojo.twin.world.ref_types import address, base_of, pointer, set_error
from godojo.twin.world.refs import CHILD_OUTSIDE, NOT_MADE, POOL_FULL, is_null, offset_of, record_at

INSIDE, QUEUED, MADE, IS_3D, IS_2D, READY = 1, 2, 4, 8, 16, 32
"""Bits of `tree_bits`: in the tree; will be freed; made, perhaps not in the tree yet; what it inherits; was ready."""
_NODE, _NODE_3D, _NODE_2D = CLASSES["Node"], CLASSES["Node3D"], CLASSES["Node2D"]


@intrinsic
def copy_bytes(typingctx, to, start, count):
    """Copies bytes between addresses."""

    def copy(context, builder, sig, args):
        cgutils.raw_memcpy(builder, args[0], args[1], args[2], 1)
        return context.get_dummy_value()

    return types.void(types.voidptr, types.voidptr, types.int64), copy


@node_kernel("Node")
def is_inside(node):
    return node.tree_bits & INSIDE != 0


@node_kernel("Node")
def is_gone(node):
    """Whether a reference is null, or its node was freed."""
    return is_null(node) or node.tree_bits & (INSIDE | MADE) == 0


@node_kernel("Node")
def is_queued_for_deletion(node):
    return node.tree_bits & QUEUED != 0


@node_kernel("Node")
def pool_number(node):
    return -1 if is_null(node.pool) else node.pool.number


@jitable
def new_instance(template):
    """An instance of a pool's template, as scripts find it: outside the tree."""
    made = _take_instance(template)
    if made.tree_bits & MADE == 0 or made.end_body == made.first_body:
        return made
    call(made, world_of(made).calls_at, entries.RENEW_BODIES)
    return made


@node_kernel("Node")
def _take_instance(template):
    pool, world = template.pool, world_of(template)
    first, best, oldest, used = offset_of(pool.first), -1, 1 << 31, 1
    for number in range(pool.slots):
        offset = first + number * pool.stride
        slot = record_at(template, offset, _NODE)
        if slot.tree_bits & (INSIDE | MADE) != 0:
            used += 1
        elif slot.tree_stamp < oldest:
            best, oldest = offset, slot.tree_stamp
    pool.most_used = max(pool.most_used, used)
    if best < 0:
        set_error(template, POOL_FULL + pool.number)
        return template
    slot = record_at(template, best, _NODE)
    copy_bytes(address(base_of(template), best), pointer(world.pristine_at + best), pool.stride)
    slot.tree_bits |= MADE
    return slot


# The tree


@node_kernel("Node")
def attach(parent, child):
    """Makes a node the last child of another one."""
    world = world_of(parent)
    if parent.tree_bits & INSIDE == 0 or not is_null(parent.pool):
        set_error(parent, CHILD_OUTSIDE)
        return
    if child.tree_bits & INSIDE != 0 or child.tree_bits & MADE == 0:
        set_error(parent, NOT_MADE)
        return
    child.parent = parent
    child.next_sibling = _NODE()
    if is_null(parent.first_child):
        parent.first_child = child
    else:
        parent.last_child.next_sibling = child
    parent.last_child = child
    if is_null(parent.first_added):
        parent.first_added = child
    child.tree_stamp = world.phase
    world.made += 1
    if child.tree_bits & IS_3D != 0:
        record_at(child, offset_of(child), _NODE_3D).parent_3d = (
            record_at(parent, offset_of(parent), _NODE_3D) if parent.tree_bits & IS_3D != 0 else _NODE_3D()
        )
    if child.tree_bits & IS_2D != 0:
        record_at(child, offset_of(child), _NODE_2D).parent_2d = (
            record_at(parent, offset_of(parent), _NODE_2D) if parent.tree_bits & IS_2D != 0 else _NODE_2D()
        )
    at = child
    while not is_null(at):
        at.tree_bits |= INSIDE
        if at.tree_bits & IS_3D != 0:
            record_at(at, offset_of(at), _NODE_3D).global_version = 0
        at = next_below(child, at)


@node_kernel("Node")
def next_below(top, at):
    """The node behind another one in tree order, among those below `top`; null behind the last."""
    if not is_null(at.first_child):
        return at.first_child
    while at != top:
        if not is_null(at.next_sibling):
            return at.next_sibling
        at = at.parent
    return _NODE()


@jitable
def put_in(node):
    """Hands the bodies of a node that has come into the tree to the physics."""
    if node.end_body > node.first_body and node.tree_bits & INSIDE != 0:
        call(node, world_of(node).calls_at, entries.PUT_IN)


@jitable
def take_out(node):
    """Takes the bodies of a node, and of all below it, out of the physics; lists the exits that this brings."""
    at = node
    while not is_null(at):
        if (at == node or not is_null(at.pool)) and at.end_body > at.first_body:
            call(at, world_of(at).calls_at, entries.TAKE_OUT)
        at = next_below(node, at)


@node_kernel("Node")
def detach(node):
    """Takes a node out of the tree."""
    world, parent = world_of(node), node.parent
    at = node
    while not is_null(at):
        at.tree_bits &= ~INSIDE
        at = next_below(node, at)
    if is_null(parent):
        return
    before, one = _NODE(), parent.first_child
    while not is_null(one) and one != node:
        before, one = one, one.next_sibling
    if is_null(one):
        return
    if not is_null(node.pool):
        world.made -= 1
    if is_null(before):
        parent.first_child = node.next_sibling
    else:
        before.next_sibling = node.next_sibling
    if parent.last_child == node:
        parent.last_child = before
    if parent.first_added == node:
        parent.first_added = node.next_sibling
    node.next_sibling = _NODE()
    node.parent = world.room_at


@node_kernel("Node")
def begin_ready(node):
    """Whether a node is in the tree for the first time."""
    is_first = node.tree_bits & READY == 0
    node.tree_bits |= READY
    return is_first


@node_kernel("Node")
def is_child(parent, node):
    return node.parent == parent


@node_kernel("Node")
def forget(node):
    """Gives a node that was freed, and those below it, back to their pools."""
    world, at = world_of(node), node
    while not is_null(at):
        world.freed += 1
        at.tree_bits = at.tree_bits & (IS_3D | IS_2D)
        at.tree_stamp = world.freed
        at = next_below(node, at)


@node_kernel("Node")
def queue_free(node):
    """Frees a node at the end of the frame."""
    if node.tree_bits & QUEUED != 0 or node.tree_bits & (INSIDE | MADE) == 0:
        return
    node.tree_bits |= QUEUED
    node.next_queued = _NODE()
    world = world_of(node)
    if is_null(world.first_queued):
        world.first_queued = node
    else:
        world.last_queued.next_queued = node
    world.last_queued = node


@node_kernel("World")
def next_queued(world):
    """The node that is freed next, or null; it leaves the queue."""
    node = world.first_queued
    if is_null(node):
        return node
    world.first_queued = node.next_queued
    return node


# Children


@node_kernel("Node")
def get_child_count(node):
    count, at = 0, node.first_child
    while not is_null(at):
        count, at = count + 1, at.next_sibling
    return count


@node_kernel("Node")
def child_at(node, index):
    """A child by its place, counted from the end where that is negative; null if there is none."""
    if index < 0:
        index += get_child_count(node)
    at = node.first_child
    while index > 0 and not is_null(at):
        index, at = index - 1, at.next_sibling
    return at if index == 0 else _NODE()


@jitable
def list_children(found, node, cls):
    """All children, in an array of references to a class."""
    at = node.first_child
    while not is_null(at):
        found.append(record_at(at, offset_of(at), cls))
        at = at.next_sibling
    return found


@jitable
def only_inside(found, nodes):
    """Those of an array of nodes that are in the tree."""
    for index in range(len(nodes)):
        if is_inside(nodes[index]):
            found.append(nodes[index])
    return found


@node_kernel("Node")
def is_ancestor_now(node, other):
    at = other.parent
    while not is_null(at):
        if at == node:
            return True
        at = at.parent
    return False


# Events that leaving the tree brings


@node_kernel("World", "World2D")
def trim_events(world, count):
    space_of(world).counts[EVENTS] = count


@node_kernel("World")
def begin_phase(world):
    """Nodes that are added from now on wait for the next phase, as in Godot."""
    world.phase += 1
