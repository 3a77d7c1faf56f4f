"""The embedded engine: runs a game's twin, without Godot."""

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from godojo.engines.base import RoleArrays, Worlds
from godojo.errors import GodojoError
from godojo.games.parts import Role
from godojo.kernels.compile import is_compiled


class Twin(Protocol):
    """A game's embedded twin, such as `games/tag/sim/twin.py`."""

    reward_terms: tuple[str, ...]
    winners: tuple[str, ...]
    arena_names: tuple[str, ...]
    num_worlds: int
    ticks_per_decision: int
    settings: Any
    actions: np.ndarray
    results: Any
    """Arrays named as in the contract; one row per agent, ordered by role, world and agent."""

    @property
    def roles(self) -> Sequence[Role]: ...

    def begin(self, seed: int) -> None: ...

    def step(self) -> None: ...

    def privileged(self) -> Any: ...

    def change_settings(self, settings: Any) -> None: ...

    def state(self) -> dict[str, np.ndarray]:
        """The arrays of the complete state, to copy from and into."""


class SimWorlds(Worlds):
    """Many copies of a twin in this process, on every core."""

    def __init__(self, twin: Twin) -> None:
        if not is_compiled():
            sys.stderr.write("compiling kernels, once (about a minute)\n")
            sys.stderr.flush()
        results, self.twin, self.num_worlds = twin.results, twin, twin.num_worlds
        self.settings, self.ticks_per_decision = twin.settings, twin.ticks_per_decision
        self.ticks_per_second = twin.settings.ticks_per_second
        self.reward_terms, self.winners, self.arena_names = twin.reward_terms, twin.winners, twin.arena_names
        self.ended, self.winner = results.ended, results.winner
        self.length_ticks, self.arena = results.length_ticks, results.arena
        roles = {}
        for role in twin.roles:
            rows = slice(role.first * self.num_worlds, (role.first + role.agents) * self.num_worlds)

            def part(array: np.ndarray, rows: slice = rows, count: int = role.agents) -> np.ndarray:
                """A view of the role's part of an array."""
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
                observation_parts=role.observation_parts,
                action_parts=role.action_parts,
                heading=role.heading,
            )
        self.roles = MappingProxyType(roles)

    def reset(self, seed: int) -> None:
        self.twin.begin(seed)

    def _start(self) -> None:
        """Does nothing: the kernels use every core, so there is nothing to overlap."""

    def finish(self) -> None:
        self.twin.step()

    def privileged(self) -> Any:
        return self.twin.privileged()

    def change_settings(self, settings: Any) -> None:
        self.twin.change_settings(settings)
        self.settings = self.twin.settings

    def save_state(self) -> dict[str, np.ndarray]:
        return {name: array.copy() for name, array in self.twin.state().items()}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        own = self.twin.state()
        for name, array in own.items():
            given = state.get(name)
            if given is None or given.shape != array.shape or given.dtype != array.dtype:
                raise GodojoError(f"the saved state does not fit these worlds ({name} differs)")
        for name, array in own.items():
            array[...] = state[name]
