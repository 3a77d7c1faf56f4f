"""Plays a decision tick by tick on copies of the walkers, to show the ticks between two decisions."""

import numpy as np

from godojo.games.navigation.sim.motion import cut_action
from godojo.games.navigation.sim.rewards import NOBODY
from godojo.games.navigation.sim.step import tick
from godojo.games.navigation.sim.twin import NavigationTwin
from godojo.kernels.compile import njit_nogil


def trace(twin: NavigationTwin) -> tuple[np.ndarray, np.ndarray]:
    """Records [N, ticks] of the walkers after every tick of the coming `twin.step()`, and the ticks played, [N]."""
    frames = np.zeros((twin.num_worlds, twin.ticks_per_decision), twin.walkers.dtype)
    played = np.zeros(twin.num_worlds, np.int32)
    _trace(twin.numbers, twin.actions, twin.catalogue, twin.walkers.copy(), frames, played)
    return frames, played


@njit_nogil
def _trace(
    numbers: np.ndarray,
    actions: np.ndarray,
    catalogue: np.ndarray,
    walkers: np.ndarray,
    frames: np.ndarray,
    played: np.ndarray,
) -> None:
    n = numbers[0]
    for index in range(len(walkers)):
        walker = walkers[index]
        cut_action(actions[index], walker.action)
        for place in range(n.ticks_per_decision):
            outcome = tick(n, catalogue[walker.course], walker)
            played[index] = place + 1
            frames[index, place] = walker
            if outcome != NOBODY:
                break
