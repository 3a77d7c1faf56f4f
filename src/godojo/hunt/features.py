"""Features of a game's scripts: branches that run and values that variables take. Explorers look for new ones.

As in coverage-guided fuzzing (AFL), numbers are sorted into buckets that grow with them, so that a counter is a path of
features and a clock soon has none that is new.
"""

from collections.abc import Sequence

import numpy as np

from godojo.hunt.events import node_pattern

Feature = tuple[str, int]
"""A variable and the bucket of its value; or `branch`, and its number and how often it has run."""
BRANCH = "branch"
_EXACT = 4
"""Numbers up to here are buckets of their own."""
_MOST_OF_VARIABLE = 48
"""Values of one variable: names and other texts may have any number of them."""


def buckets(values: np.ndarray) -> np.ndarray:
    """int64: small integers as they are, others by their magnitude; 99 for what is not finite."""
    is_finite = np.isfinite(values)
    size = np.abs(np.where(is_finite, values, 0.0))
    large = _EXACT + np.ceil(np.log2(np.maximum(size, _EXACT)) - np.log2(_EXACT))
    found = np.sign(np.where(is_finite, values, 1.0)) * np.where(size <= _EXACT, np.floor(size), large)
    found = np.where((size > 0.0) & (size < 1.0), np.sign(values) * 0.5, found)
    return np.where(is_finite, np.rint(2 * found), 99).astype(np.int64)


class FeatureReader:
    """Tells what is different from the decision before."""

    def __init__(self) -> None:
        self._names: Sequence[str] = ()
        self._keys: list[str] = []
        self._last = np.zeros(0, np.int64)
        self._values: dict[str, set[int]] = {}
        self._runs: dict[int, int] = {}

    def begin(self) -> None:
        """The game begins anew."""
        self._names, self._last = (), np.zeros(0, np.int64)
        self._runs.clear()

    def read(self, names: Sequence[str], values: np.ndarray, branches: Sequence[int]) -> tuple[Feature, ...]:
        found: list[Feature] = []
        if len(values):
            now = buckets(values)
            if names is not self._names or len(now) != len(self._last):
                self._names, self._keys = names, [node_pattern(name.replace(":", "/:")) for name in names]
                changed = list(range(min(len(now), len(names))))
            else:
                changed = np.flatnonzero(now != self._last).tolist()
            self._last = now
            for place in changed:
                key, bucket = self._keys[place], int(now[place])
                known = self._values.setdefault(key, set())
                if bucket in known or len(known) < _MOST_OF_VARIABLE:
                    known.add(bucket)
                    found.append((key, bucket))
        for branch in branches:
            runs = self._runs[branch] = self._runs.get(branch, 0) + 1
            found.append((BRANCH, branch * 8 + runs))
        return tuple(found)
