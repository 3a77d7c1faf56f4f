"""Resources of nodes, nodes that are only seen, and nodes below others: tables of the snapshot, by a node's index."""

from __future__ import annotations

from typing import Any

from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.live import LiveClass
from godojo.twin.gdscript.nodes import Attribute, Call, Name, Plan
from godojo.twin.gdscript.tree_changes import TreeChanges
from godojo.twin.gdscript.types import ArrayType, KnownObject, Type, known_object, ref


class KnownObjects(TreeChanges):
    """What is read from the snapshot, of whichever node it is."""

    def known_resource(self, expr: Attribute | Name, classes: list[LiveClass]) -> KnownObject | None:
        """`collision_shape.shape`: a resource that every node of these classes has."""
        found: dict[int, dict[str, Any]] = {}
        for index in [node for one in classes for node in one.nodes]:
            value = self.tree.nodes[index].properties.get(expr.name, ["null"])
            if value[0] != "resource":
                return None
            found[index] = self.whole.snapshot.resources[value[1]].properties
        if not found:
            return None
        known = known_object(self.whole.known, expr.name, found)
        expr.plan = Plan("{r}", [], known)
        return known

    def known_node(self, expr: Call, classes: list[LiveClass]) -> Type | None:
        """`node.get_node("Path")` where that node is only seen: what it has never changes."""
        asked = self.folding.value(expr.args[0]) if len(expr.args) == 1 else None
        found: dict[int, dict[str, Any]] = {}
        for index in [node for one in classes for node in one.nodes]:
            target = self.tree.resolve(index, asked) if isinstance(asked, str) else None
            if target is None:
                continue
            if not self.whole.is_shown(self.tree.class_of[target]):
                return None
            found[index] = self.tree.nodes[target].properties
        if not found:
            return None
        expr.args[0].type = None
        expr.plan = Plan("{r}", [None], known_object(self.whole.known, str(asked), found))
        return expr.plan.result

    def node_below(self, expr: Call, classes: list[LiveClass]) -> Type | None:
        """`level.get_node("Gate")`: the gates of all levels, and a table that finds the one of a node."""
        asked = self.folding.value(expr.args[0]) if len(expr.args) == 1 else None
        if not isinstance(asked, str) or ".." in asked or asked.startswith("/"):
            return None
        asking = [node for one in classes for node in one.nodes]
        found = {index: target for index in asking if (target := self.tree.resolve(index, asked)) is not None}
        if not found:
            return None
        kind = ref(self.tree.class_of[one] for one in found.values())
        for one in kind.classes:
            self._require_kept(one, expr.name, expr.line)
        targets = list(dict.fromkeys(found.values()))
        values = ["Array", [["null"], *(["node", one] for one in targets)]]
        label = f"all_{asked}"
        name = self.whole.hidden(self.cls, label, ArrayType(kind, fixed=True), [values] * len(self.cls.nodes))
        places = [1 + targets.index(found[one.index]) if one.index in found else 0 for one in self.tree.nodes]
        table = self.whole.number(f"PLACES_{asked}", f"np.array({places}, np.int64)") if self.last else ""
        expr.args[0].type = None
        expr.plan = Plan(f"self.{name}[{table}[{{r}}.node_index]]", [None], kind)
        return kind

    def known_property(self, expr: Call | Attribute, kind: KnownObject, name: str) -> Type:
        """A table of all nodes, by their index; asking one that lacks the property is an error of the game."""
        values = {index: held[name] for index, held in kind.properties.items() if name in held}
        held = {value[0] for value in values.values()}
        if len(held) != 1 or not held <= {"bool", "int", "float", "Vector2", "Vector3"}:
            raise Refusal(expr.line, f"{name} of {kind.name} is not compiled")
        word = held.pop()
        result = self.whole.type_of(word)
        assert result is not None
        width = {"Vector2": 2, "Vector3": 3}.get(word, 1)
        rows = [[0] * width for _ in self.tree.nodes]
        for index, value in values.items():
            rows[index] = value[1] if width > 1 else [value[1]]
        numbers = [number for row in rows for number in row]
        dtype = {"int": "np.int64", "bool": "np.bool_"}.get(word, "np.float64")
        table = self.whole.number(f"{kind.name}_{name}", f"np.array({numbers}, {dtype})") if self.last else ""
        parts = [f"{table}[{width} * {{r}}.node_index + {part}]" for part in range(width)]
        text = f"{word}({', '.join(parts)})" if width > 1 else f"{table}[{{r}}.node_index]"
        expr.plan = Plan(text, [], result)
        return result
