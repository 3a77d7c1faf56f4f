"""What is written as simpler statements before types are known.

Functions inside functions: `points.filter(func(p): return p.x > 0)` becomes a loop before its statement. Only methods
of arrays call them, with a lambda or with the name of a method; a lambda for anything else stays, and is refused. Calls
of groups become loops as well, and local dictionaries become members.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from godojo.twin.gdscript.infer import every_statement
from godojo.twin.gdscript.nodes import (
    ArrayLiteral,
    Assign,
    Attribute,
    Binary,
    Call,
    Const,
    Declare,
    DictLiteral,
    Do,
    Expr,
    For,
    Function,
    If,
    Index,
    Jump,
    Lambda,
    Match,
    Name,
    Return,
    Stmt,
    Ternary,
    Unary,
    While,
)

_METHODS = {"filter": 1, "map": 1, "any": 1, "all": 1, "reduce": 2, "sort_custom": 2}
"""Methods of arrays that take a function, and how many parameters that has."""
SORTED_AS_IS = 16
"""Up to so many items Godot sorts by insertion, which keeps equal ones in order."""
IsMethod = Callable[[str], bool]
_T = TypeVar("_T")


def lower(function: Function, is_method: IsMethod) -> None:
    """Writes the calls of a function that take lambdas as loops; `is_method` knows the script's own functions."""
    function.body = _Lowering(is_method).block(function.body)


