"""Names, attributes and operators in a whole program."""

from __future__ import annotations

from typing import Any

from godojo.twin.gdscript import builtins
from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.folding import UNKNOWN
from godojo.twin.gdscript.left_out import LeftOut
from godojo.twin.gdscript.nodes import (
    Attribute,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Name,
    Place,
    Plan,
    Ternary,
    Variable,
)
from godojo.twin.gdscript.tree_changes import is_scene
from godojo.twin.gdscript.types import (
    BOOL,
    FLOAT,
    INT,
    NIL,
    NULL,
    NUMBER,
    STRING,
    TEXT,
    ArrayType,
    DictType,
    MapType,
    ObjectType,
    RefType,
    Type,
)
from godojo.twin.world import api

_NATIVE_CONSTANTS = {
    "PROCESS_MODE_INHERIT": 0,
    "PROCESS_MODE_PAUSABLE": 1,
    "PROCESS_MODE_WHEN_PAUSED": 2,
    "PROCESS_MODE_ALWAYS": 3,
    "PROCESS_MODE_DISABLED": 4,
    "MOTION_MODE_GROUNDED": 0,
    "MOTION_MODE_FLOATING": 1,
    "FREEZE_MODE_STATIC": 0,
    "FREEZE_MODE_KINEMATIC": 1,
}
"""Constants of nodes that games write."""


