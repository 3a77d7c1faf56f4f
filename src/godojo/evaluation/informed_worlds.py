"""Worlds in which one role also observes where the others are, as an exploiter that searches for weaknesses may."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.games.parts import ObservationPart
from godojo.learn.backend import backend_for
from godojo.learn.rollout import PrivilegedObservation

OTHERS = "others"


class InformedWorlds(Worlds):
    """The same worlds and arrays, but each observation of `role` ends with the own state of all other agents.

    Positions, velocities and directions are relative to the observing agent, as for critics.
    """

    def __init__(self, worlds: Worlds, role: str) -> None:
        self._worlds, self._role = worlds, role
        self.game, self.num_worlds, self.settings = worlds.game, worlds.num_worlds, worlds.settings
        self.ticks_per_decision, self.arena_names = worlds.ticks_per_decision, worlds.arena_names
        self.reward_terms, self.winners = worlds.reward_terms, worlds.winners
        self.ended, self.winner = worlds.ended, worlds.winner
        self.length_ticks, self.arena = worlds.length_ticks, worlds.arena
        self._others = PrivilegedObservation(worlds, role, backend_for("cpu").relative_state)
        own = worlds.roles[role]
        shape = (*own.observation.shape[:2], own.observation.shape[2] + self._others.size)
        part = ObservationPart(OTHERS, (self._others.size,), low=-np.inf, high=np.inf)
        informed = dataclasses.replace(
            own,
            observation=np.zeros(shape, np.float32),
            final_observation=np.zeros(shape, np.float32),
            observation_parts=(*own.observation_parts, part),
        )
        self.roles = MappingProxyType({**worlds.roles, role: informed})
        self._observe()

    def reset(self, seed: int) -> None:
        self._worlds.reset(seed)
        self._observe()

    def _start(self) -> None:
        self._worlds.start()

    def finish(self) -> None:
        self._worlds.finish()
        self._observe()

    def privileged(self) -> Any:
        return self._worlds.privileged()

    def close(self) -> None:
        self._worlds.close()

    def _observe(self) -> None:
        known = {name: arrays.observation for name, arrays in self._worlds.roles.items()}
        self._write(self.roles[self._role].observation, known)
        done = self.roles[self._role].terminated | self.roles[self._role].truncated
        if done.any():
            finals = {name: arrays.final_observation for name, arrays in self._worlds.roles.items()}
            self._write(self.roles[self._role].final_observation, finals)

    def _write(self, out: np.ndarray, known: Mapping[str, np.ndarray]) -> None:
        own = known[self._role]
        width = own.shape[2]
        out[..., :width] = own
        out[..., width:] = self._others.of(known).numpy().reshape(*own.shape[:2], -1)