class _Lowering:
    def __init__(self, is_method: IsMethod) -> None:
        self.is_method = is_method
        self.count = 0

    def block(self, body: list[Stmt]) -> list[Stmt]:
        return [one for statement in body for one in self._statement(statement)]

    def _statement(self, statement: Stmt) -> list[Stmt]:
        before: list[Stmt] = []
        match statement:
            case Declare(value=Call() as call) if self._is_lowered(call) and call.name in ("filter", "map"):
                assert isinstance(call, Call)
                empty = Declare(statement.line, statement.name, statement.declared, ArrayLiteral(statement.line, []))
                return [*self._inner(call, before), empty, *self._loop(call, statement.name)]
            case Declare(value=value) | Return(value=value) if value is not None:
                statement.value = self._expr(value, before)
            case Assign():
                statement.value = self._expr(statement.value, before)
            case Do(value=Call(name="sort_custom") as call) if self._is_lowered(call):
                return [*self._inner(call, before), *self._sort(call)]
            case Do(
                value=Call(name="call_group" | "set_group", args=[group, Const(value=str() as name), *args]) as call
            ):
                return [self._each_of_group(call, group, name, args)]
            case Do():
                statement.value = self._expr(statement.value, before)
            case If(branches=branches, otherwise=otherwise):
                (condition, body), *others = branches
                rest: list[Stmt] = [If(others[0][0].line, others, otherwise)] if others else otherwise
                if others and not any(self._has_lambda(one) for one, _ in others):
                    statement.branches = [(one, self.block(inner)) for one, inner in branches]
                    statement.otherwise = self.block(otherwise)
                else:
                    statement.branches, statement.otherwise = [(condition, self.block(body))], self.block(rest)
                first, inner = statement.branches[0]
                statement.branches[0] = self._expr(first, before), inner
            case While(body=body):
                statement.body = self.block(body)
            case For(body=body):
                statement.iterable = self._expr(statement.iterable, before)
                statement.body = self.block(body)
            case Match(branches=parts):
                statement.subject = self._expr(statement.subject, before)
                for part in parts:
                    part.body = self.block(part.body)
        return [*before, statement]

    def _each_of_group(self, call: Call, group: Expr, name: str, args: list[Expr]) -> Stmt:
        """`get_tree().call_group("coins", "reset")` and `set_group(…)`."""
        line, one = call.line, f"one_{call.line}"
        done: Stmt = Do(line, Call(line, Name(line, one), name, args))
        if call.name == "set_group":
            done = Assign(line, Attribute(line, Name(line, one), name), "", args[0])
        return For(line, one, None, Call(line, call.receiver, "get_nodes_in_group", [group]), [done])

    def _has_lambda(self, expr: Expr) -> bool:
        return any(isinstance(one, Call) and self._is_lowered(one) for one in _parts(expr))

    def _is_lowered(self, call: Call) -> bool:
        if call.receiver is None or call.name not in _METHODS or not call.args:
            return False
        made = self._function(call)
        return made is not None and len(made.params) == _METHODS[call.name] and _value(made.body) is not None

    def _function(self, call: Call) -> Lambda | None:
        given = call.args[0]
        if isinstance(given, Lambda):
            return given
        if isinstance(given, Name) and self.is_method(given.name):
            params = ["a", "b"][: _METHODS[call.name]]
            args: list[Expr] = [Name(given.line, one) for one in params]
            called = Return(given.line, Call(given.line, None, given.name, args))
            return Lambda(given.line, "", params, [called])
        return None

    def _inner(self, call: Call, before: list[Stmt]) -> list[Stmt]:
        """Lowers what a call is made on."""
        assert call.receiver is not None
        call.receiver = self._expr(call.receiver, before)
        return before

    def _expr(self, expr: Expr, before: list[Stmt]) -> Expr:
        """The same expression with names in place of such calls, whose loops are put before it."""
        _mapped(expr, lambda one: self._expr(one, before))
        if not isinstance(expr, Call) or not self._is_lowered(expr):
            return expr
        if expr.name == "sort_custom":
            return expr  # it returns nothing
        self.count += 1
        name = {"filter": "kept", "map": "mapped", "any": "found", "all": "holds", "reduce": "reduced"}[expr.name]
        name = f"{name}_{expr.line}" if self.count == 1 else f"{name}_{expr.line}_{self.count}"
        line = expr.line
        begin: Expr = {"any": Const(line, False), "all": Const(line, True)}.get(expr.name, ArrayLiteral(line, []))
        if expr.name == "reduce":
            assert expr.receiver is not None
            begin = expr.args[1] if len(expr.args) > 1 else Index(line, copy.deepcopy(expr.receiver), Const(line, 0))
        before += [Declare(line, name, None, begin), *self._loop(expr, name)]
        return Name(line, name)

    def _loop(self, call: Call, name: str) -> list[Stmt]:
        made, line = self._function(call), call.line
        assert made is not None
        assert call.receiver is not None
        *declared, _ = made.body
        value = _value(made.body)
        assert value is not None
        value = copy.deepcopy(value)
        into = Name(line, name)
        last = made.params[-1]
        body: list[Stmt]
        match call.name:
            case "filter":
                keep = Do(line, Call(line, into, "append", [Name(line, last)]))
                body = [If(line, [(value, [keep])], [])]
            case "map":
                body = [Do(line, Call(line, into, "append", [value]))]
            case "any" | "all":
                condition = value if call.name == "any" else Unary(line, "not", value)
                decided = Assign(line, into, "", Const(line, call.name == "any"))
                body = [If(line, [(condition, [decided, Jump(line, "break")])], [])]
            case _:
                body = [Assign(line, into, "", _renamed(value, {made.params[0]: into}))]
        first = [copy.deepcopy(one) for one in declared if isinstance(one, Declare)]
        if call.name == "reduce" and len(call.args) == 1:
            place, items = f"place_{line}", call.receiver
            count = Call(line, copy.deepcopy(items), "size", [])
            item = Declare(line, last, None, Index(line, copy.deepcopy(items), Name(line, place)))
            return [For(line, place, None, Call(line, None, "range", [Const(line, 1), count]), [item, *first, *body])]
        return [For(line, last, None, call.receiver, [*first, *body])]

    def _sort(self, call: Call) -> list[Stmt]:
        """Sorts by insertion."""
        made, items, line = self._function(call), call.receiver, call.line
        assert made is not None
        assert items is not None
        value = _value(made.body)
        assert value is not None
        at, place, item = f"at_{line}", f"place_{line}", f"item_{line}"

        def before(by: int) -> Expr:
            index: Expr = Name(line, place)
            return Index(line, copy.deepcopy(items), Binary(line, "-", index, Const(line, 1)) if by else index)

        less = _renamed(copy.deepcopy(value), {made.params[0]: Name(line, item), made.params[1]: before(1)})
        smaller = Binary(line, "and", Binary(line, ">", Name(line, place), Const(line, 0)), less)
        shift: list[Stmt] = [
            Assign(line, before(0), "", before(1)),
            Assign(line, Name(line, place), "-", Const(line, 1)),
        ]
        body: list[Stmt] = [
            Declare(line, item, None, Index(line, copy.deepcopy(items), Name(line, at))),
            Declare(line, place, None, Name(line, at)),
            While(line, smaller, shift),
            Assign(line, before(0), "", Name(line, item)),
        ]
        count = Call(line, copy.deepcopy(items), "size", [])
        return [For(line, at, None, Call(line, None, "range", [Const(line, 1), count]), body)]


