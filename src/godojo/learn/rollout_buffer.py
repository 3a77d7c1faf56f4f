"""The rollout of one role, as tensors."""

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from godojo.engines.base import RoleArrays
from godojo.learn.networks import Policy


@dataclass
class RolloutBuffer:
    """T steps of the C agents that a role's current policy plays: a row per step, a column per agent, in world order.

    Tensors are [T, C], or [T, C, size], unless noted otherwise.
    """

    observation: Tensor
    """[T + 1, C, D], normalised."""
    privileged: Tensor
    """[T + 1, C, P], normalised."""
    action: Tensor
    log_prob: Tensor
    reward: Tensor
    terminated: Tensor
    truncated: Tensor
    acted: Tensor
    """Whether the agent took part in the step; if not, there is nothing to learn from it."""
    bootstrap_value: Tensor
    """Value of the final observation, where `truncated`."""
    not_done: Tensor
    """0 where a new episode began before the step, else 1."""
    heading: Tensor
    """[T, C, 2] if the memory rotates with it; else empty."""
    memory: Tensor
    """[C, M]: the memory before the first step."""
    imitated: Tensor
    """Actions to imitate, where `imitation_weight` is above 0."""
    imitation_weight: Tensor
    value: Tensor
    """[T + 1, C]."""
    advantage: Tensor
    returns: Tensor

    @property
    def num_columns(self) -> int:
        return self.action.shape[1]

    def select(self, columns: Tensor) -> "RolloutBuffer":
        """A copy with some of the agents and all their steps."""
        names = [field.name for field in fields(self)]
        selected = (getattr(self, name).index_select(0 if name == "memory" else 1, columns) for name in names)
        return RolloutBuffer(*selected)

    def split(self, memory: Tensor) -> "RolloutBuffer":
        """Shorter sequences, each as a column of its own: [T / S, S * C] in place of [T, C].

        `memory` is [S, C, M]: before the first step of each.
        """
        steps = len(self.action)
        length = steps // len(memory)

        def columns(whole: Tensor) -> Tensor:
            more = len(whole) - steps  # 1 where there is a value after the last step
            return torch.cat([whole[first : first + length + more] for first in range(0, steps, length)], dim=1)

        names = [field.name for field in fields(self) if field.name != "memory"]
        return RolloutBuffer(memory=memory.flatten(0, 1), **{name: columns(getattr(self, name)) for name in names})

    @classmethod
    def empty(cls, steps: int, columns: int, role: RoleArrays, privileged_size: int, policy: Policy) -> "RolloutBuffer":
        shapes = {
            "observation": (steps + 1, columns, role.observation.shape[2]),
            "privileged": (steps + 1, columns, privileged_size),
            "action": (steps, columns, role.action.shape[2]),
            "imitated": (steps, columns, role.action.shape[2]),
            "heading": (steps, columns, 2 if policy.rotated_cells else 0),
            "memory": (columns, policy.memory_size),
            "value": (steps + 1, columns),
        }
        flags = {"terminated": torch.bool, "truncated": torch.bool, "acted": torch.bool}
        names = [field.name for field in fields(cls)]
        buffer = cls(*(torch.zeros(shapes.get(name, (steps, columns)), dtype=flags.get(name)) for name in names))
        buffer.not_done.fill_(1.0)
        return buffer
