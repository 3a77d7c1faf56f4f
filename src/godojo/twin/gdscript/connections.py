"""Signals that scripts connect in `_ready`: for nodes that are made while the game runs, they are known beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from godojo.twin.gdscript.errors import ScriptRefused
from godojo.twin.gdscript.nodes import Attribute, Call, Const, Do, Expr, Name, NodeAt, Script, Stmt
from godojo.twin.gdscript.parse import parse
from godojo.twin.scene.snapshot import Connection, NodeInfo, Snapshot, Template


@dataclass(frozen=True)
class Link:
    """`source.signal.connect(method)`; a source of None is the node itself."""

    source: Expr | None
    signal: str
    method: str


def link_of(statement: Stmt) -> Link | None:
    """What a statement connects to a method of its own script."""
    call = statement.value if isinstance(statement, Do) else None
    if not isinstance(call, Call) or call.name != "connect" or not call.args:
        return None
    method = call.args[-1]
    if isinstance(method, Attribute) and isinstance(method.value, Name) and method.value.name == "self":
        method = Name(method.line, method.name)
    if not isinstance(method, Name):
        return None
    if len(call.args) == 2 and isinstance(call.args[0], Const) and isinstance(call.args[0].value, str):
        return Link(_not_self(call.receiver), call.args[0].value, method.name)
    if len(call.args) != 1:
        return None
    if isinstance(call.receiver, Name):
        return Link(None, call.receiver.name, method.name)
    if isinstance(call.receiver, Attribute):
        return Link(_not_self(call.receiver.value), call.receiver.name, method.name)
    return None


def _not_self(expr: Expr | None) -> Expr | None:
    return None if isinstance(expr, Name) and expr.name == "self" else expr


def connect_templates(snapshot: Snapshot, read: Callable[[str], str]) -> Snapshot:
    """The same with the connections that the scripts of templates make when they are ready."""
    scripts: dict[str, Script | None] = {}
    templates = []
    for template in snapshot.templates:
        links = list(template.connections)
        for node in template.nodes:
            for script in _scripts_of(snapshot, node, read, scripts):
                for statement in script.functions["_ready"].body if "_ready" in script.functions else ():
                    link = link_of(statement)
                    source = _source(template, node, script, link) if link is not None else None
                    if link is not None and source is not None:
                        made = Connection(source, link.signal, node.index, link.method)
                        links += [made] if made not in links else []
        templates.append(msgspec.structs.replace(template, connections=links))
    return msgspec.structs.replace(snapshot, templates=templates)


def _scripts_of(
    snapshot: Snapshot, node: NodeInfo, read: Callable[[str], str], known: dict[str, Script | None]
) -> list[Script]:
    """The script of a node whose `_ready` runs: the nearest that has one."""
    path = node.script or ""
    while path:
        if path not in known:
            try:
                known[path] = parse(read(path), path)
            except ScriptRefused:
                known[path] = None
        script = known[path]
        if script is not None and "_ready" in script.functions:
            return [script]
        path = snapshot.scripts[path].base
    return []


def _source(template: Template, node: NodeInfo, script: Script, link: Link) -> int | None:
    """The node of a template that emits the signal."""
    source = link.source
    if isinstance(source, Name):
        source = next((one.value for one in script.members if one.name == source.name), None)
    if link.source is None:
        return node.index
    if not isinstance(source, NodeAt):
        return None
    at: int | None = node.index
    for part in source.path.split("/"):
        if part == ".." and at is not None:
            at = template.nodes[at].parent if template.nodes[at].parent >= 0 else None
        elif part not in ("", "."):
            at = next((one.index for one in template.nodes if one.parent == at and one.name == part), None)
        if at is None:
            return None
    return at
