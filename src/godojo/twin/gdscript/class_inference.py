"""Types in a whole program: one live class, with the functions that are reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from godojo.twin.gdscript import builtins, ignored
from godojo.twin.gdscript.connections import link_of
from godojo.twin.gdscript.errors import Refusal, TreeRefusal
from godojo.twin.gdscript.folding import Folding
from godojo.twin.gdscript.infer import ends, simple
from godojo.twin.gdscript.live import LiveClass
from godojo.twin.gdscript.names import Scope
from godojo.twin.gdscript.nodes import (
    Assign,
    Attribute,
    Await,
    Call,
    Cast,
    Const,
    Do,
    Expr,
    For,
    Function,
    If,
    Index,
    Match,
    Name,
    NodeAt,
    Param,
    Return,
    Stmt,
    Stop,
    Variable,
    While,
)
from godojo.twin.gdscript.types import (
    FLOAT,
    INT,
    NULL,
    NUMBERS,
    RANDOM,
    STRING,
    VALUES,
    ArrayType,
    Conflict,
    DictType,
    MapType,
    ObjectType,
    RefType,
    Type,
    ref,
)
from godojo.twin.world import api

if TYPE_CHECKING:
    from godojo.twin.gdscript.whole import Whole


from godojo.twin.gdscript.seen import Seen

_WORLD = {one.python for one in api.METHODS.values()}
_WORLD |= {word for one in api.PROPERTIES.values() for word in (one.getter, one.setter)}
_WORLD |= {"is_null", "world_random"}
"""Names that generated code calls, which no local may have."""


class ClassInference(Seen):
    """One class's walk over the functions that are reached."""

    def __init__(self, whole: Whole, cls: LiveClass) -> None:
        assert cls.source is not None
        super().__init__(cls.source)
        self.whole, self.tree, self.cls = whole, whole.tree, cls
        self.folding = Folding(self)
        self.self_type = ref([cls])
        self.last_value: Expr | None = None
        self.written = set()
        self.declaring = ""
        """The script of the function that is walked."""
        self.globals.used |= _WORLD | {one.name for one in whole.tree.classes}
        for link in reversed(list(cls.links())):
            assert link.source is not None
            for constant in link.source.constants:
                variable = whole.constant_variable(link, constant)
                self.globals.add(variable)
            for variable in link.members.values():
                self.globals.add(variable)

    # --- walking ----------------------------------------------------------------------------------------------------

    def walk_function(self, function: Function) -> None:
        self.declaring = function.path
        function.walked.clear()
        outside = function.static and all(one.path != function.path for one in self.cls.links())
        if not outside:
            self._function(function)
            return
        # A static function of another script sees the constants of that script, and no members.
        own, self.globals, self.foreign = self.globals, Scope(), self.tree.script(function.path)
        self.globals.used |= own.used
        for constant in self.foreign.constants:
            self.globals.add(self.whole.script_constant(self.foreign, constant))
        try:
            self._function(function)
        finally:
            self.globals, self.foreign = own, None

    def _fix(self, variable: Variable, declared: str, line: int) -> None:
        kind = self.named(declared)
        if isinstance(kind, RefType):
            return  # learned from what is assigned
        if kind is None:
            if declared in ("Variant", "Dictionary", "Object", "Node", "RefCounted"):
                return
            raise Refusal(line, f"variables of type {declared} are not compiled")
        variable.type = kind
        variable.fixed = not (isinstance(kind, ArrayType) and not kind.fixed)

    def prepare(self, function: Function) -> None:
        """Gives a function's parameters and result the types that they declare."""
        function.result = Variable(function.name, function.line, None)
        if function.returns == "void":
            function.result.type, function.result.fixed = NULL, True
        elif function.returns not in (None, ":="):
            self._attempt(function, lambda: self._fix(function.result, function.returns, function.line))
        for param in function.params:
            param.variable = Variable(param.name, param.line, None)
            if param.declared not in (None, ":="):
                self._attempt(function, lambda p=param: self._fix(p.variable, p.declared, p.line))
            elif function.name in ("_process", "_physics_process"):
                param.variable.type = FLOAT

    def _default(self, param: Param) -> None:
        """`func set_action(action = null)` takes null only where a call leaves the action out."""
        variable = param.variable
        assert variable is not None
        nullable = variable.nullable
        super()._default(param)
        variable.nullable = nullable or (variable.nullable and param.omitted)

    def _block(self, body: list[Stmt], *variables: Variable) -> None:
        outer, self.scope = self.scope, Scope(self.scope)
        for variable in variables:
            self.scope.add(variable)
        assert self.function is not None
        walked = 0
        try:
            for statement in body:
                self.function.walked.add(statement.line)
                self._statement_step(self.function, statement.line, lambda s=statement: self._statement(s))
                if ends([statement]):
                    break
                walked += 1
        except TreeRefusal as refusal:
            body[walked:] = [Stop(refusal.line, refusal.reason)]
            self.news = True
        finally:
            self.scope = outer

    def _statement_step(self, function: Function, line: int, step: object) -> None:
        try:
            step()  # type: ignore[operator]
        except TreeRefusal:
            raise
        except (Refusal, Conflict) as refused:
            if self.last:
                reason = f"{refused} in one variable is not compiled" if isinstance(refused, Conflict) else str(refused)
                function.refusals.append((getattr(refused, "line", line), reason))

    def _statement(self, statement: Stmt) -> None:
        if isinstance(statement, If):
            self._if(statement)
        elif isinstance(statement, While) and self.fold(statement.condition) is False:
            statement.body = []
        elif isinstance(statement, Assign | Do | Return) and isinstance(statement.value, Await):
            raise Refusal(statement.line, "`await` is not compiled")
        else:
            super()._statement(statement)

    def _if(self, statement: If) -> None:
        if self.if_seen(statement):
            return
        for condition, body in statement.branches:
            if self.fold(condition) is False:
                continue
            self.attempt(lambda c=condition: self.truth(c))
            if condition.folded is False:
                continue  # a node that is always null
            self._block(body)
            if condition.folded is True:
                return
        self._block(statement.otherwise)

    # --- statements -------------------------------------------------------------------------------------------------

    def _iterate(self, statement: For, variable: Variable) -> None:
        declared, statement.declared = statement.declared, None
        try:
            iterable = statement.iterable
            if isinstance(iterable, Call) and iterable.receiver is None and iterable.name == "range":
                super()._iterate(statement, variable)
                return
            kind = self.value(iterable)
            if isinstance(kind, MapType):
                self.learn(variable, kind.keys.element)
                return
            if kind is FLOAT or kind in NUMBERS:
                self.learn(variable, FLOAT if kind is not INT else INT)
                if declared == "float":
                    self.learn(variable, FLOAT)
                return
            super()._iterate(statement, variable)
        finally:
            statement.declared = declared

    def _match(self, statement: Match) -> None:
        kind = self.value(statement.subject)
        if kind is STRING:
            for branch in statement.branches:
                self.attempt(lambda b=branch: self._patterns(b, kind))
                if branch.binds is not None or branch.guard is not None:
                    raise Refusal(branch.line, "this pattern is not compiled for strings")
                self._block(branch.body)
            return
        super()._match(statement)

    def _assignment(self, statement: Assign) -> None:
        target = statement.target
        dropped = self.only_shown(target)
        if dropped:
            self.require_pure(statement.value)
            target.type = None
            variable = self.scope.find(target.name) if isinstance(target, Name) else None
            if variable is not None and variable.member:
                self.whole.mark_assigned(variable)  # whether it is null is not known any more
            self.whole.leave_out(self.declaring, statement.line, dropped)
            return
        if isinstance(target, Attribute) and target.name == "seed" and self.value(target.value) is RANDOM:
            self.value(statement.value)
            return
        if isinstance(target, Attribute) and isinstance(self._kind_of_owner(target), MapType):
            target = statement.target = Index(target.line, target.value, Const(target.line, target.name))
        if self.clears_rows(statement):
            return
        at: Expr = target
        self.written = {id(at)}
        while isinstance(at, Attribute | Index):
            at = at.value
            self.written.add(id(at))
        try:
            super()._assignment(statement)
        finally:
            self.written = set()
        place = target.place
        if place is not None and not place.write and self.last:
            raise Refusal(statement.line, "this cannot be assigned to")

    def _kind_of_owner(self, target: Attribute) -> Type | None:
        if not isinstance(target.value, Name) or self.scope.find(target.value.name) is None:
            return None
        return self.value(target.value)

    def variable_of(self, target: Expr) -> Variable | None:
        if target.place is not None:
            return target.place.variable
        return target.variable if isinstance(target, Name) else None

    def _store(self, target: Expr, kind: Type | None, statement: Assign) -> None:
        place = target.place
        if place is not None and not self.repeatable(target) and (statement.op or statement.target is not target):
            raise Refusal(statement.line, "this is assigned through a call that may change something")
        if place is not None and place.variable is None:
            if place.type is not None and kind is not None and not self.converts(kind, place.type):
                raise Refusal(statement.line, f"{kind} where {place.type} is expected")
            return
        if place is not None and place.variable is not None:
            if not place.variable.assigned:
                place.variable.assigned = self.news = True
            self.assign(place.variable, kind, statement.line)
            return
        if isinstance(target, Index) and isinstance(target.value.type, MapType):
            if target.value.place is None:
                raise Refusal(statement.line, "dictionaries are compiled as members of scripts only")
            self.put(target.value.type.values, kind, statement.line)
            if statement.op and not self.repeatable(target):
                raise Refusal(statement.line, "an index with a call in a compound assignment is not compiled")
            self._note_change(target.value)
            return
        if isinstance(target, Index | Attribute) and isinstance(target.value.type, DictType):
            raise Refusal(statement.line, "writing to a dictionary is not compiled")
        if isinstance(target, Attribute) and isinstance(target.value.type, ObjectType):
            self._store(target.value, target.value.type, Assign(statement.line, target.value, "", target.value))
            return
        if isinstance(target, Attribute | Index) and target.value.type in VALUES:
            if isinstance(target, Index) and not isinstance(target.index, Const):
                raise Refusal(statement.line, "a component of a vector is set by a constant index only")
            if not self.repeatable(target):
                raise Refusal(statement.line, "a component of the result of a call cannot be set")
            self._store(target.value, target.value.type, Assign(statement.line, target.value, "", target.value))
            return
        row = self.cell(target)
        if row is not None:
            self.store_cell(statement, row, kind)
            return
        if isinstance(target, Index) and isinstance(target.value.type, ArrayType) and target.value.type.root.frozen:
            raise Refusal(statement.line, "changing a row of an array of arrays is not compiled")
        super()._store(target, kind, statement)

    def _note_change(self, expr: Expr) -> None:
        """A member whose parts are set no longer has its live value."""
        variable = self.variable_of(expr)
        if variable is not None:
            self.whole.mark_assigned(variable)

    def converts(self, kind: Type, wanted: Type) -> bool:
        if isinstance(kind, RefType) and isinstance(wanted, RefType):
            return True
        return builtins.converts(kind, wanted)

    def repeatable(self, expr: Expr) -> bool:
        """Whether it may be evaluated twice."""
        match expr:
            case Attribute(value=inner) | Cast(value=inner):
                return self.repeatable(inner)
            case Index(value=inner, index=index):
                return self.repeatable(inner) and self.repeatable(index)
            case NodeAt():
                return True
            case Call():
                pure = expr.place is not None or (expr.plan is not None and expr.plan.pure)
                return pure and all(self.repeatable(one) for one in [*expr.args, expr.receiver] if one is not None)
        return simple(expr)

    def _call_statement(self, statement: Do) -> None:
        call, statement.dropped = statement.value, ""
        if isinstance(call, Call):
            if call.receiver is None and call.name in (ignored.FUNCTIONS | {"assert"}) - self.own_names():
                for one in call.args:
                    self.require_pure(one)
                self._drop(statement, f"{call.name}()")
                return
            if call.name == "randomize" and call.receiver is not None and self.value(call.receiver) is RANDOM:
                self._drop(statement, "randomize()")  # a twin's generators are seeded by Godojo
                return
            if call.name == "connect" and self._is_connected(statement):
                self._drop(statement, "connect() of what is connected")
                return
            if call.name == "set_deferred" and len(call.args) == 2:
                self._set_deferred(statement, call)
                return
            if call.name == "call_deferred" and self._call_deferred(statement, call):
                return
            if self.is_seen(call):
                self.require_seen(call)
                self._drop(statement, f"{call.name}() of what is only seen")
                return
            dropped = self.without_effect(call)
            if not dropped and self.adds_nothing(call):
                dropped = f"{call.name}() of what is only seen"
            if dropped:
                for one in call.args:
                    self.require_pure(one)
                self._drop(statement, dropped)
                return
        super()._call_statement(statement)

    def _is_connected(self, statement: Do) -> bool:
        """Whether a statement connects what every node of the class has connected when the twin begins."""
        link = link_of(statement)
        sources = self.static_nodes(link.source) if link is not None else None
        if link is None or sources is None:
            return False
        named = {(one.source, one.signal, one.target, one.method) for one in self.whole.snapshot.connections}
        pairs = list(zip(sources, self.cls.nodes, strict=True))
        return bool(pairs) and all((source, link.signal, node, link.method) in named for source, node in pairs)

    def _set_deferred(self, statement: Do, call: Call) -> None:
        """Sets a property at once: the engine does so after the tick, when nothing has read it any more."""
        name = self.folding.value(call.args[0])
        if not isinstance(name, str):
            raise Refusal(call.line, "set_deferred() is compiled with a constant name only")
        if statement.instead is None:
            owner = call.receiver if call.receiver is not None else Name(call.line, "self")
            statement.instead = Assign(call.line, Attribute(call.line, owner, name), "", call.args[1])
        self._assignment(statement.instead)
        self.whole.leave_out(self.declaring, call.line, f"{name} is set at once, not after the tick")

    def _call_deferred(self, statement: Do, call: Call) -> bool:
        """`call_deferred("f")`, `node.call_deferred("f")`, `f.call_deferred()`, `node.f.call_deferred()`."""
        owner, receiver = call.receiver, call.receiver
        name = self.folding.value(call.args[0]) if call.args else None
        args = call.args[1:]
        if not isinstance(name, str) and isinstance(receiver, Name | Attribute):
            owner, name, args = (receiver.value if isinstance(receiver, Attribute) else None), receiver.name, call.args
        if not isinstance(name, str):
            raise Refusal(call.line, "call_deferred() is compiled with a constant name only")
        owner = None if isinstance(owner, Name) and owner.name == "self" else owner
        classes = [one for one in self.classes_of(owner) if one.declaring(name) is not None]
        if not classes or args:
            # A method of the engine is called at once: the engine does so when nothing reads it any more.
            statement.value = Call(call.line, owner, name, args)
            self._call_statement(statement)
            self.whole.leave_out(self.declaring, call.line, f"{name}() is called at once, not after the tick")
            return True
        flags = {self.whole.defer(one, name, call.line) for one in classes}
        if len(flags) != 1:
            raise Refusal(call.line, f"a deferred call of {name}() of several classes is not compiled")
        flag = flags.pop()
        if statement.instead is None:
            target = Name(call.line, flag) if owner is None else Attribute(call.line, owner, flag)
            statement.instead = Assign(call.line, target, "", Const(call.line, True))
        self._assignment(statement.instead)
        return True

    def own_names(self) -> set[str]:
        return {name for link in self.cls.links() if link.source is not None for name in link.source.functions}

    def _drop(self, statement: Do, what: str) -> None:
        statement.dropped = what
        self.whole.leave_out(self.declaring, statement.line, what)

    def require_pure(self, expr: Expr) -> None:
        self.dropping += 1
        try:
            self._require_pure(expr)
        finally:
            self.dropping -= 1

    def _require_pure(self, expr: Expr) -> None:
        if isinstance(expr, Call) and self.is_seen(expr):
            self.require_seen(expr)
            return
        if isinstance(expr, Call):
            if expr.receiver is not None and not isinstance(expr.receiver, Name):
                self.require_pure(expr.receiver)
            for one in expr.args:
                self.require_pure(one)
            if not self.is_pure_call(expr):
                raise Refusal(expr.line, f"{expr.name}() inside a call that is left out may change the game")
            return
        super().require_pure(expr)
