"""Expressions of a whole program: type tests, dictionaries, casts, conditions."""

from __future__ import annotations

from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.live import LiveClass
from godojo.twin.gdscript.maps import Maps
from godojo.twin.gdscript.nodes import (
    Await,
    Cast,
    Const,
    DictLiteral,
    Expr,
    NodeAt,
    Plan,
    Ternary,
    TypeTest,
)
from godojo.twin.gdscript.types import (
    BOOL,
    NIL,
    NUMBERS,
    STRING,
    VECTORS,
    ArrayType,
    DictType,
    MapType,
    ObjectType,
    RefType,
    Type,
    join,
    ref,
)
from godojo.twin.world import api


class ClassExpressions(Maps):
    """The types of expressions in one class."""

    # --- types ------------------------------------------------------------------------------------------------------

    def named(self, name: str) -> Type | None:
        return self.whole.named(name, self.cls)

    def classes_of(self, expr: Expr | None) -> list[LiveClass]:
        """The classes that an expression may refer to, as far as is known."""
        if expr is None:
            return [self.cls]
        nodes = self.static_nodes(expr)
        if nodes:
            return list({self.tree.class_of[one]: None for one in nodes if one is not None})
        try:
            kind = self.value(expr)
        except Refusal:
            return []
        return list(kind.classes) if isinstance(kind, RefType) else []

    # --- expressions ------------------------------------------------------------------------------------------------

    def truth(self, expr: Expr) -> None:
        if self.fold(expr) is not None:
            expr.type = BOOL
            return
        kind = self.value(expr)
        if kind is NIL:
            expr.folded = False
            return
        if kind is None or kind in (BOOL, STRING, *NUMBERS, *VECTORS):
            return
        if isinstance(kind, ArrayType | RefType | MapType):
            return
        if isinstance(kind, ObjectType) and kind.name in api.RAY_HITS:
            return
        if isinstance(kind, DictType) and kind.fields:
            expr.folded = True  # its keys are known, and there are some
            return
        raise Refusal(expr.line, f"{kind} as a condition is not compiled")

    def value(self, expr: Expr, expected: Type | None = None) -> Type | None:
        if isinstance(expr, Ternary) and self.fold(expr.condition) is not None:
            kind = self.value(expr.then if expr.condition.folded else expr.other, expected)
            expr.type = kind
        else:
            kind = super().value(expr, expected)
        self.last_value = expr
        return kind

    def _find(self, expr: Expr, expected: Type | None) -> Type | None:
        match expr:
            case Const(value=None):
                return NIL
            case Const(value=str()):
                return STRING
            case NodeAt():
                return self.node_place(expr, [self.tree.resolve(one, expr.path) for one in self.cls.nodes], expr.path)
            case TypeTest():
                return self._type_test(expr)
            case DictLiteral():
                return self._dictionary(expr, expected)
            case Await():
                raise Refusal(expr.line, "`await` is not compiled")
        return super()._find(expr, expected)

    def _dictionary(self, expr: DictLiteral, expected: Type | None = None) -> Type | None:
        if isinstance(expected, MapType):
            for key, value in zip(expr.keys, expr.values, strict=True):
                self.put(expected.keys, self.value(key), key.line)
                self.put(expected.values, self.value(value), value.line)
            return expected
        keys = [self.folding.value(one) for one in expr.keys]
        if any(not isinstance(one, str) for one in keys):
            raise Refusal(expr.line, "dictionaries are compiled with constant strings as keys only")
        made = expr.type if isinstance(expr.type, DictType) else DictType({})
        expr.type = made
        for key, value in zip(keys, expr.values, strict=True):
            made.fields[key] = join(made.fields.get(key), self.value(value))
        return made

    def _type_test(self, expr: TypeTest) -> Type | None:
        if self.fold(expr) is not None:
            return BOOL
        wanted = self.tree.named(expr.to)
        kind = self.value(expr.value)
        if kind is None:
            return BOOL
        if wanted is None or not isinstance(kind, RefType):
            simple_type = self.named(expr.to)
            if simple_type is not None and not isinstance(simple_type, ArrayType):
                expr.folded = (kind is simple_type) != expr.negated
                return BOOL
            raise Refusal(expr.line, f"`is {expr.to}` is not compiled")
        if kind.classes <= set(wanted):
            text = "not is_null({0})"
        else:
            tests = [f"is_{one}({{0}})" for one in self.whole.covering(wanted, expr.to)]
            text = " or ".join(tests)
        if expr.negated:
            text = text.removeprefix("not ") if text.startswith("not ") else f"not ({text})"
        expr.plan = Plan(text, [None], BOOL, level=4 if text.startswith("not") else 2 if " or " in text else 15)
        return BOOL

    def _cast(self, expr: Cast) -> Type | None:
        wanted = self.tree.named(expr.to)
        if wanted is None:
            kind = self.value(expr.value)
            if expr.to in ("Array", "Dictionary", "String", "Variant") and kind is not None:
                return kind
            return super()._cast(expr)
        kind = self.value(expr.value)
        if kind is None:
            return None
        if not isinstance(kind, RefType):
            raise Refusal(expr.line, f"{kind} as {expr.to} is not compiled")
        result = ref(kind.classes & set(wanted))
        if result is kind:
            expr.plan = Plan("{0}", [None], kind)
        elif not result.classes:
            expr.plan = None
        else:
            names = self.whole.covering(list(result.classes), expr.to)
            if len(names) != 1:
                raise Refusal(expr.line, f"`as {expr.to}` of {kind} is not compiled")
            expr.plan = Plan(f"as_{names[0]}({{0}})", [None], result)
        return result
