"""The embedded engine: runs a game's twin, without Godot."""

import sys
from types import MappingProxyType

import numpy as np

from godojo.engines.base import RoleArrays, Worlds
from godojo.games.tag.sim.twin import TagTwin
from godojo.games.tag.spec import WINNERS
from godojo.kernels.compile import is_compiled


class SimWorlds(Worlds):
    """Many copies of a twin in this process, on every core."""

    def __init__(self, twin: TagTwin) -> None:
        if not is_compiled():
            sys.stderr.write("compiling kernels, once (about half a minute)\n")
            sys.stderr.flush()
        results = twin.results
        self.twin = twin
        self.num_worlds = len(twin.worlds)
        self.reward_terms = twin.reward_terms
        self.winners = WINNERS
        self.arena_names = tuple(arena.name for arena in twin.arenas)
        self.ended = results.ended
        self.winner = results.winner
        self.length_ticks = results.length_ticks
        self.arena = results.arena
        roles = {}
        for role in twin.roles:
            rows = slice(role.first * self.num_worlds, (role.first + role.count) * self.num_worlds)

            def part(array: np.ndarray, rows: slice = rows, count: int = role.count) -> np.ndarray:
                """The role's part of an array, as a view of its own shape."""
                return array[rows].reshape(self.num_worlds, count, *array.shape[1:])

            roles[role.name] = RoleArrays(
                name=role.name,
                observation=part(results.observation),
                action=part(twin.actions),
                reward=part(results.reward),
                terms=part(results.terms),
                acted=part(results.acted),
                terminated=part(results.terminated),
                truncated=part(results.truncated),
                final_observation=part(results.final_observation),
                final_terms=part(results.final_terms),
                final_score=part(results.final_score),
            )
        self.roles = MappingProxyType(roles)

    def reset(self, seed: int) -> None:
        self.twin.begin(seed)

    def _advance(self) -> None:
        self.twin.step()
