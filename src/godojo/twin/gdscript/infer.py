"""Types: every variable and expression of a script gets one, from declarations where there are, else from all its uses.

The script is walked until nothing new is learned; the last walk reports what is still unknown or cannot be compiled.
"""

from __future__ import annotations

from godojo.twin.gdscript import ignored
from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.infer_expressions import Expressions
from godojo.twin.gdscript.names import Scope, python_name
from godojo.twin.gdscript.nodes import (
    Assign,
    Attribute,
    Binary,
    Branch,
    Call,
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
    Member,
    Name,
    Param,
    Return,
    Script,
    Stmt,
    Stop,
    Unary,
    Unknown,
    Unsupported,
    Variable,
    While,
)
from godojo.twin.gdscript.types import (
    BOOL,
    FLOAT,
    INT,
    NULL,
    RANDOM,
    VALUES,
    VECTOR2,
    VECTOR3,
    VECTORS,
    ArrayType,
    Conflict,
    Type,
)

_CALLBACKS = {"_process": FLOAT, "_physics_process": FLOAT}
"""Functions that the engine calls, with the type of their parameter."""
_BODIES = {
    "CharacterBody2D": {"position": VECTOR2, "velocity": VECTOR2},
    "CharacterBody3D": {"position": VECTOR3, "velocity": VECTOR3},
    "Node2D": {"position": VECTOR2},
    "Node3D": {"position": VECTOR3},
}
"""Members that a script has from the node it extends."""
_MOST_WALKS = 30


def infer(script: Script) -> None:
    """Fills in the types; what cannot be compiled is added to the `refusals` of the script and its functions."""
    Inference(script).run()


