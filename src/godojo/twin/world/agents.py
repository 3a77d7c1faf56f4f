"""What the kernels of a game write and what it means in the contract, for both wires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from godojo.bridge.repairs import LIMIT, observation_fields, repair
from godojo.engines.base import RoleArrays, Worlds
from godojo.kernels.compile import device_kernel, njit_nogil


class Wire(Protocol):
    """The arrays that a game's kernel reads and writes, and how they become the contract's."""

    def arrays(self) -> list[np.ndarray]:
        """What `run_worlds` takes, behind the rows."""

    def send(self, rests: bool = False) -> None:
        """Takes over the contract's actions, or does nothing."""

    def begin(self) -> None:
        """Notes that new rounds have begun."""

    def receive(self) -> None:
        """Writes a decision into the contract's arrays."""

    def state(self) -> dict[str, np.ndarray]:
        """What is neither in the rows nor in the contract's arrays, and the observations."""


def _repair(name: str, observation: np.ndarray, fields: Sequence[str]) -> None:
    """Replaces what is not finite, as the wire does."""
    with np.errstate(all="ignore"):
        if np.isfinite(observation.sum()):
            return
    rows = observation.reshape(-1, observation.shape[-1])
    repair(name, rows, np.arange(len(rows)) % observation.shape[-2], fields)


