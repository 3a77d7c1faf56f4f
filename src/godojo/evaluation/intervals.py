"""95 % confidence intervals of shares, differences and means."""

import math
from typing import Self

import msgspec
import numpy as np

Z95 = 1.959963984540054
"""The 97.5th percentile of the normal distribution."""


def wilson(wins: int, rounds: int) -> tuple[float, float]:
    """Wilson's interval of a share: unlike the usual one it is right near 0 and 1, and for few rounds."""
    if not 0 <= wins <= rounds:
        raise ValueError(f"{wins} of {rounds} is no share")
    if rounds == 0:
        return 0.0, 1.0
    share, z2 = wins / rounds, Z95 * Z95 / rounds
    middle = (share + z2 / 2) / (1 + z2)
    wide = Z95 * math.sqrt(share * (1 - share) / rounds + z2 / (4 * rounds)) / (1 + z2)
    # The share itself is always between, also where rounding would have it otherwise.
    return min(max(middle - wide, 0.0), share), max(min(middle + wide, 1.0), share)


class Proportion(msgspec.Struct, frozen=True):
    """A share of rounds with its 95 % interval."""

    wins: int
    rounds: int
    rate: float
    low: float
    high: float

    @classmethod
    def of(cls, wins: int, rounds: int) -> Self:
        low, high = wilson(wins, rounds)
        return cls(wins, rounds, wins / rounds if rounds else math.nan, low, high)


class Difference(msgspec.Struct, frozen=True):
    """How far one share is above another, with its 95 % interval (Newcombe's)."""

    points: float
    """Of a hundred; so are the bounds."""
    low: float
    high: float

    @classmethod
    def of(cls, one: Proportion, other: Proportion) -> Self:
        points = one.rate - other.rate
        below = math.hypot(one.rate - one.low, other.high - other.rate)
        above = math.hypot(one.high - one.rate, other.rate - other.low)
        return cls(100 * points, 100 * (points - below), 100 * (points + above))


class Mean(msgspec.Struct, frozen=True):
    """A mean over rounds with its 95 % interval (normal approximation)."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        mean = float(values.mean())
        wide = Z95 * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
        return cls(mean, mean - wide, mean + wide)
