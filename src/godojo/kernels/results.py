"""Records and arrays that embedded games are made of: the results of a step, and settings for kernels."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

CACHE_LINE = 16
"""In 32-bit numbers."""


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


def aligned_zeros(*shape: int) -> np.ndarray:
    """32-bit zeros that begin at a cache line; if rows are whole lines, so do they."""
    room = np.zeros(math.prod(shape) + CACHE_LINE, np.float32)
    start = -room.ctypes.data // room.itemsize % CACHE_LINE
    return room[start : start + math.prod(shape)].reshape(shape)


def record_type(values: Mapping[str, Any]) -> np.dtype:
    """A record with one field for each value, of its type: an int, a float, `np.float32` or an array."""
    arrays = {name: np.asarray(value) for name, value in values.items()}
    return np.dtype([(name, array.dtype, array.shape) for name, array in arrays.items()], align=True)


def record_of(kind: np.dtype, values: Mapping[str, Any]) -> np.ndarray:
    """These values as an array of one record."""
    record = np.zeros(1, kind)
    for name, value in values.items():
        record[name] = value
    return record
