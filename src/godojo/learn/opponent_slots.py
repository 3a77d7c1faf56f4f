"""Which worlds opponents play in: past checkpoints, scripted opponents and exploiters."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from godojo.engines.base import Worlds
from godojo.learn.settings import PpoSettings
from godojo.opponents import make_opponent, shared_role
from godojo.opponents.base import Opponent


class OpponentSlots(NamedTuple):
    """The worlds in which opponents play a role in place of its current policy: a block at the start or at the end.

    Where agents of one role play against each other, opponents play only some of them.
    """

    block: slice
    """All of them."""
    past: slice
    """Those of a past checkpoint."""
    scripted: Sequence[tuple[Opponent, slice]] = ()
    """Scripted opponents with the worlds of each."""
    exploiter: slice = slice(0, 0)
    """Those of the role's exploiter, at the outer end of the block."""
    agents: slice = slice(None)
    """The agents of the role that they play there."""

    @property
    def has_all_agents(self) -> bool:
        return self.agents == slice(None)

    def rows(self, worlds: int, agents: int) -> "tuple[Rows, Rows]":
        """The rows, in world order, of the current policy and of the past checkpoint."""
        of_policy, of_past = np.ones((worlds, agents), np.bool_), np.zeros((worlds, agents), np.bool_)
        of_policy[self.block, self.agents] = False
        of_past[self.past, self.agents] = True
        return _rows(of_policy), _rows(of_past)


Rows = slice | np.ndarray
"""Rows of agents: a slice where they are contiguous, so that selecting them copies nothing; else their indices."""


def _rows(chosen: np.ndarray) -> Rows:
    indices = np.flatnonzero(chosen)
    first, count = int(indices[0]) if len(indices) else 0, len(indices)
    return slice(first, first + count) if not count or indices[-1] - first == count - 1 else indices


def opponent_slots(index: int, role: str, worlds: Worlds, settings: PpoSettings, seed: int) -> OpponentSlots:
    """The opponents that play a role and their worlds, in a block at the start for the first role, else at the end.

    Games without exactly two roles have none, unless agents of their only role play against each other; nor have
    independent agents, who meet nobody.
    """
    shared = shared_role(worlds)
    if worlds.independent_agents or (len(worlds.roles) != 2 and shared is None):
        return OpponentSlots(slice(0, 0), slice(0, 0))
    blocks = 2 if shared is None else 1
    past = int(worlds.num_worlds * settings.past_opponent_fraction / blocks)
    scripts = max(len(settings.scripted_opponents), 1)
    each = int(worlds.num_worlds * settings.scripted_opponent_fraction / blocks / scripts)
    exploiter = 0 if shared is not None else int(worlds.num_worlds * settings.exploiter_fraction / 2)
    block = past + each * len(settings.scripted_opponents) + exploiter
    start = index * (worlds.num_worlds - block)
    first = start if index else start + exploiter
    scripted = [
        (
            make_opponent(name, role, seed, game=worlds.game),
            slice(first + past + place * each, first + past + (place + 1) * each),
        )
        for place, name in enumerate(settings.scripted_opponents)
        if each
    ]
    outer = start + block - exploiter if index else start
    agents = slice(None) if shared is None else shared.others
    return OpponentSlots(
        slice(start, start + block), slice(first, first + past), scripted, slice(outer, outer + exploiter), agents
    )
