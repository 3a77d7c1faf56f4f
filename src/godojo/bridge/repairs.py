"""Observations and rewards that are not finite: replaced, and counted by agent and field.

NaN becomes 0 and an infinite number ±`LIMIT`. Finite numbers are never changed, however large they are: a game may
observe metres or pay 100 for a goal.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from godojo.games.parts import ObservationPart

LIMIT = 10.0


class Repair(NamedTuple):
    """A field of an agent that was not finite in one step."""

    role: str
    agent: int
    """Its place in its world."""
    field: str
    """`velocity[2]`, or `reward goal`."""
    times: int
    """In how many worlds."""


def repair(role: str, array: np.ndarray, agents: np.ndarray, fields: Sequence[str]) -> list[Repair]:
    """Replaces what is not finite in `array` [rows, fields], in place; `agents` [rows] are the rows' agents."""
    wrong = ~np.isfinite(array)
    if not wrong.any():
        return []
    row, field = np.nonzero(wrong)
    places, counts = np.unique(np.stack([agents[row], field]), axis=1, return_counts=True)
    np.nan_to_num(array, copy=False, nan=0.0, posinf=LIMIT, neginf=-LIMIT)
    found = zip(*places.tolist(), counts.tolist(), strict=True)
    return [Repair(role, agent, fields[number], count) for agent, number, count in found]


def observation_fields(parts: Sequence[ObservationPart]) -> list[str]:
    """The name of each number of an observation."""
    return [f"{part.name}[{number}]" for part in parts for number in range(part.size)]


def reward_fields(terms: Sequence[str]) -> list[str]:
    return ["reward" if term == "reward" else f"reward {term}" for term in terms]
