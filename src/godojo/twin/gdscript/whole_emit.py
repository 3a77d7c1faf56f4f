"""Python from a whole program: one module, with the functions of every class."""

from __future__ import annotations

import re

from godojo.twin.gdscript import builtins, operators
from godojo.twin.gdscript.class_inference import ClassInference
from godojo.twin.gdscript.dispatch_emit import Dispatchers, returns_members
from godojo.twin.gdscript.infer import ends
from godojo.twin.gdscript.live import LiveClass, common
from godojo.twin.gdscript.nodes import (
    ArrayLiteral,
    Assign,
    Attribute,
    Binary,
    Call,
    Cast,
    Const,
    Declare,
    DictLiteral,
    Do,
    Expr,
    For,
    Function,
    If,
    Index,
    Name,
    NodeAt,
    Place,
    Return,
    Script,
    Stmt,
    Stop,
    Ternary,
    TypeTest,
    Unary,
    Variable,
    While,
)
from godojo.twin.gdscript.operators import ATOM, LEVELS
from godojo.twin.gdscript.types import (
    BOOL,
    FLOAT,
    NIL,
    NULL,
    NUMBER,
    SEEN,
    STRING,
    TEXT,
    VALUES,
    ArrayType,
    DictType,
    MapType,
    ObjectType,
    RefType,
    Type,
)
from godojo.twin.gdscript.whole import Whole

_HEADER = '''"""{name}, compiled by Godojo: compare it with the scripts; the numbers at the right are their lines."""

import numpy as np

from godojo.twin.world.prelude import *  # noqa: F403
'''


def kept_as(kind: Type | None) -> str:
    """The text of a type in a layout."""
    if isinstance(kind, ArrayType):
        return f"Array[{kept_as(kind.element)}]"
    if isinstance(kind, RefType):
        return f"Ref[{common(list(kind.classes)) if kind.classes else 'Node'}]"
    return "float" if kind is NUMBER else str(kind)


