"""Which functions can change a game: those that only draw, sound or print are left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from godojo.twin.gdscript import builtins, ignored
from godojo.twin.gdscript.folding import UNKNOWN
from godojo.twin.gdscript.nodes import (
    Assign,
    Attribute,
    Await,
    Call,
    Declare,
    Do,
    Expr,
    For,
    Function,
    If,
    Index,
    Match,
    Name,
    Return,
    Stmt,
    While,
)
from godojo.twin.world import api

if TYPE_CHECKING:
    from godojo.twin.gdscript.class_inference import ClassInference

SHOWN = {
    "albedo_color",
    "cast_shadow",
    "emission",
    "emission_energy_multiplier",
    "font_size",
    "light_color",
    "light_energy",
    "material",
    "material_override",
    "mesh",
    "modulate",
    "process_material",
    "self_modulate",
    "surface_material_override",
    "text",
    "texture",
    "tooltip_text",
    "z_index",
}
"""Properties that only draw, of any node."""
SHOWN_RESOURCES = (
    r"Material(3D)?$|Texture|^Environment$|Mesh$|^Shader|^AudioStream|^Gradient|^LabelSettings$|^Theme$|^StyleBox|^Font"
)
PURE_METHODS = {
    "abs",
    "angle_to",
    "direction_to",
    "distance_squared_to",
    "distance_to",
    "dot",
    "format",
    "get_class",
    "is_empty",
    "length",
    "length_squared",
    "lpad",
    "normalized",
    "pad_decimals",
    "pad_zeros",
    "rotated",
    "size",
    "to_upper",
}
"""Methods of values, and of text, which change nothing whatever they are called on."""


def returns_only(getter: Function, name: str) -> bool:
    """Whether a getter returns its member and does nothing else."""
    body = getter.body
    return len(body) == 1 and isinstance(body[0], Return) and _is_member(body[0].value, name)


def sets_only(setter: Function, name: str) -> bool:
    """Whether a setter assigns its member and does nothing else."""
    body, value = setter.body, setter.params[0].name
    if len(body) != 1 or not isinstance(body[0], Assign) or body[0].op:
        return False
    assigned = body[0].value
    return _is_member(body[0].target, name) and isinstance(assigned, Name) and assigned.name == value


def _is_member(expr: Expr | None, name: str) -> bool:
    if isinstance(expr, Attribute) and isinstance(expr.value, Name) and expr.value.name == "self":
        return expr.name == name
    return isinstance(expr, Name) and expr.name == name


def parts(expr: Expr) -> Iterator[Expr]:
    """An expression and everything inside it."""
    yield expr
    for one in dataclasses.fields(expr):
        if one.init:
            found = getattr(expr, one.name)
            for inner in found if isinstance(found, list) else [found]:
                if isinstance(inner, Expr):
                    yield from parts(inner)


class Effects:
    """Looks through one function of a class."""

    def __init__(self, inference: ClassInference, function: Function, only_others: bool = False) -> None:
        self.inference, self.only_others = inference, only_others
        self.locals = {one.name for one in function.params}
        self.seen: set[str] = set()
        """Locals that hold what is only seen."""
        self.function = function

    def any(self) -> bool:
        return self._block(self.function.body)

    def _block(self, body: list[Stmt]) -> bool:
        return any([self._statement(one) for one in body])  # noqa: C419 - all of them declare locals

    def _statement(self, statement: Stmt) -> bool:
        match statement:
            case Declare(name=name, value=value):
                self.locals.add(name)
                if value is not None and self._is_seen(value):
                    self.seen.add(name)
                return value is not None and self._value(value)
            case Assign(target=target, value=value):
                local = isinstance(target, Name) and target.name in self.locals
                local = local or self._is_seen(target)
                local = local or (self.only_others and self._on_self(target))
                return self._value(value) or not (local or bool(self.inference.only_shown(target)))
            case Do(value=value):
                return self._value(value)
            case Return(value=value):
                return value is not None and self._value(value)
            case If(branches=branches, otherwise=otherwise):
                found = False
                for condition, body in branches:
                    known = self._known(condition)
                    if known is not False:
                        found |= self._value(condition) | self._block(body)
                    if known is True:
                        return found
                return found | self._block(otherwise)
            case While(condition=condition, body=body):
                return self._value(condition) | self._block(body)
            case For(name=name, iterable=iterable, body=body):
                self.locals.add(name)
                return self._value(iterable) | self._block(body)
            case Match(subject=subject, branches=branches_):
                return self._value(subject) or any([self._block(one.body) for one in branches_])  # noqa: C419
        return False

    def _known(self, condition: Expr) -> bool | None:
        """What a condition is, where that is known before the game runs."""
        if any(isinstance(one, Name) and one.name in self.locals for one in parts(condition)):
            return None
        value = self.inference.folding.value(condition)
        return None if value is UNKNOWN else bool(value)

    def _on_self(self, target: Expr) -> bool:
        """Whether it is a member or property of the node itself, or a part of one."""
        while isinstance(target, Attribute | Index):
            variable = self.inference.globals.find(target.value.name) if isinstance(target.value, Name) else None
            if variable is not None and variable.member:
                return False  # perhaps another node
            target = target.value
        return isinstance(target, Name) and target.name not in self.locals

    def _value(self, expr: Expr) -> bool:
        return any(isinstance(one, Await) or (isinstance(one, Call) and self._call(one)) for one in list(parts(expr)))

    def _is_seen(self, expr: Expr | None) -> bool:
        """Whether it is only seen, or a part of such a local."""
        at = expr
        while isinstance(at, Attribute | Index | Call) and not self.inference.is_seen(at):
            at = at.receiver if isinstance(at, Call) else at.value
        return at is not None and ((isinstance(at, Name) and at.name in self.seen) or self.inference.is_seen(at))

    def _call(self, call: Call) -> bool:
        name, receiver, inference = call.name, call.receiver, self.inference
        if inference.tweens(call):
            return True
        if self._is_seen(call):
            return False
        harmless = PURE_METHODS | api.IGNORED_METHODS | (builtins.VALUE_METHODS if receiver is not None else set())
        if name in harmless - inference.whole.declared:
            return False
        if receiver is None or (isinstance(receiver, Name) and receiver.name == "self"):
            script = inference.cls.declaring(name)
            if script is not None:
                return inference.whole.has_effects(inference.cls, script, name)
            if name in ignored.FUNCTIONS | ignored.TEXT | {"assert", "is_instance_valid", "get_node", "get_parent"}:
                return False
            method = api.find_method(inference.cls.native, name)
            if method is not None:
                return not method.pure and not inference.whole.is_shown(inference.cls)
            return not builtins.is_pure_function(name)
        if isinstance(receiver, Name) and receiver.name in self.locals:
            return True
        return not inference.without_effect(call) and not self._pure_method(call)

    def _pure_method(self, call: Call) -> bool:
        found = [one for (_, name), one in api.METHODS.items() if name == call.name]
        return bool(found) and all(one.pure for one in found)