def local_dictionaries(function: Function) -> list[Declare]:
    """Locals that hold a dictionary whose keys are not known: they begin as `{}`, or with other keys than texts.

    A function that calls itself has several of each at once, which no member can keep.
    """
    calls = [one for part in every_statement(function.body) for held in _held(part) for one in _parts(held)]
    if any(isinstance(one, Call) and one.name == function.name for one in calls):
        return []
    return [
        one
        for one in every_statement(function.body)
        if isinstance(one, Declare) and isinstance(one.value, DictLiteral) and not _has_texts_as_keys(one.value)
    ]


def _held(statement: Stmt) -> list[Expr]:
    found = [getattr(statement, one.name) for one in dataclasses.fields(statement) if one.init]
    return [one for one in found if isinstance(one, Expr)]


def _has_texts_as_keys(value: DictLiteral) -> bool:
    return bool(value.keys) and all(isinstance(one, Const) and isinstance(one.value, str) for one in value.keys)


def keep_dictionary(body: list[Stmt], declared: Declare, name: str) -> None:
    """Makes a local dictionary a member of this name: it is filled anew where it was declared."""
    for one in body:
        _rename(one, declared.name, name)
    _replace(body, declared, Assign(declared.line, Name(declared.line, name), "", declared.value))  # type: ignore[arg-type]


def _rename(held: Any, old: str, new: str) -> None:
    if isinstance(held, list | tuple):
        for one in held:
            _rename(one, old, new)
    elif dataclasses.is_dataclass(held) and not isinstance(held, type):
        if isinstance(held, Name) and held.name == old:
            held.name = new
        for one in dataclasses.fields(held):
            if one.init:
                _rename(getattr(held, one.name), old, new)


def _replace(held: Any, old: Stmt, new: Stmt) -> None:
    if isinstance(held, list):
        held[:] = [new if one is old else one for one in held]
    if isinstance(held, list | tuple):
        for one in held:
            _replace(one, old, new)
    elif dataclasses.is_dataclass(held) and not isinstance(held, type | Expr):
        for one in dataclasses.fields(held):
            if one.init:
                _replace(getattr(held, one.name), old, new)


def _value(body: list[Stmt]) -> Expr | None:
    """What a function returns, as one expression; the declarations before it are the caller's."""
    rest = [one for one in body if not isinstance(one, Declare)]
    match rest:
        case [Return(value=value)]:
            return value
        case [If(branches=branches, otherwise=otherwise), *others] if len(rest) == len(body):
            result = _value(otherwise or others)
            for condition, inner in reversed(branches):
                then = _value(inner)
                if then is None or result is None:
                    return None
                result = Ternary(condition.line, condition, then, result)
            return result
    return None


def _renamed(expr: Expr, names: dict[str, Expr]) -> Expr:
    """The same expression with other expressions in place of names."""
    if isinstance(expr, Name) and expr.name in names:
        return copy.deepcopy(names[expr.name])
    return _mapped(expr, lambda one: _renamed(one, names))


def _mapped(expr: _T, change: Callable[[Expr], Expr]) -> _T:
    for one in dataclasses.fields(expr):  # type: ignore[arg-type]
        held: Any = getattr(expr, one.name)
        if one.init and isinstance(held, Expr):
            setattr(expr, one.name, change(held))
        elif one.init and isinstance(held, list):
            setattr(expr, one.name, [change(part) if isinstance(part, Expr) else part for part in held])
    return expr


def _parts(expr: Expr) -> list[Expr]:
    found = [expr]

    def note(one: Expr) -> Expr:
        found.extend(_parts(one))
        return one

    _mapped(expr, note)
    return found
