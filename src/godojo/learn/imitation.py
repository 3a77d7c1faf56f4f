"""Imitation of a scripted opponent: in some worlds it is asked what it would do in the learner's place."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from godojo.engines.base import Worlds
from godojo.engines.subset import WorldsSubset
from godojo.learn.networks import Policy
from godojo.opponents.base import Opponent

if TYPE_CHECKING:
    from godojo.learn.rollout import RolloutBuffer


class Imitation:
    """Writes to a buffer what `opponent` would do as `role` in `count` of the worlds that the policy plays.

    They are the ones at the end where the policy meets opponents (see `self_play`). The policy itself acts, so it
    learns what to do in the situations it gets into.
    """

    def __init__(self, worlds: Worlds, role: str, opponent: Opponent, played: slice, count: int) -> None:
        count = min(count, played.stop - played.start)
        first = played.start if played.start == 0 else played.stop - count
        agents = worlds.roles[role].action.shape[1]
        self.opponent, self.weight = opponent, 0.0
        self._part = WorldsSubset(worlds, slice(first, first + count))
        self._columns = slice((first - played.start) * agents, (first - played.start + count) * agents)
        self._action = np.zeros_like(self._part.roles[role].action)
        opponent.begin(self._part)
        opponent.act(self._part, self._action)  # compile before training time counts
        opponent.begin(self._part)

    def ask(self, step: int, policy: Policy, observation: Tensor, buffer: "RolloutBuffer") -> None:
        """Write the actions to imitate in this step; `observation` is that of all agents that the policy plays."""
        columns = self._columns
        buffer.imitation_weight[step, columns] = self.weight
        if not self.weight:
            return
        self.opponent.act(self._part, self._action)
        actions = torch.from_numpy(self._action).flatten(0, 1)
        buffer.imitated[step, columns] = policy.from_env_action(actions, observation[columns])