class ClassNames(LeftOut):
    """What names and attributes stand for in one class."""

    self_type: RefType
    last_value: Expr | None
    """The expression that was typed last."""

    # --- names and attributes ---------------------------------------------------------------------------------------

    def _name(self, expr: Name) -> Type | None:
        expr.place = expr.plan = None
        variable = self.scope.find(expr.name)
        if variable is not None and not variable.member:
            if is_scene(variable.constant) and (made := self.template(expr, is_scene(variable.constant))) is not None:
                return made
            expr.variable = variable
            if variable.constant is not None and self.globals.find(expr.name) is variable:
                self.whole.use_constant(self, variable)
            if variable.type is None and self.last:
                raise Refusal(expr.line, f"nothing tells the type of {expr.name} (line {variable.line})")
            return variable.type
        if expr.name == "self" and self.foreign is None:
            expr.plan = Plan("self", [], self.self_type)
            return self.self_type
        number = self.enum_value("", expr.name)
        if number is not UNKNOWN:
            expr.plan = Plan(self.whole.use_number(expr.name, number), [], INT)
            return INT
        place = self.place([self.cls], expr.name, expr, on_self=True) if self.foreign is None else None
        if place is not None:
            expr.place, expr.variable = place, place.variable
            if place.type is None and self.last:
                raise Refusal(expr.line, f"nothing tells the type of {expr.name}")
            return place.type
        if expr.name in self.whole.snapshot.autoloads:
            index = self.whole.snapshot.autoloads[expr.name]
            return self.node_place(expr, [index] * len(self.cls.nodes), expr.name)
        known = self.known_resource(expr, [self.cls]) if self.foreign is None and id(expr) not in self.written else None
        if known is not None:
            expr.plan = Plan("self", [], known)
            return known
        if expr.name == "owner":
            raise Refusal(expr.line, "`owner` is not compiled; use get_parent() or a path")
        if expr.name in builtins.CONSTANTS:
            expr.plan = Plan(expr.name, [], FLOAT)
            return FLOAT
        if expr.name in _NATIVE_CONSTANTS:
            expr.plan = Plan(self.whole.use_number(expr.name, _NATIVE_CONSTANTS[expr.name]), [], INT)
            return INT
        raise Refusal(expr.line, f"{expr.name} is not compiled")

    def _attribute(self, expr: Attribute) -> Type | None:
        expr.place = expr.plan = None
        owner = expr.value
        if isinstance(owner, Name) and self.scope.find(owner.name) is None:
            kind = self._of_a_name(expr, owner.name)
            if kind is not None:
                return kind
        if isinstance(owner, Attribute):
            number = (self.enum_of(owner) or {}).get(expr.name, UNKNOWN)
            if number is not UNKNOWN:
                expr.plan = Plan(self.whole.use_number(f"{owner.name}_{expr.name}", number), [], INT)
                return INT
        kind = self.value(owner)
        if isinstance(kind, DictType):
            return self._field(expr, kind, expr.name)
        if isinstance(kind, MapType):
            return self.named_value(expr, kind)
        if isinstance(kind, RefType):
            if not kind.classes:
                if self.last:
                    raise Refusal(expr.line, f"{expr.name} of a node that is always null")
                return None
            place = self.place(list(kind.classes), expr.name, expr) or self._constant_of(kind, expr.name)
            if place is None:
                known = self.known_resource(expr, list(kind.classes)) if id(expr) not in self.written else None
                if known is not None:
                    return known
                raise Refusal(expr.line, f"{expr.name} of {kind} is not compiled")
            expr.place = place
            if place.type is None and self.last:
                raise Refusal(expr.line, f"nothing tells the type of {expr.name}")
            return place.type
        if isinstance(kind, ObjectType):
            return self.object_property(expr, kind)
        if kind is None:
            return None
        return super()._attribute(expr)

    def _constant_of(self, kind: RefType, name: str) -> Place | None:
        """`node.CONSTANT`."""
        found = {}
        for cls in kind.classes:
            for link in cls.links():
                for constant in link.source.constants if link.source is not None else ():
                    if constant.name == name:
                        variable = self.whole.constant_variable(link, constant)
                        self.whole.use_constant(self.whole.inference(cls), variable)
                        found[variable.python] = variable
        if len(found) != 1:
            return None
        variable = next(iter(found.values()))
        return self._constant_place(variable)

    def _constant_place(self, variable: Variable) -> Place:
        return Place(variable.type, variable.python)

    def _of_a_name(self, expr: Attribute, owner: str) -> Type | None:
        """`Enum.VALUE`, `ClassName.CONSTANT`, `Engine.property`."""
        number = self.enum_value(owner, expr.name)
        if number is UNKNOWN:
            number = _NATIVE_CONSTANTS.get(expr.name, UNKNOWN) if owner[:1].isupper() else UNKNOWN
        if number is not UNKNOWN:
            expr.plan = Plan(self.whole.use_number(f"{owner}_{expr.name}", number), [], INT)
            return INT
        if owner in self.tree.by_class_name:
            script = self.tree.script(self.tree.by_class_name[owner])
            constant = next((one for one in script.constants if one.name == expr.name), None)
            if constant is not None:
                variable = self.whole.script_constant(script, constant)
                self.whole.use_constant(self, variable)
                expr.place = self._constant_place(variable)
                return variable.type
        expr.plan = builtins.constant_value(owner, expr.name) or self.singleton_property(owner, expr.name)
        return expr.plan.result if expr.plan is not None else None

    def named_value(self, expr: Attribute, kind: MapType) -> Type | None:
        raise NotImplementedError

    def _field(self, expr: Attribute | Index, kind: DictType, key: str) -> Type | None:
        if key not in kind.fields:
            raise Refusal(expr.line, f"the dictionary has no key {key!r}")
        at = list(kind.fields).index(key)
        if kind.action:
            expr.plan = self.whole.action_field(kind, key)
        else:
            expr.plan = Plan(f"{{r}}[{at}]", [], kind.fields[key])
        return kind.fields[key]

    def _index(self, expr: Index) -> Type | None:
        expr.plan = expr.place = None
        kind = self.value(expr.value)
        if isinstance(kind, DictType):
            key = self.folding.value(expr.index)
            if not isinstance(key, str):
                raise Refusal(expr.line, "dictionaries are read with constant strings only")
            return self._field(expr, kind, key)
        if isinstance(expr.value, Index | Attribute) and isinstance(expr.value.value.type, DictType):
            number = self._action_number(expr, expr.value)
            if number is not None:
                return number
        if isinstance(kind, ObjectType) and kind.name in api.RAY_HITS:
            key = self.folding.value(expr.index)
            return self.hit_field(expr, str(key), kind)
        if isinstance(kind, ArrayType) and isinstance(kind.element, ArrayType):
            return self._row(expr, kind.element)
        row = self.cell(expr)
        if row is not None and isinstance(kind, ArrayType):
            self.value(expr.index)
            assert row.value.place is not None
            rows, starts = self.rows_of(row.value.place)
            place = f"cell_index({rows}, {starts}, {{1}}, {{0}})"
            expr.plan = Plan(f"{rows}[{place}]", [INT, INT], kind.element)
            return kind.element
        return super()._index(expr)

    def cell(self, target: Expr) -> Index | None:
        raise NotImplementedError

    def rows_of(self, place: Place) -> tuple[str, str]:
        raise NotImplementedError

    def _row(self, expr: Index, row: ArrayType) -> Type:
        """A row of an array of arrays: a copy of it."""
        place = expr.value.place
        if place is None or not place.rows:
            raise Refusal(expr.line, "arrays of arrays are compiled only where they are members that nothing assigns")
        self.value(expr.index)
        empty = builtins.new_array(row, [], expr.line) if self.last else ""
        expr.place = Place(row, f"row_of({empty}, {place.rows}, {place.read}, {{i}})", on_self=place.on_self)
        expr.place.owner = expr.value.value if isinstance(expr.value, Attribute) else None
        return row

    def _action_number(self, expr: Index, part: Index | Attribute) -> Type | None:
        """`action["move"][0]`: one number of the flat array, without an array of its own."""
        actions = part.value.type
        at = self.folding.value(expr.index)
        key = part.name if isinstance(part, Attribute) else self.folding.value(part.index)
        if not isinstance(actions, DictType) or not actions.action or not isinstance(at, int):
            return None
        first, count, continuous = self.whole.action_part(actions, key)
        if not continuous or not 0 <= at < count:
            raise Refusal(expr.line, f"the action {key} has no number {at}")
        self.value(expr.index)
        expr.place = Place(FLOAT, f"{{r}}[{first + at}]")
        expr.place.owner = part.value
        return FLOAT

    def _binary(self, expr: Binary) -> Type | None:
        if self.fold(expr) is not None and expr.op in ("==", "!=", "<", ">", "<=", ">=", "in", "not in"):
            folded = [self.folding.value(one) for one in (expr.left, expr.right)]
            if UNKNOWN in folded or any(isinstance(one, str) or one is None for one in folded):
                return BOOL
        expr.folded = None
        left = self.value(expr.left)
        if left in (STRING, TEXT) and expr.op in ("+", "%"):
            self.require_pure(expr.right)
            return TEXT
        right = self.value(expr.right)
        if right is TEXT and expr.op == "+":
            return TEXT
        if expr.op in ("==", "!=") and (isinstance(left, RefType) or isinstance(right, RefType)):
            return self._same_node(expr, left, right)
        if expr.op in ("==", "!=") and left is STRING and right is STRING:
            expr.plan = Plan(f"{{0}} {expr.op} {{1}}", [STRING, STRING], BOOL, level=5)
            return BOOL
        if expr.op == "+" and isinstance(left, ArrayType) and isinstance(right, ArrayType):
            return self._joined(expr, left, right)
        if expr.op in ("in", "not in") and isinstance(left, RefType) and isinstance(right, ArrayType):
            text = "contains({1}, {0})" if expr.op == "in" else "not contains({1}, {0})"
            expr.plan = Plan(text, [None, None], BOOL, level=15 if expr.op == "in" else 4)
            return BOOL
        return super()._binary(expr)

    def _same_node(self, expr: Binary, left: Type | None, right: Type | None) -> Type | None:
        if left is None or right is None:
            return BOOL
        if NIL in (left, right) and not (isinstance(left, RefType) and isinstance(right, RefType)):
            side = expr.right if left is NIL else expr.left
            if self.may_be_null(side):
                variable = self.variable_of(side)
                if variable is not None and side.type is INT and not variable.fixed:
                    self.learn(variable, FLOAT)  # which keeps null as NaN
                    return BOOL
                if variable is not None and side.type in (FLOAT, NUMBER):
                    variable.null_tested = True
                    text = f"is_nan({'{1}' if left is NIL else '{0}'})"
                    text = text if expr.op == "==" else f"not {text}"
                    expr.plan = Plan(text, [None, None], BOOL, level=15 if expr.op == "==" else 4)
                    return BOOL
                raise Refusal(expr.line, f"a {right if left is NIL else left} that may be null is not compiled")
            expr.folded = expr.op == "!="
            return BOOL
        if not (isinstance(left, RefType) and isinstance(right, RefType)):
            raise Refusal(expr.line, f"{left} {expr.op} {right} is not compiled")
        if left is NIL or right is NIL:
            place = "{1}" if left is NIL else "{0}"
            test = "is_gone" if self.whole.is_dynamic else "is_null"
            text = f"{test}({place})" if expr.op == "==" else f"not {test}({place})"
            expr.plan = Plan(text, [None, None], BOOL, level=15 if expr.op == "==" else 4)
        else:
            expr.plan = Plan(f"{{0}} {expr.op} {{1}}", [None, None], BOOL, level=5)
        return BOOL

    def _joined(self, expr: Binary, left: ArrayType, right: ArrayType) -> Type:
        made = expr.type if isinstance(expr.type, ArrayType) else ArrayType()
        self.put(made, left.element, expr.line)
        self.put(made, right.element, expr.line)
        empty = builtins.new_array(made, [], expr.line) if self.last else ""
        expr.plan = Plan(f"joined({empty}, {{0}}, {{1}})", [None, None], made)
        return made

    def put(self, array: ArrayType, kind: Type | None, line: int) -> None:
        if isinstance(kind, DictType | ObjectType):
            raise Refusal(line, f"an array of {kind} is not compiled")
        if kind is NIL and array.element is not None and not isinstance(array.element, RefType):
            raise Refusal(line, f"null in {array} is not compiled")
        if kind is STRING:
            self.news |= array.put(kind)
            return
        super().put(array, kind, line)

    def assign(self, variable: Variable, kind: Type | None, line: int) -> None:
        if kind is NULL:
            raise Refusal(line, f"{variable.name} gets the result of a function that returns nothing")
        if not variable.nullable and self.may_be_null(self.last_value):
            variable.nullable = self.news = True
        if kind is NIL and variable.fixed and variable.type is not None:
            return
        if isinstance(kind, RefType | DictType | ObjectType | MapType) or kind is STRING:
            if variable.fixed and variable.type is not kind:
                raise Refusal(line, f"{variable.name} is {variable.type} and gets {kind}")
            self.learn(variable, kind)
            return
        super().assign(variable, kind, line)

    def _initialise(self, variable: Variable, declared: str | None, value: Expr | None, line: int) -> None:
        if declared not in (None, ":=") and variable.type is None:
            assert declared is not None
            self._fix(variable, declared, line)
        if value is None:
            if declared not in (None, ":=") and isinstance(self.named(str(declared)), RefType):
                self.learn(variable, NIL)
            return
        kind = self.value(value, variable.type if variable.fixed else None)
        self.assign(variable, kind, line)
        learned = isinstance(kind, ArrayType | RefType | DictType)
        if declared == ":=" and kind is not None and not learned:
            variable.fixed = True

    # --- what is known ------------------------------------------------------------------------------------------------

    def enum_value(self, owner: str, name: str) -> Any:
        """The value of an enum's constant; `owner` is empty for a nameless enum."""
        sources = [one.source for one in self.cls.links()] if self.foreign is None else [self.foreign]
        for source in sources:
            assert source is not None
            if name in source.enums.get(owner, {}):
                return source.enums[owner][name]
        first, _, rest = owner.partition(".")
        path = self.tree.by_class_name.get(first)
        if path is not None and name in self.tree.script(path).enums.get(rest, {}):
            return self.tree.script(path).enums[rest][name]
        return UNKNOWN

    def enum_of(self, expr: Expr | None) -> dict[str, int] | None:
        """The enum that an expression names: `Kinds`, `Tile.Kinds`, or `tile.Kinds` of a node."""
        if isinstance(expr, Name):
            found = [one.source.enums.get(expr.name) for one in self.cls.links() if one.source is not None]
            return next((one for one in found if one), None) if self.scope.find(expr.name) is None else None
        if not isinstance(expr, Attribute):
            return None
        owner = expr.value
        if isinstance(owner, Name) and self.scope.find(owner.name) is None and owner.name in self.tree.by_class_name:
            return self.tree.script(self.tree.by_class_name[owner.name]).enums.get(expr.name)
        if isinstance(owner, Name) and not self._is_value(owner.name):
            return None
        sources = [link.source for cls in self._node_classes(owner) for link in cls.links()]
        return next((one.enums[expr.name] for one in sources if one is not None and expr.name in one.enums), None)

    def may_be_null(self, expr: Expr | None) -> bool:
        """Whether a value that is no node may be null."""
        match expr:
            case Const(value=value):
                return value is None
            case Name() | Attribute() if (variable := self.variable_of(expr)) is not None:
                return variable.nullable
            case Ternary():
                return self.may_be_null(expr.then) or self.may_be_null(expr.other)
            case Cast(value=inner):
                return self.may_be_null(inner)
            case Call(targets=targets):
                return any(one.result is not None and one.result.nullable for _, one in targets)
        return False

    def fold(self, expr: Expr) -> bool | None:
        """What a condition is, where that is known before the game runs."""
        value = self.folding.value(expr)
        expr.folded = None if value is UNKNOWN else bool(value)
        return expr.folded
