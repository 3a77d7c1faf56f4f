"""Episodes of agents that share a world and end independently of each other (`Worlds.agent_episodes`)."""

from typing import NamedTuple

import numpy as np

from godojo.engines.base import Worlds


class FinishedEpisodes(NamedTuple):
    """K episodes of one role's agents that ended in the last step."""

    terms: np.ndarray
    """float32 [K, T]: the terms summed over the episode."""
    score: np.ndarray
    """float32 [K]"""
    measures: np.ndarray
    """float32 [K, M]: the role's `measures`, NaN where there is nothing to report."""
    length_ticks: np.ndarray
    """int32 [K]"""


class AgentEpisodes:
    """Counts the length of every agent's episode; call `finished` after every step."""

    def __init__(self, worlds: Worlds) -> None:
        self._ticks = {name: np.zeros(role.acted.shape, np.int32) for name, role in worlds.roles.items()}

    def finished(self, worlds: Worlds) -> dict[str, FinishedEpisodes]:
        """The episodes that ended in the last step by role, except those lost with a game."""
        found = {}
        for name, role in worlds.roles.items():
            ticks, over = self._ticks[name], role.terminated | role.truncated
            ticks += worlds.ticks_per_decision
            done = over & role.acted
            if done.any():
                score = role.final_score[done]
                measures = np.empty((len(score), 0)) if role.final_measures is None else role.final_measures[done]
                found[name] = FinishedEpisodes(role.final_terms[done], score, measures, ticks[done])
            ticks[over] = 0
        return found
