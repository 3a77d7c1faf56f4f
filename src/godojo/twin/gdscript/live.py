"""The classes of a live tree: what each node's script and base scripts declare, and which nodes have it."""

from __future__ import annotations

import copy
import keyword
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from godojo.twin.gdscript.errors import ScriptRefused
from godojo.twin.gdscript.names import python_name
from godojo.twin.gdscript.nodes import Call, Const, Function, Member, NodeAt, Script, Variable
from godojo.twin.gdscript.parse import parse
from godojo.twin.world.api import ancestors
from godojo.twin.world.classes import FIELDS

if TYPE_CHECKING:
    from godojo.twin.scene.snapshot import NodeInfo, Snapshot


@dataclass(eq=False)
class LiveClass:
    """One script on one class of the engine, or a class of the engine alone."""

    name: str
    native: str
    source: Script | None
    base: LiveClass | None
    """The base script, on the same class of the engine."""
    nodes: list[int] = field(default_factory=list)
    """The nodes of exactly this class."""
    members: dict[str, Variable] = field(default_factory=dict)
    """What the script itself declares."""
    hidden: dict[str, Variable] = field(default_factory=dict)
    """Members that the compiler adds: nodes that paths and groups lead to."""
    functions: dict[tuple[str, str], Function] = field(default_factory=dict)
    """Reached functions by the script that declares them: this class's own copies."""
    deferred: dict[str, str] = field(default_factory=dict)
    """Functions that are called after the tick, by the hidden member that says so."""
    waits: dict[str, Function] = field(default_factory=dict)
    """What comes after each `await`, by the hidden member that counts its seconds."""

    @property
    def path(self) -> str:
        return self.source.path if self.source is not None else ""

    def links(self) -> Iterator[LiveClass]:
        """This class and its base scripts."""
        link: LiveClass | None = self
        while link is not None:
            yield link
            link = link.base

    def chain(self) -> list[str]:
        """The names of this class and of everything it extends."""
        return [one.name for one in self.links() if one.source is not None] + ancestors(self.native)

    def member(self, name: str) -> Variable | None:
        return next((one.members[name] for one in self.links() if name in one.members), None)

    def signal(self, name: str) -> bool:
        return any(one.source is not None and name in one.source.signals for one in self.links())

    def declaring(self, name: str, above: str = "") -> Script | None:
        """The script that declares a function; with `above`, a base of that script."""
        scripts = [one.source for one in self.links() if one.source is not None]
        if above:
            paths = [one.path for one in scripts]
            scripts = scripts[paths.index(above) + 1 :]
        return next((one for one in scripts if name in one.functions), None)


