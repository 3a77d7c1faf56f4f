"""Process modes: bodies of nodes that are disabled are no part of the physics."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.physics.areas import forget_overlaps
from godojo.twin.physics.space import AREAS_KNOWN, PAIRED, REMOVED
from godojo.twin.world import entries
from godojo.twin.world.entries import call
from godojo.twin.world.kernels import body_node, node_offset, world_of
from godojo.twin.world.nodes import can_process
from godojo.twin.world.refs import LATE_EXIT


@jitable
def set_process_mode(node, value):
    node.process_mode_field = value
    if node.end_body > node.first_body:
        call(node, world_of(node).calls_at, entries.APPLY_PROCESS_MODE)


@jitable
def apply_mode(world, space, body):
    """Takes a body whose node is disabled out of the physics, or puts it back; whether that is a change."""
    if node_offset(world, body) < 0:
        return False
    node, record = body_node(world, body), space.bodies[body]
    kind = node.active_kind if can_process(node) else node.disabled_kind
    if record.kind == kind:
        return False
    record.kind = kind
    space.counts[AREAS_KNOWN] = space.counts[PAIRED] = 0
    if kind == REMOVED and forget_overlaps(space, body) and node.has_exits != 0 and world.error == 0:
        world.error = LATE_EXIT
    return True
