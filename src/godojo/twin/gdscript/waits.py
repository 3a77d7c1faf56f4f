"""`await` of a timer or of the next frame: what follows becomes a function that a later tick calls."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from godojo.twin.gdscript.effects import parts
from godojo.twin.gdscript.infer import every_statement
from godojo.twin.gdscript.nodes import (
    Assign,
    Attribute,
    Await,
    Call,
    Const,
    Declare,
    Do,
    Expr,
    For,
    Function,
    If,
    Match,
    Name,
    Return,
    Stmt,
    While,
)

FINISHED = "@finished"
"""A function that no script has: how long particles are seen that are emitted once."""


@dataclass
class Wait:
    """One `await`: how many seconds, and what comes after."""

    line: int
    seconds: Expr
    after: Function


def split(function: Function) -> list[Wait]:
    """Cuts a function at every `await` that can be compiled; the others stay, and are refused."""
    waits: list[Wait] = []
    names = {one.name for one in function.params}
    names |= {one.name for one in every_statement(function.body) if isinstance(one, Declare | For)}
    _block(function.body, [], waits, function, names)
    return waits


def wait_name(line: int) -> str:
    """The hidden member that counts the seconds that are left; negative: nothing waits."""
    return f"_wait_{line}"


def _block(body: list[Stmt], rest: list[Stmt], waits: list[Wait], function: Function, names: set[str]) -> None:
    for i, statement in enumerate(body):
        following = [*body[i + 1 :], *rest]
        if isinstance(statement, If):
            for _, inner in statement.branches:
                _block(inner, following, waits, function, names)
            _block(statement.otherwise, following, waits, function, names)
        later = _called_later(statement)
        if later is not None:
            line = statement.line
            after = Function(f"after_{line}", line, [], "void", [Do(line, later[1])], False, path=function.path)
            waits.append(Wait(line, later[0], after))
            body[i] = Assign(line, Name(line, wait_name(line)), "", later[0])
            continue
        if not isinstance(statement, Do) or not isinstance(statement.value, Await):
            continue
        seconds = _seconds(statement.value.value)
        if seconds is None or _uses(following, names):
            return
        line = statement.line
        after = Function(f"after_{line}", line, [], "void", copy.deepcopy(following), False, path=function.path)
        waits.append(Wait(line, seconds, after))
        body[i:] = [Assign(line, Name(line, wait_name(line)), "", seconds), Return(line, None)]
        return


def _called_later(statement: Stmt) -> tuple[Expr, Call] | None:
    """`get_tree().create_timer(1.0).timeout.connect(method)`: the seconds, and the call."""
    if not isinstance(statement, Do) or not isinstance(statement.value, Call):
        return None
    call = statement.value
    if call.name != "connect" or call.receiver is None or len(call.args) != 1 or not isinstance(call.args[0], Name):
        return None
    made = call.receiver.value if isinstance(call.receiver, Attribute) and call.receiver.name == "timeout" else None
    if not isinstance(made, Call) or made.name != "create_timer" or not made.args:
        return None
    return made.args[0], Call(call.line, None, call.args[0].name, [])


def _seconds(awaited: Expr) -> Expr | None:
    if not isinstance(awaited, Attribute):
        return None
    if awaited.name in ("process_frame", "physics_frame"):
        return Const(awaited.line, 0.0)
    made = awaited.value
    if awaited.name == "finished":
        return Call(awaited.line, None, FINISHED, [made])
    if awaited.name == "timeout" and isinstance(made, Call) and made.name == "create_timer" and made.args:
        return made.args[0]
    return None


def _uses(body: list[Stmt], names: set[str]) -> bool:
    """Whether statements use a local of the function that they are cut from."""
    own = {one.name for one in every_statement(body) if isinstance(one, Declare | For)}
    for statement in every_statement(body):
        for expr in expressions(statement):
            for one in parts(expr):
                if isinstance(one, Name) and one.name in names - own:
                    return True
    return False


def expressions(statement: Stmt) -> list[Expr]:
    match statement:
        case Declare(value=value) | Return(value=value):
            return [value] if value is not None else []
        case Assign(target=target, value=value):
            return [target, value]
        case Do(value=value):
            return [value]
        case If(branches=branches):
            return [condition for condition, _ in branches]
        case While(condition=condition):
            return [condition]
        case For(iterable=iterable):
            return [iterable]
        case Match(subject=subject):
            return [subject]
    return []
