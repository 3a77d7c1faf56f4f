"""Plays a decision tick by tick on copies of the worlds, to show the ticks between two decisions.

The twin plays whole decisions and begins the next round within the same step. The same rules on copies of its records
give bit-identical ticks.
"""

from typing import Any

import numpy as np

from godojo.games.tag.sim.step import decide, nobody_hides, row_of, tick
from godojo.games.tag.sim.twin import TagTwin
from godojo.kernels.compile import njit_nogil


def trace(twin: TagTwin) -> tuple[np.ndarray, np.ndarray]:
    """Records [N, ticks, A] of the agents after every tick of the coming `twin.step()`, and the ticks played, [N]."""
    frames = np.zeros((twin.num_worlds, twin.ticks_per_decision, twin.agents.shape[1]), twin.agents.dtype)
    played = np.zeros(twin.num_worlds, np.int32)
    worlds, agents = twin.worlds.copy(), twin.agents.copy()
    _trace(twin.numbers, twin.actions, twin.arena_slots, worlds, agents, twin.tables, frames, played)
    return frames, played


@njit_nogil
def _trace(
    numbers: np.ndarray,
    actions: np.ndarray,
    arenas: np.ndarray,
    worlds: np.ndarray,
    agents: np.ndarray,
    tables: Any,
    frames: np.ndarray,
    played: np.ndarray,
) -> None:
    n = numbers[0]
    for index in range(len(worlds)):
        world = worlds[index]
        team = agents[index]
        for number in range(n.agents):
            decide(team[number], actions[row_of(tables, index, number)])
        for place in range(n.ticks_per_decision):
            was_tag = tick(n, arenas[index], world, team)
            played[index] = place + 1
            for number in range(n.agents):
                frames[index, place, number] = team[number]
            if world.ticks >= n.round_ticks or (was_tag and n.classic == 0 and nobody_hides(n, team)):
                break
