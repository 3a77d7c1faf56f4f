"""Tag for Stable-Baselines3: a VecEnv over a batch of worlds, one agent in each against a chosen opponent."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from godojo.envs.gymnasium import check_rounds_end_together
from godojo.envs.render import draw, scene_of
from godojo.envs.sb3_base import BatchVecEnv
from godojo.envs.spaces import (
    MOST_SEED,
    ArenasLike,
    SettingsLike,
    action_space,
    checked_render_mode,
    observation_space,
)
from godojo.envs.versus import Match
from godojo.errors import GodojoError


class TagVecEnv(BatchVecEnv):
    """Like `godojo.envs.gymnasium.TagVectorEnv`, in the words of Stable-Baselines3.

    In the step in which a world's round ends, its `info` holds `terminal_observation`, `TimeLimit.truncated` and what
    there is to say of the round (`is_success`, `winner`, `score`, ...). Nothing returned is ever written to again.
    """

    def __init__(
        self,
        num_envs: int,
        role: str = "seeker",
        opponent: str = "random",
        *,
        engine: str = "sim",
        arenas: ArenasLike = None,
        settings: SettingsLike = None,
        generated_share: float = 0.0,
        truncate_after: int = 0,
        seed: int | None = None,
        render_mode: str | None = None,
        engine_options: Mapping[str, Any] | None = None,
    ) -> None:
        """`seed` holds for the first `reset`, like a call of `seed()`."""
        self.render_mode = checked_render_mode(render_mode, engine)
        self.match = Match(
            num_envs,
            role=role,
            opponent=opponent,
            engine=engine,
            arenas=arenas,
            settings=settings,
            generated_share=generated_share,
            truncate_after=truncate_after,
            engine_options=engine_options,
        )
        check_rounds_end_together(self.match)
        super().__init__(self.match.num_worlds, observation_space(self.match.settings), action_space())
        self._chance = np.random.default_rng()
        self._has_begun = False
        if seed is not None:
            self.seed(seed)

    def reset(self) -> np.ndarray:
        seed = self._seeds[0]
        if seed is not None:
            self._chance = np.random.default_rng(seed)
        self.match.reset(int(self._chance.integers(MOST_SEED)) if seed is None else seed)
        self._reset_seeds()
        self._reset_options()
        self._has_begun = True
        return self.match.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        if not self._has_begun:
            raise GodojoError("there are no rounds to play: call reset() first")
        self.match.start(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        match = self.match
        match.finish()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]  # Stable-Baselines3 wants one each, to keep
        if match.worlds.ended.any():
            ended = np.flatnonzero(match.worlds.ended)
            rounds = match.final_info(ended)
            terms = rounds.pop("terms")
            columns = {**rounds, **{f"terms/{name}": values for name, values in terms.items()}}
            columns["TimeLimit.truncated"] = match.truncated[ended] & ~match.terminated[ended]
            last = match.final_observation[ended]
            for place, world in enumerate(ended):
                infos[world] = {name: _plain(values[place]) for name, values in columns.items()}
                infos[world]["terminal_observation"] = last[place].copy()
        return match.observation.copy(), match.reward.copy(), match.terminated | match.truncated, infos

    def get_images(self) -> Sequence[np.ndarray | None]:
        return [draw(scene_of(self.match.worlds, world)) for world in range(self.num_envs)]

    def close(self) -> None:
        self.match.close()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
