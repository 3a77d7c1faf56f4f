"""Nodes that are known before the game runs, and the members of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from godojo.twin.gdscript import effects
from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.infer import Inference
from godojo.twin.gdscript.live import LiveClass
from godojo.twin.gdscript.nodes import (
    Attribute,
    Call,
    Cast,
    Expr,
    Function,
    Name,
    NodeAt,
    Place,
    Script,
    Variable,
)
from godojo.twin.gdscript.types import (
    INT,
    STRING,
    ArrayType,
    Type,
    ref,
)
from godojo.twin.world import api

if TYPE_CHECKING:
    from godojo.twin.gdscript.folding import Folding
    from godojo.twin.gdscript.live import LiveTree
    from godojo.twin.gdscript.whole import Whole


PATHS = {"get_node", "get_node_or_null", "get_parent", "get_child", "find_child", "get_owner"}
"""Calls that lead from one node to another."""


_MOVED_BY_ENGINE = {"Camera3D", "AudioListener3D"}
"""Nodes that only draw or sound, and whose state other things than scripts may change."""


class StaticNodes(Inference):
    """Finds nodes in the snapshot."""

    dropping = 0
    """Inside an expression that is left out, which reads nothing."""

    whole: Whole
    tree: LiveTree
    cls: LiveClass
    folding: Folding
    declaring: str
    foreign: Script | None = None
    """The script of a static function that is walked, where it is none of this class's."""
    written: set[int]
    """The target of the assignment that is walked, and its owners."""

    # --- nodes that are known before the game runs -------------------------------------------------------------------

    def static_nodes(self, expr: Expr | None) -> list[int | None] | None:
        """The node that an expression is, for each node of this class; None where that may change."""
        match expr:
            case None | Name(name="self"):
                return list(self.cls.nodes)
            case Name(name=name):
                variable = self.scope.find(name)
                if variable is not None:
                    return self._live_nodes(list(self.cls.nodes), name) if variable.member else None
                if name in self.whole.snapshot.autoloads:
                    return [self.whole.snapshot.autoloads[name]] * len(self.cls.nodes)
                return None
            case NodeAt(path=path):
                return [self.tree.resolve(one, path) for one in self.cls.nodes]
            case Cast(value=inner):
                return self.static_nodes(inner)
            case Attribute(value=inner, name=name):
                if isinstance(inner, Name) and inner.name == "self":
                    return self.static_nodes(Name(expr.line, name)) if self.cls.member(name) is not None else None
                nodes = self.static_nodes(inner)
                return None if nodes is None else self._live_nodes(nodes, name)
            case Call(name=name) if name in PATHS and not self._is_own(expr):
                nodes = self.static_nodes(expr.receiver)
                return None if nodes is None else self._reached(nodes, expr)
        return None

    def _is_own(self, expr: Call) -> bool:
        return expr.receiver is None and self.cls.declaring(expr.name) is not None

    def _live_nodes(self, nodes: list[int | None], name: str) -> list[int | None] | None:
        found: list[int | None] = []
        for index in nodes:
            if index is None:
                found.append(None)
                continue
            variable = self.tree.class_of[index].member(name)
            value = self.tree.value(index, name)
            if variable is None or variable.assigned or value[0] not in ("node", "null"):
                return None
            found.append(value[1] if value[0] == "node" else None)
        return found

    def _reached(self, nodes: list[int | None], expr: Call) -> list[int | None] | None:
        """Where `get_node(…)` and its relatives lead."""
        asked = self.folding.value(expr.args[0]) if expr.args else None
        found: list[int | None] = []
        for index in nodes:
            if index is None:
                found.append(None)
            elif self.whole.may_move(self.tree.class_of[index]) and expr.name in ("get_parent", "get_child"):
                return None
            elif expr.name == "get_parent":
                found.append(self.tree.nodes[index].parent if self.tree.nodes[index].parent >= 0 else None)
            elif expr.name in ("get_node", "get_node_or_null") and isinstance(asked, str):
                found.append(self.tree.resolve(index, asked))
            elif expr.name == "find_child" and isinstance(asked, str):
                found.append(self.tree.find(index, asked))
            elif expr.name == "get_child" and isinstance(asked, int):
                children = self.tree.children[index]
                found.append(children[asked] if -len(children) <= asked < len(children) else None)
            else:
                return None
        return found

    def node_place(self, expr: Expr, nodes: list[int | None], label: str) -> Type:
        """A hidden member that holds the node, whichever it is for each node of this class."""
        if all(one is None for one in nodes) and nodes:
            raise Refusal(expr.line, f"there is no node {label}")
        kind = ref(self.tree.class_of[one] for one in nodes if one is not None)
        values = [["null"] if one is None else ["node", one] for one in nodes]
        return self._hidden(expr, label, kind, values)

    def _list_place(self, expr: Expr, lists: list[list[int]], label: str) -> Type:
        kind = ref(self.tree.class_of[one] for found in lists for one in found)
        values = [["Array", [["node", one] for one in found]] for found in lists]
        return self._hidden(expr, label, ArrayType(kind, fixed=True), values)

    def _hidden(self, expr: Expr, label: str, kind: Type, values: list[Any]) -> Type:
        name = self.whole.hidden(self.cls, label, kind, values)
        variable = self.cls.hidden[name]
        expr.place = Place(variable.type, f"{{r}}.{name}", on_self=True)
        expr.type = variable.type
        assert variable.type is not None
        return variable.type

    # --- members of nodes -------------------------------------------------------------------------------------------

    def place(self, classes: list[LiveClass], name: str, expr: Expr, on_self: bool = False) -> Place | None:
        """A member or property of a node that is of one of these classes."""
        writing = id(expr) in self.written
        self.whole.touched |= {one for one in classes if one is not self.cls}
        groups: dict[int, tuple[Any, list[LiveClass]]] = {}
        for cls in classes:
            found: Any = cls.member(name) or cls.hidden.get(name) or api.find_property(cls.native, name)
            if found is not None:
                self._require_kept(cls, name, expr.line)
                groups.setdefault(id(found), (found, []))[1].append(cls)
        if not groups and name == "name":
            return Place(STRING, "node_name({r})", on_self=on_self)
        if not groups:
            return None
        places = []
        for found, having in groups.values():
            receiver = "{r}" if on_self else self.whole.receiver(classes, having, found)
            if isinstance(found, Variable):
                places.append(self._variable_place(found, having, receiver, on_self, writing))
            else:
                places.append(self._property_place(found, receiver, name, on_self))
        if len(places) == 1:
            return places[0]
        return self.whole.dispatched_place(name, [having for _, having in groups.values()], places, expr.line)

    def _require_kept(self, cls: LiveClass, name: str, line: int) -> None:
        """Nodes that only draw or sound are no part of a twin, unless a script reads from them."""
        if cls.source is not None or self.dropping or not self.whole.is_shown(cls):
            return
        if "Node3D" in api.ancestors(cls.native) and not _MOVED_BY_ENGINE & set(api.ancestors(cls.native)):
            self.whole.keep(cls)
        elif self.last:
            raise Refusal(line, f"{name} of {cls.name} is not compiled: such nodes are left out")

    def _variable_place(
        self, variable: Variable, having: list[LiveClass], receiver: str, on_self: bool, writing: bool
    ) -> Place:
        self.whole.type_member(variable)
        if isinstance(variable.type, ArrayType) and isinstance(variable.type.element, ArrayType):
            return self._nested_place(variable, having, on_self)
        read = self.whole.constant_text(variable) or f"{receiver}.{variable.python}"
        write = f"{receiver}.{variable.python} = {{v}}"
        if isinstance(variable.type, ArrayType):
            write = f"assign_array({receiver}.{variable.python}, {{v}})"
        place = Place(variable.type, read, write, variable, on_self)
        own = self.function is not None and self.function.accessor_of == variable.name and on_self
        if variable.declaration is None or own:
            return place
        getter = self._accessor(variable, having, "get")
        if getter:
            place.read = self.whole.accessor_text(getter, receiver, [])
            self.whole.mark_assigned(variable)
        setter = self._accessor(variable, having, "set") if writing else []
        if setter:
            place.write = self.whole.accessor_text(setter, receiver, ["{v}"])
        return place

    def _nested_place(self, variable: Variable, having: list[LiveClass], on_self: bool) -> Place:
        """An array of arrays that does not change: the items of all rows, and where each row begins."""
        self.whole.used.pop(id(variable), None)
        place = Place(variable.type, "", on_self=on_self)
        inner = variable.type.element if isinstance(variable.type, ArrayType) else None
        if len(having) != 1 or not isinstance(inner, ArrayType):
            return place
        cls, items, starts = having[0], [], []
        for value in self.tree.values(cls, variable.name):
            rows = [row[1] if row[0] == "Array" else [] for row in value[1]] if value[0] == "Array" else []
            items.append(["Array", [one for row in rows for one in row]])
            starts.append(["Array", [["int", sum(map(len, rows[:i]))] for i in range(len(rows))]])
        inner.root.frozen = True
        receiver = "{r}" if on_self else f"{cls.name}({{r}})"
        kept = self.whole.hidden(cls, f"{variable.name}_rows", ArrayType(inner.element, fixed=True), items)
        place.rows = f"{receiver}.{kept}"
        kept = self.whole.hidden(cls, f"{variable.name}_starts", ArrayType(INT, fixed=True), starts)
        place.read = f"{receiver}.{kept}"
        return place

    def _accessor(self, variable: Variable, having: list[LiveClass], word: str) -> list[tuple[LiveClass, Function]]:
        """The functions that get or set a member, if it has any that do more."""
        declaration, owner = variable.declaration, variable.owner
        assert declaration is not None
        assert owner is not None
        if word in declaration.delegates:
            return [(cls, self.whole.reach(cls, declaration.delegates[word])) for cls in having]
        function = declaration.getter if word == "get" else declaration.setter
        trivial = effects.returns_only if word == "get" else effects.sets_only
        if function is None or trivial(function, variable.name):
            return []
        return [(cls, self.whole.reach_accessor(cls, owner, function, variable)) for cls in having]

    def _property_place(self, found: api.Property, receiver: str, name: str, on_self: bool) -> Place:
        read = f"{receiver}.{name}" if found.field else f"{found.getter}({receiver})"
        write = ""
        if not found.read_only:
            write = f"{found.setter}({receiver}, {{v}})" if found.setter else f"{receiver}.{name} = {{v}}"
        return Place(self.whole.type_of(found.type), read, write, on_self=on_self)
