"""Where a twin stops: changes of the tree that are reached only under a condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from godojo.twin.gdscript.effects import parts
from godojo.twin.gdscript.infer import every_statement
from godojo.twin.gdscript.nodes import Call, Expr, Function, If, Return, Stmt, Stop
from godojo.twin.gdscript.waits import expressions

if TYPE_CHECKING:
    from godojo.twin.gdscript.whole import Whole


def find_stops(whole: Whole) -> list[tuple[str, int, str]]:
    """All stops of the program, in order: path, line and reason. Those that are reached for certain are refused."""
    found: dict[tuple[str, int, str], None] = {}
    for _, function in whole.reached.values():
        for one in every_statement(function.body):
            if isinstance(one, Stop):
                found[function.path, one.line, one.reason] = None
    if found:
        _refuse_certain(whole)
    return list(found)


def _refuse_certain(whole: Whole) -> None:
    waiting = [whole.reach(cls, name) for cls, name, _ in whole.roots]
    seen: set[int] = set()
    while waiting:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        for statement in _certain(function.body):
            if isinstance(statement, Stop):
                function.refusals.append((statement.line, statement.reason))
            for call in _calls(statement):
                waiting += _targets(call)


def _targets(call: Call) -> list[Function]:
    return [function for _, function in call.targets] if len(call.targets) == 1 else []


def _calls(statement: Stmt) -> Iterator[Call]:
    for expr in expressions(statement):
        yield from (one for one in _parts(expr) if isinstance(one, Call))


def _parts(expr: Expr) -> list[Expr]:
    return list(parts(expr))


def _certain(body: list[Stmt]) -> Iterator[Stmt]:
    """The statements of a block that run whenever it does."""
    for statement in body:
        yield statement
        if isinstance(statement, If):
            branches, otherwise = statement.kept()
            if not branches:
                yield from _certain(otherwise)
        if any(isinstance(one, Return | Stop) for one in every_statement([statement])):
            return
