"""A whole program: where it begins, and the walks that learn its types."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from godojo.twin.gdscript import infos
from godojo.twin.gdscript.effects import Effects
from godojo.twin.gdscript.live import LiveClass, copy_function
from godojo.twin.gdscript.nodes import (
    Function,
    Param,
    Plan,
)
from godojo.twin.gdscript.stops import find_stops
from godojo.twin.gdscript.types import (
    BOOL,
    FLOAT,
    NUMBERS,
    ArrayType,
    Conflict,
    DictType,
    RefType,
    Type,
    ref,
)
from godojo.twin.world import api

if TYPE_CHECKING:
    from godojo.twin.scene.snapshot import Snapshot

from godojo.twin.gdscript.whole_reach import WholeReach

_MOST_WALKS = 40
_HARMLESS_SIGNALS = {
    "child_entered_tree",
    "child_exiting_tree",
    "child_order_changed",
    "draw",
    "focus_entered",
    "focus_exited",
    "gui_input",
    "hidden",
    "input_event",
    "item_rect_changed",
    "mouse_entered",
    "mouse_exited",
    "property_list_changed",
    "ready",
    "renamed",
    "script_changed",
    "tree_entered",
    "tree_exited",
    "tree_exiting",
    "visibility_changed",
}
"""Signals of nodes that a game which only runs never emits after its start."""
AGENT_METHODS = {
    "godot_rl": (
        "get_obs",
        "get_reward",
        "get_done",
        "set_action",
        "reset",
        "set_done_false",
        "zero_reward",
        "get_truncated",
        "set_truncated_false",
        "reset_if_done",
    ),
    "dojo": ("observe", "apply_action", "action_mask", "reset"),
}


class Whole(WholeReach):
    """The program while it is inferred."""

    def __init__(self, snapshot: Snapshot, read_source: Callable[[str], str]) -> None:
        super().__init__(snapshot, read_source)
        self.stops: list[tuple[str, int, str]] = []
        """Changes of the tree that the game may reach: path, line and reason."""
        self._roots()

    # --- walking ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Walks twice: the first time types are learned, perhaps in code that they then show to be dead."""
        self._walks()
        self.roots += [one for one in self._cameras if one[0] in self.touched]
        for _, function in self.reached.values():
            function.calls.clear()
        for cls in self.tree.classes:
            for variable in cls.members.values():
                variable.assigned = False
        self.reached.clear()
        self._effects.clear()
        self._start()
        self._walks()
        self.last = True
        self.left_out.clear()
        self.dispatches.clear()
        self.used.clear()
        self.constants.clear()
        self._walk()
        self._refuse_recursion()
        self._check_observations()
        self._drop_infos()
        self.stops = find_stops(self)
        for cls, name, _ in self._cameras:
            script = cls.declaring(name)
            if cls not in self.touched and script is not None:
                self.leave_out(
                    script.path, script.functions[name].line, f"{name}() of {cls.name} only moves what is shown"
                )

    def _only_shows(self, cls: LiveClass, name: str) -> bool:
        """Whether a function of a camera, or of something else that is only shown, changes nothing but that node."""
        if not self.is_shown(cls):
            return False
        script = cls.declaring(name)
        assert script is not None
        inference = self.inference(cls)
        outer, inference.scope = inference.scope, inference.globals
        try:
            return not Effects(inference, copy_function(script.functions[name], script.path), only_others=True).any()
        finally:
            inference.scope = outer

    def waits(self, cls: LiveClass) -> dict[str, Function]:
        """What comes after each `await` that is reached, by the member that counts its seconds."""
        reached = {function.name for one, function in self.reached.values() if one is cls}
        return {name: after for name, after in cls.waits.items() if after.name in reached}

    def _check_observations(self) -> None:
        for agent in self.snapshot.agents:
            cls = self.tree.class_of[agent.node]
            script = cls.declaring("get_obs")
            if script is None or self.snapshot.wire != "godot_rl":
                continue
            function = self.reach(cls, "get_obs")
            kind = function.result.type if function.result is not None else None
            if not isinstance(kind, DictType):
                if not function.refusals:
                    function.refusals.append((function.line, "get_obs() must return a dictionary of arrays"))
                continue
            for key in agent.observation_space:
                field = kind.fields.get(key)
                numbers = isinstance(field, ArrayType) and field.element in (BOOL, *NUMBERS)
                if not numbers:
                    function.refusals.append((function.line, f"the observation {key} is no array of numbers"))

    def _walks(self) -> None:
        for _ in range(_MOST_WALKS):
            self.news = False
            self._walk()
            if not self.news:
                return

    def _walk(self) -> None:
        done: set[int] = set()
        while True:
            waiting = [one for key, one in self.reached.items() if key not in done]
            if not waiting:
                return
            for cls, function in waiting:
                done.add(id(function))
                inference = self.inference(cls)
                inference.news, inference.last = False, self.last
                inference.walk_function(function)
                self.news |= inference.news

    def _refuse_recursion(self) -> None:
        by_name = {f"{cls.name}:{one.path}:{one.name}": one for cls, one in self.reached.values()}

        def reaches(start: str, name: str, seen: set[str]) -> bool:
            for one in by_name[name].calls if name in by_name else ():
                if one == start:
                    return True
                if one not in seen:
                    seen.add(one)
                    if reaches(start, one, seen):
                        return True
            return False

        for name, function in by_name.items():
            others = {one for one in function.calls if one != name}
            if any(one in by_name and reaches(name, one, set()) for one in others):
                what = f"{function.name} calls itself, directly or not: recursion is refused"
                function.refusals.append((function.line, what))

    # --- roots ------------------------------------------------------------------------------------------------------

    def _roots(self) -> None:
        self.roots: list[tuple[LiveClass, str, list[Type | None]]] = []
        self._cameras: list[tuple[LiveClass, str, list[Type | None]]] = []
        snapshot, tree = self.snapshot, self.tree
        skipped = tree.class_of[snapshot.sync] if snapshot.sync >= 0 else None
        for cls in tree.classes:
            if not cls.nodes or cls.source is None or cls is skipped:
                continue
            self._refuse_unreadable(cls)
            script = cls.declaring("_integrate_forces")
            if script is not None and "RigidBody3D" in api.ancestors(cls.native):
                self.roots.append((cls, "_integrate_forces", [ref([tree.native("PhysicsDirectBodyState3D")])]))
            elif script is not None:
                line = script.functions["_integrate_forces"].line
                self.refusals.add((script.path, line, "_integrate_forces() is not compiled"))
            for name, flag in (("_physics_process", "physics_process"), ("_process", "process")):
                active = any(getattr(tree.nodes[one], flag) for one in cls.nodes)
                if active and cls.declaring(name) is not None:
                    (self._cameras if self._only_shows(cls, name) else self.roots).append((cls, name, [FLOAT]))
        for link in snapshot.connections:
            source, target = tree.class_of[link.source], tree.class_of[link.target]
            if target.declaring(link.method) is None or target is skipped or source.signal(link.signal):
                continue
            types = api.find_signal(source.native, link.signal)
            if types is None:
                if not api.is_ignored(source.native) and link.signal not in _HARMLESS_SIGNALS:
                    path = target.path
                    function = target.declaring(link.method).functions[link.method]  # type: ignore[union-attr]
                    what = f"the signal {link.signal} of {source.native} calls {link.method}, and is not compiled"
                    self.refusals.add((path, function.line, what))
                continue
            if "RigidBody2D" in api.ancestors(source.native):
                function = target.declaring(link.method).functions[link.method]  # type: ignore[union-attr]
                what = f"the contacts of a 2D rigid body call {link.method}, and are not compiled"
                self.refusals.add((target.path, function.line, what))
                continue
            if "_shape_" in link.signal and self._has_several_shapes():
                function = target.declaring(link.method).functions[link.method]  # type: ignore[union-attr]
                what = f"{link.signal} calls {link.method}, which is compiled only where every body has one shape"
                self.refusals.add((target.path, function.line, what))
                continue
            if self.tree.is_copy(link.source):
                continue  # as in its template
            kinds = [self._emitted(one, link.signal) for one in types]
            kinds += [self.live_type(one) for one in link.binds]
            self.roots.append((target, link.method, kinds))
            self.handlers.add(f"{target.name}_{link.method}")
        for agent in snapshot.agents:
            cls = tree.class_of[agent.node]
            for name in AGENT_METHODS[snapshot.wire]:
                if cls.declaring(name) is not None:
                    takes: list[Type | None] = []
                    if name in ("set_action", "apply_action"):
                        takes.append(self.action_type(cls, agent.action_space))
                    self.roots.append((cls, name, takes))
        self._start()

    def _has_several_shapes(self) -> bool:
        """Whether a body or an area has more than one shape."""
        shapes = [one.parent for one in self.tree.nodes if one.native_class.startswith(("CollisionS", "CollisionP"))]
        return len(shapes) > len(set(shapes))

    def _refuse_unreadable(self, cls: LiveClass) -> None:
        """Refuses scripts that the parser does not understand, unless their nodes only draw or never run."""
        nodes = self.tree.nodes
        runs = any(nodes[one].physics_process or nodes[one].process for one in cls.nodes)
        runs = runs or any(one.target in cls.nodes for one in self.snapshot.connections)
        runs = runs or any(one.node in cls.nodes for one in self.snapshot.agents)
        for link in cls.links():
            for line, reason in self.tree.unreadable.get(link.path, ()):
                if runs and not self.is_shown(cls):
                    self.refusals.add((link.path, line, reason))

    def _start(self) -> None:
        for cls, name, kinds in self.roots:
            function = self.reach(cls, name)
            for param, kind in zip(function.params, kinds, strict=False):
                assert param.variable is not None
                if kind is not None and not param.variable.fixed:
                    try:
                        self.inference(cls).learn(param.variable, self._declared_kind(param, kind))
                    except Conflict as conflict:
                        function.refusals.append((param.line, f"{param.name} is {conflict}"))
        for cls in dict.fromkeys(self.tree.class_of[agent.node] for agent in self.snapshot.agents):
            self._reach_info(cls)
        for cls in self.tree.classes:
            if cls.source is not None and any(self.tree.in_pool(one) for one in cls.nodes):
                self.reach_making(cls)
                self.reach_entering(cls)
        for agent in self.snapshot.agents:
            variable = self.tree.class_of[agent.node].member("needs_reset")
            if variable is not None:
                self.mark_assigned(variable)

    def _reach_info(self, cls: LiveClass) -> None:
        """Reaches what `get_info` tells a trainer, if it tells anything."""
        script = cls.declaring("get_info")
        if script is None or self.snapshot.wire != "godot_rl" or infos.says_nothing(script.functions["get_info"]):
            return
        made = infos.reporting(script.functions["get_info"])
        if made is not None:
            for name in infos.KEYS.values():
                self.hidden(cls, name.removeprefix("_"), FLOAT, [["float", math.nan]] * len(cls.nodes))
            self._reached(cls, (script.path, "@info"), f"{cls.name}_get_info", lambda: made)

    def _drop_infos(self) -> None:
        """Leaves `get_info` out where it is not compiled: it changes nothing but what is reported."""
        for cls in dict.fromkeys(self.tree.class_of[agent.node] for agent in self.snapshot.agents):
            script = cls.declaring("get_info")
            if script is None or infos.says_nothing(script.functions["get_info"]):
                continue
            function = cls.functions.get((script.path, "@info"))
            if function is not None and not function.refusals:
                continue
            line = script.functions["get_info"].line
            if self.has_effects(cls, script, "get_info"):
                self.refusals.add((script.path, line, "get_info() changes the game, and is not compiled"))
            elif function is not None:
                line, reason = function.refusals[0]
                self.reached.pop(id(function))
                self.leave_out(script.path, line, f"get_info(): {reason}")
            else:
                self.leave_out(script.path, line, "get_info(): it returns no dictionary in braces")

    def _declared_kind(self, param: Param, kind: Type) -> Type:
        if isinstance(kind, RefType) and param.declared not in (None, ":="):
            wanted = self.tree.named(str(param.declared))
            if wanted is not None:
                return ref(kind.classes & set(wanted))
        return kind

    def _emitted(self, text: str, signal: str) -> Type | None:
        kind = self.type_of(text)
        if isinstance(kind, RefType):
            wanted = "Area" if signal.startswith("area_") else "PhysicsBody|CSG|GridMap|TileMap|SoftBody"
            return ref(one for one in kind.classes if any(re.match(wanted, name) for name in api.ancestors(one.native)))
        return kind

    def action_type(self, cls: LiveClass, space: dict[str, Any]) -> DictType:
        """What an agent's action is: a flat array, read by the names of its action space."""
        key = f"{cls.name}:{space}"
        if key not in self._actions:
            layout, at = [], 0
            fields: dict[str, Type | None] = {}
            for name, one in space.items():
                continuous = one.get("action_type") == "continuous"
                count = int(one.get("size", 1)) if continuous else 1
                fields[name] = ArrayType(FLOAT, fixed=True) if continuous else FLOAT
                layout.append((name, at, count, continuous))
                at += count
            self._actions[key] = DictType(fields, action=True)
            self._layouts[id(self._actions[key])] = layout
        return self._actions[key]

    def action_part(self, kind: DictType, key: str) -> tuple[int, int, bool]:
        """Where a part of an action begins, how many numbers it has, and whether it is continuous."""
        return next((at, count, wide) for name, at, count, wide in self._layouts[id(kind)] if name == key)

    def action_field(self, kind: DictType, key: str) -> Plan:
        at, count, continuous = self.action_part(kind, key)
        if continuous:
            numbers = ", ".join(f"{{r}}[{at + i}]" for i in range(count))
            return Plan(f"float_array({numbers})", [], kind.fields[key])
        return Plan(f"{{r}}[{at}]", [], FLOAT)
