"""Navigation on a GPU: the rules of `step.py`, one thread a world. Arrays come one by one, as GPUs take them.

Headings turn by 64-bit sines, whose last bit differs between a GPU and the system's library: rounds are nearly the same
as on the CPU, not bit-exactly.
"""

from typing import Any

import numpy as np

from godojo.games.navigation.sim import state
from godojo.games.navigation.sim.rounds import begin_round
from godojo.games.navigation.sim.sight import observe
from godojo.games.navigation.sim.state import Tables
from godojo.games.navigation.sim.step import step_world
from godojo.games.navigation.sim.twin import NavigationTwin
from godojo.kernels.results import Results


def step_at(
    index: int, numbers: Any, catalogue: Any, walkers: Any, actions: Any,
    directions: Any, inverse: Any, nearest: Any, chosen: Any,
    observation: Any, final_observation: Any, terms: Any, reward: Any, acted: Any, terminated: Any, truncated: Any,
    final_terms: Any, final_score: Any, ended: Any, winner: Any, length_ticks: Any, arena: Any,
) -> None:  # fmt: skip
    """One decision in one world."""
    tables = Tables(directions, inverse, nearest, chosen)
    results = Results(
        observation, final_observation, terms, reward, acted, terminated, truncated, final_terms, final_score, ended,
        winner, length_ticks, arena,
    )  # fmt: skip
    step_world(numbers[0], actions[index], catalogue, index, walkers[index], tables, index, results)


def begin_at(
    index: int, numbers: Any, catalogue: Any, walkers: Any, directions: Any, inverse: Any, nearest: Any, chosen: Any,
    observation: Any,
) -> None:  # fmt: skip
    """Begins a round in one world."""
    walker = walkers[index]
    begin_round(numbers[0], catalogue, walker)
    tables = Tables(directions, inverse, nearest, chosen)
    observe(numbers[0], catalogue[walker.course], walker, tables, index, observation[index])


class NavigationOnDevice:
    """The arrays of a twin as kernels on a GPU take them."""

    step, begin = staticmethod(step_at), staticmethod(begin_at)
    streams = "walkers"

    def __init__(self, twin: NavigationTwin) -> None:
        self.twin = twin
        self.constants = {"numbers": twin.numbers, "catalogue": twin.catalogue}
        self.state = {"walkers": twin.walkers}
        self.scratch = state.tables(twin.settings, chunks=twin.num_worlds)._asdict()
        self.results: dict[str, np.ndarray] = twin.results._asdict()
