"""Any game with a single agent for Stable-Baselines3: a VecEnv over a batch of worlds on whatever engine."""

from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.envs.sb3_base import BatchVecEnv
from godojo.envs.solo import end_of, only_agent, spaces_of
from godojo.envs.spaces import MOST_SEED, checked_actions


class SoloVecEnv(BatchVecEnv):
    """A VecEnv over worlds: `SoloVecEnv(make_vec("navigation", num_worlds=16))`.

    In the step in which a round ends, its `info` holds `terminal_observation`, `TimeLimit.truncated` and what
    `end_of` says. Nothing returned is ever written to again.
    """

    def __init__(self, worlds: Worlds, seed: int | None = None) -> None:
        self.worlds = worlds
        self.role = only_agent(worlds)
        self.render_mode = None
        super().__init__(worlds.num_worlds, *spaces_of(self.role))
        self._chance = np.random.default_rng(seed)
        if seed is not None:
            self.seed(seed)

    def reset(self) -> np.ndarray:
        seed = self._seeds[0]
        self.worlds.reset(int(self._chance.integers(MOST_SEED)) if seed is None else seed)
        self._reset_seeds()
        self._reset_options()
        return self.role.observation[:, 0].copy()

    def step_async(self, actions: np.ndarray) -> None:
        self.role.action[:, 0] = checked_actions(actions, (self.num_envs, self.role.action.shape[2]))
        self.worlds.start()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        self.worlds.finish()
        role = self.role
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]  # Stable-Baselines3 wants one each, to keep
        for world in np.flatnonzero(self.worlds.ended):
            infos[world] = end_of(self.worlds, role, int(world))
            infos[world]["TimeLimit.truncated"] = bool(role.truncated[world, 0] and not role.terminated[world, 0])
            infos[world]["terminal_observation"] = role.final_observation[world, 0].copy()
        done = role.terminated[:, 0] | role.truncated[:, 0]
        return role.observation[:, 0].copy(), role.reward[:, 0].copy(), done, infos

    def close(self) -> None:
        self.worlds.close()
