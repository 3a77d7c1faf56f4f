"""The live tree of a game at its first sync point: all `_ready` done, no decision made.

A snapshot is a file from outside and is checked when it is read: indices point to something, values have the shape that
their kind demands. Numbers are exact; those that JSON lacks are written as "nan", "inf" and "-inf".
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from godojo.documents import document_bytes, read_document
from godojo.errors import GodojoError
from godojo.files import atomic_write
from godojo.formats import TWIN_SNAPSHOT

FORMAT_VERSION = TWIN_SNAPSHOT.version
ARRAY_ROOM = 16

Value = list[Any]
"""A Variant: its kind, and what it holds.

`["null"]`, `["bool", true]`, `["int", 3]`, `["float", 0.5]`, `["String", "x"]` (also StringName and NodePath),
`["Vector3", [x, y, z]]` and the other kinds of `NUMBERS`, `["node", index]`, `["resource", index]`,
`["Array", [values], element type]`, `["Dictionary", [[key, value], ...]]`, `["PackedFloat32Array", [numbers]]` and its
siblings, `["Callable", node index, method]`, `["object", class]` for everything else.

The parts of a matrix follow the engine's properties: a Basis is its columns x, y, z; a Transform3D its basis, then its
origin; a Transform2D its columns x, y and its origin.
"""

NUMBERS = {
    "Vector2": 2,
    "Vector2i": 2,
    "Vector3": 3,
    "Vector3i": 3,
    "Vector4": 4,
    "Vector4i": 4,
    "Rect2": 4,
    "Rect2i": 4,
    "Plane": 4,
    "Quaternion": 4,
    "Color": 4,
    "AABB": 6,
    "Transform2D": 6,
    "Basis": 9,
    "Transform3D": 12,
    "Projection": 16,
}
"""Kinds that are a fixed count of numbers."""
PACKED = {
    "PackedByteArray": 1,
    "PackedInt32Array": 1,
    "PackedInt64Array": 1,
    "PackedFloat32Array": 1,
    "PackedFloat64Array": 1,
    "PackedVector2Array": 2,
    "PackedVector3Array": 3,
    "PackedVector4Array": 4,
    "PackedColorArray": 4,
}
"""Kinds that are a list of numbers, and how many of them make an element."""

_ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_CURE = "build the twin anew"
_DEEPEST = 64


class NodeInfo(msgspec.Struct):
    """A node, in tree order; its parent comes before it."""

    index: int
    name: str
    path: str
    """From the root on: `/root/Main/Player`."""
    parent: int
    """-1 for the root."""
    native_class: str
    script: str | None = None
    groups: list[str] = []
    physics_process: bool = False
    process: bool = False
    priority: int = 0
    """`process_physics_priority`."""
    process_mode: int = 0
    properties: dict[str, Value] = {}
    """Of the native class."""
    members: dict[str, Value] = {}
    """Variables of the script and of its base scripts."""


class AgentInfo(msgspec.Struct):
    """An agent as the wire declares it, in the order of the wire."""

    node: int
    policy_name: str
    observation_space: dict[str, Any]
    action_space: dict[str, Any]


class Connection(msgspec.Struct):
    """A signal and the method that it calls."""

    source: int
    signal: str
    target: int
    method: str
    binds: list[Value] = []
    flags: int = 0


class ScriptInfo(msgspec.Struct):
    """A script of the project. `base` is the path of its base script, or empty."""

    path: str
    class_name: str
    base: str
    native_class: str


class ResourceInfo(msgspec.Struct):
    """A resource or another reference-counted object that a node or a member holds, such as a shape."""

    class_name: str
    script: str | None = None
    properties: dict[str, Value] = {}
    members: dict[str, Value] = {}
    path: str = ""


class Template(msgspec.Struct):
    """What scripts may make while the game runs, made once and read outside the tree.

    Its nodes count from 0; values that name them are `["local", index]`.
    """

    name: str
    """The path of a scene, or a class of the engine."""
    nodes: list[NodeInfo]
    connections: list[Connection] = []
    live: int = 0
    """Instances that are in the tree already."""


class Pool(msgspec.Struct):
    """Room for the nodes of a template that the game makes: the template, then `slots` instances, one after the other.

    See `godojo.twin.scene.pools`.
    """

    name: str
    first: int
    """The template's root."""
    size: int
    """Nodes of one instance."""
    slots: int


