"""Generalised advantage estimation as a kernel: `learn/gae.py` has the same in torch, with the same bits."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from godojo.kernels.compile import njit_nogil


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
    """As `gae.advantages`."""
    result = torch.empty_like(reward)
    flags = terminated.numpy(), truncated.numpy(), acted.numpy()
    numbers = bootstrap_value.numpy(), np.float32(gamma), np.float32(gamma) * np.float32(gae_lambda)
    _advantages(reward.numpy(), value.numpy(), *flags, *numbers, result.numpy())
    return result


@njit_nogil
def _advantages(
    reward: np.ndarray, value: np.ndarray, terminated: np.ndarray, truncated: np.ndarray, acted: np.ndarray,
    bootstrap_value: np.ndarray, gamma: Any, decay: Any, out: np.ndarray,
) -> None:  # fmt: skip
    steps, columns = reward.shape
    zero = np.float32(0.0)
    for step in range(steps - 1, -1, -1):
        for column in range(columns):
            following = zero if step == steps - 1 else out[step + 1, column]
            next_value = value[step + 1, column]
            if truncated[step, column]:
                following, next_value = zero, bootstrap_value[step, column]
            if terminated[step, column]:
                following, next_value = zero, zero
            td_error = reward[step, column] + gamma * next_value - value[step, column]
            out[step, column] = td_error + decay * following if acted[step, column] else zero
