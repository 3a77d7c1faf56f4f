"""What a rollout keeps of a step: rewards, ends of episodes, and memory that begins anew after them."""

from typing import NamedTuple

import numpy as np


class Results(NamedTuple):
    """Of all agents of a role, in world order."""

    reward: np.ndarray
    acted: np.ndarray


class Ends(NamedTuple):
    """Which episodes the last step ended."""

    agents: int
    """Of the role, in each world."""
    terminated: np.ndarray
    truncated: np.ndarray
    ended: np.ndarray
    """By world."""


def _done(ends: Ends, rows: np.ndarray) -> np.ndarray:
    done: np.ndarray = ends.terminated[rows] | ends.truncated[rows] | ends.ended[rows // ends.agents]
    return done


def store_results(
    rows: np.ndarray,
    results: Results,
    ends: Ends,
    not_done: np.ndarray,
    memory: np.ndarray,
    reward: np.ndarray,
    terminated: np.ndarray,
    truncated: np.ndarray,
    acted: np.ndarray,
) -> bool:
    """Copy the results of the agents `rows` and reset their memory where an episode ended; whether any was truncated.

    `not_done` is that of the next step.
    """
    count = len(rows)
    reward[:count], acted[:count] = results.reward[rows], results.acted[rows]
    terminated[:count], truncated[:count] = ends.terminated[rows], ends.truncated[rows]
    not_done[:count] = ~_done(ends, rows)
    reset_memory(rows, ends, memory)
    return bool(ends.truncated[rows].any())


def reset_memory(rows: np.ndarray, ends: Ends, memory: np.ndarray) -> None:
    """Reset the memory of the agents `rows` whose episode ended."""
    memory[: len(rows)][_done(ends, rows)] = 0.0
