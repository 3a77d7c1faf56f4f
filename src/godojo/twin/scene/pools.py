"""Room for nodes that a game makes while it runs: a pool of instances for each template that its scripts use.

The instances stand behind the live tree, below a node of their own that is never processed, and each is a part of the
snapshot like any other node: so the compiler knows their classes, and a world has memory and bodies for them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import msgspec

from godojo.twin.scene.snapshot import NodeInfo, Pool, Snapshot, Template, Value

LEAST_SLOTS, MOST_SLOTS = 16, 1024
_DISABLED = 4
ROOM = "@Pools"
"""The name of the node that pools are below."""


def default_slots(template: Template) -> int:
    """Room for the instances that are there, for as many that replace them before they are freed, and for more."""
    return min(max(LEAST_SLOTS, 2 * template.live + 4), MOST_SLOTS)


def with_pools(snapshot: Snapshot, wanted: Mapping[str, int]) -> Snapshot:
    """The same game with pools for some of its templates, by name and number of instances."""
    if snapshot.pools is not None:
        return snapshot
    nodes = copy.deepcopy(snapshot.nodes)
    connections = list(snapshot.connections)
    pools: list[Pool] = []
    room = len(nodes)
    nodes.append(NodeInfo(room, ROOM, f"/root/{ROOM}", 0, "Node", process_mode=_DISABLED))
    for template in snapshot.templates:
        if template.name not in wanted:
            continue
        pool = Pool(template.name, len(nodes), len(template.nodes), wanted[template.name])
        pools.append(pool)
        for number in range(pool.slots + 1):
            base = len(nodes)
            path = f"/root/{ROOM}/{template.name.rpartition('/')[2]}/{number}"
            for node in template.nodes:
                nodes.append(_instance(node, base, room, path))
            for link in template.connections:
                binds = [_moved(one, base) for one in link.binds]
                connections.append(msgspec.structs.replace(link, source=base + link.source, target=base + link.target,
                                                           binds=binds))  # fmt: skip
    found = msgspec.structs.replace(snapshot, nodes=nodes, connections=connections, pools=pools)
    _hold_templates(found)
    return found


def _instance(node: NodeInfo, base: int, room: int, path: str) -> NodeInfo:
    return msgspec.structs.replace(
        node,
        index=base + node.index,
        parent=room if node.parent < 0 else base + node.parent,
        path=f"{path}/{node.path}",
        properties={name: _moved(value, base) for name, value in node.properties.items()},
        members={name: _moved(value, base) for name, value in node.members.items()},
    )


def _moved(value: Value, base: int) -> Value:
    """A value of a template in an instance."""
    if value[0] == "local":
        return ["node", base + value[1]]
    return [[_moved(one, base) for one in part] if _is_list(part) else part for part in value]


def _is_list(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(one, list) and one for one in part)


def _hold_templates(snapshot: Snapshot) -> None:
    """A variable that holds a scene holds the root of its template instead: what is made of it has the same class."""
    roots = {pool.name: pool.first for pool in snapshot.pools or ()}
    scenes = {
        index: roots[one.path]
        for index, one in enumerate(snapshot.resources)
        if one.class_name == "PackedScene" and one.path in roots
    }

    def held(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if len(value) == 2 and value[0] == "resource":
            return ["node", scenes[value[1]]] if value[1] in scenes else value
        return list(map(held, value))

    for node in snapshot.nodes:
        node.members = {name: held(value) for name, value in node.members.items()}


def pool_of(snapshot: Snapshot, index: int) -> Pool | None:
    """The pool that a node belongs to."""
    return next(
        (one for one in snapshot.pools or () if one.first <= index < one.first + one.size * (one.slots + 1)), None
    )
