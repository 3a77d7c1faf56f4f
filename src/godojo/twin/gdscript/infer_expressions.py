"""The types of expressions."""

from __future__ import annotations

from godojo.twin.gdscript import builtins, ignored, operators
from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.names import Scope
from godojo.twin.gdscript.nodes import (
    ArrayLiteral,
    Attribute,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Function,
    Index,
    Name,
    Plan,
    Script,
    Ternary,
    Unary,
    Unknown,
    Variable,
)
from godojo.twin.gdscript.types import (
    BOOL,
    FLOAT,
    INT,
    NULL,
    NUMBERS,
    RANDOM,
    STRING,
    VALUES,
    VECTORS,
    ArrayType,
    Type,
    join,
    named,
)


class Expressions:
    """Finds types; `news` is whether a walk has learned something, `last` whether unknown types are now refused."""

    function: Function | None

    def __init__(self, script: Script) -> None:
        self.script = script
        self.globals = Scope()
        self.scope = self.globals
        self.news, self.last = False, False
        self.dropped_members: set[str] = set()

    def named(self, name: str) -> Type | None:
        """The type that a hint names; None where it is not compiled."""
        return named(name, self.script.enums)

    # --- variables --------------------------------------------------------------------------------------------------

    def learn(self, variable: Variable, kind: Type | None) -> None:
        """Notes that a variable holds values of a type."""
        if isinstance(kind, ArrayType) and isinstance(variable.type, ArrayType):
            self.news |= variable.type.merge(kind)
            return
        joined = join(variable.type, kind)
        if joined is not variable.type:
            variable.type, self.news = joined, True

    def assign(self, variable: Variable, kind: Type | None, line: int) -> None:
        if kind is NULL:
            raise Refusal(line, f"{variable.name} gets null, which is not compiled")
        if kind is STRING:
            raise Refusal(line, f"{variable.name} holds a string, which is not compiled")
        if not variable.fixed:
            self.learn(variable, kind)
        elif kind is not None and variable.type is not None and not builtins.converts(kind, variable.type):
            raise Refusal(line, f"{variable.name} is {variable.type} and gets {kind}")

    def put(self, array: ArrayType, kind: Type | None, line: int) -> None:
        """Notes that an array gets an element."""
        if isinstance(kind, ArrayType):
            raise Refusal(line, "arrays of arrays are not compiled")
        if kind in (NULL, STRING):
            raise Refusal(line, f"an array of {kind} is not compiled")
        self.news |= array.put(kind)
        element = array.element if array.root.fixed else None
        if kind is not None and element is not None and not builtins.converts(kind, element):
            raise Refusal(line, f"{kind} in {array} is not compiled")

    def variable_of(self, target: Expr) -> Variable | None:
        """The variable that a name, or `self.name`, stands for."""
        if isinstance(target, Name):
            return target.variable
        if isinstance(target, Attribute) and isinstance(target.value, Name) and target.value.name == "self":
            return self.globals.find(target.name)
        return None

    def is_dropped(self, target: Expr) -> bool:
        """Whether it is a node that only draws or sounds, or a part of one."""
        match target:
            case Name(name=name):
                return name in self.dropped_members and self.scope.find(name) is self.globals.find(name)
            case Attribute(value=Name(name="self"), name=name):
                return name in self.dropped_members
            case Attribute(value=inner) | Index(value=inner):
                return self.is_dropped(inner)
        return False

    # --- expressions ------------------------------------------------------------------------------------------------

    def value(self, expr: Expr, expected: Type | None = None) -> Type | None:
        """The type of a value; `expected` is the declared type of where it goes, which an array literal takes."""
        kind = self._find(expr, expected)
        if kind is None and self.last and not (isinstance(expr, ArrayLiteral) and not expr.items):
            raise Refusal(expr.line, "the type of this is not known")
        expr.type = kind
        return kind

    def truth(self, expr: Expr) -> None:
        kind = self.value(expr)
        if kind is not None and kind not in (BOOL, *NUMBERS, *VECTORS) and not isinstance(kind, ArrayType):
            raise Refusal(expr.line, f"{kind} as a condition is not compiled")

    def _find(self, expr: Expr, expected: Type | None) -> Type | None:
        match expr:
            case Const():
                return _literal(expr)
            case Name():
                return self._name(expr)
            case Attribute():
                return self._attribute(expr)
            case Index():
                return self._index(expr)
            case Call():
                kind = self.call(expr)
                if kind is NULL:
                    raise Refusal(expr.line, f"{expr.name}() returns nothing")
                return kind
            case Unary(op="not"):
                self.truth(expr.value)
                return BOOL
            case Unary():
                kind = self.value(expr.value)
                expr.plan = None if kind is None else operators.unary(expr.op, kind, expr.line)
                return expr.plan.result if expr.plan else None
            case Binary(op="and" | "or"):
                self.truth(expr.left)
                self.truth(expr.right)
                return BOOL
            case Binary():
                return self._binary(expr)
            case Ternary():
                self.truth(expr.condition)
                return join(self.value(expr.then, expected), self.value(expr.other, expected))
            case ArrayLiteral():
                return self._array(expr, expected)
            case Cast():
                return self._cast(expr)
            case Unknown():
                raise Refusal(expr.line, expr.reason)
        raise Refusal(expr.line, "this is not compiled")

    def _name(self, expr: Name) -> Type | None:
        variable = self.scope.find(expr.name)
        if variable is not None:
            expr.variable = variable
            if expr.name in self.dropped_members and variable.member:
                raise Refusal(expr.line, f"{expr.name} is a node that is left out; its values are not known")
            if variable.member and self.function is not None and self.function.static:
                raise Refusal(expr.line, f"{expr.name} is a member, and {self.function.name} is static")
            if variable.type is None and self.last:
                raise Refusal(expr.line, f"{expr.name} is not compiled (line {variable.line})")
            return variable.type
        nameless = self.script.enums.get("", {})
        if expr.name in nameless:
            expr.plan = Plan(expr.name, [], INT)
            return INT
        if expr.name in builtins.CONSTANTS:
            expr.plan = Plan(expr.name, [], FLOAT)
            return FLOAT
        if expr.name == "self":
            raise Refusal(expr.line, "`self` as a value is not compiled")
        raise Refusal(expr.line, f"{expr.name} is not known in this script")

    def _attribute(self, expr: Attribute) -> Type | None:
        owner = expr.value
        if isinstance(owner, Name) and self.scope.find(owner.name) is None:
            if owner.name == "self":
                inner = Name(expr.line, expr.name)
                outer, self.scope = self.scope, self.globals
                try:
                    kind = self._name(inner)
                finally:
                    self.scope = outer
                expr.plan = inner.plan
                return kind
            if expr.name in self.script.enums.get(owner.name, {}):
                expr.plan = Plan(f"{owner.name}_{expr.name}", [], INT)
                return INT
            expr.plan = builtins.constant_value(owner.name, expr.name)
            if expr.plan is not None:
                return expr.plan.result
        kind = self.value(owner)
        if kind is None:
            return None
        if expr.name in builtins.fields(kind):
            return builtins.fields(kind)[expr.name]
        if kind is RANDOM and expr.name == "seed":
            raise Refusal(expr.line, "reading the seed of a generator is not compiled")
        raise Refusal(expr.line, f"{expr.name} of {kind} is not compiled")

    def _index(self, expr: Index) -> Type | None:
        kind, index = self.value(expr.value), self.value(expr.index)
        if kind is None or index is None:
            return None
        parts = builtins.indexed(kind) if kind in VALUES else ""
        at = expr.index.value if isinstance(expr.index, Const) else None
        if isinstance(at, int) and at in range(len(parts)):
            return builtins.fields(kind)[parts[at]]
        if not isinstance(kind, ArrayType) or index is not INT:
            raise Refusal(expr.line, f"{kind}[{index}] is not compiled")
        return kind.element

    def _binary(self, expr: Binary) -> Type | None:
        left, right = self.value(expr.left), self.value(expr.right)
        if left is None or right is None:
            return None
        if isinstance(left, ArrayType) and isinstance(right, ArrayType):
            self.news |= left.merge(right)
        if expr.op in ("in", "not in") and isinstance(right, ArrayType) and right.element is None:
            return BOOL
        expr.plan = operators.binary(expr.op, left, right, expr.line)
        return expr.plan.result

    def _array(self, expr: ArrayLiteral, expected: Type | None) -> Type | None:
        if isinstance(expected, ArrayType) and expected.fixed:
            array: ArrayType = expected
        elif isinstance(expr.type, ArrayType):
            array = expr.type
        else:
            array = ArrayType()
        expr.type = array
        for one in expr.items:
            self.put(array, self.value(one), one.line)
        if self.last and array.element is None:
            raise Refusal(expr.line, "nothing tells what this array holds; declare it: `var x: Array[float] = []`")
        return array

    def _cast(self, expr: Cast) -> Type | None:
        kind, target = self.value(expr.value), self.named(expr.to)
        if target is None or (kind is not None and not builtins.converts(kind, target)):
            raise Refusal(expr.line, f"`as {expr.to}` is not compiled")
        return target

    # --- calls ------------------------------------------------------------------------------------------------------

    def call(self, expr: Call) -> Type | None:
        """The type that a call returns; NULL where it returns nothing."""
        expr.type = self._call(expr)
        return expr.type

    def _call(self, expr: Call) -> Type | None:
        receiver = expr.receiver
        on_self = receiver is None or (isinstance(receiver, Name) and receiver.name in ("self", self.script.class_name))
        if on_self and expr.name in self.script.functions:
            return self._own(expr, self.script.functions[expr.name])
        kinds = [self.value(one) for one in expr.args]
        known = [one for one in kinds if one is not None]
        if receiver is None:
            if len(known) < len(kinds):
                return None
            expr.plan = builtins.global_call(expr.name, known, expr.line)
            if expr.plan is None:
                raise Refusal(expr.line, f"{expr.name}() is not compiled")
        elif isinstance(receiver, Name) and self.scope.find(receiver.name) is None:
            expr.plan = builtins.static_call(receiver.name, expr.name, known)
            if expr.plan is None:
                raise Refusal(expr.line, f"{receiver.name}.{expr.name}() is not compiled")
        else:
            return self.value_call(expr, self.value(receiver), kinds)
        return self._planned_call(expr)

    def value_call(self, expr: Call, kind: Type | None, kinds: list[Type | None]) -> Type | None:
        """A method of a value."""
        known = [one for one in kinds if one is not None]
        if kind is None:
            return None
        if isinstance(kind, ArrayType):
            self._array_call(kind, expr, kinds)
        if len(known) < len(kinds) and not all(isinstance(one, ArrayLiteral) for one in expr.args):
            return None
        expr.plan = builtins.method_call(kind, expr.name, known, expr.line)
        if expr.plan is None:
            raise Refusal(expr.line, f"{expr.name}() of {kind} is not compiled")
        if isinstance(kind, ArrayType) and expr.name in ("duplicate", "slice") and isinstance(expr.type, ArrayType):
            self.put(expr.type, kind.element, expr.line)
            expr.plan.result = expr.type
        return self._planned_call(expr)

    def _planned_call(self, expr: Call) -> Type | None:
        assert expr.plan is not None
        if "self.random" in expr.plan.text:
            self.uses_random = True
            if self.function is not None and self.function.static:
                raise Refusal(expr.line, f"{expr.name}() in a static function is not compiled")
        return expr.plan.result

    uses_random = False

    def _array_call(self, array: ArrayType, expr: Call, kinds: list[Type | None]) -> None:
        """What a method puts into an array."""
        if expr.name in ("append", "push_back", "push_front", "fill") and kinds:
            self.put(array, kinds[0], expr.line)
        elif expr.name == "insert" and len(kinds) == 2:
            self.put(array, kinds[1], expr.line)
        elif expr.name == "append_array" and kinds and isinstance(kinds[0], ArrayType):
            literal = expr.args[0]
            if isinstance(literal, ArrayLiteral):
                self.news |= array.merge(kinds[0]) if not array.root.fixed else False
                for one in literal.items:
                    self.put(array, one.type, expr.line)
                if array.root.fixed:
                    literal.type = array
            else:
                self.put(array, kinds[0].element, expr.line)

    def _own(self, expr: Call, function: Function) -> Type | None:
        """A call of a function of this script, whose untyped parameters learn from it."""
        expr.function = function
        if self.function is not None:
            self.function.calls.add(function.name)
            if self.function.static and not function.static:
                raise Refusal(expr.line, f"{self.function.name} is static and {function.name} is not")
        if len(expr.args) > len(function.params):
            raise Refusal(expr.line, f"{function.name}() takes at most {len(function.params)} arguments")
        for param, arg in zip(function.params, expr.args, strict=False):
            assert param.variable is not None
            kind = self.value(arg, param.variable.type if param.variable.fixed else None)
            self.assign(param.variable, kind, expr.line)
        for param in function.params[len(expr.args) :]:
            if param.default is None:
                raise Refusal(expr.line, f"{function.name}() needs a value for {param.name}")
            if not _is_constant(param.default):
                raise Refusal(expr.line, f"the default value of {param.name} is no constant")
            if not param.omitted:
                param.omitted = self.news = True
        assert function.result is not None
        if function.result.type is None and self.last and function.refusals:
            raise Refusal(expr.line, f"{function.name}() is not compiled (line {function.line})")
        return function.result.type

    def require_pure(self, expr: Expr) -> None:
        """Refuses to leave out an expression that may change something."""
        match expr:
            case Call():
                if expr.receiver is not None:
                    self.require_pure(expr.receiver)
                for one in expr.args:
                    self.require_pure(one)
                if expr.receiver is None and expr.name in ignored.TEXT:
                    return
                if expr.receiver is not None and expr.name == "format":
                    return
                self.call(expr)
                if expr.plan is None or not expr.plan.pure:
                    raise Refusal(expr.line, f"{expr.name}() inside a call that is left out may change the game")
            case Attribute(value=inner) | Unary(value=inner) | Cast(value=inner):
                self.require_pure(inner)
            case Index(value=inner, index=index):
                self.require_pure(inner)
                self.require_pure(index)
            case Binary(left=left, right=right):
                self.require_pure(left)
                self.require_pure(right)
            case Ternary():
                self.require_pure(expr.condition)
                self.require_pure(expr.then)
                self.require_pure(expr.other)
            case ArrayLiteral(items=items):
                for one in items:
                    self.require_pure(one)


def _literal(expr: Const) -> Type:
    value = expr.value
    if value is None:
        raise Refusal(expr.line, "null is not compiled")
    if isinstance(value, str):
        raise Refusal(expr.line, "strings are not compiled")
    return BOOL if isinstance(value, bool) else INT if isinstance(value, int) else FLOAT


def _is_constant(expr: Expr) -> bool:
    match expr:
        case Const():
            return True
        case Unary(value=inner):
            return _is_constant(inner)
        case Binary(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
        case Name():
            return expr.plan is not None or (expr.variable is not None and expr.variable.constant is not None)
        case Attribute():
            return expr.plan is not None
        case Call(receiver=None, function=None):
            return expr.plan is not None and expr.plan.pure and all(_is_constant(one) for one in expr.args)
    return False
