"""Writes the order of a tick, and what the trainer does at a sync point, as Python behind a game's functions.

As in Godot: signals of the last physics step, `_physics_process` by priority and in tree order, the physics step, then
one `_process`. The trainer talks to the game where its Sync node stands in that order, every `action_repeat` ticks.
"""

from __future__ import annotations

import re

from godojo.errors import GodojoError
from godojo.twin.gdscript.infos import KEYS
from godojo.twin.world.phases import PhaseWriter


class TickWriter(PhaseWriter):
    """The text of a game's module."""

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
                "error = 0",
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
                "    error = max(error, world.error)",
                "return error",
            ],
            "njit_parallel",
        )


def _without_imports(source: str) -> str:
    """Generated functions take their names from the module's own imports."""
    return "\n".join(line for line in source.splitlines() if not line.startswith(("from godojo", "import numpy")))
