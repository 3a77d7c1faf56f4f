"""Several tasks at once: worlds of each, side by side, with the task as part of the observation."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from godojo.engines.base import RoleArrays, Worlds
from godojo.errors import GodojoError
from godojo.games.parts import ObservationPart

TASK = "task"
_COPIED = ("reward", "terms", "acted", "terminated", "truncated", "final_terms", "final_score")


class MultiTaskWorlds(Worlds):
    """Worlds of several tasks stacked in the order given; an observation ends with 1 for the agent's own task.

    The tasks must see, do and be rewarded alike; they may be of any engine.
    """

    def __init__(self, tasks: Mapping[str, Worlds]) -> None:
        self.tasks = tuple(tasks)
        self.parts = list(tasks.values())
        if not self.parts:
            raise GodojoError("there must be at least one task")
        first = self.parts[0]
        for name, part in tasks.items():
            for role, arrays in part.roles.items():
                same = role in first.roles and _kind(arrays) == _kind(first.roles[role])
                if not same or part.reward_terms != first.reward_terms or part.winners != first.winners:
                    raise GodojoError(
                        f"task {name!r} differs in observations, actions or rewards from {self.tasks[0]!r}"
                    )
        self.num_worlds = sum(part.num_worlds for part in self.parts)
        self.game, self.settings, self.ticks_per_decision = first.game, first.settings, first.ticks_per_decision
        self.reward_terms, self.winners = first.reward_terms, first.winners
        self.arena_names = tuple(dict.fromkeys(name for part in self.parts for name in part.arena_names))
        self.ended = np.zeros(self.num_worlds, np.bool_)
        self.winner = np.zeros(self.num_worlds, np.int8)
        self.length_ticks = np.zeros(self.num_worlds, np.int32)
        self.arena = np.zeros(self.num_worlds, np.int32)
        self._rows = []
        at = 0
        for part in self.parts:
            self._rows.append(slice(at, at + part.num_worlds))
            at += part.num_worlds
        self.roles = MappingProxyType({name: self._stacked(arrays) for name, arrays in first.roles.items()})
        self._truth: Any = None
        self._take()

    def reset(self, seed: int) -> None:
        for number, part in enumerate(self.parts):
            part.reset(seed if number == 0 else seed + number * 0x9E3779B1)
        self._take()

    def _start(self) -> None:
        for rows, part in zip(self._rows, self.parts, strict=True):
            for name, arrays in part.roles.items():
                arrays.action[:] = self.roles[name].action[rows]
            part.start()

    def finish(self) -> None:
        for part in self.parts:
            part.finish()
        self._take()

    def privileged(self) -> Any:
        """The state of all tasks; updated by every step from now on."""
        if self._truth is None:
            states = [part.privileged() for part in self.parts]
            self._truth = type(states[0])(
                *(
                    np.concatenate(each) if isinstance(each[0], np.ndarray) else each[0]
                    for each in zip(*states, strict=True)
                )
            )
        return self._truth

    def change_settings(self, settings: Any) -> None:
        for part in self.parts:
            part.change_settings(settings)
        self.settings = settings

    def save_state(self) -> dict[str, np.ndarray] | None:
        states = [part.save_state() for part in self.parts]
        found: dict[str, np.ndarray] = {}
        for task, state in zip(self.tasks, states, strict=True):
            if state is None:
                return None
            found |= {f"{task}/{name}": array for name, array in state.items()}
        return found

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        for task, part in zip(self.tasks, self.parts, strict=True):
            own = {name.removeprefix(f"{task}/"): array for name, array in state.items() if name.startswith(f"{task}/")}
            part.load_state(own)
        self._take()

    def close(self) -> None:
        for part in self.parts:
            part.close()

    def _stacked(self, like: RoleArrays) -> RoleArrays:
        """A role's arrays for all tasks, with the task's one-hot code in each observation."""
        agents, width = like.observation.shape[1:]
        rows, tasks = (self.num_worlds, agents), len(self.tasks)
        observation, final = (np.zeros((*rows, width + tasks), np.float32) for _ in range(2))
        for number, part in enumerate(self._rows):
            observation[part, :, width + number] = final[part, :, width + number] = 1.0
        copied: dict[str, Any] = {
            name: np.zeros((self.num_worlds, *getattr(like, name).shape[1:]), getattr(like, name).dtype)
            for name in _COPIED
        }
        return RoleArrays(
            name=like.name,
            observation=observation,
            action=np.zeros((*rows, like.action.shape[2]), np.float32),
            final_observation=final,
            observation_parts=(*like.observation_parts, ObservationPart(TASK, (tasks,), low=0.0)),
            action_parts=like.action_parts,
            heading=like.heading,
            **copied,
        )

    def _take(self) -> None:
        for rows, part in zip(self._rows, self.parts, strict=True):
            for name in ("ended", "winner", "length_ticks"):
                getattr(self, name)[rows] = getattr(part, name)
            numbers = np.array([*(self.arena_names.index(name) for name in part.arena_names), -1], np.int32)
            self.arena[rows] = numbers[part.arena]
            for role, arrays in part.roles.items():
                own = self.roles[role]
                width = arrays.observation.shape[2]
                own.observation[rows, :, :width] = arrays.observation
                own.final_observation[rows, :, :width] = arrays.final_observation
                for name in _COPIED:
                    getattr(own, name)[rows] = getattr(arrays, name)
            if self._truth is not None:
                for whole, state in zip(self._truth, part.privileged(), strict=True):
                    if isinstance(whole, np.ndarray):
                        whole[rows] = state


def _kind(arrays: RoleArrays) -> tuple[Any, ...]:
    parts = [(part.name, part.shape) for part in arrays.observation_parts]  # bounds may differ with the settings
    return arrays.observation.shape[1:], parts, arrays.action_parts
