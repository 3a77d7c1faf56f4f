"""Arrays of arrays: members, kept as the items of all rows and where each row begins.

A row that is read is a copy. Rows are added and taken out by methods of the array, and their items set by
`grid[x][y] = value`; `runtime/rows.py` does it.
"""

from __future__ import annotations

from godojo.twin.gdscript import builtins
from godojo.twin.gdscript.class_names import ClassNames
from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.nodes import ArrayLiteral, Assign, Call, Expr, Index, Name, Place, Plan
from godojo.twin.gdscript.types import BOOL, INT, NULL, ArrayType, Type

_ADDS = {"append": "size({s})", "push_back": "size({s})", "push_front": "0"}
_TAKES = {"pop_front": "0", "pop_back": "-1", "remove_at": "{0}", "pop_at": "{0}"}


class Rows(ClassNames):
    """What changes arrays of arrays."""

    def _call(self, expr: Call) -> Type | None:
        receiver = expr.receiver
        kind = self.value(receiver) if receiver is not None and self._may_hold_rows(receiver) else None
        if not isinstance(kind, ArrayType):
            return super()._call(expr)
        row = self.value(expr.args[0]) if expr.name in _ADDS and len(expr.args) == 1 else None
        if not isinstance(kind.element, ArrayType) and not isinstance(row, ArrayType):
            return super()._call(expr)
        expr.place = expr.plan = expr.function = None
        expr.targets = []
        return self._rows_call(expr, kind, row)

    def _may_hold_rows(self, receiver: Expr) -> bool:
        """Whether it is a member of this class."""
        name = getattr(receiver, "name", "")
        variable = self.scope.find(name) if not hasattr(receiver, "value") else None
        return variable is not None and variable.member

    def _rows_call(self, expr: Call, kind: ArrayType, row: Type | None) -> Type | None:
        receiver, name, line = expr.receiver, expr.name, expr.line
        assert receiver is not None
        if row is not None and kind.element is None:
            self.news |= kind.put(ArrayType())
        inner = kind.element
        if not isinstance(inner, ArrayType):
            raise Refusal(line, f"{name}() of {row} to {kind} is not compiled")
        if isinstance(row, ArrayType):
            self.put(inner, row.element, line)
        place = receiver.place
        if place is None or not place.rows or not place.on_self:
            if self.last:
                raise Refusal(line, "arrays of arrays are compiled as members of their own script only")
            return NULL
        rows, starts = self.rows_of(place)
        if name in _ADDS:
            at = _ADDS[name].replace("{s}", starts)
            expr.plan = Plan(f"insert_row({rows}, {starts}, {at}, {{0}})", [None], NULL, pure=False)
        elif name in _TAKES and len(expr.args) == ("{0}" in _TAKES[name]):
            empty = builtins.new_array(inner, [], line) if self.last else ""
            text = f"take_row({empty}, {rows}, {starts}, {_TAKES[name]})"
            expr.plan = Plan(text, [INT] * len(expr.args), inner, pure=False)
        elif name in ("front", "back"):
            empty = builtins.new_array(inner, [], line) if self.last else ""
            expr.plan = Plan(f"row_of({empty}, {rows}, {starts}, {0 if name == 'front' else -1})", [], inner)
        elif name == "clear":
            expr.plan = Plan(f"clear_rows({rows}, {starts})", [], NULL, pure=False)
        elif name == "size":
            expr.plan = Plan(f"size({starts})", [], INT)
        elif name == "is_empty":
            expr.plan = Plan(f"size({starts}) == 0", [], BOOL, level=5)
        else:
            raise Refusal(line, f"{name}() of an array of arrays is not compiled")
        return expr.plan.result

    def rows_of(self, place: Place) -> tuple[str, str]:
        """The arrays that keep the items and the beginnings."""
        return place.rows.replace("{r}", "self"), place.read.replace("{r}", "self")

    def cell(self, target: Expr) -> Index | None:
        """The row that `grid[x][y]` is an item of."""
        if not isinstance(target, Index) or not isinstance(target.value, Index):
            return None
        owner = target.value.value
        return target.value if owner.place is not None and owner.place.rows and owner.place.on_self else None

    def store_cell(self, statement: Assign, row: Index, kind: Type | None) -> None:
        """`grid[x][y] = value`."""
        inner = row.type
        assert isinstance(inner, ArrayType)
        self.put(inner, kind, statement.line)

    def clears_rows(self, statement: Assign) -> bool:
        """`history = []`: the only array that an array of arrays is assigned."""
        variable = self.scope.find(statement.target.name) if isinstance(statement.target, Name) else None
        kind = variable.type if variable is not None and variable.member else None
        if not isinstance(kind, ArrayType) or not isinstance(kind.element, ArrayType):
            return False
        self.value(statement.target)
        if statement.op or not isinstance(statement.value, ArrayLiteral) or statement.value.items:
            raise Refusal(statement.line, "an array of arrays is assigned `[]` only; add rows by append()")
        return True
