"""Python from a script's intermediate form: one function for each of the script's, statement by statement."""

from __future__ import annotations

import math
import re
from pathlib import PurePosixPath

from godojo.twin.gdscript import builtins, operators
from godojo.twin.gdscript.infer import simple
from godojo.twin.gdscript.nodes import (
    ArrayLiteral,
    Assign,
    Attribute,
    Binary,
    Call,
    Cast,
    Const,
    Declare,
    Do,
    Expr,
    For,
    Function,
    If,
    Index,
    Jump,
    Match,
    Name,
    Plan,
    Return,
    Script,
    Stmt,
    Ternary,
    Unary,
    Variable,
    While,
)
from godojo.twin.gdscript.operators import ATOM, LEVELS
from godojo.twin.gdscript.types import BOOL, FLOAT, INT, NULL, NUMBER, NUMBERS, RANDOM, VALUES, VECTORS, ArrayType, Type

_HEADER = '''"""{name}, compiled by Godojo: compare it with the script; the numbers at the right are its lines."""

from godojo.kernels.compile import kernel
from godojo.twin.gdscript.runtime import *  # noqa: F403
'''
_LINE_NUMBERS_AT = 100


def emit(script: Script, uses_random: bool) -> str:
    """The module's text. Every refusal has been reported before."""
    return _Writer(script, uses_random).module()