class WholeWriter(Dispatchers):
    """Writes the module."""

    def __init__(self, whole: Whole) -> None:
        super().__init__(Script("", []), False)
        self.whole = whole
        self.cls: LiveClass | None = None

    def module(self) -> str:
        by_class: dict[LiveClass, list[Function]] = {}
        for cls, function in self.whole.reached.values():
            by_class.setdefault(cls, []).append(function)
        for cls, functions in by_class.items():
            self.cls = cls
            self.lines += ["", "", f"# --- {cls.name}: {cls.path} ---"]
            for function in sorted(functions, key=lambda one: (one.path != cls.path, one.path, one.line)):
                self._function(function)
                self._observation(cls, function)
        for cls in by_class:
            self._ticks(cls)
        self.write_dispatchers()
        body, self.lines = self.lines, []
        self._script_constants()
        numbers = [f"{name} = {text}" for name, text in self.whole.numbers.items()]
        tests = self._node_names() if any("node_name(" in line for line in body) else []
        tests += self._class_tests("\n".join(body))
        header = _HEADER.format(name=self.whole.snapshot.scene or "a game").splitlines()
        return "\n".join([*header, "", *numbers, *self.lines, *tests, *body]) + "\n"

    def _node_names(self) -> list[str]:
        names = [self.whole.string(one.name) for one in self.whole.snapshot.nodes]
        lines = [f"NODE_NAMES = np.array({names}, np.int64)"]
        return [*lines, "", "", "@kernel", "def node_name(node):", "    return NODE_NAMES[node.node_index]"]

    def _class_tests(self, text: str) -> list[str]:
        """`is_Player(node)` and `as_Player(node)`, for the classes that are asked for."""
        live = [one for one in self.whole.tree.classes if one.nodes]
        lines: list[str] = []
        for name in sorted(set(re.findall(r"\b(?:is|as)_([A-Z]\w*)\(", text))):
            ids = [str(i) for i, one in enumerate(live) if name in one.chain()]
            found = " or ".join(f"node.class_id == {i}" for i in ids) or "False"
            lines += ["", "", "@kernel", f"def is_{name}(node):", "    if is_null(node):", "        return False"]
            lines += [f"    return {found}"]
            if f"as_{name}(" in text:
                lines += ["", "", "@kernel", f"def as_{name}(node):"]
                lines += [f"    return {name}(node) if is_{name}(node) else {name}()"]
        return lines

    def _script_constants(self) -> None:
        for inference, variable in self.whole.constants.values():
            self.cls = inference.cls
            value = variable.constant
            assert value is not None
            if isinstance(variable.type, ArrayType):
                items = getattr(value, "items", [])
                shown = "".join(self.to(one, variable.type.element) + ", " for one in items).rstrip()
                self.write(f"{variable.python} = ({shown})", variable.line)
            elif variable.type not in VALUES and not isinstance(variable.type, ObjectType):
                self.write(f"{variable.python} = {self.to(value, variable.type)}", variable.line)

    def _function(self, function: Function) -> None:
        self.function = function
        names = ["self", *(one.variable.python for one in function.params if one.variable is not None)]
        self.lines += ["", "", "@kernel"]
        self.write(f"def {function.python}({', '.join(names)}):", function.line)
        self.depth = 1
        for one in function.params:
            assert one.variable is not None
            if function.python in self.whole.handlers and isinstance(one.variable.type, RefType):
                self.write(f"{one.variable.python} = {kept_as(one.variable.type)[4:-1]}({one.variable.python})")
        self.block(function.body)
        self.depth = 0

    def _observation(self, cls: LiveClass, function: Function) -> None:
        """`get_obs` for the trainer: it writes the numbers of all keys, one after the other."""
        if not function.python.endswith("_get_obs_dict"):
            return
        kind = function.result.type if function.result is not None else None
        assert isinstance(kind, DictType)
        space = next(one.observation_space for one in self.whole.snapshot.agents if one.node in cls.nodes)
        keys = [key for key in space if key in kind.fields] or list(kind.fields)
        self.lines += ["", "", "@kernel", f"def {function.python.removesuffix('_dict')}(self, out):"]
        self.lines += [f"    obs = {function.python}(self)", "    at = 0"]
        for key in keys:
            at = list(kind.fields).index(key)
            self.lines.append(f"    at = write_numbers(out, at, obs[{at}])  # {key}")
        self.lines.append("    return at")

    def _ticks(self, cls: LiveClass) -> None:
        """What the end of a tick does for a class: calls that were deferred, and functions that wait for something."""
        if cls.deferred:
            self.lines += ["", "", "@kernel", f"def {cls.name}_run_deferred(self):"]
            for flag, name in cls.deferred.items():
                self.lines += [f"    if self.{flag}:", f"        self.{flag} = False"]
                self.lines += [f"        {self.whole.reach(cls, name).python}(self)"]
        waits = self.whole.waits(cls)
        if not waits:
            return
        self.lines += ["", "", "@kernel", f"def {cls.name}_pass_time(self, delta):"]
        for name, after in reversed(waits.items()):  # what one of them starts to wait for begins a tick later
            self.lines += [f"    if self.{name} >= 0.0:", f"        self.{name} -= delta"]
            self.lines += [f"        if self.{name} <= 0.0:", f"            self.{name} = -1.0"]
            self.lines += [f"            {cls.name}_{after.name}(self)"]

    # --- statements -------------------------------------------------------------------------------------------------

    def block(self, body: list[Stmt]) -> None:
        kept = []
        for one in body:
            kept.append(one)
            if ends([one]):
                break
        super().block(kept)

    def statement(self, statement: Stmt) -> None:
        if isinstance(statement, If):
            branches, otherwise = statement.kept()
            if not branches:
                for one in otherwise:
                    self.statement(one)
                    if ends([one]):
                        break
                return
            statement = If(statement.line, branches, otherwise)
        elif isinstance(statement, Stop):
            self._stop(statement)
            return
        elif isinstance(statement, While) and self.whole.stops:
            condition = self.truth(statement.condition, LEVELS["and"])[0]
            self.write(f"while {condition} and not has_stopped(self):", statement.line)
            self._inner(statement.body)
            return
        elif (
            isinstance(statement, Declare)
            and statement.variable is not None
            and statement.variable.type
            in (
                TEXT,
                SEEN,
            )
        ):
            what = "a text" if statement.variable.type is TEXT else "which is only seen"
            self.write(f"# left out: {statement.name}, {what}", statement.line)
            return
        elif isinstance(statement, Return) and self._copies(statement):
            assert statement.value is not None
            assert isinstance(statement.value.type, ArrayType)
            empty = builtins.new_array(statement.value.type, [], statement.line)
            self.write(f"return copied({empty}, {self.text(statement.value)})", statement.line)
            return
        elif isinstance(statement, Do) and statement.instead is not None:
            self._assign(statement.instead)
            return
        elif isinstance(statement, Declare) and isinstance(statement.value, Const) and statement.value.value is None:
            assert statement.variable is not None
            kind = statement.variable.type
            assert kind is not None
            self.write(f"{statement.variable.python} = {self.to(statement.value, kind)}", statement.line)
            return
        elif isinstance(statement, Declare) and statement.value is None and statement.variable is not None:
            kind = statement.variable.type
            if isinstance(kind, RefType):
                self.write(f"{statement.variable.python} = {self.null(kind)}", statement.line)
                return
            if kind is STRING:
                self.write(f"{statement.variable.python} = {self._string('')}", statement.line)
                return
        super().statement(statement)

    def _copies(self, statement: Return) -> bool:
        """Whether a member array is returned by a function that returns other arrays, too."""
        value = statement.value
        if value is None or value.place is None or not isinstance(value.type, ArrayType):
            return False
        assert self.function is not None
        return value.place.variable is not None and len(returns_members(self.function)) > 1

    def _stop(self, statement: Stop) -> None:
        assert self.function is not None
        number = self.whole.stops.index((self.function.path, statement.line, statement.reason))
        self.write(f"stop(self, {number})", statement.line)
        kind = self.function.result.type if self.function.result is not None else None
        if kind in (None, NULL):
            self.write("return")
        elif isinstance(kind, RefType):
            self.write(f"return {self.null(kind)}")
        else:
            assert kind is not None
            self.write(f"return {self._string('') if kind is STRING else builtins.zero(kind, statement.line)}")

    def _for(self, statement: For) -> None:
        iterable, variable, line = statement.iterable, statement.variable, statement.line
        assert variable is not None
        kind = iterable.type
        if iterable.place is not None and iterable.place.rows and isinstance(variable.type, ArrayType):
            rows, starts = self._inference().rows_of(iterable.place)
            self.write(f"for index_{line} in range(size({starts})):", line)
            self.depth += 1
            empty = builtins.new_array(variable.type, [], line)
            self.write(f"{variable.python} = row_of({empty}, {rows}, {starts}, index_{line})")
            self.depth -= 1
            self._inner(statement.body)
        elif isinstance(kind, ArrayType | MapType):
            array, index = self.text(iterable), f"index_{line}"
            array += "_keys" if isinstance(kind, MapType) else ""
            if isinstance(iterable, ArrayLiteral) and isinstance(kind, ArrayType):
                array = f"({''.join(self.to(one, kind.element) + ', ' for one in iterable.items).rstrip()})"
            if not re.fullmatch(r"[\w.]+", array):
                self.write(f"array_{line} = {array}", line)
                array = f"array_{line}"
            self.write(f"for {index} in range(size({array})):", line)
            self.depth += 1
            self.write(f"{variable.python} = {array}[{index}]")
            self.depth -= 1
            self._inner(statement.body)
        elif kind in (FLOAT, NUMBER):
            index = f"index_{line}"
            self.write(f"for {index} in range(ceili({self.text(iterable)})):", line)
            self.depth += 1
            self.write(f"{variable.python} = float({index})")
            self.depth -= 1
            self._inner(statement.body)
        else:
            super()._for(statement)

    def _assign(self, statement: Assign) -> None:
        if statement.target.type is TEXT:
            self.write("# left out: a text", statement.line)
            return
        if statement.target.type is None and not isinstance(statement.target, Name):
            assert self.function is not None
            found = [
                what for path, line, what in self.whole.left_out if (path, line) == (self.function.path, statement.line)
            ]
            self.write(f"# left out: {', '.join(found)}", statement.line)
            return
        if isinstance(statement.target.type, MapType) and isinstance(statement.value, DictLiteral):
            self._fill(statement)
            return
        if isinstance(statement.target.type, MapType):
            owner, other = self.text(statement.target), self.text(statement.value)
            own = f"{owner}_keys, {owner}_values, {owner}_slots"
            self.write(f"assign_map({own}, {other}_keys, {other}_values)", statement.line)
            return
        if statement.target.place is not None and statement.target.place.rows:
            rows, starts = self._inference().rows_of(statement.target.place)
            self.write(f"clear_rows({rows}, {starts})", statement.line)
            return
        target, place = statement.target, statement.target.place
        if statement.op and place is not None and place.write != f"{place.read} = {{v}}":
            assert target.type is not None
            assert statement.value.type is not None
            plan = operators.binary(statement.op, target.type, statement.value.type, statement.line)
            text, level = self._planned(plan, [target, statement.value])
            assert plan.result is not None
            self._store(target, self._converted(text, level, plan.result, self._kind_of(target))[0], statement.line)
            return
        super()._assign(statement)

    def _fill(self, statement: Assign) -> None:
        """A dictionary gets new content."""
        kind, owner = statement.target.type, self.text(statement.target)
        assert isinstance(kind, MapType)
        assert isinstance(statement.value, DictLiteral)
        self.write(f"clear_map({owner}_keys, {owner}_values, {owner}_slots)", statement.line)
        for key, value in zip(statement.value.keys, statement.value.values, strict=True):
            shown = f"{self.to(key, kind.keys.element)}, {self.to(value, kind.values.element)}"
            self.write(f"set_key({owner}_keys, {owner}_values, {owner}_slots, {shown})", key.line)

    def _store(self, target: Expr, text: str, line: int) -> None:
        if isinstance(target, Index) and isinstance(target.value.type, MapType):
            owner, keys = self.text(target.value), target.value.type.keys
            own, key = f"{owner}_keys, {owner}_values, {owner}_slots", self.to(target.index, keys.element)
            self.write(f"set_key({own}, {key}, {text})", line)
            return
        if isinstance(target, Index) and self._inference().cell(target) is not None:
            self.write(f"{self.text(target)} = {text}", line)
            return
        if target.place is not None and not (isinstance(target, Name) and target.place is None):
            narrow = ""
            self.write(self._filled(target, target.place, target.place.write).replace("{v}", text) + narrow, line)
            return
        if isinstance(target, Attribute) and isinstance(target.value.type, ObjectType):
            self._store(target.value, f"{self.text(target.value, ATOM)}.with_{target.name}({text})", line)
            return
        super()._store(target, text, line)

    def _kind_of(self, target: Expr) -> Type:
        if target.place is not None and target.place.type is not None:
            return target.place.type
        return super()._kind_of(target)

    # --- expressions ------------------------------------------------------------------------------------------------

    def null(self, kind: RefType) -> str:
        return f"{common(list(kind.classes)) if kind.classes else 'Node'}()"

    def _string(self, text: str) -> str:
        return self.whole.string_constant(text)

    def to(self, expr: Expr, kind: Type | None, level: int = 0) -> str:
        if isinstance(kind, RefType) and expr.type is NIL:
            return self.null(kind)
        if expr.type is NIL and kind is not None and kind is not NIL:
            if kind in (FLOAT, NUMBER):
                return "NAN"
            return self._string("") if kind is STRING else builtins.zero(kind, expr.line)
        return super().to(expr, kind, level)

    def _converted(self, text: str, level: int, kind: Type, to: Type) -> tuple[str, int]:
        if isinstance(kind, RefType) and isinstance(to, RefType):
            if kept_as(kind) != kept_as(to):
                return f"{kept_as(to)[4:-1]}({text})", ATOM
            return text, level
        return super()._converted(text, level, kind, to)

    def truth(self, expr: Expr, level: int = 0) -> tuple[str, int]:
        if expr.folded is not None:
            return str(expr.folded), ATOM
        kind = expr.type
        if isinstance(kind, RefType):
            text, own = f"not {self._null_test()}({self.text(expr)})", LEVELS["not"]
        elif isinstance(kind, ObjectType):
            text, own = f"{self.text(expr, ATOM)}.hit", ATOM
        elif isinstance(kind, MapType):
            text, own = f"size({self.text(expr)}_keys) > 0", LEVELS[">"]
        elif kind is STRING:
            text, own = f"{self.text(expr, LEVELS['=='] + 1)} != {self._string('')}", LEVELS["=="]
        elif kind in (FLOAT, NUMBER) and self._may_be_null(expr):
            shown = self.text(expr, LEVELS["=="] + 1)
            text, own = f"{shown} != 0.0 and not is_nan({shown})", LEVELS["and"]
        else:
            return super().truth(expr, level)
        return (text, own) if own >= level else (f"({text})", ATOM)

    def _null_test(self) -> str:
        """A node that was freed is as good as null."""
        return "is_gone" if self.whole.is_dynamic else "is_null"

    def _inference(self) -> ClassInference:
        assert self.cls is not None
        return self.whole.inference(self.cls)

    def _may_be_null(self, expr: Expr) -> bool:
        return self._inference().may_be_null(expr)

    def _filled(self, expr: Expr, place: Place, template: str) -> str:
        if "{i}" in template and isinstance(expr, Index):
            template = template.replace("{i}", self.text(expr.index))
        if "{r}" not in template:
            return template
        if place.on_self:
            owner = "self"
        else:
            value = place.owner or (expr.value if isinstance(expr, Attribute | Index) else None)
            assert value is not None
            owner = self.text(value, ATOM if template.startswith("{r}.") else 0)
        return template.replace("{r}", owner)

    def _written(self, expr: Expr) -> tuple[str, int]:
        if expr.folded is not None and expr.type is BOOL and not isinstance(expr, Const):
            return str(expr.folded), ATOM
        if expr.type in (TEXT, SEEN):
            return "0", ATOM  # nothing reads it
        if expr.place is not None:
            return self._filled(expr, expr.place, expr.place.read), ATOM
        match expr:
            case Const(value=str() as text):
                return self._string(text), ATOM
            case Const(value=None):
                return "Node()", ATOM
            case NodeAt() | TypeTest():
                assert expr.plan is not None
                assert isinstance(expr, TypeTest)
                return expr.plan.text.replace("{0}", self.text(expr.value)), expr.plan.level
            case Cast(plan=plan) if plan is not None:
                return self._planned(plan, [expr.value]) if plan.text != "{0}" else self._written(expr.value)
            case Cast(type=RefType() as kind) if not kind.classes:
                return self.null(kind), ATOM
            case DictLiteral(type=DictType() as kind):
                shown = [self.to(one, field) for one, field in zip(expr.values, kind.fields.values(), strict=True)]
                return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})", ATOM
            case Index(value=Index() as row, plan=plan) if plan is not None and "cell_index(" in plan.text:
                return self._planned(plan, [expr.index, row.index])
            case Index(value=Expr(type=MapType()), plan=plan) if plan is not None:
                return self._planned(plan, [expr.index], expr.value)
            case Attribute(plan=plan) | Index(plan=plan) if plan is not None:
                value = expr.value if "{r}" in plan.text else None
                owner = self.text(value, ATOM) if value is not None else ""
                return plan.text.replace("{r}", owner), plan.level
            case Name(variable=variable) if expr.plan is None:
                assert variable is not None
                return self._variable(variable), ATOM
            case Ternary() if expr.condition.folded is not None:
                chosen = expr.then if expr.condition.folded else expr.other
                return self.to(chosen, expr.type, ATOM), ATOM
            case Ternary(type=ArrayType() as kind):
                empty = builtins.new_array(kind, [], expr.line)  # members are of another type than other arrays
                sides = [f"copied({empty}, {self.to(one, kind, 2)})" for one in (expr.then, expr.other)]
                return f"{sides[0]} if {self.truth(expr.condition, 2)[0]} else {sides[1]}", 1
            case Unary(op="not") if isinstance(expr.value.type, RefType) and expr.value.folded is None:
                return f"{self._null_test()}({self.text(expr.value)})", ATOM
            case Unary(op="not") if expr.value.type in (FLOAT, NUMBER) and self._may_be_null(expr.value):
                number = self.text(expr.value, LEVELS["=="] + 1)
                return f"{number} == 0.0 or is_nan({number})", LEVELS["or"]
            case Unary(op="not") if expr.value.folded is not None:
                return str(not expr.value.folded), ATOM
            case Binary(op=("and" | "or") as op) if None in (expr.left.folded, expr.right.folded):
                for side, other in ((expr.left, expr.right), (expr.right, expr.left)):
                    if side.folded is (op == "and"):
                        return self.truth(other)
        return super()._written(expr)

    def _variable(self, variable: Variable) -> str:
        if variable.constant is not None and variable.type in VALUES:
            return self.text(variable.constant, ATOM)
        return variable.python

    def _call(self, expr: Call) -> tuple[str, int]:
        if not expr.targets:
            if expr.plan is not None and "{" not in expr.plan.text:
                return expr.plan.text, expr.plan.level
            return super()._call(expr)
        args = (
            expr.args[1:] if expr.targets[0][1].name.startswith("emit_") and expr.name == "emit_signal" else expr.args
        )
        receiver = expr.receiver
        by_name = isinstance(receiver, Name) and (
            receiver.name in ("super", "self") or receiver.name in self.whole.tree.by_class_name
        )
        owner = "self" if receiver is None or by_name else self.text(receiver)
        if len(expr.targets) == 1:
            cls, function = expr.targets[0]
            if receiver is not None and not by_name and kept_as(receiver.type) != f"Ref[{cls.name}]":
                owner = f"{cls.name}({owner})"
            return f"{function.python}({', '.join([owner, *self._given(function, args)])})", ATOM
        given = self._given(expr.targets[0][1], args)
        return f"{self.whole.dispatch(expr.targets)}({', '.join([owner, *given])})", ATOM

    def _given(self, function: Function, args: list[Expr]) -> list[str]:
        given = []
        for i, param in enumerate(function.params):
            assert param.variable is not None
            value = args[i] if i < len(args) else param.default
            assert value is not None
            given.append(self.to(value, param.variable.type))
        return given
