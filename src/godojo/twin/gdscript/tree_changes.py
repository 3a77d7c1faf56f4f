"""Changes of the tree while the game runs: nodes that are made, added, taken out and freed, and lists of children."""

from __future__ import annotations

from godojo.twin.gdscript import builtins
from godojo.twin.gdscript.errors import Refusal, TreeRefusal
from godojo.twin.gdscript.live import LiveClass, common
from godojo.twin.gdscript.nodes import Attribute, Call, Cast, Const, Expr, Name, Plan
from godojo.twin.gdscript.static_nodes import StaticNodes
from godojo.twin.gdscript.types import INT, NULL, ArrayType, RefType, Type, ref

CHANGES = {
    "add_child",
    "add_sibling",
    "free",
    "move_child",
    "queue_free",
    "remove_child",
    "reparent",
    "replace_by",
    "set_script",
}
"""Methods of nodes that change the tree."""
LISTS = {"get_children", "get_nodes_in_group", "find_children"}


class TreeChanges(StaticNodes):
    """What a game that changes its tree adds to calls."""

    # --- nodes that are made ----------------------------------------------------------------------------------------

    def template(self, expr: Expr, name: object) -> Type | None:
        """A scene or class that scripts make nodes of: the root of its template."""
        pool = self.tree.pools.get(str(name))
        if pool is None:
            return None
        label = str(name).rpartition("/")[2].removesuffix(".tscn")
        return self.node_place(expr, [pool.first] * len(self.cls.nodes), label)

    def instance(self, expr: Call, kind: RefType | None, what: str) -> Type:
        """`scene.instantiate()` or `Type.new()`."""
        pools = [one for one in self.tree.pools.values() if kind and self.tree.class_of[one.first] in kind.classes]
        if kind is None or not pools:
            raise TreeRefusal(expr.line, f"{what} is not compiled: nothing is made while the game runs")
        result = ref(self.tree.class_of[one.first] for one in pools)
        name = common(list(result.classes))
        if all(self._only_seen(one.first, one.size) for one in pools):
            self.whole.leave_out(self.declaring, expr.line, f"{what}: it is only seen")
            self.whole.seen |= {one.name for one in pools}
            expr.plan = Plan(f"{name}()", [], result)
            return result
        for one in pools:
            self.whole.make(one.name)
        expr.plan = Plan(f"{name}(instantiate({{r}}))", [], result, pure=False)
        return result

    def _only_seen(self, first: int, size: int) -> bool:
        """Whether a template only draws or sounds."""
        classes = [self.tree.class_of[index] for index in range(first, first + size)]
        return all(one.source is None and self.whole.is_shown(one) for one in classes)

    # --- nodes that are added, taken out and freed ------------------------------------------------------------------

    def change(self, expr: Call, classes: list[LiveClass], receiver: str) -> Type:
        """A method that changes the tree."""
        if not self.whole.is_dynamic:
            raise TreeRefusal(expr.line, f"{expr.name}() is not compiled: nodes are neither made nor freed nor moved")
        owner = receiver if receiver == "self" else "{r}"
        if expr.name in ("queue_free", "free") and not expr.args:
            self.whole.free(classes)
            if expr.name == "free":
                self.whole.leave_out(self.declaring, expr.line, "free() frees at the end of the frame")
            expr.plan = Plan(f"queue_free({owner})", [], NULL, pure=False)
            return NULL
        if expr.name not in ("add_child", "remove_child") or not expr.args:
            raise TreeRefusal(expr.line, f"{expr.name}() is not compiled: nodes are not moved in the tree")
        kind = self.value(expr.args[0])
        if not isinstance(kind, RefType):
            raise Refusal(expr.line, f"{expr.name}() of {kind} is not compiled")
        self.whole.adopt(classes, list(kind.classes))
        expr.args = expr.args[:1]
        expr.plan = Plan(f"{expr.name}(Node({owner}), Node({{0}}))", [None], NULL, pure=False)
        return NULL

    def adds_nothing(self, call: Call) -> bool:
        """Whether a call adds or frees nodes that are only seen."""
        if not self.whole.is_dynamic or call.name not in ("add_child", "remove_child", "queue_free", "free"):
            return False
        node = call.args[0] if call.args else call.receiver
        if node is None or (isinstance(node, Name) and node.name == "self"):
            return False
        classes = self._node_classes(node)
        return bool(classes) and all(one.source is None and self.whole.is_shown(one) for one in classes)

    def _node_classes(self, expr: Expr) -> list[LiveClass]:
        raise NotImplementedError

    # --- parents and children ---------------------------------------------------------------------------------------

    def parent_of(self, expr: Call, classes: list[LiveClass], receiver: str) -> Type:
        """`get_parent()` of a node that is not known before the game runs."""
        result = ref(self.whole.parents_of(classes))
        if not result.classes:
            if self.last:
                raise Refusal(expr.line, "get_parent() of a node that is never in the tree")
            return result
        expr.plan = Plan(f"{common(list(result.classes))}(get_parent({receiver}))", [], result)
        return result

    def children_of(self, expr: Call, classes: list[LiveClass]) -> Type | None:
        """`get_children()`, `get_child()` and `get_child_count()` of nodes whose children may change."""
        receiver = "self" if expr.receiver is None else "{r}"
        for one in self.whole.children_of(classes):
            if one.source is None and self.whole.is_shown(one):
                self.whole.keep(one)  # it counts as a child
        if expr.name == "get_child_count":
            expr.plan = Plan(f"get_child_count({receiver})", [], INT)
            return INT
        element = ref(self.whole.children_of(classes))
        if not element.classes:
            if self.last:
                raise Refusal(expr.line, f"{expr.name}() of a node that never has children")
            return None
        name = common(list(element.classes))
        if expr.name == "get_child":
            self.value(expr.args[0])
            expr.plan = Plan(f"{name}(child_at({receiver}, {{0}}))", [INT], element)
            return element
        array = ArrayType(element, fixed=True)
        empty = builtins.new_array(array, [], expr.line) if self.last else ""
        expr.plan = Plan(f"list_children({empty}, Node({receiver}), {name})", [], array)
        return array

    def node_list(self, expr: Call) -> Type | None:
        """`get_children()` and `get_nodes_in_group()`."""
        receiver = expr.receiver
        if expr.name == "get_nodes_in_group":
            group = self.folding.value(expr.args[0]) if expr.args else None
            if not isinstance(group, str):
                raise Refusal(expr.line, "a group is compiled by its constant name only")
            return self._group(expr, group)
        nodes = self.static_nodes(receiver)
        found = [self.tree.class_of[one] for one in nodes if one is not None] if nodes is not None else []
        classes = list(dict.fromkeys(found))
        if nodes is None:
            classes = self.classes_of(receiver)
        if expr.name == "get_children" and any(self.whole.may_change(one) for one in classes):
            if receiver is not None:
                self.value(receiver)
            return self.children_of(expr, classes)
        if expr.name == "get_children" and nodes is None and classes:
            self.value(receiver) if receiver is not None else None
            return self.children_of(expr, classes)
        if expr.name != "get_children" or nodes is None:
            raise Refusal(expr.line, f"{expr.name}() of a node that is not known before the game runs")
        lists = [self.tree.children[one] if one is not None else [] for one in nodes]
        return self._list_place(expr, lists, self._label(Call(expr.line, receiver, "children", [])) + "children")

    def first_of_group(self, expr: Call) -> Type:
        """`get_first_node_in_group()`."""
        group = self.folding.value(expr.args[0]) if expr.args else None
        members = [one for one in self.tree.nodes if group in one.groups]
        if not members or any(
            self.tree.in_pool(one.index) or self.whole.may_go(self.tree.class_of[one.index]) for one in members
        ):
            raise Refusal(expr.line, f"the first node of the group {group} is not known before the game runs")
        return self.node_place(expr, [members[0].index] * len(self.cls.nodes), f"first_{group}")

    def _group(self, expr: Call, group: str) -> Type:
        templates = [pool.first + i for pool in self.tree.pools.values() for i in range(pool.size)]
        members = [one.index for one in self.tree.nodes if group in one.groups and one.index not in templates]
        changes = any(self.tree.in_pool(one) or self.whole.may_go(self.tree.class_of[one]) for one in members)
        if not changes:
            return self._list_place(expr, [members] * len(self.cls.nodes), f"group_{group}")
        holder = Name(expr.line, f"group_{group}")
        kind = self._list_place(holder, [members] * len(self.cls.nodes), f"group_{group}")
        assert isinstance(kind, ArrayType)
        assert holder.place is not None
        empty = builtins.new_array(kind, [], expr.line) if self.last else ""
        expr.plan = Plan(f"only_inside({empty}, {holder.place.read.replace('{r}', 'self')})", [], kind)
        expr.args[0].type = None
        return kind

    def _label(self, expr: Call) -> str:
        asked = self.folding.value(expr.args[0]) if expr.args else ""
        owner = expr.receiver
        label = {"get_parent": "parent"}.get(expr.name, str(asked))
        while owner is not None and not (isinstance(owner, Name) and owner.name == "self"):
            part = owner.name if isinstance(owner, Name | Attribute | Call) else getattr(owner, "path", "")
            label = f"{part.removeprefix('get_')}_{label}"
            owner = owner.value if isinstance(owner, Attribute | Cast) else getattr(owner, "receiver", None)
        return label

    def classes_of(self, expr: Expr | None) -> list[LiveClass]:
        raise NotImplementedError


def is_scene(expr: Expr | None) -> object:
    """The path that `preload` or `load` names."""
    if isinstance(expr, Call) and expr.receiver is None and expr.name in ("preload", "load") and len(expr.args) == 1:
        return expr.args[0].value if isinstance(expr.args[0], Const) else None
    return None
