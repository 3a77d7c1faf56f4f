"""Any game for PettingZoo: every agent is the caller's."""

from typing import Any, TypeAlias

import numpy as np
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]  # it carries no types

from godojo.envs.render import NO_PICTURES, Camera
from godojo.envs.spaces import (
    MAX_SEED,
    ActionSpace,
    ArenasLike,
    SettingsLike,
    action_space,
    checked_actions,
    checked_render_mode,
    checked_seed,
    make_worlds,
    observation_space,
)
from godojo.errors import GodojoError

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class GameParallelEnv(ParallelEnv[str, Array, Array]):  # type: ignore[misc]  # as its base has no types
    """One round of a game; agents are named by role: `seeker_0`, ..., `hider_0`, ....

    An agent that is out terminates and leaves `agents`, the others play on. At the end of the round all others
    terminate, or are truncated after `truncate_after` decisions (0: never), and their `infos` have `winner`, `score`,
    `length_ticks`, `arena` and the reward's `terms`. Arguments are those of `godojo.envs.gymnasium.GameEnv`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as PettingZoo declares it)
        "render_modes": ["rgb_array"],
        "render_fps": 15,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        game: str,
        *,
        engine: str = "sim",
        arenas: ArenasLike = None,
        settings: SettingsLike = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.render_mode = checked_render_mode(render_mode, engine)
        self.worlds = make_worlds(game, 1, engine=engine, arenas=arenas, settings=settings, **options)
        self.metadata = {
            **type(self).metadata,
            "name": f"godojo_{game}_v0",
            "render_fps": max(round(1.0 / (self.worlds.tick_s * self.worlds.ticks_per_decision)), 1),
        }
        self._rows = {
            f"{name}_{place}": (arrays, place)
            for name, arrays in self.worlds.roles.items()
            for place in range(arrays.action.shape[1])
        }
        self.possible_agents = list(self._rows)
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space(arrays) for agent, (arrays, _) in self._rows.items()}
        self.action_spaces = {agent: action_space(arrays) for agent, (arrays, _) in self._rows.items()}
        self._chance = np.random.default_rng()
        self._camera = Camera(self.worlds, game) if self.render_mode else None

    def observation_space(self, agent: str) -> Box:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> ActionSpace:
        return self.action_spaces[agent]

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (PettingZoo's)
    ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """A new round; the same seed gives the same rounds from here on. There are no `options`."""
        if seed is not None:
            self._chance = np.random.default_rng(checked_seed(seed))
        self.worlds.reset(int(self._chance.integers(MAX_SEED)) if seed is None else int(seed))
        if self._camera:
            self._camera.reset()
        self.agents = self.possible_agents[:]
        return {agent: self._observed(agent) for agent in self.agents}, {agent: {} for agent in self.agents}

    def _observed(self, agent: str, *, last: bool = False) -> Array:
        (arrays, place), space = self._rows[agent], self.observation_spaces[agent]
        found = arrays.final_observation if last else arrays.observation
        return np.asarray(found[0, place].clip(space.low, space.high))

    def step(
        self, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        self._take(actions)
        if self._camera:
            self._camera.remember()
        self.worlds.step()
        if self._camera:
            self._camera.advance()
        is_over = bool(self.worlds.ended[0])
        rows = {agent: self._rows[agent] for agent in self.agents}
        observations = {agent: self._observed(agent, last=is_over) for agent in rows}
        rewards = {agent: float(arrays.reward[0, place]) for agent, (arrays, place) in rows.items()}
        terminated = {agent: bool(arrays.terminated[0, place]) for agent, (arrays, place) in rows.items()}
        truncated = {agent: bool(arrays.truncated[0, place]) for agent, (arrays, place) in rows.items()}
        infos = {agent: self._final_info(agent) if is_over else {} for agent in rows}
        self.agents = [agent for agent in self.agents if not (terminated[agent] or truncated[agent])]
        return observations, rewards, terminated, truncated, infos

    def _take(self, actions: dict[str, Array]) -> None:
        if not self.agents:
            raise GodojoError("there is no round to play: call reset() first")
        for agent in actions:
            if agent not in self.agents:
                raise GodojoError(f"{agent!r} is not playing; who is: {', '.join(self.agents)}")
        for agent in self.agents:
            if agent not in actions:
                raise GodojoError(f"there is no action for {agent}; everybody in `agents` needs one")
            arrays, place = self._rows[agent]
            try:
                arrays.action[0, place] = checked_actions(
                    actions[agent], arrays.action.shape[2:], self.action_spaces[agent]
                )
            except GodojoError as error:
                raise GodojoError(f"{agent}: {error}") from None
            if not np.isfinite(arrays.action[0, place]).all():
                raise GodojoError(f"the action of {agent} is {arrays.action[0, place]}: not all of it are numbers")

    def _final_info(self, agent: str) -> dict[str, Any]:
        arrays, place = self._rows[agent]
        arena = int(self.worlds.arena[0])
        return {
            "winner": self.worlds.winners[self.worlds.winner[0]],
            "score": float(arrays.final_score[0, place]),
            "length_ticks": int(self.worlds.length_ticks[0]),
            "arena": self.worlds.arena_names[arena] if arena >= 0 else "generated",
            "terms": dict(zip(self.worlds.reward_terms, arrays.final_terms[0, place].tolist(), strict=True)),
        }

    def render(self) -> Array:
        """The round from above; when it is over, how it ended."""
        if self._camera is None:
            raise GodojoError(NO_PICTURES)
        return self._camera.picture(at_the_end=bool(not self.agents and self.worlds.ended[0]))

    def close(self) -> None:
        self.worlds.close()
