"""One decision of the embedded game played tick by tick on copies of its worlds, so that every tick can be seen.

The game itself plays whole decisions and begins the next round within the same step, so the ticks in between, and how
a round stood when it ended, are nowhere to be read. Played on copies with the same rules they come out the same, bit by
bit.
"""

from typing import Any, NamedTuple

import numpy as np

from godojo.games.tag.sim.step import decide, nobody_hides, row_of, tick
from godojo.games.tag.sim.twin import TagTwin
from godojo.kernels.compile import njit_nogil

FIELDS = 10
"""Numbers of an agent: position 3, velocity 3, heading, grounded, active, chases."""


class Ticks(NamedTuple):
    """What happens in one decision of N worlds."""

    states: np.ndarray
    """float32 [N, ticks, A, FIELDS]: after every tick."""
    played: np.ndarray
    """int32 [N]: ticks that were played: fewer where the round ended."""


def trace(twin: TagTwin) -> Ticks:
    """What `twin.step()` is going to do with its actions; the twin stays as it is."""
    agents = twin.agents.copy()
    ticks = Ticks(
        np.zeros((twin.num_worlds, twin.ticks_per_decision, agents.shape[1], FIELDS), np.float32),
        np.zeros(twin.num_worlds, np.int32),
    )
    _trace(
        twin.numbers,
        twin.actions,
        twin.arena_slots,
        twin.worlds.copy(),
        agents,
        twin.tables,
        ticks.states,
        ticks.played,
    )
    return ticks


def states_now(twin: TagTwin) -> np.ndarray:
    """float32 [N, A, FIELDS]: how all worlds stand."""
    agents = twin.agents
    rest = [agents[name][..., None] for name in ("heading", "grounded", "active", "chases")]
    return np.concatenate([agents["position"], agents["velocity"], *rest], axis=-1).astype(np.float32)


@njit_nogil
def _trace(
    numbers: np.ndarray,
    actions: np.ndarray,
    arenas: np.ndarray,
    worlds: np.ndarray,
    agents: np.ndarray,
    tables: Any,
    states: np.ndarray,
    count: np.ndarray,
) -> None:
    n = numbers[0]
    for index in range(len(worlds)):
        world = worlds[index]
        team = agents[index]
        for number in range(n.agents):
            decide(team[number], actions[row_of(tables, index, number)])
        for place in range(n.ticks_per_decision):
            was_tag = tick(n, arenas[index], world, team)
            count[index] = place + 1
            for number in range(n.agents):
                agent = team[number]
                into = states[index, place, number]
                for axis in range(3):
                    into[axis] = agent.position[axis]
                    into[3 + axis] = agent.velocity[axis]
                into[6] = agent.heading
                into[7] = agent.grounded
                into[8] = agent.active
                into[9] = agent.chases
            if world.ticks >= n.round_ticks or (was_tag and n.classic == 0 and nobody_hides(n, team)):
                break
