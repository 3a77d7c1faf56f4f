"""Functions that choose by the class of a node, where it may be of several."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from godojo.twin.gdscript import builtins
from godojo.twin.gdscript.emit import _Writer
from godojo.twin.gdscript.infer import every_statement
from godojo.twin.gdscript.live import LiveClass, common
from godojo.twin.gdscript.nodes import Function, Place, Return
from godojo.twin.gdscript.operators import ATOM
from godojo.twin.gdscript.types import BOOL, FLOAT, NULL, NUMBERS, ArrayType, Type

if TYPE_CHECKING:
    from godojo.twin.gdscript.whole import Whole


class Dispatchers(_Writer):
    """Writes them."""

    whole: Whole

    def write_dispatchers(self) -> None:
        done: set[str] = set()
        while True:
            waiting = [name for name in self.whole.dispatches if name not in done]
            if not waiting:
                return
            for name in waiting:
                done.add(name)
                found: Any = self.whole.dispatches[name][1]
                if name.startswith("get_") and isinstance(found, tuple):
                    self._member_dispatchers(name, *found)
                else:
                    self._call_dispatcher(name, found)

    def _cases(self, groups: list[list[LiveClass]]) -> list[tuple[int, str]]:
        """The groups in the order in which they are tested, derived classes first, each with its test."""
        order = sorted(range(len(groups)), key=lambda i: -max(len(one.chain()) for one in groups[i]))
        return [(i, " or ".join(f"is_{one.name}(node)" for one in groups[i])) for i in order]

    def _member_dispatchers(
        self, name: str, groups: list[list[LiveClass]], places: list[Place], kind: Type | None
    ) -> None:
        cases = self._cases(groups)
        assert kind is not None
        self.lines += ["", "", "@kernel", f"def {name}(node):"]
        for i, (at, test) in enumerate(cases):
            place = places[at]
            assert place.type is not None
            owner = f"{common(groups[at])}(node)"
            text = re.sub(r"\w+\(\{r\}\)|\{r\}", owner, place.read) if "{r}" in place.read else place.read
            text = self._converted(text, ATOM, place.type, kind)[0]
            if i < len(cases) - 1:
                self.lines += [f"    if {test}:", f"        return {text}"]
            else:
                self.lines.append(f"    return {text}")
        if not all(one.write for one in places):
            return
        self.lines += ["", "", "@kernel", f"def s{name[1:]}(node, value):"]
        for i, (at, test) in enumerate(cases):
            place = places[at]
            assert place.type is not None
            owner = f"{common(groups[at])}(node)"
            value = self._converted("value", ATOM, kind, place.type)[0]
            text = re.sub(r"\w+\(\{r\}\)|\{r\}", owner, place.write).replace("{v}", value)
            word = "if" if i == 0 else "elif"
            self.lines += [f"    {word} {test}:", f"        {text}"]

    def _call_dispatcher(self, name: str, targets: list[tuple[LiveClass, Function]]) -> None:
        params = [one.name for one in targets[0][1].params]
        params = [f"{one}_" if one in ("node",) else one for one in params]
        self.lines += ["", "", "@kernel", f"def {name}({', '.join(['node', *params])}):"]
        cases = self._cases([[cls] for cls, _ in targets])
        results = [one.result.type for _, one in targets if one.result is not None]
        wanted: Type | None = results[0]
        if any(one is not wanted for one in results) and all(one in (BOOL, *NUMBERS) for one in results):
            wanted = FLOAT
        some_members = any(True in returns_members(one) for _, one in targets)
        for i, (at, test) in enumerate(cases):
            cls, function = targets[at]
            given = []
            for param, other, shown in zip(function.params, targets[0][1].params, params, strict=True):
                assert param.variable is not None
                assert other.variable is not None
                if param.variable.type is not None and other.variable.type is not None:
                    shown = self._converted(shown, ATOM, other.variable.type, param.variable.type)[0]
                given.append(shown)
            text = f"{function.python}({', '.join([f'{cls.name}(node)', *given])})"
            result = function.result.type if function.result is not None else None
            if result is not None and wanted is not None and result is not NULL:
                text = self._converted(text, ATOM, result, wanted)[0]
            if isinstance(wanted, ArrayType) and some_members:
                text = f"copied({builtins.new_array(wanted, [], function.line)}, {text})"
            word = "return " if wanted is not NULL else ""
            if i < len(cases) - 1 or not word:
                self.lines += [f"    {'if' if i == 0 else 'elif'} {test}:", f"        {word}{text}"]
            else:
                self.lines.append(f"    {word}{text}")


def returns_members(function: Function) -> set[bool]:
    """Whether a function returns arrays that are members, or others, or both: to Numba they are of different types."""
    returns = [one.value for one in every_statement(function.body) if isinstance(one, Return)]
    return {one.place is not None and one.place.variable is not None for one in returns if one is not None}
