"""Generalised advantage estimation (Schulman et al. 2016), with terminations, truncations and idle rows."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

Advantages = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, float, float], Tensor]
"""An implementation of `advantages`."""


def advantages(
    reward: Tensor,
    value: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    acted: Tensor,
    bootstrap_value: Tensor,
    gamma: float,
    gae_lambda: float,
) -> Tensor:
    """Advantages for T steps of C agents, [T, C]; `value` is [T + 1, C].

    The next value is 0 after a termination, `bootstrap_value` (the value of the final observation) after a truncation,
    and `value[t + 1]` elsewhere. Steps in which an agent did not act have advantage 0, and stop the later ones from
    flowing back.
    """
    decay = float(np.float32(gamma) * np.float32(gae_lambda))
    ended = terminated | truncated
    next_value = torch.where(truncated, bootstrap_value, value[1:]).masked_fill_(terminated, 0.0)
    td_error = reward + gamma * next_value - value[:-1]
    result = torch.empty_like(reward)
    following = torch.zeros_like(reward[0])
    for step in range(len(reward) - 1, -1, -1):
        following = (td_error[step] + decay * following.masked_fill(ended[step], 0.0)).masked_fill_(~acted[step], 0.0)
        result[step] = following
    return result
