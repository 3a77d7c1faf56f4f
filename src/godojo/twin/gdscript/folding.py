"""What is known before the game runs: members that nothing assigns, and conditions over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from godojo.twin.gdscript.nodes import (
    ArrayLiteral,
    Attribute,
    Binary,
    Call,
    Const,
    Expr,
    Name,
    Ternary,
    TypeTest,
    Unary,
    Variable,
)
from godojo.twin.gdscript.types import DictType

if TYPE_CHECKING:
    from godojo.twin.gdscript.class_inference import ClassInference


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Any = _Unknown()
_SCALARS = ("bool", "int", "float", "String")
_NO_INPUT: dict[str, Any] = {
    "is_action_pressed": False,
    "is_action_just_pressed": False,
    "is_action_just_released": False,
    "is_key_pressed": False,
    "is_physical_key_pressed": False,
    "is_mouse_button_pressed": False,
    "is_anything_pressed": False,
    "is_joy_button_pressed": False,
    "get_action_strength": 0.0,
    "get_action_raw_strength": 0.0,
    "get_axis": 0.0,
    "get_joy_axis": 0.0,
}
"""Nobody plays while an agent trains."""
_ENGINE: dict[tuple[str, str], Any] = {
    ("Engine", "is_editor_hint"): False,
    ("OS", "is_debug_build"): True,
    ("OS", "has_feature"): UNKNOWN,
    ("DisplayServer", "get_name"): "headless",
}


def plain(value: Any) -> Any:
    """A live value as Python has it; UNKNOWN where it is no scalar."""
    if value[0] == "null":
        return None
    return value[1] if value[0] in _SCALARS else UNKNOWN


class Folding:
    """Evaluates expressions in one class."""

    def __init__(self, inference: ClassInference) -> None:
        self.inference = inference

    def value(self, expr: Expr) -> Any:
        """The value of an expression, or UNKNOWN."""
        match expr:
            case Const(value=value):
                return value
            case Name():
                return self._name(expr)
            case Attribute():
                return self._attribute(expr)
            case Unary(op=op, value=inner):
                return self._unary(op, self.value(inner))
            case Binary(op="and" | "or"):
                return self._logic(expr)
            case Binary():
                return self._binary(expr)
            case Ternary():
                condition = self.value(expr.condition)
                return UNKNOWN if condition is UNKNOWN else self.value(expr.then if condition else expr.other)
            case Call():
                return self._call(expr)
            case TypeTest():
                return self._type_test(expr)
            case ArrayLiteral(items=items):
                found = [self.value(one) for one in items]
                return UNKNOWN if UNKNOWN in found else found
        return UNKNOWN

    def member(self, variable: Variable) -> Any:
        """The live value of a member of this class that nothing assigns, the same in all its nodes."""
        if variable.assigned or variable.owner is None:
            return UNKNOWN
        found = self.inference.tree.values(self.inference.cls, variable.name)
        if not found or any(one != found[0] for one in found):
            return UNKNOWN
        return plain(found[0])

    def _name(self, expr: Name) -> Any:
        inference = self.inference
        variable = inference.scope.find(expr.name)
        if variable is not None and not variable.member:
            if variable.constant is not None:
                return self.value(variable.constant)
            return UNKNOWN
        if variable is not None:
            return self.member(variable)
        return inference.enum_value("", expr.name)

    def _attribute(self, expr: Attribute) -> Any:
        inference, owner = self.inference, expr.value
        if isinstance(owner, Name) and inference.scope.find(owner.name) is None:
            if owner.name == "self":
                return self._name(Name(expr.line, expr.name))
            found = inference.enum_value(owner.name, expr.name)
            if found is not UNKNOWN:
                return found
        if isinstance(owner, Attribute) and isinstance(owner.value, Name):
            found = inference.enum_value(f"{owner.value.name}.{owner.name}", expr.name)
            if found is not UNKNOWN:
                return found
        nodes = inference.static_nodes(owner)
        if nodes and None not in nodes:
            return self._of_nodes(nodes, expr.name)
        return UNKNOWN

    def _of_nodes(self, nodes: list[int | None], name: str) -> Any:
        tree, found = self.inference.tree, []
        for index in nodes:
            assert index is not None
            variable = tree.class_of[index].member(name)
            if variable is None or variable.assigned:
                return UNKNOWN
            found.append(tree.value(index, name))
        return plain(found[0]) if all(one == found[0] for one in found) else UNKNOWN

    def _unary(self, op: str, value: Any) -> Any:
        if value is UNKNOWN:
            return UNKNOWN
        if op == "not":
            return not value
        return -value if op == "-" and isinstance(value, int | float) else UNKNOWN

    def _logic(self, expr: Binary) -> Any:
        left, right = self.value(expr.left), self.value(expr.right)
        decides = expr.op == "or"
        for one in (left, right):
            if one is not UNKNOWN and bool(one) is decides:
                return decides
        return UNKNOWN if UNKNOWN in (left, right) else not decides

    def _binary(self, expr: Binary) -> Any:
        left, right = self.value(expr.left), self.value(expr.right)
        if expr.op in ("==", "!="):
            same = self._same(expr, left, right)
            return UNKNOWN if same is UNKNOWN else same == (expr.op == "==")
        if UNKNOWN in (left, right) or isinstance(left, str) != isinstance(right, str) or left is None or right is None:
            return UNKNOWN
        try:
            match expr.op:
                case "<":
                    return left < right
                case ">":
                    return left > right
                case "<=":
                    return left <= right
                case ">=":
                    return left >= right
                case "in":
                    return left in right
                case "&" if isinstance(left, int):
                    return left & right
        except TypeError:
            return UNKNOWN
        return UNKNOWN

    def _same(self, expr: Binary, left: Any, right: Any) -> Any:
        if UNKNOWN not in (left, right):
            return left == right
        for side, other in ((expr.left, right), (expr.right, left)):
            if other is None:
                nodes = self.inference.static_nodes(side)
                if nodes and None not in nodes and not self._may_go(nodes):
                    return False
                if nodes and all(one is None for one in nodes):
                    return True
        return UNKNOWN

    def _call(self, expr: Call) -> Any:
        receiver = expr.receiver
        if isinstance(receiver, Name) and self.inference.scope.find(receiver.name) is None:
            if receiver.name == "Input" and expr.name in _NO_INPUT:
                return _NO_INPUT[expr.name]
            return _ENGINE.get((receiver.name, expr.name), UNKNOWN)
        if receiver is None and expr.name == "is_instance_valid" and len(expr.args) == 1:
            nodes = self.inference.static_nodes(expr.args[0])
            if nodes and None not in nodes and not self._may_go(nodes):
                return True
            return False if self.value(expr.args[0]) is None else UNKNOWN
        if expr.name in ("is_node_ready", "is_inside_tree") and not expr.args:
            return True
        if expr.name == "has" and len(expr.args) == 1 and receiver is not None and isinstance(receiver.type, DictType):
            key = self.value(expr.args[0])
            return key in receiver.type.fields if isinstance(key, str) else UNKNOWN
        if expr.name in ("has_node", "has_method", "has_signal", "is_in_group") and len(expr.args) == 1:
            return self._has(expr)
        return UNKNOWN

    def _may_go(self, nodes: list[int | None]) -> bool:
        """Whether one of these nodes may be freed."""
        tree, whole = self.inference.tree, self.inference.whole
        return any(whole.may_go(tree.class_of[one]) for one in nodes if one is not None)

    def _has(self, expr: Call) -> Any:
        inference, asked = self.inference, self.value(expr.args[0])
        if not isinstance(asked, str):
            return UNKNOWN
        nodes = inference.static_nodes(expr.receiver) if expr.receiver is not None else list(inference.cls.nodes)
        if expr.name == "has_node":
            if not nodes or None in nodes:
                return UNKNOWN
            return _all_or_none(inference.tree.resolve(one, asked) is not None for one in nodes if one is not None)
        classes = inference.classes_of(expr.receiver)
        if not classes:
            return UNKNOWN
        if expr.name == "has_method":
            return _all_or_none(inference.has_method(one, asked) for one in classes)
        if expr.name == "has_signal":
            return _all_or_none(one.signal(asked) for one in classes)
        if nodes and None not in nodes:
            return _all_or_none(asked in inference.tree.nodes[one].groups for one in nodes if one is not None)
        return _all_or_none(asked in inference.tree.nodes[one].groups for cls in classes for one in cls.nodes)

    def _type_test(self, expr: TypeTest) -> Any:
        wanted = self.inference.tree.named(expr.to)
        classes = self.inference.classes_of(expr.value)
        if wanted is None or not classes:
            return UNKNOWN
        if not set(classes) & set(wanted):
            return expr.negated
        nodes = self.inference.static_nodes(expr.value)
        if nodes and None not in nodes and set(classes) <= set(wanted):
            return not expr.negated
        return UNKNOWN


def _all_or_none(found: Any) -> Any:
    each = set(found)
    return each.pop() if len(each) == 1 else UNKNOWN
