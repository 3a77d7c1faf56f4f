"""Bodies of nodes that come into the tree and leave it while a game runs; the same for 2D and 3D."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.areas import NOW, pair_of
from godojo.twin.physics.space import AREA, AREAS_KNOWN, EVENTS, MOVED, REMOVED, STIRRED
from godojo.twin.world.kernels import body_node
from godojo.twin.world.nodes import can_process
from godojo.twin.world.pools import copy_bytes
from godojo.twin.world.ref_types import address, base_of, pointer

_LISTED = MOVED | STIRRED


@jitable
def renew_body(world, space, body, size):
    """A body as its template has it, which is no part of the physics yet."""
    record = space.bodies[body]
    listed = record.traits & _LISTED
    at = world.bodies_at + body * size
    copy_bytes(address(base_of(world), at), pointer(world.pristine_at + at), size)
    record.traits = (record.traits & ~_LISTED) | listed
    record.kind = REMOVED


@jitable
def kind_inside(world, body):
    """What a body is once its node is in the tree."""
    node = body_node(world, body)
    return node.active_kind if can_process(node) else node.disabled_kind


@jitable
def _list_exit(space, index):
    """Lists that the two of a pair have parted if they overlap, and forgets that they do."""
    if space.touching[index] & NOW and space.counts[EVENTS] < space.events.shape[0]:
        event, pair = space.events[space.counts[EVENTS]], space.pairs[index]
        event.area, event.other, event.entered = pair.area, pair.other, 0
        space.counts[EVENTS] += 1
    space.touching[index] = 0


@jitable
def list_exits(space, body):
    """Lists that a body, or an area, has left whatever it overlaps, in the order of the pairs."""
    for place in range(space.roster.shape[0]):
        area = space.roster[place].area
        if area < 0:
            break
        if area == body:
            first = space.roster[area].first_pair
            for index in range(first, space.pairs[first].end if first < space.pairs.shape[0] else first):
                _list_exit(space, index)
        elif space.roster[body].rank >= 0:
            _list_exit(space, pair_of(space, area, body))


@jitable
def take_out_body(space, body):
    list_exits(space, body)
    record = space.bodies[body]
    if record.kind == AREA:
        space.counts[AREAS_KNOWN] = 0
    record.kind = REMOVED
