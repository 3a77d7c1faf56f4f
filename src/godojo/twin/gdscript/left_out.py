"""What is left out of the generated code: whatever only draws, sounds or prints."""

from __future__ import annotations

import re

from godojo.twin.gdscript import effects
from godojo.twin.gdscript.engine_calls import EngineCalls
from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.live import LiveClass
from godojo.twin.gdscript.nodes import (
    Attribute,
    Call,
    Expr,
    Index,
    Name,
    Variable,
)
from godojo.twin.gdscript.types import (
    Conflict,
)
from godojo.twin.world import api
from godojo.twin.world.classes import PARTICLES

_SILENT = {"Input", "DisplayServer", "RenderingServer", "AudioServer", "OS", "JavaScriptBridge"}
"""Singletons whose calls, as statements, change nothing in a headless game."""


class LeftOut(EngineCalls):
    """Finds calls and assignments that cannot change the game."""

    def is_seen(self, expr: Expr | None) -> bool:
        raise NotImplementedError

    # --- what is left out -------------------------------------------------------------------------------------------

    def only_shown(self, target: Expr) -> str:
        """What is left out, if the target belongs to something that only draws or sounds."""
        words = []
        at = target
        while isinstance(at, Attribute | Index):
            if isinstance(at, Attribute):
                words.append(at.name)
                if at.name in effects.SHOWN and at.name not in self.whole.declared:
                    return f"{at.name} is set"
            at = at.value
            classes = self._node_classes(at)
            if classes and words and all(self._only_seen_of(one, words[-1]) for one in classes):
                return f"{words[-1]} of {classes[0].name} is set"
        if isinstance(at, Name) and at is not target:
            variable = self.scope.find(at.name)
            if variable is not None and self._is_resource(variable):
                return f"{words[0]} of a resource is set"
        if isinstance(at, Name) and at is target and at.name in effects.SHOWN and self.scope.find(at.name) is None:
            return f"{at.name} is set"
        return ""

    def _only_seen_of(self, cls: LiveClass, name: str) -> bool:
        """Whether a property or method of nodes cannot change the game."""
        if cls.member(name):
            return False
        if cls.source is None and cls.native in PARTICLES:
            if (cls.native, name) not in api.PROPERTIES and (cls.native, name) not in api.METHODS:
                return self.whole.is_shown(cls) or api.find_property(cls.native, name) is None
            self.whole.keep(cls)  # they draw random numbers
        return self.whole.is_shown(cls)

    def _is_resource(self, variable: Variable) -> bool:
        if not variable.member or variable.owner is None:
            return False
        values = self.tree.values(self.cls, variable.name)
        resources = self.whole.snapshot.resources
        return bool(values) and all(
            one[0] == "Color"
            or (one[0] == "resource" and re.search(effects.SHOWN_RESOURCES, resources[one[1]].class_name))
            for one in values
        )

    def _node_classes(self, expr: Expr) -> list[LiveClass]:
        if isinstance(expr, Call) and self.static_nodes(expr) is None:
            return []
        if isinstance(expr, Name) and expr.name == "self":
            return []
        if isinstance(expr, Name) and self.scope.find(expr.name) is None and not self._is_value(expr.name):
            return []
        self.dropping += 1  # this is only a question
        try:
            return self.classes_of(expr)
        except (Refusal, Conflict):
            return []
        finally:
            self.dropping -= 1

    def without_effect(self, call: Call) -> str:
        """What is left out, if a call cannot change the game."""
        receiver = call.receiver
        if call.name in api.IGNORED_METHODS - self.whole.declared:
            return f"{call.name}()"
        if isinstance(receiver, Name) and receiver.name in _SILENT and self.scope.find(receiver.name) is None:
            return f"{receiver.name}.{call.name}()"
        if receiver is None or (isinstance(receiver, Name) and receiver.name in ("self", "super")):
            classes = [self.cls]
            if receiver is None and self.cls.declaring(call.name) is None:
                return ""
        else:
            if isinstance(receiver, Attribute | Index | Name) and self.only_shown(Attribute(call.line, receiver, "x")):
                return f"{call.name}()"
            classes = self._node_classes(receiver)
        if not classes:
            return ""
        if all(one.source is None and self._only_seen_of(one, call.name) for one in classes):
            return f"{call.name}() of {classes[0].name}"
        scripted = [one.declaring(call.name) for one in classes]
        if isinstance(receiver, Name) and receiver.name == "super":
            scripted = [self.cls.declaring(call.name, above=self.declaring)]
        pairs = list(zip(classes, scripted, strict=True))
        if any(one is None or self.whole.has_effects(cls, one, call.name) for cls, one in pairs):
            return ""
        return f"{call.name}()"

    def is_pure_call(self, expr: Call) -> bool:
        if expr.receiver is None and expr.name in ("str", "var_to_str", "len", "is_instance_valid"):
            return True
        if expr.name in effects.PURE_METHODS - self.whole.declared:
            return True
        if expr.name in ("keys", "values", "find_key") and self.enum_of(expr.receiver) is not None:
            return True
        if expr.receiver is None and self.cls.declaring(expr.name) is not None:
            return not self.whole.has_effects(self.cls, self.cls.declaring(expr.name), expr.name)
        try:
            self.call(expr)
        except Refusal:
            return False
        if expr.place is not None:
            return True
        if expr.targets:
            return not any(
                self.whole.has_effects(cls, self.tree.script(function.path), function.name)
                for cls, function in expr.targets
            )
        return expr.plan is not None and expr.plan.pure
