"""`learn/step_results.py` in one kernel.

As many small operations, each of which gives the interpreter away and waits for it again, they held up other threads.
"""

import numpy as np

from godojo.kernels.compile import device_kernel, njit_nogil
from godojo.learn.step_results import Ends, Results


@device_kernel
def _is_done(ends: Ends, row: int) -> bool:
    return bool(ends.terminated[row] or ends.truncated[row] or ends.ended[row // ends.agents])


@device_kernel
def _reset(memory: np.ndarray, row: int) -> None:
    for cell in range(memory.shape[1]):
        memory[row, cell] = np.float32(0.0)


@njit_nogil
def store_results(
    rows: np.ndarray, results: Results, ends: Ends, not_done: np.ndarray, memory: np.ndarray, reward: np.ndarray,
    terminated: np.ndarray, truncated: np.ndarray, acted: np.ndarray,
) -> bool:  # fmt: skip
    """As `step_results.store_results`."""
    is_truncated = False
    for column in range(len(rows)):
        row = rows[column]
        reward[column] = results.reward[row]
        acted[column] = results.acted[row]
        terminated[column] = ends.terminated[row]
        truncated[column] = ends.truncated[row]
        is_truncated = is_truncated or ends.truncated[row]
        not_done[column] = np.float32(1.0)
        if _is_done(ends, row):
            not_done[column] = np.float32(0.0)
            _reset(memory, column)
    return is_truncated


@njit_nogil
def reset_memory(rows: np.ndarray, ends: Ends, memory: np.ndarray) -> None:
    """As `step_results.reset_memory`."""
    for column in range(len(rows)):
        if _is_done(ends, rows[column]):
            _reset(memory, column)
