"""Stable-Baselines3's PPO as a contender of `godojo bench train`: as it comes, and tuned for many worlds."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import nn

from godojo.bench.learners import Contender, Maker
from godojo.bench.train import OPPONENT
from godojo.engines.base import Worlds
from godojo.envs.sb3 import GameVecEnv  # first: it says what to install where the library is missing
from godojo.evaluation.matches import Player

from stable_baselines3 import PPO  # isort: skip

DEFAULT_WORLDS = 8
"""Its defaults leave this to the user; a few at a time are what its batches of 64 are made for."""
TUNED_WORLDS = 1024
TUNED: dict[str, Any] = {
    "n_steps": 32,
    "batch_size": 16384,
    "n_epochs": 4,
    "learning_rate": 1e-3,
    "ent_coef": 0.003,
    "policy_kwargs": {"net_arch": [64, 64], "activation_fn": nn.ReLU},
}
"""Worlds, rollout and network as our learner's, batches as large as they may be; rates chosen by hand."""


class Sb3Learner(Contender):
    """A seeker that learns against a scripted hider: this library has no self-play."""

    def __init__(self, seed: int, title: str, opponent: str, worlds: int, values: Mapping[str, Any]) -> None:
        super().__init__()
        self.title = title
        self._env = GameVecEnv("tag", worlds, role="seeker", opponent=opponent, generated_share=1.0, seed=seed)
        self._model = PPO("MlpPolicy", self._env, seed=seed, device="cpu", **values)
        self._rollout = self._model.n_steps * worlds

    def update(self) -> None:
        self._model.learn(self._rollout, reset_num_timesteps=self._model.num_timesteps == 0)
        self.learnt_steps = self._model.num_timesteps
        self.agent_steps = 2 * self._model.num_timesteps  # the hider decides as often

    def player(self) -> Player:
        return Sb3Player(self._model)

    def close(self) -> None:
        self._env.close()


class Sb3Player:
    """A trained model in a match, without its own lots."""

    def __init__(self, model: PPO) -> None:
        self._model = model

    def begin(self, worlds: Worlds) -> None: ...

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        out[:, 0] = self._model.predict(worlds.roles["seeker"].observation[:, 0], deterministic=True)[0]


def sb3_contenders(
    opponent: str = OPPONENT, *, default_worlds: int = DEFAULT_WORLDS, tuned_worlds: int = TUNED_WORLDS, **values: Any
) -> dict[str, Maker]:
    """Both, by name, to train against this hider; `values` replace some of either's settings."""
    return {
        "sb3_defaults": lambda seed: Sb3Learner(seed, "SB3 PPO, its defaults", opponent, default_worlds, values),
        "sb3_tuned": lambda seed: Sb3Learner(seed, "SB3 PPO, large batches", opponent, tuned_worlds, TUNED | values),
    }
