"""Worlds in which one role also observes where the others are, as an exploiter that searches for weaknesses may."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from godojo.engines.base import Worlds
from godojo.engines.wrapper import WorldsWrapper
from godojo.games.parts import ObservationPart
from godojo.learn.backend import backend_for
from godojo.learn.privileged import PrivilegedObservation

OTHERS = "others"


class InformedWorlds(WorldsWrapper):
    """The same worlds and arrays, but each observation of `role` ends with the own state of all other agents.

    Positions, velocities and directions are relative to the observing agent, as for critics.
    """

    def __init__(self, worlds: Worlds, role: str) -> None:
        super().__init__(worlds)
        self._role = role
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
        super().reset(seed)
        self._observe()

    def finish(self) -> None:
        super().finish()
        self._observe()

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        super().load_state(state)
        self._observe()

    def _observe(self) -> None:
        known = {name: arrays.observation for name, arrays in self.inner.roles.items()}
        self._write(self.roles[self._role].observation, known)
        done = self.roles[self._role].terminated | self.roles[self._role].truncated
        if done.any():
            finals = {name: arrays.final_observation for name, arrays in self.inner.roles.items()}
            self._write(self.roles[self._role].final_observation, finals)

    def _write(self, out: np.ndarray, known: Mapping[str, np.ndarray]) -> None:
        own = known[self._role]
        width = own.shape[2]
        out[..., :width] = own
        out[..., width:] = self._others.of(known).numpy().reshape(*own.shape[:2], -1)