class LiveTree:
    """The snapshot's nodes with their classes."""

    def __init__(self, snapshot: Snapshot, read_source: Callable[[str], str]) -> None:
        self.snapshot, self._read = snapshot, read_source
        self.nodes: list[NodeInfo] = snapshot.nodes
        self.children: list[list[int]] = [[] for _ in self.nodes]
        self.pools = {one.name: one for one in snapshot.pools or ()}
        room = self.nodes[snapshot.pools[0].first].parent if snapshot.pools else -1
        for node in self.nodes:
            if node.parent >= 0 and node.parent != room and node.index != room:
                self.children[node.parent].append(node.index)
        self._scripts: dict[str, Script] = {}
        self.unreadable: dict[str, list[tuple[int, str]]] = {}
        """Scripts that the parser does not understand, with line and reason."""
        self._classes: dict[tuple[str, str], LiveClass] = {}
        self._names: set[str] = set()
        self.by_class_name = {info.class_name: path for path, info in snapshot.scripts.items() if info.class_name}
        natives: dict[str, set[str]] = {}
        for node in self.nodes:
            natives.setdefault(node.script or "", set()).add(node.native_class)
        self._natives = natives
        self._names |= {node.native_class for node in self.nodes}
        self.class_of = [self._class(node.script or "", node.native_class) for node in self.nodes]
        for node, cls in zip(self.nodes, self.class_of, strict=True):
            cls.nodes.append(node.index)
        self.pool_roots = {
            root
            for pool in self.pools.values()
            for root in range(pool.first, pool.first + pool.size * (pool.slots + 1), pool.size)
        }
        """The roots of what a pool has: of its template, and of its instances."""
        self.filled: dict[int, dict[str, Any]] = {}
        """What `@onready` variables will hold of nodes that are outside the tree."""
        if self.pools:
            self._fill_onready()

    def _fill_onready(self) -> None:
        """Gives what is outside the tree the nodes of its own that `@onready` variables will have."""
        for pool in self.pools.values():
            for index in range(pool.first, pool.first + pool.size * (pool.slots + 1)):
                for link in self.class_of[index].links():
                    for member in link.source.members if link.source is not None else ():
                        found = self._onready(index, member)
                        if found is not None:
                            self.filled.setdefault(index, {})[member.name] = ["node", found]

    def _onready(self, index: int, member: Member) -> int | None:
        value = member.value
        if "onready" not in member.annotations:
            return None
        if isinstance(value, NodeAt):
            return self.resolve(index, value.path)
        if isinstance(value, Call) and value.receiver is None and len(value.args) == 1:
            asked = value.args[0].value if isinstance(value.args[0], Const) else None
            if value.name in ("preload", "load") and asked in self.pools:
                return self.pools[asked].first
            if value.name in ("get_node", "get_node_or_null") and isinstance(asked, str):
                return self.resolve(index, asked)
        return None

    def onready(self, cls: LiveClass) -> list[Member]:
        """The `@onready` variables of a class that its nodes in pools get only when they enter the tree."""
        index = next(one for one in cls.nodes if self.in_pool(one))
        members = [one for link in reversed(list(cls.links())) if link.source for one in link.source.members]
        return [one for one in members if "onready" in one.annotations and self._onready(index, one) is None]

    def is_copy(self, index: int) -> bool:
        """Whether a node belongs to what is made of a template."""
        return any(
            one.first + one.size <= index < one.first + one.size * (one.slots + 1) for one in self.pools.values()
        )

    def in_pool(self, index: int) -> bool:
        """Whether a node belongs to a template, or to what is made of one."""
        return any(one.first <= index < one.first + one.size * (one.slots + 1) for one in self.pools.values())

    @property
    def classes(self) -> list[LiveClass]:
        return list(self._classes.values())

    def script(self, path: str) -> Script:
        """A script's intermediate form; an empty one where the parser does not understand it."""
        if path not in self._scripts:
            try:
                self._scripts[path] = parse(self._read(path), path)
            except ScriptRefused as refused:
                self._scripts[path] = Script(path, [])
                self.unreadable[path] = refused.refusals
        return self._scripts[path]

    def _class(self, path: str, native: str) -> LiveClass:
        key = path, native
        if key in self._classes:
            return self._classes[key]
        if not path:
            made = LiveClass(native, native, None, None)
        else:
            info = self.snapshot.scripts[path]
            base = self._class(info.base, native) if info.base else None
            made = LiveClass(self._name(path, native), native, self.script(path), base)
            self._declare(made)
        self._classes[key] = made
        return made

    def native(self, name: str) -> LiveClass:
        """A class of the engine without a script, whether a node has it or not."""
        return self._class("", name)

    def _name(self, path: str, native: str) -> str:
        info = self.snapshot.scripts[path]
        stem = "".join(part[:1].upper() + part[1:] for part in re.split(r"\W|_", PurePosixPath(path).stem))
        name = info.class_name or stem or "Script"
        if not name.isidentifier() or python_name(name) != name:
            name = f"{re.sub(r'[^A-Za-z0-9_]', '', name)}Script"
        if len(self._natives.get(path, ())) > 1:
            name = f"{name}_{native}"
        plain, number = name, 2
        while name in self._names or python_name(name) != name:
            name, number = f"{plain}{number}", number + 1
        self._names.add(name)
        return name

    def _declare(self, cls: LiveClass) -> None:
        assert cls.source is not None
        for member in cls.source.members:
            variable = Variable(
                member.name, member.line, None, member=True, python=_member_name(member.name, cls.native)
            )
            variable.owner, variable.declaration = cls, member
            cls.members[member.name] = variable

    def derived(self, cls: LiveClass) -> list[LiveClass]:
        """All classes of live nodes that are this class or extend it."""
        return [one for one in self.classes if one.nodes and cls in one.links()]

    def values(self, cls: LiveClass, name: str) -> list[Any]:
        """The live values of a member in the nodes of exactly this class."""
        return [self.value(index, name) for index in cls.nodes]

    def value(self, index: int, name: str) -> Any:
        """The live value of a member of a node."""
        return self.filled.get(index, {}).get(name, self.nodes[index].members.get(name, ["null"]))

    def named(self, name: str) -> list[LiveClass] | None:
        """The classes of live nodes that a type hint covers; None where it names no class of nodes."""
        if name == "PhysicsDirectBodyState3D":  # the body itself, as the physics has it
            return [self.native(name)]
        live = [one for one in self.classes if one.nodes]
        if name in self.by_class_name:
            path = self.by_class_name[name]
            return [one for one in live if any(link.path == path for link in one.links())]
        if name == "Node" or "Node" in ancestors(name)[1:]:
            return [one for one in live if name == "Node" or name in ancestors(one.native)]
        return None

    def resolve(self, start: int, path: str) -> int | None:
        """The node at a path from another one."""
        if path.startswith("/"):
            return next((node.index for node in self.nodes if node.path == path.rstrip("/")), None)
        at: int | None = start
        for part in path.split("/"):
            if at is None:
                return None
            if part in ("", "."):
                continue
            if part == "..":
                at = self.nodes[at].parent
                at = None if at < 0 else at
            elif part.startswith("%"):
                at = self._unique(at, part[1:])
            else:
                at = next((one for one in self.children[at] if self.nodes[one].name == part), None)
        return at

    def _unique(self, start: int, name: str) -> int | None:
        """The nearest node of this name around another: in its own scene, which the snapshot does not name."""
        at = start
        while at >= 0:
            found = self.find(at, name)
            if found is not None:
                return found
            at = self.nodes[at].parent
        return None

    def find(self, start: int, name: str) -> int | None:
        """The first node of this name below another, in tree order."""
        pattern = re.compile(re.escape(name).replace(r"\*", ".*").replace(r"\?", "."))
        for one in self.below(start):
            if pattern.fullmatch(self.nodes[one].name):
                return one
        return None

    def below(self, start: int) -> Iterator[int]:
        for child in self.children[start]:
            yield child
            yield from self.below(child)


def _member_name(name: str, native: str) -> str:
    """A member's name in the generated code, which is neither a word of Python nor a field of every such node."""
    taken = keyword.iskeyword(name) or any(name in FIELDS.get(one, {}) for one in ancestors(native))
    return f"{name}_" if taken else name


def copy_function(function: Function, path: str) -> Function:
    """A class's own copy of a function that its script, or a base script, declares."""
    made = copy.deepcopy(function)
    made.path = path
    return made


def common(classes: list[LiveClass]) -> str:
    """The nearest class that all of them are or extend."""
    chains = [one.chain() for one in classes]
    return next((name for name in chains[0] if all(name in chain for chain in chains)), "Node")
