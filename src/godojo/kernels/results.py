"""What a step of any embedded game gives to whoever asked for it."""

from typing import NamedTuple

import numpy as np


class Results(NamedTuple):
    """The contract's arrays, by agents and by worlds.

    Arrays of agents have one row an agent, ordered by role, then world, then agent, so that each role's part of them is
    one contiguous block: `row = role.first * worlds + world * role.agents + place in the role`.
    """

    observation: np.ndarray
    final_observation: np.ndarray
    terms: np.ndarray
    reward: np.ndarray
    acted: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    final_terms: np.ndarray
    """Summed over a round that ended."""
    final_score: np.ndarray
    ended: np.ndarray
    """One entry a world, here and below."""
    winner: np.ndarray
    length_ticks: np.ndarray
    arena: np.ndarray


def new_results(worlds: int, agents: int, observation_size: int, terms: int) -> Results:
    rows = worlds * agents
    return Results(
        observation=np.zeros((rows, observation_size), np.float32),
        final_observation=np.zeros((rows, observation_size), np.float32),
        terms=np.zeros((rows, terms), np.float32),
        reward=np.zeros(rows, np.float32),
        acted=np.zeros(rows, np.bool_),
        terminated=np.zeros(rows, np.bool_),
        truncated=np.zeros(rows, np.bool_),
        final_terms=np.zeros((rows, terms), np.float32),
        final_score=np.zeros(rows, np.float32),
        ended=np.zeros(worlds, np.bool_),
        winner=np.zeros(worlds, np.int8),
        length_ticks=np.zeros(worlds, np.int32),
        arena=np.zeros(worlds, np.int32),
    )
