"""Tag on a GPU: the rules of `step.py`, one thread a world. Arrays come one by one, as GPUs take them."""

from typing import Any

import numpy as np

from godojo.games.tag.sim import state
from godojo.games.tag.sim.rewards import measure
from godojo.games.tag.sim.rounds import begin_round
from godojo.games.tag.sim.state import Tables
from godojo.games.tag.sim.step import observe_world, step_world
from godojo.games.tag.sim.twin import TagTwin
from godojo.kernels.results import Results


def step_at(
    index: int, numbers: Any, catalogue: Any, arenas: Any, worlds: Any, agents: Any, actions: Any,
    rows: Any, directions: Any, inverse: Any, nearest: Any, hits: Any, visible: Any, chosen: Any, places: Any,
    observation: Any, final_observation: Any, terms: Any, reward: Any, acted: Any, terminated: Any, truncated: Any,
    final_terms: Any, final_score: Any, ended: Any, winner: Any, length_ticks: Any, arena: Any,
) -> None:  # fmt: skip
    """One decision in one world."""
    tables = Tables(rows, directions, inverse, nearest, hits, visible, chosen, places)
    results = Results(
        observation, final_observation, terms, reward, acted, terminated, truncated, final_terms, final_score, ended,
        winner, length_ticks, arena,
    )  # fmt: skip
    step_world(numbers[0], actions, catalogue, arenas, index, worlds[index], agents[index], tables, index, results)


def begin_at(
    index: int, numbers: Any, catalogue: Any, arenas: Any, worlds: Any, agents: Any,
    rows: Any, directions: Any, inverse: Any, nearest: Any, hits: Any, visible: Any, chosen: Any, places: Any,
    observation: Any,
) -> None:  # fmt: skip
    """Begins a round in one world."""
    tables = Tables(rows, directions, inverse, nearest, hits, visible, chosen, places)
    begin_round(numbers[0], catalogue, arenas, index, worlds[index], agents[index], places[index])
    measure(numbers[0], agents[index])
    observe_world(numbers[0], arenas[index], worlds[index], agents[index], index, tables, index, observation)


class TagOnDevice:
    """The arrays of a twin as kernels on a GPU take them."""

    step, begin = staticmethod(step_at), staticmethod(begin_at)
    streams = "worlds"

    def __init__(self, twin: TagTwin) -> None:
        self.twin = twin
        self.constants = {"numbers": twin.numbers, "catalogue": twin.catalogue}
        self.state = {"arenas": twin.arena_slots, "worlds": twin.worlds, "agents": twin.agents}
        self.scratch = state.tables(twin.settings, twin.num_worlds, chunks=twin.num_worlds)._asdict()
        self.results: dict[str, np.ndarray] = twin.results._asdict()
