"""Small snapshots of live trees, written by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from godojo.twin.gdscript import Compiled, Program, compile_program, load_plain, runtime
from godojo.twin.gdscript.compiled import _import as import_file
from godojo.twin.gdscript.errors import ScriptRefused
from godojo.twin.gdscript.nodes import Script
from godojo.twin.gdscript.parse import parse
from godojo.twin.gdscript.runtime.chance import new_random
from godojo.twin.scene.snapshot import AgentInfo, Connection, NodeInfo, ScriptInfo, Snapshot
from godojo.twin.world.layout import WorldLayout, make_layout


def snapshot(
    scripts: dict[str, str],
    nodes: Sequence[tuple[str, str, str | None, Any]],
    agents: dict[str, tuple[dict[str, Any], dict[str, Any]]] | None = None,
    connections: Sequence[tuple[str, str, str, str]] = (),
    groups: dict[str, list[str]] | None = None,
) -> Snapshot:
    """Nodes are (path from the root, class of the engine, script, members); agents have their two spaces."""
    infos, at = [NodeInfo(0, "root", "/root", -1, "Window")], {"": 0}
    for path, native, script, members in nodes:
        parent = path.rpartition("/")[0]
        at[path] = len(infos)
        active = script is not None
        infos.append(NodeInfo(len(infos), path.rpartition("/")[2], f"/root/{path}", at[parent], native, script))
        infos[-1].members = members
        infos[-1].groups = (groups or {}).get(path, [])
        infos[-1].physics_process = active
    for node in infos:
        node.members = {
            name: ["node", at[value[1]]] if value[0] == "node" and isinstance(value[1], str) else value
            for name, value in node.members.items()
        }
    return Snapshot(
        godot_version="4.6",
        scene="res://main.tscn",
        wire="godot_rl",
        ticks_per_second=60,
        action_repeat=8,
        gravity=(0.0, -9.8, 0.0),
        physics_engine="GodotPhysics3D",
        nodes=infos,
        agents=[AgentInfo(at[path], "shared", *spaces) for path, spaces in (agents or {}).items()],
        connections=[Connection(at[a], signal, at[b], method) for a, signal, b, method in connections],
        scripts=_scripts(scripts),
    )


def _scripts(scripts: dict[str, str]) -> dict[str, ScriptInfo]:
    read = {path: _read(text, path) for path, text in scripts.items()}
    by_name = {one.class_name: path for path, one in read.items() if one.class_name}
    found = {}
    for path, one in read.items():
        base = one.extends if one.extends in scripts else by_name.get(one.extends, "")
        found[path] = ScriptInfo(path, one.class_name or "", base, one.extends if not base else "Node")
    return found


def _read(text: str, path: str) -> Script:
    try:
        return parse(text, path)
    except ScriptRefused:
        return Script(path, [], extends="Node")


class Node:
    """A node in plain Python: its members are attributes."""

    class_id = -1


class World:
    """A program that runs in plain Python, without the engine's functions."""

    def __init__(self, snapshot: Snapshot, program: Program) -> None:
        self.program = program
        self.nodes = [Node() for _ in snapshot.nodes]
        with np.errstate(all="ignore"):
            self.random = new_random()  # type: ignore[no-untyped-call]
        names = {
            name: lambda node=None: node
            for name in [*program.classes, *(one.native_class for one in snapshot.nodes), "Node", "Node3D"]
        }
        compiled = Compiled("program.gd", program.source, [])
        self.functions = load_plain(
            compiled, {**names, "is_null": lambda node: node is None, "world_random": lambda _: self.random}
        )
        for info, node in zip(snapshot.nodes, self.nodes, strict=True):
            cls = program.class_of[info.index]
            assert cls is not None
            node.class_id = program.class_ids[cls]
            for name, given in info.properties.items():
                setattr(node, name, self.value(given))
            while cls in program.classes:
                layout = program.classes[cls]
                for name in layout.members:
                    value: Any = program.initial.get(info.index, {}).get(name)
                    live = info.members.get(layout.sources.get(name, name), ["null"])
                    setattr(node, name, self.value(live if value is None else value))
                cls = layout.base
        self.paths = {one.path.removeprefix("/root/"): self.nodes[one.index] for one in snapshot.nodes}

    def value(self, value: Any) -> Any:
        kind, *held = value
        match kind:
            case "null" | "resource":
                return None
            case "node":
                return self.nodes[held[0]]
            case "Array":
                return [self.value(one) for one in held[0]]
            case "String":
                return (
                    np.int64(self.program.strings.index(held[0])) if held[0] in self.program.strings else np.int64(-1)
                )
            case "int":
                return np.int64(held[0])
            case "float":
                return np.float64(held[0])
            case "bool":
                return held[0]
        return getattr(runtime, kind)(*held[0])

    def call(self, path: str, method: str, *args: Any) -> Any:
        """Calls a method of a node."""
        node = self.paths[path]
        cls = next(name for name, number in self.program.class_ids.items() if number == node.class_id)
        return self.functions[self.program.methods[cls, method]](node, *args)


def compiled(snapshot: Snapshot, scripts: dict[str, str]) -> Program:
    return compile_program(snapshot, lambda path: scripts[path])


def run(snapshot: Snapshot, scripts: dict[str, str]) -> World:
    """Compiles a program that must not be refused."""
    program = compiled(snapshot, scripts)
    assert program.refusals == []
    return World(snapshot, program)


def in_numba(snapshot: Snapshot, program: Program, folder: Path) -> tuple[dict[str, Any], Any, WorldLayout]:
    """The functions `run_N(rows, delta)` that call `_physics_process` of node N, compiled, and a world's row."""
    layout = make_layout(snapshot, program)
    classes = [name for name in layout.table.classes if name.isidentifier()]
    lines = [
        "import numba",
        "from godojo.twin.world.prelude import *",
        f"TABLE = ClassTable({layout.table.members!r})",
        *(f'{name} = RefClass(TABLE, "{name}")' for name in classes),
        *(line for line in program.source.splitlines() if not line.startswith("from godojo")),
    ]
    for index, cls in enumerate(program.class_of):
        function = program.methods.get((cls or "", "_physics_process"))
        if function is not None:
            node = f"record_at(world_at(rows, 0), {layout.offsets[index]}, {cls})"
            lines += [
                "",
                "@numba.njit(error_model='numpy')",
                f"def run_{index}(rows, delta):",
                f"    {function}({node}, delta)",
            ]
    folder.mkdir(exist_ok=True)
    (folder / "program.py").write_text("\n".join(lines), encoding="utf-8")
    module = import_file(f"twin_program_{abs(hash(program.source))}", folder / "program.py")
    rows = layout.row[None, :].copy()
    layout.set_addresses(rows)
    return vars(module), rows, layout
