"""A whole game's scripts, compiled together from a live snapshot of its tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from godojo.twin.gdscript.types import FLOAT, NUMBER, SEEN, STRING, ArrayType, MapType, Type

if TYPE_CHECKING:
    from godojo.twin.gdscript.nodes import Variable
    from godojo.twin.gdscript.whole import Whole
    from godojo.twin.scene.snapshot import Snapshot


@dataclass
class ClassLayout:
    """The members that one script adds to its base: the base's members come first, as in C++."""

    name: str
    base: str
    """The layout it extends: that of another script, or a class of the engine."""
    native_class: str
    script: str
    """The path of the script."""
    members: dict[str, str]
    """The type of each member that is kept, by its name in the generated code: `float`, `Vector3`, `Array[float]`,
    `Ref[Player]`, `String` (an index into `Program.strings`), `RandomNumberGenerator`…"""
    sources: dict[str, str] = field(default_factory=dict)
    """The script's name of a member, where the generated code has another."""
    signals: list[str] = field(default_factory=list)


@dataclass
class Program:
    """The Python of a game, and what the world needs to run it.

    Generated code takes these names from its namespace, beside `godojo.twin.gdscript.runtime` and the functions that
    `godojo.twin.world.api` names:

    - `Player(ref)`: the same node as a `Ref[Player]`, for every class in `classes` and `native_classes`; `Player()` is
      null of that type.
    - `ref.name`: reads or writes a member; `a == b` and `a != b` compare references of any class; `is_null(ref)`.
    - `ref.class_id`: the class of a live node, its index in `class_ids`.
    - `world_random(ref)`: the global generator of the world that a reference belongs to.
    """

    source: str
    classes: dict[str, ClassLayout]
    class_of: list[str | None]
    """The class of each node of the snapshot: that of its script, or the engine's."""
    methods: dict[tuple[str, str], str]
    """The Python function of a class's method; inherited ones too, for every class of a live node. `@run_deferred` and
    `@pass_time` belong to the end of a tick."""
    refusals: list[tuple[str, int, str]]
    left_out: list[tuple[str, int, str]]
    understood: tuple[int, int]
    """Lines of reachable code that are compiled, and all of them."""
    initial: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Values of hidden members (`get_parent()`, `$Path`, groups, receivers of signals) by node, as the snapshot writes
    values; every other member begins with its live value."""
    constants: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By class: members that nothing assigns and that are the same in every node; they are not kept."""
    strings: list[str] = field(default_factory=list)
    """A string is kept as its index in this list."""
    class_ids: dict[str, int] = field(default_factory=dict)
    """Every class that a live node has."""
    kept: set[str] = field(default_factory=set)
    """Classes that only draw, and that scripts read from: their nodes are a part of the twin."""
    stops: list[str] = field(default_factory=list)
    """What `stop(self, number)` stands for: where the script changes the tree, which no twin can."""
    made: list[str] = field(default_factory=list)
    """The templates that scripts make nodes of while the game runs."""
    seen: list[str] = field(default_factory=list)
    """Those of which nothing is made after all: they are only seen."""
    gone: set[str] = field(default_factory=set)
    """Classes whose nodes may be freed while the game runs."""
    parents: set[str] = field(default_factory=set)
    """Classes whose nodes get children while the game runs."""


