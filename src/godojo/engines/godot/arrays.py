"""The contract's arrays for a connected game, and how its steps are written into them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from godojo.bridge.codec import StepFrame
from godojo.bridge.messages import Ready
from godojo.engines.base import RoleArrays, Worlds
from godojo.errors import GodojoError
from godojo.games.parts import ObservationPart

_WHOLE_IN_JSON = 2**53
"""Godot reads JSON numbers as 64-bit floats."""


class Truth(Protocol):
    """The privileged state of all worlds of a game, such as `games/tag/truth.py`."""

    @property
    def parts(self) -> tuple[ObservationPart, ...]:
        """What the game sends about each world, in order."""

    def make(self, num_worlds: int) -> Any:
        """Allocates the arrays that `write` fills; `Worlds.privileged` returns them."""

    def write(self, worlds: slice, state: np.ndarray) -> None:
        """Writes the state of these worlds: float32 [W, K]."""


class WorldArrays:
    """All arrays of N worlds; each game writes the worlds that it plays."""

    def __init__(self, ready: Ready, num_worlds: int, truth: Truth | None = None) -> None:
        self.num_worlds = num_worlds
        self._truth = truth
        self.privileged = None if truth is None else truth.make(num_worlds)
        self.ticks_per_decision = ready.ticks_per_decision
        terms = len(ready.reward_terms)
        roles: dict[str, RoleArrays] = {}
        for role in ready.roles:
            rows, width = (num_worlds, role.agents), role.observation_size
            roles[role.name] = RoleArrays(
                name=role.name,
                observation=np.zeros((*rows, width), np.float32),
                action=np.zeros((*rows, role.action_size), np.float32),
                reward=np.zeros(rows, np.float32),
                terms=np.zeros((*rows, terms), np.float32),
                acted=np.zeros(rows, np.bool_),
                terminated=np.zeros(rows, np.bool_),
                truncated=np.zeros(rows, np.bool_),
                final_observation=np.zeros((*rows, width), np.float32),
                final_terms=np.zeros((*rows, terms), np.float32),
                final_score=np.zeros(rows, np.float32),
                observation_parts=role.observation,
                action_parts=role.action,
                heading=role.heading,
                measures=role.measures,
                final_measures=np.full((*rows, len(role.measures)), np.nan, np.float32) if role.measures else None,
            )
        self.roles: Mapping[str, RoleArrays] = MappingProxyType(roles)
        self.ended = np.zeros(num_worlds, np.bool_)
        self.winner = np.zeros(num_worlds, np.int8)
        self.length_ticks = np.zeros(num_worlds, np.int32)
        self.arena = np.zeros(num_worlds, np.int32)
        self._decisions = np.zeros(num_worlds, np.int32)
        """Since the round started, for rounds whose end the game cannot report."""

    def actions(self, worlds: slice) -> list[np.ndarray]:
        """The next actions in these worlds, by role."""
        return [role.action[worlds] for role in self.roles.values()]

    def begin(self, worlds: slice, frame: StepFrame) -> None:
        """Starts new rounds: only observations are valid."""
        self.ended[worlds] = False
        self._decisions[worlds] = 0
        for role, said in zip(self.roles.values(), frame.roles, strict=True):
            role.observation[worlds] = said.observation
            for array in (role.reward, role.terms, role.acted, role.terminated, role.truncated):
                array[worlds] = 0
        self._take_truth(worlds, frame)

    def take(self, worlds: slice, frame: StepFrame) -> None:
        """Writes one decision of these worlds."""
        self.ended[worlds] = False
        self._decisions[worlds] += 1
        for role, said in zip(self.roles.values(), frame.roles, strict=True):
            role.observation[worlds] = said.observation
            role.terms[worlds] = said.terms
            with np.errstate(over="ignore"):  # the learner reports it
                said.terms.sum(axis=2, out=role.reward[worlds])
            role.acted[worlds] = said.acted
            role.terminated[worlds] = said.terminated
            role.truncated[worlds] = said.truncated
            if len(said.final_rows):
                world, agent = np.divmod(said.final_rows, role.acted.shape[1])
                world = world + worlds.start
                role.final_observation[world, agent] = said.final_observation
                role.final_terms[world, agent] = said.final_terms
                role.final_score[world, agent] = said.final_score
                if role.final_measures is not None:
                    role.final_measures[world, agent] = said.final_measures
        if len(frame.ended):
            ended = frame.ended[:, 0] + worlds.start
            self.ended[ended] = True
            self.winner[ended] = frame.ended[:, 1]
            self.length_ticks[ended] = frame.ended[:, 2]
            self.arena[ended] = frame.ended[:, 3]
            self._decisions[ended] = 0
        self._take_truth(worlds, frame)

    def cut_short(self, worlds: slice, frame: StepFrame) -> None:
        """The game of these worlds was lost, and `frame` starts new rounds; no transition spans that."""
        for role in self.roles.values():
            role.final_observation[worlds] = role.observation[worlds]
            role.final_terms[worlds] = 0
            role.final_score[worlds] = 0
            if role.final_measures is not None:
                role.final_measures[worlds] = np.nan
        length_ticks = self._decisions[worlds] * self.ticks_per_decision
        self.begin(worlds, frame)
        for role in self.roles.values():
            role.truncated[worlds] = True
        self.ended[worlds] = True
        self.winner[worlds] = 0
        self.length_ticks[worlds] = length_ticks
        self.arena[worlds] = -1

    def _take_truth(self, worlds: slice, frame: StepFrame) -> None:
        if self._truth is not None and frame.truth is not None:
            self._truth.write(worlds, frame.truth)


def make_arrays(worlds: Worlds, ready: Ready, truth: Truth | None = None) -> WorldArrays:
    """The arrays of a game that describes itself; also sets them, and the description, as attributes of `worlds`."""
    worlds.ticks_per_decision, worlds.ticks_per_second = ready.ticks_per_decision, ready.ticks_per_second
    declared = {role.name: ready.model if role.model is None else role.model for role in ready.roles}
    worlds.declared_models = {role: model for role, model in declared.items() if model is not None}
    worlds.declared_loop = ready.loop
    worlds.independent_agents = ready.independent_agents
    worlds.agent_episodes = ready.agent_episodes or ready.independent_agents
    worlds.reward_terms, worlds.winners, worlds.arena_names = ready.reward_terms, ready.winners, ready.arenas
    arrays = WorldArrays(ready, worlds.num_worlds, truth)
    worlds.roles = arrays.roles
    worlds.ended, worlds.winner = arrays.ended, arrays.winner
    worlds.length_ticks, worlds.arena = arrays.length_ticks, arrays.arena
    return arrays


def checked_seed(seed: object) -> int:
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or not 0 <= seed < 2**64:
        raise GodojoError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
    return int(seed)


def game_seed(seed: int, number: int, cuts: int) -> int:
    """The seed itself for the first game if possible; every other game and every cut has its own."""
    if number == 0 and cuts == 0 and seed < _WHOLE_IN_JSON:
        return seed
    mixed = np.random.SeedSequence([seed, number, cuts]).generate_state(1, np.uint64)
    return int(mixed[0]) % _WHOLE_IN_JSON