class _Role:
    """A role as the kernels see it: [instances, agents of the scene, …]."""

    def __init__(self, arrays: RoleArrays, instances: int) -> None:
        self.arrays = arrays
        worlds, agents, width = arrays.observation.shape
        self.shape = (instances, worlds * agents // instances)
        self.observation = arrays.observation.reshape(*self.shape, width)
        self.action = np.zeros((*self.shape, arrays.action.shape[-1]), np.float64)
        self.fields = observation_fields(arrays.observation_parts)

    def send(self, rests: bool) -> None:
        self.action[...] = 0.0 if rests else self.arrays.action.reshape(self.action.shape)

    def repair(self) -> None:
        _repair(self.arrays.name, self.arrays.observation, self.fields)

    def clear(self) -> None:
        role = self.arrays
        for array in (role.reward, role.terms, role.acted, role.terminated, role.truncated):
            array[...] = 0


@device_kernel
def _finite(value: np.float32) -> np.float32:
    """Rewards that are not finite are replaced, as the wire does it."""
    if np.isnan(value):
        return np.float32(0.0)
    return min(max(value, np.float32(-LIMIT)), np.float32(LIMIT)) if np.isinf(value) else value


@njit_nogil
def _receive(
    got: np.ndarray,  # [agents of all worlds, …], as all others but `over`
    done: np.ndarray,
    info: np.ndarray,
    before: np.ndarray,
    returns: np.ndarray,
    observation: np.ndarray,
    reward: np.ndarray,
    terms: np.ndarray,
    terminated: np.ndarray,
    truncated: np.ndarray,
    final_observation: np.ndarray,
    final_score: np.ndarray,
    final_terms: np.ndarray,
    final_measures: np.ndarray,
    over: np.ndarray,  # [worlds]: stays true where all agents are done
) -> bool:
    """Writes what a role's agents got into the contract's arrays; whether their observations are finite."""
    each = got.shape[0] // over.shape[0]
    is_finite = True
    for agent in range(got.shape[0]):
        for number in range(observation.shape[1]):
            is_finite &= np.isfinite(observation[agent, number])
        value = _finite(np.float32(got[agent]))
        reward[agent] = terms[agent, 0] = value
        returns[agent] += value
        is_cut = done[agent] and info[agent, 1] == 1.0
        terminated[agent], truncated[agent] = done[agent] and not is_cut, is_cut
        if not done[agent]:
            over[agent // each] = False
            continue
        for number in range(before.shape[1]):
            final_observation[agent, number] = before[agent, number]
        final_score[agent] = returns[agent]
        final_terms[agent, 0] = returns[agent]
        for number in range(final_measures.shape[1]):
            final_measures[agent, number] = info[agent, 0]
        returns[agent] = 0.0
    return is_finite


def _by_agent(array: np.ndarray) -> np.ndarray:
    """[agents of all worlds, …], of an array [worlds, agents, …] or [instances, agents, …]."""
    return array.reshape(-1, *array.shape[2:])


class GodotRlAgents:
    """godot_rl's agents, as `bridge/godot_rl.py` reads them from the wire."""

    def __init__(self, worlds: Worlds, roles: Sequence[str], instances: int) -> None:
        self._worlds = worlds
        self._roles = [_Role(worlds.roles[name], instances) for name in roles]
        self._rewards = [np.zeros(role.shape, np.float64) for role in self._roles]
        self._dones = [np.zeros(role.shape, np.bool_) for role in self._roles]
        self._infos = [np.full((*role.shape, 2), np.nan, np.float64) for role in self._roles]
        self._before = [np.zeros_like(role.arrays.observation) for role in self._roles]
        self._returns = [np.zeros(role.arrays.reward.shape, np.float64) for role in self._roles]
        self._decisions = np.zeros(worlds.num_worlds, np.int32)
        self._over = np.ones(worlds.num_worlds, np.bool_)
        self._received = [self._list_received(index) for index in range(len(self._roles))]

    def _list_received(self, index: int) -> list[np.ndarray]:
        """What `_receive` takes for a role."""
        role = self._roles[index].arrays
        own = (self._rewards, self._dones, self._infos, self._before, self._returns)
        measures = np.zeros((*role.reward.shape, 0), np.float32) if role.final_measures is None else role.final_measures
        found = [*(one[index] for one in own), role.observation, role.reward, role.terms, role.terminated]
        found += [role.truncated, role.final_observation, role.final_score, role.final_terms, measures]
        return [*(_by_agent(array) for array in found), self._over]

    def arrays(self) -> list[np.ndarray]:
        results = zip(self._roles, self._rewards, self._dones, self._infos, strict=True)
        found = [array for role, reward, done, info in results for array in (role.observation, reward, done, info)]
        return [*(role.action for role in self._roles), *found]

    def send(self, rests: bool = False) -> None:
        for role, before in zip(self._roles, self._before, strict=True):
            role.send(rests)
            np.copyto(before, role.arrays.observation)

    def begin(self) -> None:
        self._decisions[...] = 0
        self._worlds.ended[...] = False
        for role, returns in zip(self._roles, self._returns, strict=True):
            role.repair()
            role.clear()
            returns[...] = 0

    def receive(self) -> None:
        worlds, over = self._worlds, self._over
        self._decisions += 1
        over[...] = True
        for role, arrays in zip(self._roles, self._received, strict=True):
            if not _receive(*arrays):
                role.repair()
            role.arrays.acted[...] = True
        worlds.ended[...] = over
        if over.any():
            worlds.length_ticks[over] = self._decisions[over] * worlds.ticks_per_decision
            worlds.winner[over], worlds.arena[over] = 0, -1
            self._decisions[over] = 0

    def state(self) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {"decisions": self._decisions}
        for role, returns in zip(self._roles, self._returns, strict=True):
            found |= {f"{role.arrays.name}/returns": returns, f"{role.arrays.name}/observation": role.observation}
        return found


@njit_nogil
def _receive_terms(
    terms: np.ndarray,  # [agents of all worlds, …], as all others
    flags: np.ndarray,
    observation: np.ndarray,
    terminated: np.ndarray,
    truncated: np.ndarray,
) -> bool:
    """Writes whose episode is over into the contract's arrays; whether observations are finite."""
    is_finite = True
    for agent in range(flags.shape[0]):
        for number in range(observation.shape[1]):
            is_finite &= np.isfinite(observation[agent, number])
        for term in range(terms.shape[1]):
            terms[agent, term] = _finite(terms[agent, term])
        terminated[agent], truncated[agent] = flags[agent] == 1, flags[agent] == 2
    return is_finite


class DojoAgents:
    """Agents of our own addon, as `DojoSceneWorlds` plays them; one world is one instance."""

    def __init__(self, worlds: Worlds, roles: Sequence[str], instances: int) -> None:
        self._worlds = worlds
        self._roles = [_Role(worlds.roles[name], instances) for name in roles]
        self._flags = [np.zeros(role.shape, np.uint8) for role in self._roles]
        self._low, self._high = [], []
        for role in self._roles:
            parts = role.arrays.action_parts
            low = [-1.0 if part.kind == "continuous" else 0.0 for part in parts for _ in range(part.width)]
            high = [1.0 if part.kind == "continuous" else part.size - 1.0 for part in parts for _ in range(part.width)]
            self._low.append(np.array(low))
            self._high.append(np.array(high))

    def arrays(self) -> list[np.ndarray]:
        found: list[np.ndarray] = [role.action for role in self._roles]
        for role, flags in zip(self._roles, self._flags, strict=True):
            one = role.arrays
            found += [role.observation, one.terms, flags, one.final_observation, one.final_terms, one.final_score]
        worlds = self._worlds
        return [*found, worlds.ended, worlds.winner, worlds.length_ticks]

    def send(self, rests: bool = False) -> None:
        for role, low, high in zip(self._roles, self._low, self._high, strict=True):
            given = 0.0 if rests else role.arrays.action.reshape(role.action.shape)
            np.clip(given, low, high, out=role.action)

    def begin(self) -> None:
        self._worlds.ended[...] = False
        for role in self._roles:
            role.repair()
            role.clear()

    def receive(self) -> None:
        self._worlds.arena[self._worlds.ended] = -1
        for role, flags in zip(self._roles, self._flags, strict=True):
            arrays = role.arrays
            own = (arrays.terms, flags, arrays.observation, arrays.terminated, arrays.truncated)
            if not _receive_terms(*map(_by_agent, own)):
                role.repair()
            arrays.terms.sum(axis=2, out=arrays.reward)
            arrays.acted[...] = True
            if flags.any():
                _repair(arrays.name, arrays.final_observation, role.fields)

    def state(self) -> dict[str, np.ndarray]:
        return {f"{role.arrays.name}/observation": role.observation for role in self._roles}
