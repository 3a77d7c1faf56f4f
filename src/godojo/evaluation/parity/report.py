"""The figures of a parity check, what they are held to, and examples of where the engines differ most."""

from collections.abc import Sequence

import msgspec
import numpy as np

from godojo.evaluation.parity.compare import (
    Compared,
    Divergence,
    outcomes,
    own_numbers_apart,
    rays_apart,
    terms_apart,
)
from godojo.games.settings import TICK_S

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


def figures(groups: Sequence[Compared]) -> list[Figure]:
    """All of them, those with targets first."""
    seconds = np.concatenate([group.seconds.worst_m().ravel() for group in groups])
    rounds = np.concatenate([group.rounds.worst_m().ravel() for group in groups])
    singles = np.concatenate([group.ticks.error_m[:, 1][group.ticks.counts[:, 1]] for group in groups])
    rays = [rays_apart(group) for group in groups]
    ray_m = np.concatenate([error_m.ravel() for error_m, _ in rays])
    is_ray = ~np.isnan(ray_m)
    same_type = np.concatenate([same.ravel() for _, same in rays])[is_ray]
    endings = [pair for group in groups for pair in zip(*outcomes(group), strict=True)]
    same_end = np.array([godot == twin for godot, twin in endings])
    same_length = np.concatenate([group.recording.ticks == group.played.ticks for group in groups])
    own = np.concatenate([own_numbers_apart(group).ravel() for group in groups])
    terms = np.concatenate([terms_apart(group).ravel() for group in groups])
    own, terms = own[~np.isnan(own)], terms[~np.isnan(terms)]
    found = {
        "one_second_median_position_error_m": (percentile(seconds, 50), seconds),
        "one_second_p95_position_error_m": (percentile(seconds, 95), seconds),
        "median_position_error_m": (percentile(rounds, 50), rounds),
        "p90_position_error_m": (percentile(rounds, 90), rounds),
        "ray_error_p99_m": (percentile(ray_m, 99), ray_m),
        "type_agreement": (share(same_type), same_type),
        "outcome_agreement": (share(same_end), same_end),
        "one_tick_p999_position_error_m": (percentile(singles, 99.9), singles),
        "one_second_worst_position_error_m": (percentile(seconds, 100), seconds),
        "worst_position_error_m": (percentile(rounds, 100), rounds),
        "ray_error_worst_m": (percentile(ray_m, 100), ray_m),
        "round_length_agreement": (share(same_length), same_length),
        "observation_agreement": (share(own <= SAME_NUMBER), own),
        "reward_agreement": (share(terms <= SAME_NUMBER), terms),
    }
    return [
        Figure(name, value, int(np.count_nonzero(~np.isnan(of))), AT_MOST.get(name), AT_LEAST.get(name))
        for name, (value, of) in found.items()
    ]


def curve(parts: Sequence[Divergence]) -> Curve:
    """How errors grow."""
    length = max(part.error_m.shape[1] for part in parts)
    rows = []
    for tick in range(1, length):
        here = np.concatenate([part.error_m[:, tick][part.counts[:, tick]] for part in parts])
        if here.size:
            rows.append((tick * TICK_S, *np.percentile(here, (5, 50, 90, 95, 100)).tolist()))
    columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 6
    return Curve(*columns)