class _Writer:
    def __init__(self, script: Script, uses_random: bool) -> None:
        self.script, self.uses_random = script, uses_random
        self.lines: list[str] = []
        self.depth = 0
        self.function: Function | None = None

    def module(self) -> str:
        self.lines = _HEADER.format(name=PurePosixPath(self.script.path).name).splitlines()
        self._constants()
        self._members()
        for function in self.script.functions.values():
            self._function(function)
        return "\n".join(self.lines) + "\n"

    def write(self, text: str, line: int = 0) -> None:
        shown = "    " * self.depth + text
        self.lines.append(f"{shown:<{_LINE_NUMBERS_AT}}  # {line}" if line else shown)

    # --- what stands outside functions ------------------------------------------------------------------------------

    def _constants(self) -> None:
        before = len(self.lines)
        for name, values in self.script.enums.items():
            for key, number in values.items():
                self.write(f"{name}_{key} = {number}" if name else f"{key} = {number}")
        for constant in self.script.constants:
            variable = constant.variable
            assert variable is not None
            assert constant.value is not None
            if isinstance(variable.type, ArrayType):
                items = constant.value.items if isinstance(constant.value, ArrayLiteral) else []
                element = variable.type.element
                self.write(f"{variable.python} = ({''.join(self.to(one, element) + ', ' for one in items).rstrip()})")
            elif variable.type not in VALUES:  # vectors are written out where they are used
                self.write(f"{variable.python} = {self.to(constant.value, variable.type)}", constant.line)
        if len(self.lines) > before:
            self.lines.insert(before, "")

    def _members(self) -> None:
        kept = [one for one in self.script.members if one.variable is not None and one.variable.type is not None]
        self.lines += ["", "MEMBERS = {"]
        for member in kept:
            assert member.variable is not None
            self.lines.append(f'    "{member.variable.python}": "{_kept_as(member.variable.type)}",')
        if self.uses_random:
            self.lines.append('    "random": "RandomNumberGenerator",')
        self.lines += ["}", "", "", "@kernel", "def _init(self):"]
        self.depth = 1
        if self.uses_random:
            self.write("self.random = new_random()")
        for member in kept:
            assert member.variable is not None
            assert member.variable.type is not None
            kind = member.variable.type
            value = builtins.zero(kind, member.line) if member.value is None else self.to(member.value, kind)
            self.write(f"self.{member.variable.python} = {value}", member.line)
        if not kept and not self.uses_random:
            self.write("pass")
        self.depth = 0

    def _function(self, function: Function) -> None:
        self.function = function
        names = [] if function.static else ["self"]
        names += [one.variable.python for one in function.params if one.variable is not None]
        self.lines += ["", "", "@kernel"]
        self.write(f"def {function.python}({', '.join(names)}):", function.line)
        self.depth = 1
        for param in function.params:
            assert param.variable is not None
        self.block(function.body)
        self.depth = 0

    # --- statements -------------------------------------------------------------------------------------------------

    def block(self, body: list[Stmt]) -> None:
        before = len(self.lines)
        for one in body:
            self.statement(one)
        if len(self.lines) == before or all(text.lstrip().startswith("#") for text in self.lines[before:]):
            self.write("pass")

    def statement(self, statement: Stmt) -> None:
        line = statement.line
        match statement:
            case Declare(variable=variable) if variable is not None and variable.type is not None:
                if variable.constant is not None and variable.type in VALUES:
                    return
                value = statement.value
                text = builtins.zero(variable.type, line) if value is None else self.to(value, variable.type)
                self.write(f"{variable.python} = {text}", line)
            case Assign():
                self._assign(statement)
            case Do(dropped=dropped) if dropped:
                self.write(f"# left out: {dropped}", line)
            case Do(value=Call() as call):
                self.write(self.text(call), line)
            case Return():
                self._return(statement)
            case If():
                for i, (condition, body) in enumerate(statement.branches):
                    self.write(f"{'elif' if i else 'if'} {self.truth(condition)[0]}:", condition.line if i else line)
                    self._inner(body)
                if statement.otherwise:
                    self.write("else:")
                    self._inner(statement.otherwise)
            case While():
                self.write(f"while {self.truth(statement.condition)[0]}:", line)
                self._inner(statement.body)
            case For():
                self._for(statement)
            case Match():
                self._match(statement)
            case Jump():
                self.write(statement.word, line)

    def _inner(self, body: list[Stmt]) -> None:
        self.depth += 1
        self.block(body)
        self.depth -= 1

    def _return(self, statement: Return) -> None:
        assert self.function is not None
        assert self.function.result is not None
        kind = self.function.result.type
        if statement.value is None:
            self.write("return", statement.line)
        elif kind is NULL:
            self.write(self.text(statement.value), statement.line)
            self.write("return", statement.line)
        else:
            assert kind is not None
            self.write(f"return {self.to(statement.value, kind)}", statement.line)

    def _for(self, statement: For) -> None:
        iterable, variable = statement.iterable, statement.variable
        assert variable is not None
        if isinstance(iterable, Call) and iterable.name == "range" and iterable.receiver is None:
            text = f"range({', '.join(self.text(one) for one in iterable.args)})"
        else:
            text = self.text(iterable) if isinstance(iterable.type, ArrayType) else f"range({self.text(iterable)})"
        self.write(f"for {variable.python} in {text}:", statement.line)
        self._inner(statement.body)

    def _match(self, statement: Match) -> None:
        subject = f"match_{statement.line}"
        self.write(f"{subject} = {self.text(statement.subject)}", statement.line)
        for i, branch in enumerate(statement.branches):
            tests = [f"{subject} == {self.text(one, LEVELS['=='] + 1)}" for one in branch.patterns]
            test = "True" if branch.wildcard else " or ".join(tests)
            if branch.guard is not None:
                guard = self.truth(branch.guard, LEVELS["and"] + 1)[0]
                test = (
                    guard if branch.wildcard else f"({test}) and {guard}" if len(tests) > 1 else f"{test} and {guard}"
                )
            if test == "True" and i:
                self.write("else:", branch.line)
            else:
                self.write(f"{'elif' if i else 'if'} {test}:", branch.line)
            self._inner(branch.body)
            if test == "True":
                break

    def _assign(self, statement: Assign) -> None:
        target, line = statement.target, statement.line
        if target.type is None and not (isinstance(target, Attribute) and target.value.type is RANDOM):
            self.write(f"# left out: {self.script.lines[line - 1].strip()}", line)
            return
        if isinstance(target, Attribute) and target.value.type is RANDOM:
            self.write(f"seed({self.text(target.value)}, {self.to(statement.value, INT)})", line)
            return
        kind = self._kind_of(target)
        if not statement.op:
            self._store(target, self.to(statement.value, kind), line)
            return
        assert target.type is not None
        assert statement.value.type is not None
        plan = operators.binary(statement.op, target.type, statement.value.type, line)
        plain = plan.level != ATOM and plan.result is kind and plan.params[0] is kind and not _narrow(target)
        is_component = isinstance(target, Attribute | Index) and target.value.type in VALUES
        if plain and simple(target) and not is_component:
            self.write(f"{self.text(target)} {statement.op}= {self.to(statement.value, plan.params[1])}", line)
            return
        text, level = self._planned(plan, [target, statement.value])
        assert plan.result is not None
        self._store(target, self._converted(text, level, plan.result, kind)[0], line)

    def _store(self, target: Expr, text: str, line: int) -> None:
        if isinstance(target, Attribute | Index) and target.value.type in VALUES:
            axis = target.name if isinstance(target, Attribute) else "xyz"[int(target.index.value)]  # type: ignore[attr-defined]
            self._store(target.value, f"{self.text(target.value, ATOM)}.with_{axis}({text})", line)
            return
        narrow = _narrow(target)
        self.write(f"{self.text(target)} = {f'{narrow}({text})' if narrow else text}", line)

    def _kind_of(self, target: Expr) -> Type:
        """The type that a target keeps, which is that of its variable."""
        if isinstance(target, Name) and target.variable is not None and target.variable.type is not None:
            return target.variable.type
        assert target.type is not None
        return target.type

    # --- expressions ------------------------------------------------------------------------------------------------

    def text(self, expr: Expr, level: int = 0) -> str:
        """An expression, in parentheses if it binds less than `level`."""
        text, own = self._written(expr)
        return text if own >= level else f"({text})"

    def to(self, expr: Expr, kind: Type | None, level: int = 0) -> str:
        """An expression, converted to a type as Godot does on assignment."""
        if kind in (FLOAT, NUMBER) and isinstance(expr, Const) and isinstance(expr.value, int):
            return _float(float(expr.value))
        text, own = self._written(expr)
        if kind is not None and expr.type is not None:
            text, own = self._converted(text, own, expr.type, kind)
        return text if own >= level else f"({text})"

    def _converted(self, text: str, level: int, kind: Type, to: Type) -> tuple[str, int]:
        if kind is not to and kind in VECTORS and to in VECTORS:
            return f"to_{str(to).lower()}({text})", ATOM
        if kind is to or to not in (BOOL, *NUMBERS) or (kind in (FLOAT, NUMBER) and to in (FLOAT, NUMBER)):
            return text, level
        if to is INT:
            return (f"int({text})" if kind is BOOL else f"to_int({text})"), ATOM
        if to is BOOL:
            shown = text if level > LEVELS["=="] else f"({text})"
            return f"{shown} != {'0' if kind is INT else '0.0'}", LEVELS["=="]
        return (f"float(int({text}))" if kind is BOOL else f"float({text})"), ATOM

    def truth(self, expr: Expr, level: int = 0) -> tuple[str, int]:
        """An expression as a condition."""
        text, own = self._written(expr)
        kind = expr.type
        if isinstance(kind, ArrayType):
            text, own = f"size({text}) > 0", LEVELS[">"]
        elif kind is not BOOL:
            shown = text if own > LEVELS["=="] else f"({text})"
            assert kind is not None
            nothing = builtins.zero(kind, expr.line)
            text, own = f"{shown} != {nothing}", LEVELS["=="]
        return (text, own) if own >= level else (f"({text})", ATOM)

    def _written(self, expr: Expr) -> tuple[str, int]:
        match expr:
            case Const(value=value):
                return _constant(value)
            case Name() if expr.plan is None:
                assert expr.variable is not None
                return self._variable(expr.variable), ATOM
            case Attribute() if expr.plan is None:
                if isinstance(expr.value, Name) and expr.value.name == "self":
                    return f"self.{expr.name}", ATOM
                return f"{self.text(expr.value, ATOM)}.{expr.name}", ATOM
            case Name(plan=plan) | Attribute(plan=plan):
                assert plan is not None
                return plan.text, plan.level
            case Index():
                if expr.value.type in VALUES:
                    return f"{self.text(expr.value, ATOM)}.{'xyz'[int(expr.index.value)]}", ATOM  # type: ignore[attr-defined]
                return f"{self.text(expr.value, ATOM)}[{self.text(expr.index)}]", ATOM
            case Call():
                return self._call(expr)
            case Unary(op="not"):
                if expr.value.type in NUMBERS:
                    zero = "0" if expr.value.type is INT else "0.0"
                    return f"{self.text(expr.value, LEVELS['=='] + 1)} == {zero}", LEVELS["=="]
                return f"not {self.truth(expr.value, LEVELS['not'])[0]}", LEVELS["not"]
            case Binary(op=("and" | "or") as op):
                left, right = self.truth(expr.left, LEVELS[op])[0], self.truth(expr.right, LEVELS[op] + 1)[0]
                return f"{left} {op} {right}", LEVELS[op]
            case Unary(plan=plan):
                assert plan is not None
                return self._planned(plan, [expr.value])
            case Binary(plan=plan):
                assert plan is not None
                return self._planned(plan, [expr.left, expr.right])
            case Ternary():
                then, other = self.to(expr.then, expr.type, 2), self.to(expr.other, expr.type, 1)
                return f"{then} if {self.truth(expr.condition, 2)[0]} else {other}", 1
            case ArrayLiteral(type=ArrayType() as kind):
                narrow = kind.root.narrow
                items = [self.to(one, kind.element) for one in expr.items]
                shown = [f"{narrow}({one})" if narrow else one for one in items]
                return builtins.new_array(kind, shown, expr.line), ATOM
            case Cast():
                text, level = self._written(expr.value)
                assert expr.value.type is not None
                assert expr.type is not None
                return self._converted(text, level, expr.value.type, expr.type)
        raise AssertionError(f"line {expr.line}: {expr}")

    def _variable(self, variable: Variable) -> str:
        if variable.constant is not None and variable.type in VALUES:
            return self.text(variable.constant, ATOM)
        return f"self.{variable.python}" if variable.member else variable.python

    def _call(self, expr: Call) -> tuple[str, int]:
        if expr.function is not None:
            return self._own_call(expr, expr.function), ATOM
        assert expr.plan is not None
        plan, kind = expr.plan, expr.receiver.type if expr.receiver is not None else None
        if isinstance(kind, ArrayType) and kind.root.narrow and not plan.pure:
            plan = Plan(plan.text, plan.params, plan.result, False, plan.level)
            last = len(expr.args) - 1
            if plan.params and plan.params[-1] is kind.element and "append_array" not in plan.text:
                plan.text = plan.text.replace(f"{{{last}}}", f"{kind.root.narrow}({{{last}}})")
        return self._planned(plan, expr.args, expr.receiver)

    def _own_call(self, expr: Call, function: Function) -> str:
        given = [] if function.static else ["self"]
        for i, param in enumerate(function.params):
            assert param.variable is not None
            value = expr.args[i] if i < len(expr.args) else param.default
            assert value is not None
            given.append(self.to(value, param.variable.type))
        return f"{function.python}({', '.join(given)})"

    def _planned(self, plan: Plan, args: list[Expr], receiver: Expr | None = None) -> tuple[str, int]:
        """Fills in a plan's template; operators bind from the left."""
        if plan.text == "{0}":  # a conversion
            assert plan.result is not None
            assert args[0].type is not None
            if isinstance(args[0], Const):
                return self.to(args[0], plan.result), ATOM if plan.result is not BOOL else LEVELS["=="]
            text, level = self._written(args[0])
            return self._converted(text, level, args[0].type, plan.result)
        shown = []
        for i, (arg, kind) in enumerate(zip(args, plan.params, strict=True)):
            if f"{{{i}}}" not in plan.text:  # the template has it already
                shown.append("")
                continue
            level = 0
            if f"{{{i}}}." in plan.text:
                level = ATOM
            elif plan.level not in (ATOM, LEVELS["not"]) and "(" not in plan.text:
                level = plan.level + (1 if i or plan.level == LEVELS["=="] else 0)
            shown.append(self.to(arg, kind, level))
        if receiver is None or "{r}" not in plan.text:
            return plan.text.format(*shown), plan.level
        inside = re.search(r"[(,] ?\{r\}", plan.text) is not None
        return plan.text.format(*shown, r=self.text(receiver, 0 if inside else ATOM)), plan.level


def _narrow(target: Expr) -> str:
    """How the elements of a packed array are cut to size when one is set."""
    if isinstance(target, Index) and isinstance(target.value.type, ArrayType):
        return target.value.type.root.narrow
    return ""


def _constant(value: bool | int | float | str | None) -> tuple[str, int]:
    if isinstance(value, float):
        text = _float(value)
        return text, LEVELS["-x"] if text.startswith("-") else ATOM
    text = repr(value)
    return text, LEVELS["-x"] if text.startswith("-") else ATOM


def _float(value: float) -> str:
    return ("INF" if value > 0 else "-INF") if math.isinf(value) else repr(value)


def _kept_as(kind: Type | None) -> str:
    if isinstance(kind, ArrayType):
        return f"Array[{_kept_as(kind.element)}]"
    return "float" if kind is NUMBER else str(kind)
