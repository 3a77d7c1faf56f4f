"""Figures of a training under way: speed and memory of a game, and rewards, lengths and successes of episodes."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np

from godojo.errors import GodojoError
from godojo.units import counted


class Statistics(msgspec.Struct, frozen=True):
    """Of the last values of a series."""

    count: int
    """Values in the window."""
    mean: float
    max: float
    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        found = np.fromiter(values, np.float64)
        if not len(found):
            raise GodojoError("there are no values yet")
        return cls(len(found), float(found.mean()), float(found.max()), *np.percentile(found, (50, 95, 99)).tolist())


class PerformanceMonitor:
    """Steps per second, time of a step, memory, and the frame time of a game, over the last `window` values.

    Args:
        client: A `godojo.bridge.http.GameClient`, asked by `sample` for the game's own figures. None for a game in
            this process, whose memory is that of the process.
        window: How many values statistics are computed over.
        clock: Seconds, for tests.
    """

    def __init__(
        self, client: Any = None, *, window: int = 1000, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        _check_window(window)
        self._client, self._window, self._clock = client, window, clock
        self._series: dict[str, deque[float]] = {}
        self._last_s: float | None = None
        self.steps = 0
        """Counted by `step`, in all."""

    def step(self, steps: int = 1) -> None:
        """Counts what was played since the last call: one step, or one of each of several environments."""
        now_s = self._clock()
        if self._last_s is not None and now_s > self._last_s:
            self._add("step_ms", 1e3 * (now_s - self._last_s))
            self._add("steps_per_s", steps / (now_s - self._last_s))
        self._last_s = now_s
        self.steps += steps

    def sample(self) -> dict[str, float]:
        """The current memory and, over HTTP, the game's frame rate and frame time."""
        if self._client is None:
            found = {"memory_mb": process_memory_mb()}
        else:
            metrics = self._client.get_performance_metrics()
            found = {
                "memory_mb": metrics.memory.static_memory_usage / 1e6,
                "fps": metrics.engine.fps,
                "frame_ms": 1e3 * (metrics.engine.process_time_s + metrics.engine.physics_time_s),
            }
        for name, value in found.items():
            self._add(name, value)
        return found

    def summary(self) -> dict[str, Statistics]:
        """By series; those without a value are left out."""
        return {name: Statistics.of(values) for name, values in self._series.items()}

    def json(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self.summary()), indent=2) + b"\n"

    def __str__(self) -> str:
        lines = [
            f"{name:<12} mean {each.mean:10.2f}  max {each.max:10.2f}  p95 {each.p95:10.2f}  p99 {each.p99:10.2f}"
            for name, each in self.summary().items()
        ]
        return "\n".join(lines) or "nothing measured yet"

    def _add(self, name: str, value: float) -> None:
        self._series.setdefault(name, deque(maxlen=self._window)).append(float(value))


class TrainingSummary(msgspec.Struct, frozen=True):
    """Means are over the last episodes, `window` of them at most; None where nothing was told."""

    episodes: int
    steps: int
    window: int
    mean_reward: float | None
    mean_length: float | None
    success_rate: float | None
    best_reward: float | None
    """Of a single episode."""
    best_mean_reward: float | None
    """The highest `mean_reward` over a full window."""

    def json(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    def __str__(self) -> str:
        if self.mean_reward is None or self.mean_length is None or self.best_reward is None:
            return "no episodes yet"
        success = "" if self.success_rate is None else f", {self.success_rate:.1%} successful"
        best = "" if self.best_mean_reward is None else f", best mean {self.best_mean_reward:.2f}"
        return (
            f"{self.episodes:,} episodes, {counted(self.steps)} steps; last {min(self.window, self.episodes)}: "
            f"reward {self.mean_reward:.2f}, length {self.mean_length:.1f}{success}; "
            f"best episode {self.best_reward:.2f}{best}"
        )


class TrainingMetrics:
    """Reward, length and success of episodes, over the last `window` of them."""

    def __init__(self, window: int = 100) -> None:
        _check_window(window)
        self.window, self.episodes, self.steps = window, 0, 0
        self._rewards: deque[float] = deque(maxlen=window)
        self._lengths: deque[int] = deque(maxlen=window)
        self._successes: deque[bool] = deque(maxlen=window)
        self._best: float | None = None
        self._best_mean: float | None = None

    def add(self, reward: float, length: int, success: bool | None = None) -> None:
        """Adds an episode: its total reward, its length in steps, and whether it succeeded, if that is known."""
        if not np.isfinite(reward) or length < 0:
            raise GodojoError(f"an episode has a finite reward and a length, not {reward} and {length}")
        self.episodes, self.steps = self.episodes + 1, self.steps + int(length)
        self._rewards.append(float(reward))
        self._lengths.append(int(length))
        if success is not None:
            self._successes.append(bool(success))
        self._best = self._rewards[-1] if self._best is None else max(self._best, self._rewards[-1])
        if len(self._rewards) == self.window:
            mean = float(np.mean(self._rewards))
            self._best_mean = mean if self._best_mean is None else max(self._best_mean, mean)

    def add_infos(self, infos: Iterable[Mapping[str, Any]]) -> None:
        """Adds the episodes that ended in a step, from the infos of Stable-Baselines3's Monitor or VecMonitor."""
        for info in infos:
            if "episode" in info:
                self.add(info["episode"]["r"], int(info["episode"]["l"]), info.get("is_success"))

    def summary(self) -> TrainingSummary:
        def mean(values: deque[Any]) -> float | None:
            return float(np.mean(values)) if values else None

        return TrainingSummary(
            episodes=self.episodes,
            steps=self.steps,
            window=self.window,
            mean_reward=mean(self._rewards),
            mean_length=mean(self._lengths),
            success_rate=mean(self._successes),
            best_reward=self._best,
            best_mean_reward=self._best_mean,
        )

    def json(self) -> bytes:
        return self.summary().json()

    def __str__(self) -> str:
        return str(self.summary())


def process_memory_mb() -> float:
    """Memory of this process in use, or at most so far where the system does not tell; 0.0 where neither is known."""
    with suppress(OSError, ValueError, AttributeError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    with suppress(ImportError):
        import resource
        import sys

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / 1e6 if sys.platform == "darwin" else most / 1e3
    return 0.0


def _check_window(window: int) -> None:
    if window < 1:
        raise GodojoError(f"window must be 1 or more, not {window}")
