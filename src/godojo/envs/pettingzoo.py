"""Tag for PettingZoo: every agent is the caller's, in either mode and any split."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]  # it carries no types

from godojo.engines.make import make_vec
from godojo.envs.render import SceneRecorder, draw
from godojo.envs.spaces import (
    MOST_SEED,
    ArenasLike,
    SettingsLike,
    action_space,
    arenas_from,
    checked_actions,
    checked_engine_options,
    checked_render_mode,
    checked_seed,
    observation_space,
    settings_from,
)
from godojo.errors import GodojoError
from godojo.games.tag.settings import TICK_S

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class TagParallelEnv(ParallelEnv[str, Array, Array]):  # type: ignore[misc]  # as its base has no types
    """One round of tag: agents `seeker_0`, ..., `hider_0`, ..., or `player_0`, ... in classic tag.

    A hider that is caught terminates and leaves `agents`, the others play on. At the end of the round everybody left
    terminates, or is truncated after `truncate_after` decisions (0: never), and their `infos` tell `winner`, `score`,
    `length_ticks`, `arena` and the reward's `terms`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as PettingZoo declares it)
        "name": "godojo_tag_v0",
        "render_modes": ["rgb_array"],
        "render_fps": 15,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        *,
        engine: str = "sim",
        arenas: ArenasLike = None,
        settings: SettingsLike = None,
        generated_share: float = 0.0,
        truncate_after: int = 0,
        render_mode: str | None = None,
        engine_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.render_mode = checked_render_mode(render_mode, engine)
        self.settings = settings_from(settings)
        self.worlds = make_vec(
            "tag",
            engine=engine,
            num_worlds=1,
            settings=self.settings,
            arenas=arenas_from(arenas, self.settings),
            generated_share=generated_share,
            truncate_after=truncate_after,
            **checked_engine_options(engine_options),
        )
        self.metadata = {
            **type(self).metadata,
            "render_fps": max(round(1.0 / (TICK_S * self.settings.rules.ticks_per_decision)), 1),
        }
        self._seats = {
            f"{name}_{place}": (arrays, place)
            for name, arrays in self.worlds.roles.items()
            for place in range(arrays.action.shape[1])
        }
        self.possible_agents = list(self._seats)
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space(self.settings) for agent in self.possible_agents}
        self.action_spaces = {agent: action_space() for agent in self.possible_agents}
        self._chance = np.random.default_rng()
        self._eyewitness = SceneRecorder(self.worlds, 0) if self.render_mode else None

    def observation_space(self, agent: str) -> Box:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Box:
        return self.action_spaces[agent]

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (PettingZoo's)
    ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """A new round; the same seed gives the same rounds from here on. There are no `options`."""
        if seed is not None:
            self._chance = np.random.default_rng(checked_seed(seed))
        self.worlds.reset(int(self._chance.integers(MOST_SEED)) if seed is None else int(seed))
        self.agents = self.possible_agents[:]
        told = {agent: arrays.observation[0, place].copy() for agent, (arrays, place) in self._seats.items()}
        return told, {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        self._take(actions)
        if self._eyewitness:
            self._eyewitness.remember()
        self.worlds.step()
        is_over = bool(self.worlds.ended[0])
        observations: dict[str, Array] = {}
        rewards: dict[str, float] = {}
        terminated: dict[str, bool] = {}
        truncated: dict[str, bool] = {}
        infos: dict[str, dict[str, Any]] = {}
        for agent in self.agents:
            arrays, place = self._seats[agent]
            told = arrays.final_observation if is_over else arrays.observation
            observations[agent] = told[0, place].copy()
            rewards[agent] = float(arrays.reward[0, place])
            terminated[agent] = bool(arrays.terminated[0, place])
            truncated[agent] = bool(arrays.truncated[0, place])
            infos[agent] = self._final_info(agent) if is_over else {}
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
            arrays, place = self._seats[agent]
            try:
                arrays.action[0, place] = checked_actions(actions[agent], arrays.action.shape[2:])
            except GodojoError as error:
                raise GodojoError(f"{agent}: {error}") from None
            if not np.isfinite(arrays.action[0, place]).all():
                raise GodojoError(f"the action of {agent} is {arrays.action[0, place]}: not all of it are numbers")

    def _final_info(self, agent: str) -> dict[str, Any]:
        arrays, place = self._seats[agent]
        arena = int(self.worlds.arena[0])
        return {
            "winner": self.worlds.winners[self.worlds.winner[0]],
            "score": float(arrays.final_score[0, place]),
            "length_ticks": int(self.worlds.length_ticks[0]),
            "arena": self.worlds.arena_names[arena] if arena >= 0 else "generated",
            "terms": {
                term: float(arrays.final_terms[0, place, number])
                for number, term in enumerate(self.worlds.reward_terms)
            },
        }

    def render(self) -> Array:
        """The round from above; when it is over, how it ended."""
        if self._eyewitness is None:
            raise GodojoError('to see pictures, make the environment with render_mode="rgb_array"')
        shows_end = not self.agents and self.worlds.ended[0]
        return draw(self._eyewitness.at_the_end() if shows_end else self._eyewitness.now())

    def close(self) -> None:
        self.worlds.close()
