"""What is only seen: materials, colours, tweens and other helpers of nodes that draw.

A variable that holds one has the type `SEEN`. It is left out with everything that is done to it, so a condition that
asks for it may decide only over what is left out as well.
"""

from __future__ import annotations

import re

from godojo.twin.gdscript import effects
from godojo.twin.gdscript.class_expressions import ClassExpressions
from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.folding import UNKNOWN
from godojo.twin.gdscript.infer import every_statement
from godojo.twin.gdscript.nodes import (
    Assign,
    Attribute,
    Call,
    Cast,
    Declare,
    Do,
    Expr,
    If,
    Index,
    Jump,
    Name,
    Plan,
    Ternary,
    Variable,
)
from godojo.twin.gdscript.types import SEEN, TEXT, Type

_KEPT = {"mesh", "text"}
"""Properties that only draw, and of which a script may read something that matters."""
_MAKERS = {
    "create_tween",
    "get_active_material",
    "get_surface_override_material",
    "get_theme_color",
    "get_theme_stylebox",
    "surface_get_material",
}
_MAY_CHANGE = {"tween_callback", "tween_method", "tween_subtween"}


class Seen(ClassExpressions):
    """Finds what is only seen."""

    def is_seen(self, expr: Expr | None) -> bool:
        """Whether a value is only seen, by what it is made of."""
        match expr:
            case Name(name=name):
                variable = self.scope.find(name)
                return variable is not None and (variable.type is SEEN or self._holds_seen(variable))
            case Attribute(value=Name(name="Color")):
                return True
            case Attribute(value=owner, name=name):
                return name in effects.SHOWN - _KEPT - self.whole.declared or self.is_seen(owner)
            case Index(value=owner) | Cast(value=owner):
                return self.is_seen(owner)
            case Call(receiver=None, name="Color"):
                return True
            case Call(receiver=Name(name=owner), name=name) if self.scope.find(owner) is None:
                made = name == "new" and re.search(effects.SHOWN_RESOURCES, owner) is not None
                return made or owner == "Color" or (name in _MAKERS and name not in self.whole.declared)
            case Call(receiver=receiver, name=name):
                return (name in _MAKERS and name not in self.whole.declared) or self.is_seen(receiver)
            case Ternary(then=then, other=other):
                return self.is_seen(then) and self.is_seen(other)
        return False

    def _holds_seen(self, variable: Variable) -> bool:
        """Whether a member is declared as something that is only seen, or holds such a thing when the twin begins."""
        if not variable.member or variable.declaration is None:
            return False
        declared = str(variable.declaration.declared)
        return re.search(f"{effects.SHOWN_RESOURCES}|^Color$|^Tween$", declared) is not None or self._is_resource(
            variable
        )

    def _find(self, expr: Expr, expected: Type | None) -> Type | None:
        if self.is_seen(expr):
            self.require_seen(expr)
            expr.place, expr.plan = None, Plan("0", [], SEEN)
            return SEEN
        return super()._find(expr, expected)

    def require_seen(self, expr: Expr) -> None:
        """Refuses tweens of what is not only seen, and arguments that may change the game."""
        for one in effects.parts(expr):
            if isinstance(one, Call) and (reason := self.tweens(one)):
                raise Refusal(one.line, reason)
        at: Expr | None = expr
        while at is not None:
            for one in at.args if isinstance(at, Call) else ():
                self.require_pure(one)
            at = at.receiver if isinstance(at, Call) else getattr(at, "value", None)

    def tweens(self, call: Call) -> str:
        """Why a call of a tween may change the game, if it may."""
        if call.name in _MAY_CHANGE - self.whole.declared:
            return f"{call.name}() of a tween is not compiled"
        if call.name != "tween_property" or len(call.args) < 2:
            return ""
        name = self.folding.value(call.args[1])
        if isinstance(name, str) and self.only_shown(Attribute(call.line, call.args[0], name.partition(":")[0])):
            return ""
        return "a tween of what is not only seen is not compiled"

    def only_shown(self, target: Expr) -> str:
        at = target
        while isinstance(at, Attribute | Index):
            at = at.value
        if isinstance(at, Name) and self.is_seen(at):
            return f"{at.name}, which is only seen"
        return super().only_shown(target)

    # --- statements -------------------------------------------------------------------------------------------------

    def if_seen(self, statement: If) -> bool:
        """Leaves out an `if` that asks for what is only seen; False where it asks for something else."""
        open_ = [condition for condition, _ in statement.branches if self.folding.value(condition) is UNKNOWN]
        if not any(self.is_seen(one) for condition in open_ for one in effects.parts(condition)):
            return False
        for condition, body in statement.branches:
            self.require_pure(condition)
            condition.folded = None
            self._block(body)
        self._block(statement.otherwise)
        bodies = [*(body for _, body in statement.branches), statement.otherwise]
        if all(self._is_left_out(one) for body in bodies for one in every_statement(body)):
            for condition, _ in statement.branches:
                condition.folded = False
        elif self.last:
            raise Refusal(statement.line, "a condition over what is only seen decides more than what is seen")
        return True

    def _is_left_out(self, statement: object) -> bool:
        match statement:
            case Do(dropped=dropped):
                return bool(dropped)
            case Declare(variable=variable, value=value):
                seen = variable is not None and variable.type in (SEEN, TEXT)
                return seen or value is None or not any(isinstance(one, Call) for one in effects.parts(value))
            case Assign(target=target):
                return target.type is None
            case Jump(word="pass") | If():
                return True
        return False
