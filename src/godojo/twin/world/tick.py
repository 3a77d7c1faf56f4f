"""Writes the order of a tick, and what the trainer does at a sync point, as Python behind a game's functions.

As in Godot: signals of the last physics step, `_physics_process` by priority and in tree order, the physics step, then
one `_process`. The trainer talks to the game where its Sync node stands in that order, every `action_repeat` ticks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from godojo.errors import GodojoError
from godojo.twin.gdscript.infos import KEYS
from godojo.twin.gdscript.program import Program
from godojo.twin.scene.snapshot import Connection, NodeInfo, Snapshot, Value, can_process
from godojo.twin.world.api import ancestors
from godojo.twin.world.bodies import body_nodes
from godojo.twin.world.layout import WorldLayout

_RAYS = ("RayCast3D", "RayCast2D")


@dataclass
class _Run:
    """Nodes of one class that follow each other in the order of a phase."""

    cls: str
    function: str
    offsets: list[int]


class TickWriter:
    """The text of a game's module."""

    def __init__(self, snapshot: Snapshot, program: Program, layout: WorldLayout) -> None:
        self._snapshot, self._program, self._layout = snapshot, program, layout
        self._changes_modes = "set_process_mode(" in program.source
        self._enables_rays = re.search(r"\benabled = |set_enabled\(", program.source) is not None
        self._lines: list[str] = []
        self._tables: list[str] = []

    def module(self) -> str:
        """The whole module: classes, the game's functions, and the tick."""
        table = self._layout.table
        head = [
            f'"""The twin of {self._snapshot.scene}."""',
            "",
            "import numpy as np",
            "",
            "from godojo.twin.world.prelude import *  # noqa: F403",
            "",
            "TABLE = ClassTable(",
            "    {",
            *(f"        {name!r}: {content!r}," for name, content in table.members.items()),
            "    }",
            ")",
        ]
        self._write_phases()
        self._write_sync()
        self._write_worlds()
        text = "\n".join(["", _without_imports(self._program.source), *self._tables, *self._lines, ""])
        words = set(re.findall(r"\w+", text))
        head += [f'{name} = RefClass(TABLE, "{name}")' for name in table.classes if name in words]
        return "\n".join(head) + "\n" + text

    # The phases of a tick

    def _write_phases(self) -> None:
        nodes = sorted((node for node in self._snapshot.nodes if self._can_process(node)), key=lambda one: one.priority)
        sync = self._snapshot.sync
        place = next((i for i, node in enumerate(nodes) if node.index == sync), len(nodes))
        self._phase("before_sync", "`_physics_process` of the nodes in front of Sync.", self._physics(nodes[:place]))
        self._phase("after_sync", "`_physics_process` of the nodes behind Sync.", self._physics(nodes[place + 1 :]))
        self._phase("process", "`_process`, once per tick.", self._process(self._snapshot.nodes))
        for phase in ("run_deferred", "pass_time"):
            runs: list[_Run] = []
            for node in self._snapshot.nodes:
                self._add_method(runs, node, f"@{phase}")
            self._late_phase(phase, runs)
        self._write_signals()
        has_bodies = bool(self._layout.offsets) and self._has_bodies()
        begin = ["world.ticks += 1"]
        if has_bodies:
            begin += ["sync_bodies(world)", "emit_signals(world)"]
        self._function("begin_tick(world)", "A tick up to the place of Sync.", [*begin, "before_sync(world)"])
        end = ["after_sync(world)", "run_deferred(world)"]
        if has_bodies:
            end += ["flush_transforms(world)", "step_physics(world)"]
        end += ["process(world)", "run_deferred(world)", "pass_time(world)"]
        if has_bodies:
            end += ["flush_transforms(world)"]
        self._function("end_tick(world)", "The rest of a tick.", end)
        repeat = self._snapshot.action_repeat
        self._function(
            "advance(world)",
            f"From one decision to the next, {repeat} ticks later.",
            [
                "end_tick(world)",
                f"for _ in range({repeat - 1}):",
                "    begin_tick(world)",
                "    end_tick(world)",
                "begin_tick(world)",
            ],
        )

    def _late_phase(self, name: str, runs: list[_Run]) -> None:
        """What the end of a tick does, whether nodes are processed or not."""
        doc = {"run_deferred": "Calls that were deferred.", "pass_time": "Functions that wait for something."}[name]
        body: list[str] = []
        for number, run in enumerate(runs):
            table = f"{name.upper()}_{number}"
            self._tables.append(f"{table} = np.array({run.offsets}, np.int64)")
            given = "node, world.delta" if name == "pass_time" else "node"
            body += [f"for offset in {table}:", f"    {run.function}(record_at(world, offset, {run.cls}){given[4:]})"]
        self._function(f"{name}(world)", doc, body or ["pass"])

    def _has_bodies(self) -> bool:
        return bool(body_nodes(self._snapshot))

    def _physics(self, nodes: Iterable[NodeInfo]) -> list[_Run]:
        runs: list[_Run] = []
        for node in nodes:
            if node.index == self._snapshot.sync:
                continue
            lineage = ancestors(node.native_class)
            for ray in _RAYS:
                if ray in lineage and (self._enables_rays or node.properties.get("enabled") != ["bool", False]):
                    self._add(runs, node, ray, "update_ray")
            if "Timer" in lineage and not self._is_idle(node):
                self._add(runs, node, "Timer", self._timeout(node))
            self._add_method(runs, node, "_physics_process")
        return runs

    def _process(self, nodes: Sequence[NodeInfo]) -> list[_Run]:
        runs: list[_Run] = []
        for node in nodes:
            if self._can_process(node) and node.index != self._snapshot.sync:
                if "Timer" in ancestors(node.native_class) and self._is_idle(node):
                    self._add(runs, node, "Timer", self._timeout(node))
                self._add_method(runs, node, "_process")
        return runs

    def _is_idle(self, timer: NodeInfo) -> bool:
        """Whether a timer counts in `_process`, which is its default."""
        return bool(timer.properties.get("process_callback", ["int", 1])[1] == 1)

    def _timeout(self, timer: NodeInfo) -> str:
        """Writes what a timer calls, and returns its name."""
        body: list[str] = []
        for link in self._snapshot.connections:
            if link.source == timer.index and link.signal == "timeout":
                body += self._handler(link, "")
        name = f"time_out_{timer.index}"
        lines = ["if tick_timer(node):", *(f"    {line}" for line in body or ["pass"])]
        self._function(f"{name}(node)", f"Counts {timer.path}.", lines)
        return name

    def _handler(self, link: Connection, args: str) -> list[str]:
        """The call of what is connected to a signal; nothing if it is not compiled."""
        target, cls = self._layout.offsets[link.target], self._program.class_of[link.target]
        function = self._program.methods.get((cls or "", link.method))
        if target < 0 or not function:
            return []
        for value in link.binds:
            args += f", {self._bound(value)}"
        return [f"{function}(record_at(node, {target}, {cls}){args})"]

    def _bound(self, value: Value) -> str:
        """A bound argument of a connection."""
        kind = value[0]
        if kind == "node":
            return f"record_at(node, {self._layout.offsets[value[1]]}, {self._program.class_of[value[1]]})"
        if kind in ("bool", "int", "float"):
            return repr(value[1])
        if kind in ("Vector2", "Vector3"):
            return f"{kind}({', '.join(map(repr, value[1]))})"
        if kind == "String" and value[1] in self._program.strings:
            return str(self._program.strings.index(value[1]))
        raise GodojoError(f"a twin cannot bind a {kind} to a signal")

    def _add_method(self, runs: list[_Run], node: NodeInfo, method: str) -> None:
        cls = self._program.class_of[node.index]
        function = self._program.methods.get((cls or "", method))
        if cls and function:
            self._add(runs, node, cls, function)

    def _add(self, runs: list[_Run], node: NodeInfo, cls: str, function: str) -> None:
        offset = self._layout.offsets[node.index]
        if offset < 0:
            return
        if not runs or runs[-1].function != function or runs[-1].cls != cls:
            runs.append(_Run(cls, function, []))
        runs[-1].offsets.append(offset)

    def _can_process(self, node: NodeInfo) -> bool:
        return self._changes_modes or can_process(self._snapshot, node)

    def _phase(self, name: str, doc: str, runs: list[_Run]) -> None:
        body: list[str] = []
        flags = {"_physics_process": 1, "_process": 2}
        for number, run in enumerate(runs):
            table = f"{name.upper()}_{number}"
            self._tables.append(f"{table} = np.array({run.offsets}, np.int64)")
            is_method = run.cls not in (*_RAYS, "Timer") or run.function.endswith("process")
            flag = flags["_process" if name == "process" else "_physics_process"]
            body += [f"for offset in {table}:", f"    node = record_at(world, offset, {run.cls})"]
            conditions = [f"Node(node).flags & {flag}"] if is_method else []
            conditions += ["can_process(node)"] if self._changes_modes else []
            call = f"{run.function}(node, world.delta)" if is_method else f"{run.function}(node)"
            body += [f"    if {' and '.join(conditions)}:", f"        {call}"] if conditions else [f"    {call}"]
        self._function(f"{name}(world)", doc, body or ["pass"])

    def _write_signals(self) -> None:
        """Entered and exited areas: the handlers of each area, in the order of its connections."""
        body: list[str] = []
        if not self._has_bodies():
            return
        kinds = {("body_entered", 1): 0, ("body_exited", 0): 0, ("area_entered", 1): 1, ("area_exited", 0): 1}
        for (signal, entered), is_area in kinds.items():
            for link in self._snapshot.connections:
                dimension = "2D" if self._layout.is_flat else "3D"
                source, native = self._layout.offsets[link.source], f"{'Area' if is_area else 'Node'}{dimension}"
                if link.signal != signal or source < 0:
                    continue
                call = self._handler(link, f", record_at(node, other, {native})")
                if call:
                    body += [
                        f"if source == {source} and entered == {entered} and is_area == {is_area}:",
                        f"    {call[0]}",
                    ]
        if not body:
            body = ["pass"]
        self._function(
            "handle_overlap(node, source, other, entered, is_area)",
            "Calls what is connected to the signals of an area.",
            body,
        )
        self._function(
            "emit_signals(world)",
            "The signals of areas that the last physics step brought.",
            [
                *(["space = World2D(world)"] if self._layout.is_flat else ["space = world"]),
                "for index in range(event_count(space)):",
                "    source, other, entered, is_area = event(space, index)",
                "    handle_overlap(world, source, other, entered, is_area)",
                "clear_events(space)",
            ],
        )

    # The sync point

    def roles(self) -> dict[str, list[int]]:
        """The agents of each policy, as indices of the snapshot's agents."""
        found: dict[str, list[int]] = {}
        for index, agent in enumerate(self._snapshot.agents):
            found.setdefault(agent.policy_name, []).append(index)
        return found

    def _write_sync(self) -> None:
        self._agents_function("reset_agents(world)", "Asks every agent to reset.", self._reset_lines)
        self._agents_function("clear_agents(world)", "Forgets rewards and ends.", self._clear_lines)
        places = {}
        for number, (role, agents) in enumerate(self.roles().items()):
            for place, agent in enumerate(agents):
                places[agent] = (number, place)
            del role
        self._places = places
        numbers = range(len(self.roles()))
        actions = ", ".join(f"actions_{number}" for number in numbers)
        self._agents_function(f"set_actions(world, {actions})", "Hands every agent its action.", self._action_lines)
        seen = ", ".join(f"observation_{n}, info_{n}" for n in numbers)
        got = ", ".join(f"reward_{n}, done_{n}" for n in numbers)
        self._agents_function(f"observe_agents(world, {seen})", "What every agent sees, and says.", self._observe_lines)
        self._agents_function(f"reward_agents(world, {got})", "What every agent got.", self._reward_lines)
        self._agents_function(f"end_agents(world, {got})", "Whose episode is over.", self._end_lines)

    def _agents_function(self, head: str, doc: str, lines: object) -> None:
        """A function that does the same for all agents: runs of one class in a loop."""
        body: list[str] = []
        groups: list[tuple[str, int, list[int], list[int]]] = []
        is_placed = hasattr(self, "_places")
        for index, agent in enumerate(self._snapshot.agents):
            cls, offset = self._program.class_of[agent.node], self._layout.offsets[agent.node]
            number, place = self._places[index] if is_placed else (0, index)
            if not groups or groups[-1][0] != cls or groups[-1][1] != number:
                groups.append((cls or "", number, [], []))
            groups[-1][2].append(offset)
            groups[-1][3].append(place)
        for cls, number, offsets, places in groups:
            table = f"AGENTS_{offsets[0]}"
            if f"{table} = np.array({offsets}, np.int64)" not in self._tables:
                self._tables.append(f"{table} = np.array({offsets}, np.int64)")
            inner = lines(cls, number)  # type: ignore[operator]
            if inner:
                start = f" + {places[0]}" if places[0] else ""
                body += [f"for place in range({len(offsets)}):", f"    agent = record_at(world, {table}[place], {cls})"]
                body += [f"    {line.replace('PLACE', 'place' + start)}" for line in inner]
        self._function(head, doc, body or ["pass"])

    def _method(self, cls: str, name: str) -> str:
        return self._program.methods.get((cls, name), "")

    def _reset_lines(self, cls: str, number: int) -> list[str]:
        return ["agent.needs_reset = True"] if "needs_reset" in self._layout.table[cls].by_name else []

    def _clear_lines(self, cls: str, number: int) -> list[str]:
        names = [self._method(cls, name) for name in ("zero_reward", "set_done_false", "take_reward", "take_done")]
        return [f"{name}(agent)" for name in names if name]

    def _action_lines(self, cls: str, number: int) -> list[str]:
        function = self._method(cls, "set_action")
        if not function:
            raise GodojoError(f"{cls} has no set_action: a twin needs it")
        return [f"{function}(agent, actions_{number}[PLACE])"]

    def _observe_lines(self, cls: str, number: int) -> list[str]:
        observe = self._method(cls, "get_obs")
        if not observe:
            raise GodojoError(f"{cls} has no get_obs: a twin needs it")
        lines = [f"{observe}(agent, observation_{number}[PLACE])"]
        inform = self._method(cls, "get_info")
        if inform:
            lines += [f"agent.{name} = NAN" for name in KEYS.values()]
            lines += [f"{inform}(agent)"]
            lines += [f"info_{number}[PLACE][{i}] = agent.{name}" for i, name in enumerate(KEYS.values())]
        success = self._layout.table[cls].by_name.get("is_success")
        if not inform and success is not None and success.type == "bool":  # what `get_info` may report
            lines += [f"info_{number}[PLACE][0] = agent.is_success"]
        return lines

    def _reward_lines(self, cls: str, number: int) -> list[str]:
        get = self._method(cls, "get_reward") or self._method(cls, "take_reward")
        zero = self._method(cls, "zero_reward")
        return [f"reward_{number}[PLACE] = {get}(agent)", *([f"{zero}(agent)"] if zero else [])]

    def _end_lines(self, cls: str, number: int) -> list[str]:
        get = self._method(cls, "get_done") or self._method(cls, "take_done")
        clear = self._method(cls, "set_done_false")
        lines = [f"done_{number}[PLACE] = {get}(agent)"]
        return [*lines, f"if done_{number}[PLACE]:", f"    {clear}(agent)"] if clear else lines

    # All worlds

    def _write_worlds(self) -> None:
        numbers = range(len(self.roles()))
        results = [f"{what}_{n}" for n in numbers for what in ("observation", "reward", "done", "info")]
        seen = [f"{what}_{n}" for n in numbers for what in ("observation", "info")]
        got = [f"{what}_{n}" for n in numbers for what in ("reward", "done")]
        actions = [f"actions_{n}" for n in numbers]
        arrays = ", ".join([*actions, *results])

        def at(names: list[str]) -> str:
            return ", ".join(f"{name}[index]" for name in names)

        self._function(
            f"run_worlds(rows, mode, {arrays})",
            "One decision in every world; or from the snapshot to the first one, as godot_rl's trainers do.",
            [
                "for index in prange(rows.shape[0]):",
                "    world = world_at(rows, index)",
                "    count = 1",
                "    if mode != 0:",
                "        before_sync(world)",
                f"        observe_agents(world, {at(seen)})",
                "        reset_agents(world)",
                "        count = 3",
                "    for left in range(count, 0, -1):",
                "        if left == 1:",
                f"            set_actions(world, {at(actions)})",
                "        advance(world)",
                f"        observe_agents(world, {at(seen)})",
                f"    reward_agents(world, {at(got)})",
                f"    end_agents(world, {at(got)})",
            ],
            "njit_parallel",
        )

    def _function(self, head: str, doc: str, body: Sequence[str], decorator: str = "kernel") -> None:
        self._lines += ["", "", f"@{decorator}", f"def {head}:", f'    """{doc}"""', *(f"    {line}" for line in body)]


def _without_imports(source: str) -> str:
    """Generated functions take their names from the module's own imports."""
    return "\n".join(line for line in source.splitlines() if not line.startswith(("from godojo", "import numpy")))
