"""Generalised advantage estimation (Schulman et al. 2016), with terminations, truncations and idle rows."""

from typing import Any

import numpy as np

from godojo.kernels.compile import njit_nogil


@njit_nogil
def advantages(
    reward: np.ndarray,
    value: np.ndarray,
    terminated: np.ndarray,
    truncated: np.ndarray,
    acted: np.ndarray,
    bootstrap_value: np.ndarray,
    gamma: Any,
    gae_lambda: Any,
    out: np.ndarray,
) -> None:
    """Fill `out` [T, C] for T steps of C agents; `value` is [T + 1, C].

    The next value is 0 after a termination, `bootstrap_value` (the value of the final observation) after a truncation,
    and `value[t + 1]` elsewhere. Rows in which an agent did not act have no advantage and pass none on.
    """
    steps, columns = reward.shape
    for column in range(columns):
        ahead = np.float32(0.0)
        for step in range(steps - 1, -1, -1):
            if not acted[step, column]:
                ahead = np.float32(0.0)
                out[step, column] = ahead
                continue
            following = value[step + 1, column]
            ended = terminated[step, column] or truncated[step, column]
            if terminated[step, column]:
                following = np.float32(0.0)
            elif truncated[step, column]:
                following = bootstrap_value[step, column]
            if ended:
                ahead = np.float32(0.0)
            error = reward[step, column] + gamma * following - value[step, column]
            ahead = np.float32(error + gamma * gae_lambda * ahead)
            out[step, column] = ahead
