"""Which functions a whole program reaches, and how it chooses between classes."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from godojo.twin.gdscript.class_inference import ClassInference
from godojo.twin.gdscript.effects import Effects, parts
from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.infer import every_statement
from godojo.twin.gdscript.live import LiveClass, common, copy_function
from godojo.twin.gdscript.lowering import keep_dictionary, local_dictionaries, lower
from godojo.twin.gdscript.names import python_name
from godojo.twin.gdscript.nodes import (
    Assign,
    Binary,
    Call,
    Const,
    Do,
    Expr,
    Function,
    If,
    Name,
    Param,
    Place,
    Script,
    Stmt,
    Variable,
)
from godojo.twin.gdscript.types import (
    BOOL,
    FLOAT,
    Conflict,
    MapType,
    Type,
    join,
    ref,
)
from godojo.twin.gdscript.waits import expressions, split, wait_name
from godojo.twin.gdscript.whole_tree import WholeTree
from godojo.twin.world import api

if TYPE_CHECKING:
    from godojo.twin.gdscript.whole import Whole


def _is_random(expr: Expr) -> bool:
    return any(isinstance(one, Call) and (one.name.startswith("rand") or one.name in _RANDOM) for one in parts(expr))


_RANDOM = ("pick_random", "shuffle")


class WholeReach(WholeTree):
    """Makes the functions of each class as they are reached."""

    def inference(self, cls: LiveClass) -> ClassInference:
        if cls not in self.inferences:
            self.inferences[cls] = ClassInference(cast("Whole", self), cls)
        return self.inferences[cls]

    # --- reaching functions -----------------------------------------------------------------------------------------

    def reach(self, cls: LiveClass, name: str) -> Function:
        script = cls.declaring(name)
        assert script is not None
        return self.reach_in(cls, script, name)

    def reach_in(self, cls: LiveClass, script: Script, name: str) -> Function:
        first = cls.declaring(name)
        prefix = cls.name if first is script else f"{cls.name}_{self._link(cls, script.path)}"
        agent = name == "get_obs" and first is script and any(one.node in cls.nodes for one in self.snapshot.agents)
        python = f"{prefix}_{name}_dict" if agent else f"{prefix}_{name}"
        return self._reached(cls, (script.path, name), python, lambda: script.functions[name])

    def _link(self, cls: LiveClass, path: str) -> str:
        return next((one.name for one in cls.links() if one.path == path), "static")

    def _reached(self, cls: LiveClass, key: tuple[str, str], python: str, find: Callable[[], Function]) -> Function:
        if key not in cls.functions:
            function = copy_function(find(), key[0])
            lower(function, lambda name: cls.declaring(name) is not None)
            for one in local_dictionaries(function):
                label = f"{function.name.strip('_')}_{one.name}_{one.line}"
                name = self.hidden(cls, label, MapType(), [["Dictionary", []]] * len(cls.nodes))
                keep_dictionary(function.body, one, name)
            function.python = python_name(python)
            cls.functions[key] = function
            self._split(cls, function)
            self.inference(cls).prepare(function)
        function = cls.functions[key]
        for after in function.waits:
            self._reached(cls, (key[0], f"@{after.name}"), f"{cls.name}_{after.name}", lambda one=after: one)  # type: ignore[misc]
        if id(function) not in self.reached:
            self.reached[id(function)] = (cls, function)
            self.news = True
        return function

    def _split(self, cls: LiveClass, function: Function) -> None:
        """Cuts a function at its `await`s: the end of a later tick goes on with it."""
        if function.name in ("_physics_process", "_process"):
            return
        for wait in split(function):
            self.hidden(cls, wait_name(wait.line), FLOAT, [["float", -1.0]] * len(cls.nodes))
            function.waits.append(wait.after)
            cls.waits[wait_name(wait.line)] = wait.after

    def defer(self, cls: LiveClass, name: str, line: int) -> str:
        """The hidden member that asks for a call after the tick."""
        function = self.reach(cls, name)
        if function.params:
            raise Refusal(line, f"a deferred call of {name}() with arguments is not compiled")
        flag = self.hidden(cls, f"deferred_{name}", BOOL, [["bool", False]] * len(cls.nodes))
        cls.deferred[flag] = name
        return flag

    def reach_making(self, cls: LiveClass) -> None:
        """Reaches what a node of a pool does when it is made: variables that begin with random numbers.

        All others begin as in the template.
        """
        body: list[Stmt] = []
        for link in reversed(list(cls.links())):
            for member in link.source.members if link.source is not None else ():
                if member.value is not None and "onready" not in member.annotations and _is_random(member.value):
                    body.append(Assign(member.line, Name(member.line, member.name), "", copy.deepcopy(member.value)))
            init = link.source.functions.get("_init") if link.source is not None else None
            if init is not None and any(
                _is_random(one) for part in every_statement(init.body) for one in expressions(part)
            ):
                assert link.source is not None
                self.refusals.add((link.path, init.line, "_init() with random numbers is not compiled"))
        if body:
            made = Function("make", body[0].line, [], "void", body, False)
            self._reached(cls, (cls.path, "@make"), f"{cls.name}_make", lambda: made)

    def reach_entering(self, cls: LiveClass) -> None:
        """Reaches what a node of a pool does when it enters the tree: `@onready` variables, then `_ready`."""
        body: list[Stmt] = []
        for name in ("_enter_tree", "_ready"):
            if name == "_ready":
                for member in self.tree.onready(cls):
                    if member.value is not None:
                        body.append(
                            Assign(member.line, Name(member.line, member.name), "", copy.deepcopy(member.value))
                        )
            script = cls.declaring(name)
            if script is not None:
                body.append(Do(script.functions[name].line, Call(script.functions[name].line, None, name, [])))
        if body:
            made = Function("enter", body[-1].line, [], "void", body, False)
            self._reached(cls, (cls.path, "@enter"), f"{cls.name}_enter", lambda: made)

    def reach_static(self, cls: LiveClass, path: str, function: Function) -> Function:
        own = any(one.path == path for one in cls.links())
        owner = cls.name if own else f"{cls.name}_{self.snapshot.scripts[path].class_name}"
        return self._reached(cls, (path, function.name), f"{owner}_{function.name}", lambda: function)

    def reach_accessor(self, cls: LiveClass, owner: LiveClass, function: Function, variable: Variable) -> Function:
        found = self._reached(cls, (owner.path, f"@{function.name}"), f"{cls.name}_{function.name}", lambda: function)
        found.accessor_of = variable.name
        if function.params:
            param = found.params[0].variable
            assert param is not None
            if param.type is None and variable.type is not None:
                param.type, param.fixed = variable.type, variable.fixed
        elif found.result is not None and found.result.type is None and variable.type is not None:
            found.result.type, found.result.fixed = variable.type, variable.fixed
        return found

    def reach_signal(self, cls: LiveClass, signal: str, count: int, line: int) -> Function:
        """A function that calls what a signal of the script is connected to."""
        first = next((key for _, key in cls.functions if key.startswith(f"@emit_{signal}/")), f"@emit_{signal}/{count}")
        more = "" if first.endswith(f"/{count}") else f"_{count}"  # it is emitted with fewer or more values elsewhere
        return self._reached(
            cls,
            (cls.path, f"@emit_{signal}/{count}"),
            f"{cls.name}_emit_{signal}{more}",
            lambda: self._emitter(cls, signal, count, line),
        )

    def _emitter(self, cls: LiveClass, signal: str, count: int, line: int) -> Function:
        links = [
            [one for one in self.snapshot.connections if one.source == node and one.signal == signal]
            for node in cls.nodes
        ]
        params = [Param(f"a{i}", line, None, None) for i in range(count)]
        body: list[Any] = []
        for slot in range(max(map(len, links), default=0)):
            each = [one[slot] if slot < len(one) else None for one in links]
            # Nodes of a class may call different methods: the first agent's `_on_first_fell`, the second's another.
            kinds = [(one.method, one.binds) for one in each if one is not None]
            if any(one is not None and one.flags & 5 for one in each):
                raise Refusal(line, f"{signal} is connected deferred or for once, which is not compiled")
            for method, binds in [one for i, one in enumerate(kinds) if one not in kinds[:i]]:
                targets = [one.target if one and (one.method, one.binds) == (method, binds) else None for one in each]
                kind = ref(self.tree.class_of[one] for one in targets if one is not None)
                if all(one.source is None for one in kind.classes):
                    continue
                values = [["null"] if one is None else ["node", one] for one in targets]
                holder = self.hidden(cls, f"{signal}_{slot}", kind, values)
                args: list[Expr] = [Name(line, one.name) for one in params]
                args += [Const(line, one[1] if len(one) > 1 else None) for one in binds]
                call = Do(line, Call(line, Name(line, holder), method, args))
                absent = Binary(line, "!=", Name(line, holder), Const(line, None))
                body.append(If(line, [(absent, [call])], []) if None in targets else call)
        return Function(f"emit_{signal}", line, params, "void", body, False)

    def hidden(self, cls: LiveClass, label: str, kind: Type, values: list[Any]) -> str:
        """A member that the compiler adds to a class, with its value for each node."""
        plain = "_" + re.sub(r"\W+", "_", label.replace("..", "up").replace("%", "")).strip("_")
        name, number = plain, 2
        while name in cls.hidden or cls.member(name) is not None:
            if name in cls.hidden and all(
                self.initial[node].get(name) == value for node, value in zip(cls.nodes, values, strict=True)
            ):
                return name
            name, number = f"{plain}_{number}", number + 1
        cls.hidden[name] = Variable(name, 0, kind, fixed=True, member=True, python=name, owner=cls, assigned=True)
        for node, value in zip(cls.nodes, values, strict=True):
            self.initial.setdefault(node, {})[name] = value
        return name

    # --- several classes --------------------------------------------------------------------------------------------

    def receiver(self, classes: list[LiveClass], having: list[LiveClass], found: Any) -> str:
        """A node as the class that has a member: `{r}`, or a cast of it."""
        wanted = found.owner.name if isinstance(found, Variable) and found.owner is not None else common(having)
        static, chain = common(classes), classes[0].chain()
        return "{r}" if wanted in chain[chain.index(static) :] else f"{wanted}({{r}})"

    def covering(self, classes: list[LiveClass], hint: str) -> list[str]:
        """The classes of the generated code that a type hint covers."""
        if hint in self.tree.by_class_name:
            path = self.tree.by_class_name[hint]
            found = {link.name: None for one in classes for link in one.links() if link.path == path}
            return list(found)
        return [hint]

    def dispatched_place(self, name: str, groups: list[list[LiveClass]], places: list[Place], line: int) -> Place:
        """A member that is in different places in different classes."""
        kind: Type | None = None
        try:
            for one in places:
                kind = join(kind, one.type)
        except Conflict as conflict:
            raise Refusal(line, f"{name} is {conflict}, by the class of the node") from None
        classes = sorted({cls.name for group in groups for cls in group})
        getter, setter = f"get_{name}_of_{len(classes)}", f"set_{name}_of_{len(classes)}"
        number = 2
        while self.dispatches.get(getter, (classes,))[0] != classes:
            getter, setter = f"get_{name}_of_{len(classes)}_{number}", f"set_{name}_of_{len(classes)}_{number}"
            number += 1
        for place in places:
            if place.variable is not None:
                self.mark_assigned(place.variable)
                if kind is not None and not place.variable.fixed:
                    place.variable.type = kind
        self.dispatches[getter] = (classes, (groups, places, kind))  # type: ignore[assignment]
        write = f"{setter}({{r}}, {{v}})" if all(one.write for one in places) else ""
        return Place(kind, f"{getter}({{r}})", write)

    def accessor_text(self, functions: list[tuple[LiveClass, Function]], receiver: str, args: list[str]) -> str:
        if len(functions) == 1:
            return f"{functions[0][1].python}({', '.join([receiver, *args])})"
        return f"{self.dispatch(functions)}({', '.join([receiver, *args])})"

    def dispatch(self, targets: list[tuple[LiveClass, Function]]) -> str:
        """The function that calls one of several, by the class of its first argument."""
        classes = sorted(cls.name for cls, _ in targets)
        plain = f"call_{targets[0][1].name.removeprefix('_')}"
        name, number = plain, 2
        while self.dispatches.get(name, (classes,))[0] != classes:
            name, number = f"{plain}_{number}", number + 1
        self.dispatches[name] = (classes, targets)  # type: ignore[assignment]
        return name

    # --- what only draws or sounds ----------------------------------------------------------------------------------

    def is_shown(self, cls: LiveClass) -> bool:
        """Whether the nodes of a class, and everything below them, only draw or sound."""
        if not api.is_ignored(cls.native) or cls in self.kept:
            return False
        return all(
            api.is_ignored(self.tree.nodes[below].native_class)
            and self.tree.nodes[below].script is None
            and self.tree.class_of[below] not in self.kept
            for node in cls.nodes
            for below in self.tree.below(node)
        )

    def keep(self, cls: LiveClass) -> None:
        """Notes that a script reads from nodes that otherwise only draw: they are a part of the twin."""
        if cls not in self.kept:
            self.kept.add(cls)
            self._effects.clear()
            self.news = True

    def has_effects(self, cls: LiveClass, script: Script | None, name: str) -> bool:
        """Whether a function can change the game."""
        if script is None or name not in script.functions:
            return True
        key = cls.name, script.path, name
        if key in self._asking:
            self._circular = True
            return False  # a function that calls itself adds nothing by that
        if key in self._effects:
            return self._effects[key]
        self._asking.append(key)
        inference = self.inference(cls)
        outer, inference.scope = inference.scope, inference.globals
        try:
            body = copy_function(script.functions[name], script.path)
            lower(body, lambda one: cls.declaring(one) is not None)
            found = Effects(inference, body).any()
        finally:
            inference.scope = outer
            self._asking.pop()
        if found or not self._circular or not self._asking:
            self._effects[key] = found
        if not self._asking:
            self._circular = False
        return found

    def leave_out(self, path: str, line: int, what: str) -> None:
        if self.last:
            self.left_out.add((path, line, what))
