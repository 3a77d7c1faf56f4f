"""Writes demonstrations: episodes of all agents of some worlds, each as soon as it ends."""

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import msgspec
import numpy as np

from godojo.demos.file import DemoEpisode, DemoHeader, DemoLine, DemoRole, line_bytes
from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.formats import DEMO


class DemoWriter:
    """A new file of demonstrations; every episode is on the disk when `add` returns."""

    def __init__(self, path: str | Path, header: DemoHeader) -> None:
        self.path, self.episodes, self.steps = Path(path).expanduser(), 0, 0
        try:
            self._file = self.path.open("xb")
        except FileExistsError:
            raise GodojoError(f"{self.path} exists; choose another name, or delete it") from None
        except OSError as error:
            raise GodojoError(f"{self.path} cannot be written ({error.strerror})") from None
        self._write({"format": DEMO.tag, **msgspec.to_builtins(header)})

    def add(self, episode: DemoEpisode) -> None:
        self._write(DemoLine.of(episode))
        self.episodes += 1
        self.steps += len(episode.action)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def _write(self, line: DemoLine | dict[str, Any]) -> None:
        try:
            self._file.write(line_bytes(line))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise GodojoError(
                f"{self.path} cannot be written ({error.strerror}); finished episodes are intact"
            ) from None


class DemoRecorder:
    """Collects what the agents of some roles do; call `before_step` and `after_step` around each `worlds.step()`.

    Each agent contributes `episodes_each` episodes at most: recording whichever end first would favour short ones.
    """

    def __init__(self, worlds: Worlds, writer: DemoWriter, roles: Sequence[str], episodes: int) -> None:
        self._worlds, self._writer, self._roles = worlds, writer, tuple(roles)
        self._steps: dict[tuple[str, int], list[tuple[np.ndarray, np.ndarray]]] = {}
        self._rewards: dict[tuple[str, int], float] = {}
        self._before: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._left = {name: _shares(worlds.roles[name].acted.size, episodes) for name in roles}

    @classmethod
    def header(cls, worlds: Worlds, game: str, player: str) -> DemoHeader:
        roles = tuple(DemoRole.of(role) for role in worlds.roles.values())
        return DemoHeader(game, roles, player, worlds.ticks_per_decision)

    @property
    def left(self) -> int:
        """Episodes that are still to be played."""
        return sum(int(left.sum()) for left in self._left.values())

    def before_step(self) -> None:
        """Take the observations, and the actions that answer them."""
        for name in self._roles:
            role = self._worlds.roles[name]
            self._before[name] = _rows(role.observation), _rows(role.action)

    def after_step(self) -> None:
        """Take the results; writes the episodes that ended. Those cut short by a lost game are dropped."""
        for name in self._roles:
            role, (observation, action) = self._worlds.roles[name], self._before[name]
            acted, terminated, truncated = (
                rows.reshape(-1) for rows in (role.acted, role.terminated, role.truncated | self._worlds.ended[:, None])
            )
            reward = role.reward.reshape(-1)
            for row in np.flatnonzero(self._left[name]):
                key = name, int(row)
                if acted[row]:
                    self._steps.setdefault(key, []).append((observation[row], action[row]))
                    self._rewards[key] = self._rewards.get(key, 0.0) + float(reward[row])
                if terminated[row] or truncated[row]:
                    self._finish(key, "terminated" if terminated[row] else "truncated", is_lost=not acted[row])

    def _finish(self, key: tuple[str, int], end: Literal["terminated", "truncated"], *, is_lost: bool) -> None:
        steps, reward = self._steps.pop(key, []), self._rewards.pop(key, 0.0)
        if not steps or (is_lost and end == "truncated"):
            return
        observation, action = (np.stack(rows) for rows in zip(*steps, strict=True))
        self._writer.add(DemoEpisode(key[0], observation, action, end, reward))
        self._left[key[0]][key[1]] -= 1


def _rows(arrays: np.ndarray) -> np.ndarray:
    """A copy, one row for each agent."""
    return arrays.reshape(-1, arrays.shape[-1]).copy()


def _shares(agents: int, episodes: int) -> np.ndarray:
    shares = np.full(agents, episodes // agents)
    shares[: episodes % agents] += 1
    return shares
