"""The sync point of our own addon: what `DojoSync` and `DojoSceneWorlds` do, as Python behind a game's functions."""

from __future__ import annotations

from godojo.errors import GodojoError
from godojo.twin.world.tick import TickWriter

_RESULTS = ("observation", "terms", "flags", "final_observation", "final_terms", "final_score")


class DojoTickWriter(TickWriter):
    """The text of the module of a game with `DojoAgent` nodes."""

    def _write_sync(self) -> None:
        self._place_agents()
        numbers = range(len(self.roles()))
        actions = ", ".join(f"actions_{number}" for number in numbers)
        self._agents_function(f"set_actions(world, {actions})", "Hands every agent its action.", self._action_lines)
        self._agents_function("begin_agents(world)", "New rounds of all agents.", self._begin_lines)
        self._agents_function("begin_others(world)", "New rounds of agents that ended alone.", self._begin_over_lines)
        seen = ", ".join(f"observation_{number}" for number in numbers)
        self._agents_function(f"observe_agents(world, {seen})", "What every agent sees.", self._observe_lines)
        results = ", ".join(f"{what}_{number}" for number in numbers for what in _RESULTS)
        self._agents_function(f"collect_agents(world, {results})", "What every agent got.", self._collect_lines)
        agents = [self._layout.offsets[agent.node] for agent in self._snapshot.agents]
        roles = [list(self.roles()).index(agent.policy_name) + 1 for agent in self._snapshot.agents]
        self._tables += [f"AGENTS = np.array({agents}, np.int64)", f"ROLES = np.array({roles}, np.int64)"]
        self._function(
            f"collect(world, index, {results}, ended, winners, lengths)",
            "Ends rounds and begins new ones, as DojoSceneWorlds does.",
            [
                f"pass_ticks(world, AGENTS, {self._snapshot.action_repeat})",
                "is_over = end_world(world, AGENTS)",
                f"collect_agents(world, {', '.join(f'{w}_{n}[index]' for n in numbers for w in _RESULTS)})",
                "ended[index] = is_over",
                "if is_over:",
                "    winners[index] = winner(world, AGENTS, ROLES)",
                "    lengths[index] = world.round_ticks",
                "    world.round_ticks = 0",
                "    begin_agents(world)",
                "begin_others(world)",
                f"observe_agents(world, {', '.join(f'observation_{n}[index]' for n in numbers)})",
            ],
        )

    def _place_agents(self) -> None:
        self._places = {}
        for number, agents in enumerate(self.roles().values()):
            for place, agent in enumerate(agents):
                self._places[agent] = (number, place)

    def _needed(self, cls: str, name: str) -> str:
        function = self._method(cls, name)
        if not function:
            raise GodojoError(f"{cls} has no {name}(): a twin needs it")
        return function

    def _action_lines(self, cls: str, number: int) -> list[str]:
        function = self._method(cls, "apply_action")
        return [f"{function}(agent, actions_{number}[PLACE])"] if function else []

    def _begin_lines(self, cls: str, number: int) -> list[str]:
        function = self._method(cls, "reset")
        return ["clear_round(agent)", *([f"{function}(agent)"] if function else [])]

    def _begin_over_lines(self, cls: str, number: int) -> list[str]:
        return ["if is_over(agent):", *(f"    {line}" for line in self._begin_lines(cls, number))]

    def _observe_lines(self, cls: str, number: int) -> list[str]:
        return [f"write_numbers(observation_{number}[PLACE], 0, {self._needed(cls, 'observe')}(agent))"]

    def _collect_lines(self, cls: str, number: int) -> list[str]:
        return [
            f"take_reward(agent, terms_{number}[PLACE])",
            f"flags_{number}[PLACE] = agent.round_end",
            "if is_over(agent):",
            f"    write_numbers(final_observation_{number}[PLACE], 0, {self._needed(cls, 'observe')}(agent))",
            f"    take_total(agent, final_terms_{number}[PLACE])",
            f"    final_score_{number}[PLACE] = agent.score",
        ]

    def _write_worlds(self) -> None:
        numbers = range(len(self.roles()))
        actions = [f"actions_{number}" for number in numbers]
        results = [f"{what}_{number}" for number in numbers for what in _RESULTS]
        seen = ", ".join(f"observation_{number}[index]" for number in numbers)
        self._function(
            f"run_worlds(rows, mode, {', '.join([*actions, *results])}, ended, winners, lengths)",
            "One decision in every world; or the first observations: the first world begins as in the snapshot.",
            [
                "error = 0",
                "for index in prange(rows.shape[0]):",
                "    world = world_at(rows, index)",
                "    if mode == 0:",
                f"        set_actions(world, {', '.join(f'{name}[index]' for name in actions)})",
                "        advance(world)",
                f"        collect(world, index, {', '.join(results)}, ended, winners, lengths)",
                "    else:",
                "        if index > 0:",
                "            begin_agents(world)",
                f"        observe_agents(world, {seen})",
                "    error = max(error, world.error)",
                "return error",
            ],
            "njit_parallel",
        )