class Inference(Expressions):
    """One script's walk; `Expressions` knows the types of expressions."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.function: Function | None = None
        self.loops = 0

    def run(self) -> None:
        self._declare()
        for _ in range(_MOST_WALKS):
            self.news = False
            self._walk()
            if not self.news:
                break
        self.last = True
        self._walk()
        self._refuse_recursion()

    def _declare(self) -> None:
        script = self.script
        for name, kind in _BODIES.get(script.extends, {}).items():
            if all(member.name != name for member in script.members):
                script.members.append(Member(name, 0, kind.name, None, ["inherited"]))
        for constant in script.constants:
            constant.variable = Variable(constant.name, constant.line, None, python=python_name(constant.name))
            constant.variable.constant = constant.value
            self.globals.add(constant.variable)
        for member in script.members:
            member.variable = Variable(member.name, member.line, None, member=True, python=python_name(member.name))
            self.globals.add(member.variable)
        for function in script.functions.values():
            function.python = python_name(function.name)
            self.globals.used.add(function.python)
            function.result = Variable(function.name, function.line, None)
            if function.returns == "void":
                function.result.type, function.result.fixed = NULL, True
            elif function.returns is not None:
                self._attempt(function, lambda f=function: self._fix(f.result, f.returns, f.line))
            for param in function.params:
                param.variable = Variable(param.name, param.line, None)
                if param.declared not in (None, ":="):
                    self._attempt(function, lambda p=param: self._fix(p.variable, p.declared, p.line))
                elif function.name in _CALLBACKS:
                    param.variable.type = _CALLBACKS[function.name]

    def _attempt(self, function: Function, step: object) -> None:
        try:
            step()  # type: ignore[operator]
        except Refusal as refusal:
            function.refusals.append((refusal.line, refusal.reason))

    def _fix(self, variable: Variable, declared: str, line: int) -> None:
        kind = self.named(declared)
        if kind is None:
            raise Refusal(line, f"variables of type {declared} are not compiled")
        variable.type = kind
        variable.fixed = not (isinstance(kind, ArrayType) and not kind.fixed)

    # --- declarations -----------------------------------------------------------------------------------------------

    def _walk(self) -> None:
        self.scope, self.function = self.globals, None
        for constant in self.script.constants:
            self._outside(constant.line, lambda c=constant: self._constant(c))
        for member in self.script.members:
            self._outside(member.line, lambda m=member: self._member(m))
        for function in self.script.functions.values():
            self._function(function)

    def _outside(self, line: int, step: object) -> None:
        try:
            step()  # type: ignore[operator]
        except Refusal as refusal:
            if self.last:
                self.script.refusals.append((refusal.line or line, refusal.reason))
        except Conflict as conflict:
            if self.last:
                self.script.refusals.append((line, f"{conflict} in one variable is not compiled"))

    def _constant(self, constant: Declare) -> None:
        assert constant.variable is not None
        assert constant.value is not None
        self._initialise(constant.variable, constant.declared, constant.value, constant.line)

    def _member(self, member: Member) -> None:
        variable = member.variable
        assert variable is not None
        if member.getter is not None or member.setter is not None or member.delegates:
            raise Refusal(member.line, "properties with `get` or `set` are not compiled")
        if member.declared in ignored.CLASSES:
            self.dropped_members.add(member.name)
            return
        self._initialise(variable, member.declared, member.value, member.line)
        if self.last and variable.type is None:
            raise Refusal(
                member.line, f"nothing tells the type of {member.name}; declare it: `var {member.name}: float`"
            )

    def _initialise(self, variable: Variable, declared: str | None, value: Expr | None, line: int) -> None:
        if declared not in (None, ":=") and variable.type is None:
            assert declared is not None
            self._fix(variable, declared, line)
            self.news = True
        if value is None:
            return
        if isinstance(value, Const) and value.value is None and declared is None:
            raise Refusal(line, f"{variable.name} begins as null, which is not compiled; give it a type and a value")
        kind = self.value(value, variable.type if variable.fixed else None)
        self.assign(variable, kind, line)
        if declared == ":=" and kind is not None and not isinstance(kind, ArrayType):
            variable.fixed = True

    # --- functions --------------------------------------------------------------------------------------------------

    def _function(self, function: Function) -> None:
        self.function, self.loops = function, 0
        self.scope = Scope(self.globals)
        self.scope.used = set(self.globals.used)
        for param in function.params:
            assert param.variable is not None
            self.scope.add(param.variable)
            if param.declared == "..." and self.last:
                function.refusals.append((param.line, "a variable number of arguments is not compiled"))
            if param.default is not None:
                self._statement_step(function, param.line, lambda p=param: self._default(p))
            if self.last and param.variable.type is None:
                reason = f"no call in this script tells the type of {param.name}; declare it: `{param.name}: float`"
                function.refusals.append((param.line, reason))
        self._block(function.body)
        result = function.result
        assert result is not None
        if result.type is None and not any(
            isinstance(one, Return) and one.value for one in every_statement(function.body)
        ):
            result.type, self.news = NULL, True
        if self.last and result.type not in (NULL, None) and not ends(function.body):
            function.refusals.append((function.line, f"{function.name} may end without returning a value"))

    def _default(self, param: Param) -> None:
        assert param.variable is not None
        self._initialise(param.variable, param.declared, param.default, param.line)

    def _statement_step(self, function: Function, line: int, step: object) -> None:
        try:
            step()  # type: ignore[operator]
        except Refusal as refusal:
            if self.last:
                function.refusals.append((refusal.line, refusal.reason))
        except Conflict as conflict:
            if self.last:
                function.refusals.append((line, f"{conflict} in one variable is not compiled"))

    def _block(self, body: list[Stmt], *variables: Variable) -> None:
        outer, self.scope = self.scope, Scope(self.scope)
        for variable in variables:
            self.scope.add(variable)
        assert self.function is not None
        for statement in body:
            self._statement_step(self.function, statement.line, lambda s=statement: self._statement(s))
        self.scope = outer

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case Declare():
                self._local(statement)
            case Assign():
                self._assignment(statement)
            case Do():
                self._call_statement(statement)
            case Return():
                self._return(statement)
            case If():
                for condition, body in statement.branches:
                    self.attempt(lambda c=condition: self.truth(c))
                    self._block(body)
                self._block(statement.otherwise)
            case While():
                self.attempt(lambda: self.truth(statement.condition))
                self._block(statement.body)
            case For():
                self._for(statement)
            case Match():
                self._match(statement)
            case Unsupported():
                raise Refusal(statement.line, statement.reason)
            case Jump():
                pass

    def attempt(self, step: object) -> None:
        """A part of a statement whose failure must not hide the failures of its block."""
        assert self.function is not None
        self._statement_step(self.function, self.function.line, step)

    def _local(self, statement: Declare) -> None:
        if statement.variable is None:
            statement.variable = Variable(statement.name, statement.line, None)
            if statement.is_constant:
                statement.variable.constant = statement.value
        try:
            self._initialise(statement.variable, statement.declared, statement.value, statement.line)
        finally:
            self.scope.add(statement.variable)
        if self.last and statement.variable.type is None:
            raise Refusal(statement.line, f"nothing tells the type of {statement.name}")

    def _return(self, statement: Return) -> None:
        assert self.function is not None
        result = self.function.result
        assert result is not None
        if statement.value is None:
            if self.last and result.type not in (NULL, None):
                raise Refusal(statement.line, f"{self.function.name} returns nothing here and a value elsewhere")
            return
        if result.type is NULL and result.fixed and isinstance(statement.value, Call):
            self.call(statement.value)  # `return other()` of a function that returns nothing
            return
        kind = self.value(statement.value, result.type if result.fixed else None)
        self.assign(result, kind, statement.line)

    def _for(self, statement: For) -> None:
        if statement.variable is None:
            statement.variable = Variable(statement.name, statement.line, None)
        variable = statement.variable
        self.attempt(lambda: self._iterate(statement, variable))
        self._block(statement.body, variable)

    def _iterate(self, statement: For, variable: Variable) -> None:
        iterable = statement.iterable
        if isinstance(iterable, Call) and iterable.receiver is None and iterable.name == "range":
            if not 1 <= len(iterable.args) <= 3 or any(self.value(one) not in (INT, None) for one in iterable.args):
                raise Refusal(statement.line, "range() takes one to three integers")
            kind: Type | None = INT
        else:
            kind = self.value(iterable)
            if isinstance(kind, ArrayType):
                kind = kind.element
            elif kind not in (INT, None):
                raise Refusal(statement.line, f"`for` over {kind} is not compiled")
        if statement.declared is not None and self.named(statement.declared) is not kind and self.last:
            raise Refusal(statement.line, f"`for` over {kind} with a variable of type {statement.declared}")
        self.learn(variable, kind)
        if self.last and kind is None:
            raise Refusal(statement.line, f"nothing tells what {statement.name} is")

    def _match(self, statement: Match) -> None:
        kind = self.value(statement.subject)
        if kind is not None and kind not in (BOOL, INT, FLOAT, *VECTORS):
            raise Refusal(statement.line, f"`match` of {kind} is not compiled")
        for branch in statement.branches:
            self.attempt(lambda b=branch: self._patterns(b, kind))
            if branch.binds is None:
                self.attempt(lambda b=branch: self._guard(b))
                self._block(branch.body)
                continue
            if branch.variable is None:
                branch.variable = Variable(branch.binds, branch.line, None, python=f"match_{statement.line}")
            self.learn(branch.variable, kind)
            outer, self.scope = self.scope, Scope(self.scope)
            self.scope.add(branch.variable)
            self.attempt(lambda b=branch: self._guard(b))
            self._block(branch.body)
            self.scope = outer

    def _guard(self, branch: Branch) -> None:
        if branch.guard is not None:
            self.truth(branch.guard)

    def _patterns(self, branch: Branch, kind: Type | None) -> None:
        for one in branch.patterns:
            found = self.value(one)
            if found is not kind and self.last:
                raise Refusal(branch.line, f"a pattern of type {found} never matches {kind}")

    # --- assignments and calls --------------------------------------------------------------------------------------

    def _assignment(self, statement: Assign) -> None:
        target = statement.target
        if self.is_dropped(target):
            if isinstance(target, Attribute) and target.name.startswith(ignored.MOVES):
                raise Refusal(statement.line, f"setting {target.name} of a node needs the scene")
            self.require_pure(statement.value)
            return
        if isinstance(target, Attribute) and target.name == "seed" and self.value(target.value) is RANDOM:
            self.value(statement.value)
            return
        kind = self.value(target)
        if statement.op:
            kind = self.operation(statement, kind)
        else:
            expected = target.variable.type if isinstance(target, Name) and target.variable else None
            kind = self.value(statement.value, expected)
        self._store(target, kind, statement)

    def operation(self, statement: Assign, kind: Type | None) -> Type | None:
        from godojo.twin.gdscript.operators import binary

        right = self.value(statement.value)
        if kind is None or right is None:
            return None
        return binary(statement.op, kind, right, statement.line).result

    def _store(self, target: Expr, kind: Type | None, statement: Assign) -> None:
        variable = self.variable_of(target)
        if variable is not None:
            if variable.constant is not None:
                raise Refusal(statement.line, f"{variable.name} is a constant")
            self.assign(variable, kind, statement.line)
        elif isinstance(target, Index) and isinstance(target.value.type, ArrayType):
            self.put(target.value.type, kind, statement.line)
            if statement.op and not simple(target):
                raise Refusal(statement.line, "an index with a call in a compound assignment is not compiled")
        elif isinstance(target, Attribute | Index) and target.value.type in VALUES:
            if isinstance(target, Index) and not isinstance(target.index, Const):
                raise Refusal(statement.line, "a component of a vector is set by a constant index only")
            if not simple(target):
                raise Refusal(statement.line, "a component of the result of a call cannot be set")
            self._store(target.value, target.value.type, Assign(statement.line, target.value, "", target.value))
        elif self.last:
            raise Refusal(statement.line, "this cannot be assigned to")

    def _call_statement(self, statement: Do) -> None:
        call = statement.value
        dropped = ignored.FUNCTIONS - self.script.functions.keys()
        if isinstance(call, Call) and call.receiver is None and call.name in dropped:
            for one in call.args:
                self.require_pure(one)
            statement.dropped = f"{call.name}()"
            return
        if isinstance(call, Call) and call.receiver is not None and self.is_dropped(call.receiver):
            if call.name.startswith(ignored.MOVES):
                raise Refusal(statement.line, f"{call.name}() of a node needs the scene")
            for one in call.args:
                self.require_pure(one)
            statement.dropped = f"{call.name}()"
            return
        if not isinstance(call, Call):
            if isinstance(call, Unknown):
                raise Refusal(statement.line, call.reason)
            if isinstance(call, Const):
                return  # a docstring
            raise Refusal(statement.line, "an expression whose value is not used")
        self.call(call)

    # --- the whole script -------------------------------------------------------------------------------------------

    def _refuse_recursion(self) -> None:
        functions = self.script.functions

        def reaches(start: str, seen: set[str], name: str) -> bool:
            for one in functions[name].calls if name in functions else ():
                if one == start or (one not in seen and reaches(start, seen | {one}, one)):
                    return True
            return False

        for name, function in functions.items():
            if reaches(name, {name}, name):
                function.refusals.append((function.line, f"{name} calls itself, directly or not: recursion is refused"))


def ends(body: list[Stmt]) -> bool:
    """Whether a block always returns."""
    if not body:
        return False
    match body[-1]:
        case Return() | Stop():
            return True
        case If():
            branches, otherwise = body[-1].kept()
            return all(ends(inner) for _, inner in branches) and ends(otherwise)
        case Match(branches=branches):
            whole = any(one.wildcard and one.guard is None for one in branches)
            return whole and all(ends(one.body) for one in branches)
        case While(condition=Const(value=True), body=inner):
            return not any(isinstance(one, Jump) and one.word == "break" for one in every_statement(inner))
    return False


def every_statement(body: list[Stmt]) -> list[Stmt]:
    """All statements of a block, inner ones too."""
    found: list[Stmt] = []
    for one in body:
        found.append(one)
        match one:
            case If():
                branches, otherwise = one.kept()
                for _, inner in branches:
                    found += every_statement(inner)
                found += every_statement(otherwise)
            case While(body=inner) | For(body=inner):
                found += every_statement(inner)
            case Match(branches=parts):
                for part in parts:
                    found += every_statement(part.body)
    return found


def simple(value: Expr) -> bool:
    """Whether it may be evaluated twice: it calls nothing."""
    match value:
        case Name() | Const():
            return True
        case Attribute(value=inner):
            return simple(inner)
        case Index(value=inner, index=index):
            return simple(inner) and simple(index)
        case Unary(value=inner):
            return simple(inner)
        case Binary(left=left, right=right):
            return simple(left) and simple(right)
    return False


__all__ = ["Inference", "ends", "every_statement", "infer", "simple"]
