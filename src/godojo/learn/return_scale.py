"""Scales rewards by the running standard deviation of the discounted return."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from godojo.learn.networks import Normaliser


class ReturnScale:
    """The running standard deviation of the discounted return, which rewards are divided by (`VecNormalize` in SB3)."""

    LIMIT = 10.0
    """Scaled rewards are clipped to ± this value."""

    def __init__(self, columns: int, gamma: float) -> None:
        self._gamma = gamma
        self._returns = torch.zeros(columns)
        """Discounted, of the current episode of each agent."""
        self._moments = Normaliser(1)

    def scaled(self, reward: Tensor, done: Tensor) -> Tensor:
        """The rewards [T, C] of a rollout, which also update the scale; `done` where an episode ended."""
        returns = torch.empty_like(reward)
        for step, (earned, over) in enumerate(zip(reward, done, strict=True)):
            self._returns = self._returns * self._gamma + earned
            returns[step] = self._returns
            self._returns = self._returns.masked_fill(over, 0.0)
        self._moments.update(returns[..., None])
        scaled: Tensor = reward / (self._moments.variance.sqrt() + 1e-8)
        return scaled.clamp(-self.LIMIT, self.LIMIT)

    def state(self) -> dict[str, Any]:
        return {"moments": self._moments.state_dict(), "returns": self._returns}

    def load_state(self, state: Mapping[str, Any], *, same_episodes: bool) -> None:
        """`same_episodes`: agents continue the episodes that they were in."""
        self._moments.load_state_dict(state["moments"])
        if same_episodes:
            self._returns.copy_(state["returns"])
