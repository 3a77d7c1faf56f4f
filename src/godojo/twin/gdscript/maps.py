"""Dictionaries that change while the game runs: members whose keys and values are kept as two arrays.

`tiles[cell]` is `tiles_values[key_index(tiles_keys, tiles_slots, cell)]`; `runtime/maps.py` says what slots are. Keys
keep the order in which they were added, as in Godot.
A dictionary with constant strings as keys that nobody keeps (an observation) is a `DictType` instead.
"""

from __future__ import annotations

from godojo.twin.gdscript import builtins
from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.nodes import Attribute, Binary, Call, Const, Expr, Index, Plan
from godojo.twin.gdscript.rows import Rows
from godojo.twin.gdscript.types import BOOL, INT, NIL, NULL, STRING, MapType, Type

_METHODS: dict[str, tuple[str, int, Type]] = {
    # how it is written, how many keys it takes, and its result
    "has": ("has_key({r}_keys, {r}_slots, {0})", 1, BOOL),
    "erase": ("erase_key({r}_keys, {r}_values, {r}_slots, {0})", 1, NULL),
    "clear": ("clear_map({r}_keys, {r}_values, {r}_slots)", 0, NULL),
    "size": ("size({r}_keys)", 0, INT),
    "is_empty": ("size({r}_keys) == 0", 0, BOOL),
}
_PURE = {"has", "size", "is_empty"}


class Maps(Rows):
    """The types of what dictionaries give and take."""

    def _index(self, expr: Index) -> Type | None:
        kind = self.value(expr.value)
        if not isinstance(kind, MapType):
            return super()._index(expr)
        expr.plan = expr.place = None
        self._key(kind, expr.index)
        expr.plan = Plan("{r}_values[key_index({r}_keys, {r}_slots, {0})]", [kind.keys.element], kind.values.element)
        return kind.values.element

    def named_value(self, expr: Attribute, kind: MapType) -> Type | None:
        """`scores.best`."""
        self.put(kind.keys, STRING, expr.line)
        self._require_member(expr.value, expr.line)
        key = self.whole.string_constant(expr.name) if self.last else ""
        expr.plan = Plan(f"{{r}}_values[key_index({{r}}_keys, {{r}}_slots, {key})]", [], kind.values.element)
        return kind.values.element

    def _binary(self, expr: Binary) -> Type | None:
        if expr.op in ("in", "not in"):
            kind = self.value(expr.right)
            if isinstance(kind, MapType):
                self._key(kind, expr.left)
                self._require_member(expr.right, expr.line)
                text = "has_key({1}_keys, {1}_slots, {0})"
                text = text if expr.op == "in" else f"not {text}"
                expr.plan = Plan(text, [kind.keys.element, None], BOOL, level=15 if expr.op == "in" else 4)
                return BOOL
        return super()._binary(expr)

    def map_call(self, expr: Call, kind: MapType) -> Type | None:
        """A method of a dictionary."""
        assert expr.receiver is not None
        self._require_member(expr.receiver, expr.line)
        if expr.name in _METHODS and len(expr.args) == _METHODS[expr.name][1]:
            text, keys, result = _METHODS[expr.name]
            if keys:
                self._key(kind, expr.args[0])
            level = 5 if expr.name == "is_empty" else 15
            expr.plan = Plan(text, [kind.keys.element] * keys, result, pure=expr.name in _PURE, level=level)
            return result
        if expr.name in ("keys", "values") and not expr.args:
            array = kind.keys if expr.name == "keys" else kind.values
            expr.plan = Plan(f"copied({self.empty(array, expr.line)}, {{r}}_{expr.name})", [], array)
            return array
        if expr.name == "get" and len(expr.args) in (1, 2):
            return self._get(expr, kind)
        raise Refusal(expr.line, f"{expr.name}() of a dictionary is not compiled")

    def _get(self, expr: Call, kind: MapType) -> Type | None:
        """`get(key, default)`, and `get(key)` of nodes, which is null where the key is missing."""
        self._key(kind, expr.args[0])
        if len(expr.args) == 2:
            self.put(kind.values, self.value(expr.args[1]), expr.line)
            wanted = kind.values.element
            text = "value_or({r}_keys, {r}_values, {r}_slots, {0}, {1})"
            expr.plan = Plan(text, [kind.keys.element, wanted], wanted)
            return wanted
        element = kind.values.element
        if self.last and (element is None or element in (BOOL, INT) or element is NIL):
            raise Refusal(expr.line, "get() of a dictionary without a default value is compiled for nodes only")
        return self._get(self._with_null(expr), kind)

    def _with_null(self, expr: Call) -> Call:
        expr.args.append(Const(expr.line, None))
        return expr

    def _key(self, kind: MapType, key: Expr) -> None:
        found = self.value(key)
        self.put(kind.keys, found, key.line)
        element = kind.keys.element
        if found is not None and element is not None and not builtins.converts(found, element) and found is not element:
            raise Refusal(key.line, f"a key of type {found} in a dictionary of {element} is not compiled")

    def _require_member(self, expr: Expr, line: int) -> None:
        if expr.place is None and self.last:
            raise Refusal(line, "dictionaries are compiled as members of scripts only")