def compile_program(snapshot: Snapshot, read_source: Callable[[str], str]) -> Program:
    """Compiles what the game reaches; `read_source` returns the text of a script by its `res://` path.

    Refusals are part of the result: a program with any of them cannot run.
    """
    from godojo.twin.gdscript.whole import Whole
    from godojo.twin.gdscript.whole_emit import WholeWriter, kept_as
    from godojo.twin.world.dojo import with_native_agents

    snapshot = with_native_agents(snapshot)
    whole = Whole(snapshot, read_source)
    whole.run()
    refusals = set(whole.refusals)
    lines: set[tuple[str, int]] = set()
    for _, function in whole.reached.values():
        refusals |= {(function.path, line, reason) for line, reason in function.refusals}
        lines |= {(function.path, line) for line in function.walked} | {(function.path, function.line)}
    refused = {(path, line) for path, line, _ in refusals}
    source = "" if refusals else WholeWriter(whole).module()
    tree = whole.tree
    methods = {
        (cls.name, name): function.python.removesuffix("_dict")
        for cls in tree.classes
        for (path, name), function in cls.functions.items()
        if id(function) in whole.reached and cls.declaring(name) is not None and cls.declaring(name).path == path  # type: ignore[union-attr]
    }
    methods |= {
        (cls.name, "get_info"): function.python
        for cls, function in whole.reached.values()
        if cls.functions.get((function.path, "@info")) is function
    }
    methods |= {
        (cls.name, name): function.python
        for cls, function in whole.reached.values()
        for name in ("@make", "@enter")
        if cls.functions.get((cls.path, name)) is function
    }
    methods |= {(cls.name, "@pass_time"): f"{cls.name}_pass_time" for cls in tree.classes if whole.waits(cls)}
    methods |= {(cls.name, "@run_deferred"): f"{cls.name}_run_deferred" for cls in tree.classes if cls.deferred}
    classes: dict[str, ClassLayout] = {}
    for cls in tree.classes:
        if cls.source is None:
            continue
        kept = [one for one in cls.members.values() if id(one) in whole.used and not whole.constant_text(one)]
        members = {name: text for one in kept for name, text in _fields(whole, one, kept_as).items()}
        for one in cls.hidden.values():
            members |= _fields(whole, one, kept_as)
        base = cls.base.name if cls.base is not None else cls.native
        sources = {one.python: one.name for one in kept if one.python != one.name}
        classes[cls.name] = ClassLayout(
            cls.name, base, cls.native, cls.path, members, sources, list(cls.source.signals)
        )
        _write_nulls(whole, kept)
    for index, held in tree.filled.items():
        for name, value in held.items():
            variable = tree.class_of[index].member(name)
            if variable is not None:
                whole.initial.setdefault(index, {}).setdefault(variable.python, value)
    live = [one for one in tree.classes if one.nodes]
    return Program(
        source=source,
        classes=classes,
        class_of=[one.name for one in tree.class_of],
        methods=methods,
        refusals=sorted(refusals),
        left_out=sorted(
            whole.left_out | {(path, at, f"{what}; the twin stops here") for path, at, what in whole.stops}
        ),
        understood=(len(lines - refused), len(lines | refused)),
        initial=whole.initial,
        strings=list(whole.strings),
        class_ids={one.name: i for i, one in enumerate(live)},
        kept={one.name for one in whole.kept},
        made=sorted(whole.made),
        seen=sorted(whole.seen),
        gone={one.name for one in whole.freed} | {child.name for _, child in whole.adopted},
        parents={parent.name for parent, _ in whole.adopted},
        stops=[f"{path.removeprefix('res://')}:{line}: {reason}" for path, line, reason in whole.stops],
    )


def capacity_for(longest: int, room: int) -> int:
    """For how many items a member array has room that begins with at most so many."""
    return max(2 * longest, room)


def _slots_for(capacity: int) -> int:
    """How many slots find the keys of a dictionary: a power of two, at least half of them free, and one for itself."""
    return 1 + (1 << (2 * capacity - 1).bit_length())


def _fields(whole: Whole, variable: Variable, kept_as: Callable[[Type | None], str]) -> dict[str, str]:
    """The members that a variable is kept in: a dictionary is three arrays, see `runtime/maps.py`."""
    kind = variable.type
    if kind is None or kind is SEEN:
        return {}
    if isinstance(kind, ArrayType) and kind.element is STRING and variable.owner is not None:
        for cls in whole.tree.derived(variable.owner):
            for value in whole.tree.values(cls, variable.name):
                for one in value[1] if len(value) > 1 and isinstance(value[1], list) else ():
                    whole.string(one[1])
    if not isinstance(kind, MapType):
        return {variable.python: kept_as(kind)}
    keys, values, slots = (f"{variable.python}_{part}" for part in ("keys", "values", "slots"))
    assert variable.owner is not None
    live = {
        node: whole.tree.nodes[node].members.get(variable.name, ["Dictionary", []])
        for cls in whole.tree.derived(variable.owner)
        for node in cls.nodes
    }
    pairs = {node: value[1] if value[0] == "Dictionary" else [] for node, value in live.items()}
    for text in [one[1] for items in pairs.values() for pair in items for one in pair if one[0] == "String"]:
        whole.string(text)
    empty = [["int", 0]] * _slots_for(capacity_for(max(map(len, pairs.values()), default=0), whole.snapshot.array_room))
    for node, items in pairs.items():
        begin = whole.initial.setdefault(node, {})
        begin[keys], begin[values] = ["Array", [one[0] for one in items]], ["Array", [one[1] for one in items]]
        begin[slots] = ["Array", empty]
    if kind.keys.element is None or kind.values.element is None:
        return {}  # nothing reads or writes it
    return {keys: kept_as(kind.keys), values: kept_as(kind.values), slots: "Array[int32]"}


def _write_nulls(whole: Whole, kept: list[Variable]) -> None:
    """Floats that begin as null begin as NaN."""
    for variable in kept:
        if variable.nullable and variable.type in (FLOAT, NUMBER) and variable.owner is not None:
            for cls in whole.tree.derived(variable.owner):
                for node in cls.nodes:
                    if whole.tree.nodes[node].members.get(variable.name) == ["null"]:
                        whole.initial.setdefault(node, {})[variable.python] = ["float", math.nan]
