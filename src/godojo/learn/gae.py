"""Generalised advantage estimation, to the letter: ends, cuts and rows that are no transitions."""

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
    cut_value: np.ndarray,
    gamma: Any,
    gae_lambda: Any,
    out: np.ndarray,
) -> None:
    """Fills `out` [T, C] for T decisions of C agents; `value` is [T + 1, C].

    What follows a decision is worth nothing where the round was terminated, `cut_value` (the worth of the final
    observation) where it was truncated, and the next value elsewhere. A row that is no transition (`acted` is false)
    has no advantage and hands none on.
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
                following = cut_value[step, column]
            if ended:
                ahead = np.float32(0.0)
            error = reward[step, column] + gamma * following - value[step, column]
            ahead = np.float32(error + gamma * gae_lambda * ahead)
            out[step, column] = ahead