class Snapshot(msgspec.Struct):
    """A game in the real engine, just before its first decision."""

    godot_version: str
    scene: str
    wire: Literal["godot_rl", "dojo"]
    ticks_per_second: int
    action_repeat: int
    gravity: tuple[float, float, float]
    physics_engine: str
    nodes: list[NodeInfo]
    agents: list[AgentInfo] = []
    connections: list[Connection] = []
    scripts: dict[str, ScriptInfo] = {}
    resources: list[ResourceInfo] = []
    autoloads: dict[str, int] = {}
    sync: int = -1
    """The node that talks to the trainer."""
    settings: dict[str, Value] = {}
    """Project settings that the physics depends on, by name."""
    seed: int = 0
    """Of the global random number generator when the snapshot was taken."""
    bodies: list[int] = []
    """The nodes that a trace follows, in its order."""
    ready: dict[str, Any] = {}
    """What the game says of itself when it is configured, as `godojo.bridge.messages.Ready`."""
    templates: list[Template] = []
    """What scripts may make while the game runs."""
    pools: list[Pool] | None = None
    """Where a twin has room for it, if the game changes its tree while it runs."""
    array_room: int = ARRAY_ROOM
    """Items that every array of a script has room for in a twin, or twice as many as it begins with."""
    format: int = FORMAT_VERSION

    def node(self, path: str) -> NodeInfo:
        """The node at a path."""
        for node in self.nodes:
            if node.path == path:
                return node
        raise GodojoError(f"the scene {self.scene} has no node {path}")


_INHERIT, _WHEN_PAUSED, _DISABLED = 0, 2, 4


def can_process(snapshot: Snapshot, node: NodeInfo) -> bool:
    """Whether a node is processed while the tree is not paused."""
    roots = [range(one.first, one.first + one.size * (one.slots + 1), one.size) for one in snapshot.pools or ()]
    while node.process_mode == _INHERIT and node.parent >= 0 and not any(node.index in one for one in roots):
        node = snapshot.nodes[node.parent]
    return node.process_mode not in (_DISABLED, _WHEN_PAUSED)


def read_snapshot(path: Path) -> Snapshot:
    """A snapshot from a file, checked."""
    try:
        tree = read_document(path, TWIN_SNAPSHOT, dict[str, Any], _CURE)
    except FileNotFoundError:
        raise GodojoError(f"there is no snapshot {path}; {_CURE}") from None
    return snapshot_of(tree, str(path))


def write_snapshot(path: Path, snapshot: Snapshot) -> None:
    atomic_write(path, snapshot_bytes(snapshot))


def snapshot_bytes(snapshot: Snapshot) -> bytes:
    """A snapshot as a file."""
    tree = msgspec.to_builtins(snapshot)
    tree.pop("format")
    for name in ("templates", "pools"):
        if not tree[name]:
            tree.pop(name)
    if snapshot.array_room == ARRAY_ROOM:
        tree.pop("array_room")
    return document_bytes(TWIN_SNAPSHOT, _finite(tree), is_long=True)


def snapshot_of(tree: dict[str, Any], source: str) -> Snapshot:
    """A snapshot from its JSON, checked; `source` names it in errors."""
    try:
        snapshot = msgspec.convert(tree, Snapshot)
        _check(snapshot)
    except (msgspec.ValidationError, _Invalid, RecursionError) as error:
        raise GodojoError(f"{source} is not a valid snapshot ({error}); {_CURE}") from None
    return snapshot


class _Invalid(Exception):
    pass


def _check(snapshot: Snapshot) -> None:
    nodes, resources = len(snapshot.nodes), len(snapshot.resources)
    if snapshot.ticks_per_second < 1 or snapshot.action_repeat < 1:
        raise _Invalid("ticks_per_second and action_repeat are whole numbers from 1 on")
    for index, node in enumerate(snapshot.nodes):
        if node.index != index or not -1 <= node.parent < index or (node.parent == -1) != (index == 0):
            raise _Invalid(f"node {index} is not in tree order")
        if node.script is not None and node.script not in snapshot.scripts:
            raise _Invalid(f"the script {node.script} of {node.path} is not listed")
        _check_values(node.path, node.properties, nodes, resources)
        _check_values(node.path, node.members, nodes, resources)
    for number, resource in enumerate(snapshot.resources):
        _check_values(f"resource {number}", resource.properties, nodes, resources)
        _check_values(f"resource {number}", resource.members, nodes, resources)
    _check_values("settings", snapshot.settings, nodes, resources)
    for path, script in snapshot.scripts.items():
        seen = {path}
        while script.base:
            if script.base not in snapshot.scripts or script.base in seen:
                raise _Invalid(f"the base script {script.base} of {path} is not listed, or its own base")
            seen.add(script.base)
            script = snapshot.scripts[script.base]
    for link in snapshot.connections:
        _check_index(link.source, nodes, "a connection's source")
        _check_index(link.target, nodes, "a connection's target")
        for value in link.binds:
            _check_value(f"{link.signal} to {link.method}", value, nodes, resources, 0)
    for body in snapshot.bodies:
        _check_index(body, nodes, "a body")
    for agent in snapshot.agents:
        _check_index(agent.node, nodes, "an agent")
    for name, node_index in snapshot.autoloads.items():
        _check_index(node_index, nodes, f"the autoload {name}")
    if snapshot.sync >= nodes:
        raise _Invalid("the sync node does not exist")
    for template in snapshot.templates:
        _check_template(template, snapshot)
    for pool in snapshot.pools or ():
        if not 0 < pool.first <= nodes - pool.size * (pool.slots + 1) or min(pool.size, pool.slots) < 1:
            raise _Invalid(f"the pool {pool.name} is outside the tree")


