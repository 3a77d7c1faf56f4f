"""The worlds of all workers as the learner sees them: arrays that replay what the workers report."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from godojo.cluster.fleet import Fleet
from godojo.cluster.messages import OF_ROLES, OF_WORLDS, Description, EndedEpisodes
from godojo.engines.base import RoleArrays, Worlds


class DescribedWorlds(Worlds):
    """Arrays of `workers` times the worlds of a description, without an engine: nothing can be stepped.

    World `w` of worker `k` is world `w * workers + k`, so a contiguous part of each worker's worlds is a contiguous
    part here.
    """

    def __init__(self, description: Description, workers: int = 1) -> None:
        for name, value in description._asdict().items():
            if name not in ("roles", "num_worlds"):
                setattr(self, name, value)
        self.num_worlds = description.num_worlds * workers
        self.ended = np.zeros(self.num_worlds, np.bool_)
        self.winner = np.zeros(self.num_worlds, np.int8)
        self.length_ticks = np.zeros(self.num_worlds, np.int32)
        self.arena = np.zeros(self.num_worlds, np.int32)
        self.roles = MappingProxyType({name: self._like(role) for name, role in description.roles.items()})

    def _like(self, role: RoleArrays) -> RoleArrays:
        """Empty arrays like a role's, for all worlds."""
        arrays: dict[str, Any] = {
            field.name: np.zeros((self.num_worlds, *value.shape[1:]), value.dtype)
            for field in dataclasses.fields(role)
            if isinstance(value := getattr(role, field.name), np.ndarray)
        }
        return dataclasses.replace(role, **arrays)

    def reset(self, seed: int) -> None:
        raise NotImplementedError("workers reset their own worlds")

    def _start(self) -> None:
        raise NotImplementedError("workers step their own worlds")

    def finish(self) -> None:
        raise NotImplementedError("workers step their own worlds")


class ClusterWorlds(DescribedWorlds):
    """The worlds of a fleet of workers. `replay` writes the results of one of their steps."""

    def __init__(self, fleet: Fleet, description: Description) -> None:
        super().__init__(description, fleet.size)
        self.fleet = fleet
        self.shard = DescribedWorlds(description)
        """Like the worlds of one worker."""
        self.changed_settings: Any = None
        """Settings that a curriculum gave the worlds; None for the run's own."""

    def replay(self, step: int, ended: Mapping[int, EndedEpisodes]) -> None:
        """Write the results of a step, by worker. Only worlds in which an episode ended have any.

        In the first step, the episodes of workers that are missing are cut off.
        """
        self.ended[:] = False
        for role in self.roles.values():
            for flags in (role.acted, role.terminated, role.truncated):
                flags[:] = False
        workers = self.fleet.size
        if step == 0:
            for lost in set(range(workers)) - ended.keys():
                for role in self.roles.values():
                    role.truncated[lost::workers] = True
        for worker, found in ended.items():
            rows = found.rows(step)
            if rows.start == rows.stop:
                continue
            where = found.world[rows] * workers + worker
            for name in OF_WORLDS:
                getattr(self, name)[where] = found.arrays[name][rows]
            for name, role in self.roles.items():
                for each in OF_ROLES:
                    if (array := getattr(role, each)) is not None:
                        array[where] = found.arrays[f"{name}/{each}"][rows]

    def change_settings(self, settings: Any) -> None:
        """Workers take them over with their next rollout."""
        self.settings = self.changed_settings = settings

    def save_state(self) -> dict[str, Any] | None:
        """The states of all workers by number; None of those that miss the deadline, and of all while they play."""
        if self.fleet.num_pending:
            return dict.fromkeys(map(str, range(self.fleet.size)))
        return {str(worker): state for worker, state in self.fleet.states().items()}

    def close(self) -> None:
        self.fleet.close()
