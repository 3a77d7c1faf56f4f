"""A parity report: figures with targets, examples, error curves; and `ParityPlan`, how a game offers its check."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from godojo.evaluation.parity.oracle import OraclePlan

AT_MOST = {
    "one_second_median_position_error_m": 0.001,
    "one_second_p95_position_error_m": 0.02,
    "median_position_error_m": 0.01,
    "p90_position_error_m": 0.10,
    "ray_error_p99_m": 0.005,
}
AT_LEAST = {"type_agreement": 0.999, "outcome_agreement": 0.97}
SAME_NUMBER = 1e-4
"""Numbers of an observation and terms of a reward that differ by less agree."""


class Figure(msgspec.Struct, frozen=True):
    """One measured number."""

    name: str
    value: float
    samples: int
    at_most: float | None = None
    at_least: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether it is what it should be; true where nothing is asked of it. No number at all is a miss."""
        high_enough = self.at_least is None or self.value >= self.at_least
        low_enough = self.at_most is None or self.value <= self.at_most
        return high_enough and low_enough


class Example(msgspec.Struct, frozen=True):
    """A moment at which the engines differ."""

    what: str
    game: str
    arena: str
    episode: int
    tick: int
    agent: int
    error: float
    godot: dict[str, float] | str
    twin: dict[str, float] | str
    before: dict[str, float] | None = None
    """What both began the tick with."""


class Mechanism(msgspec.Struct, frozen=True):
    """A part of the rules that came out differently in single ticks, each begun with Godot's own state."""

    name: str
    agent_ticks: int
    share: float
    worst_m: float
    example: Example


class Curve(msgspec.Struct, frozen=True):
    """Position errors over time."""

    seconds: list[float]
    low_m: list[float]
    """5th percentile; likewise below."""
    median_m: list[float]
    p90_m: list[float]
    high_m: list[float]
    worst_m: list[float]


class Report(msgspec.Struct, frozen=True):
    """What a parity check found."""

    game: str
    engine: str
    seed: int
    episodes: int
    arenas: list[str]
    games: dict[str, int]
    agent_ticks: int
    figures: list[Figure]
    mechanisms: list[Mechanism] | None
    """None where single ticks were not played by themselves."""
    causes: list[str]
    """For each target that is missed: which mechanism differs."""
    examples: list[Example]
    one_second: Curve
    whole_round: Curve

    @property
    def is_met(self) -> bool:
        return all(figure.is_met for figure in self.figures)

    def figure(self, name: str) -> Figure:
        return next(figure for figure in self.figures if figure.name == name)


def percentile(values: np.ndarray, percent: float) -> float:
    """Of those that are numbers; NaN if there are none, which meets no target."""
    known = values[~np.isnan(values)]
    return float(np.percentile(known, percent)) if known.size else float("nan")


def share(agrees: np.ndarray) -> float:
    return float(agrees.mean()) if agrees.size else float("nan")


def curve(moments: Iterable[tuple[float, np.ndarray]]) -> Curve:
    """How errors grow: from the second and the errors in metres of each moment; moments without any are left out."""
    rows = [(at_s, *np.percentile(errors, (5, 50, 90, 95, 100)).tolist()) for at_s, errors in moments if errors.size]
    return Curve(*([list(column) for column in zip(*rows, strict=True)] or [[]] * 6))


Progress = Callable[[str, float | None], None]


@dataclass(frozen=True)
class ParityPlan:
    """How a game compares its twin with the real engine."""

    check: Callable[..., Report]
    """`check(engine, episodes=..., places=..., seed=..., settings=..., progress=...)`: plays the same episodes in both,
    in these `places` or, for None, in the game's own."""
    chosen_settings: tuple[str, ...] = ()
    """Settings, by path, that the plan chooses itself."""
    oracle: Callable[[Any], OraclePlan] | None = None
    """From settings: how the twin is begun from an observation, for hunts."""
