"""Writes the tree of a world that has just begun: lists of children, what is in the tree, and the pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from godojo.twin.scene.pools import pool_of
from godojo.twin.world.api import ancestors
from godojo.twin.world.pools import INSIDE, IS_2D, IS_3D, READY
from godojo.twin.world.refs import RefClass
from godojo.twin.world.tables import NATIVE

if TYPE_CHECKING:
    from godojo.twin.scene.snapshot import Snapshot
    from godojo.twin.world.layout import WorldLayout

_NONE = ("first_child", "last_child", "next_sibling", "first_added", "next_queued", "pool")


def link_nodes(layout: WorldLayout, snapshot: Snapshot, pools_at: int) -> None:
    """Links the nodes that a world has; `pools_at` is where its records of pools begin."""
    row, offsets = layout.row, layout.offsets
    node_class, pool_class = RefClass(NATIVE, "Node"), RefClass(NATIVE, "NodePool")
    world = RefClass(NATIVE, "World").at(row, 0)
    null = node_class.at(row, -1)
    world.first_queued = world.last_queued = world.room_at = null
    last: dict[int, Any] = {}
    for node in snapshot.nodes:
        if offsets[node.index] < 0:
            continue
        ref = node_class.at(row, offsets[node.index])
        for name in _NONE:
            setattr(ref, name, null)
        lineage, pool = ancestors(node.native_class), pool_of(snapshot, node.index)
        ref.tree_bits = IS_3D * ("Node3D" in lineage) | IS_2D * ("Node2D" in lineage)
        is_root = pool is not None and (node.index - pool.first) % pool.size == 0
        if pool is None:
            ref.tree_bits = ref.tree_bits | INSIDE | READY
        if node.parent >= 0 and not is_root:
            parent = node_class.at(row, offsets[node.parent])
            if node.parent in last:
                last[node.parent].next_sibling = ref
            else:
                parent.first_child = ref
            parent.last_child = last[node.parent] = ref
    for number, pool in enumerate(snapshot.pools or ()):
        record = pool_class.at(row, pools_at + number * NATIVE["NodePool"].size)
        stride = offsets[pool.first + pool.size] - offsets[pool.first]
        record.first = node_class.at(row, offsets[pool.first + pool.size])
        record.room = node_class.at(row, offsets[snapshot.nodes[pool.first].parent])
        world.room_at = record.room
        record.slots, record.stride, record.number = pool.slots, stride, number
        for root in range(pool.first, pool.first + pool.size * (pool.slots + 1), pool.size):
            node_class.at(row, offsets[root]).pool = record
