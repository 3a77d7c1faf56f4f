"""What names stand for, and what they are called in Python."""

import builtins
import keyword

from godojo.twin.gdscript import runtime
from godojo.twin.gdscript.nodes import Variable

_TAKEN = (
    {name for name in vars(runtime) if not name.startswith("_")} | set(dir(builtins)) | {"kernel", "self", "MEMBERS"}
)


def python_name(name: str) -> str:
    """The name in the generated code: the script's own, with `_` after it where Python or the runtime has that one."""
    return f"{name}_" if name in _TAKEN or keyword.iskeyword(name) else name


class Scope:
    """The names that a block sees, innermost first."""

    def __init__(self, outer: "Scope | None" = None) -> None:
        self._outer = outer
        self._names: dict[str, Variable] = {}
        self.used: set[str] = outer.used if outer is not None else set()

    def find(self, name: str) -> Variable | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope._names:
                return scope._names[name]
            scope = scope._outer
        return None

    def add(self, variable: Variable) -> None:
        """Adds a local; a second one of the same name in a function gets a number, since their types may differ."""
        if not variable.python:
            plain = python_name(variable.name)
            variable.python, number = plain, 2
            while variable.python in self.used:
                variable.python, number = f"{plain}_{number}", number + 1
        self.used.add(variable.python)
        self._names[variable.name] = variable