def _check_template(template: Template, snapshot: Snapshot) -> None:
    count = len(template.nodes)
    for index, node in enumerate(template.nodes):
        if node.index != index or not -1 <= node.parent < index or (node.parent == -1) != (index == 0):
            raise _Invalid(f"node {index} of {template.name} is not in tree order")
        if node.script is not None and node.script not in snapshot.scripts:
            raise _Invalid(f"the script {node.script} of {template.name} is not listed")
        for values in (node.properties, node.members):
            for name, value in values.items():
                where = f"{template.name}: {node.path}.{name}"
                _check_value(where, value, len(snapshot.nodes), len(snapshot.resources), 0, count)
    if not template.nodes:
        raise _Invalid(f"{template.name} has no nodes")
    for link in template.connections:
        _check_index(link.source, count, f"a connection's source in {template.name}")
        _check_index(link.target, count, f"a connection's target in {template.name}")
        for value in link.binds:
            _check_value(
                f"{link.signal} to {link.method}", value, len(snapshot.nodes), len(snapshot.resources), 0, count
            )


def _check_index(index: int, count: int, what: str) -> None:
    if not 0 <= index < count:
        raise _Invalid(f"{what} does not exist")


def _check_values(where: str, values: dict[str, Value], nodes: int, resources: int) -> None:
    for name, value in values.items():
        _check_value(f"{where}.{name}", value, nodes, resources, 0)


def _check_value(where: str, value: Any, nodes: int, resources: int, depth: int, local: int = 0) -> None:
    """Checks a value, and replaces "inf" and the like by numbers, in place."""
    if not isinstance(value, list) or not value or not isinstance(value[0], str) or depth > _DEEPEST:
        raise _Invalid(f"{where} is no value")
    kind, *held = value
    match kind, held:
        case "null", []:
            return
        case "bool", [bool()]:
            return
        case "int", [int() as number] if not isinstance(number, bool) and -(2**63) <= number < 2**63:
            return
        case "float", [number] if _is_number(number):
            value[1] = _number(number)
            return
        case "String" | "object", [str()]:
            return
        case "node", [int() as index] if 0 <= index < nodes:
            return
        case "local", [int() as index] if 0 <= index < local:
            return
        case "resource", [int() as index] if 0 <= index < resources:
            return
        case "Callable", [int() as index, str()] if 0 <= index < nodes:
            return
        case "Array", [list() as items] | [list() as items, str()]:
            for item in items:
                _check_value(where, item, nodes, resources, depth + 1, local)
            return
        case "Dictionary", [list() as pairs] if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            for key, item in pairs:
                _check_value(where, key, nodes, resources, depth + 1, local)
                _check_value(where, item, nodes, resources, depth + 1, local)
            return
        case "PackedStringArray", [list() as texts] if all(isinstance(text, str) for text in texts):
            return
        case _, [list() as numbers] if kind in NUMBERS and len(numbers) == NUMBERS[kind] and _are_numbers(numbers):
            value[1] = list(map(_number, numbers))
            return
        case _, [list() as numbers] if kind in PACKED and len(numbers) % PACKED[kind] == 0 and _are_numbers(numbers):
            value[1] = list(map(_number, numbers))
            return
    raise _Invalid(f"{where} is no value of the kind {kind[:40]!r}")


def _are_numbers(numbers: Iterable[Any]) -> bool:
    return all(map(_is_number, numbers))


def _is_number(number: Any) -> bool:
    if isinstance(number, str):
        return number in _ODD
    return isinstance(number, int | float) and not isinstance(number, bool)


def _number(number: Any) -> int | float:
    found: int | float = _ODD[number] if isinstance(number, str) else number
    return found


def _finite(tree: Any) -> Any:
    """The same with words for the numbers that JSON lacks."""
    if isinstance(tree, float) and not math.isfinite(tree):
        return "nan" if math.isnan(tree) else "inf" if tree > 0 else "-inf"
    if isinstance(tree, dict):
        return {name: _finite(branch) for name, branch in tree.items()}
    if isinstance(tree, list | tuple):
        return [_finite(branch) for branch in tree]
    return tree
