"""How long a game may keep a hunt waiting before it counts as frozen."""

import time
from collections.abc import Callable

_LEAST_S, _UNKNOWN_S = 1.0, 3.0
"""Patience in a hurry: at least, and while little is known of the game."""
_TIMES = 8.0
"""The longest wait for an answer so far, in a hurry; and that for a scene or a round, always."""
_FEWEST = 50
"""Answers from which the longest one says something."""
_MOST_SPARED = 5
"""Times its timeout that a game may wait for a processor."""
START_S = 60.0
"""For a new process."""


class Pace:
    """The longest waits for answers and for starts of one game, learned from all that is played of it."""

    def __init__(self) -> None:
        self._answers, self._slowest_s, self._slowest_start_s = 0, 0.0, 0.0

    def note_answer(self, seconds: float) -> None:
        self._answers += 1
        self._slowest_s = max(self._slowest_s, seconds)

    def note_start(self, seconds: float) -> None:
        """A scene was loaded anew, or a round has begun."""
        self._slowest_start_s = max(self._slowest_start_s, seconds)

    def answer_s(self, timeout_s: float, *, is_hurried: bool) -> float:
        """For an answer to an action; in a hurry, only a game that has frozen before is replayed."""
        if not is_hurried:
            return timeout_s
        usual_s = _UNKNOWN_S if self._answers < _FEWEST else max(_LEAST_S, _TIMES * self._slowest_s)
        return min(timeout_s, usual_s)

    def start_s(self, timeout_s: float, *, is_hurried: bool) -> float:
        """For a scene that is loaded anew in a process that runs, and for a new round."""
        if not self._slowest_start_s:
            return START_S
        least_s = _UNKNOWN_S if is_hurried else timeout_s
        return min(START_S, max(least_s, _TIMES * self._slowest_start_s))


class Patience:
    """Runs out after so many seconds; those in which a game waits for a processor are spared, unless that lasts."""

    def __init__(self, seconds: float, waited_ms: Callable[[], float]) -> None:
        self.seconds, self._waited_ms = seconds, waited_ms
        self._first_ms, self._deadline = waited_ms(), time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        spared_s = min(1e-3 * max(self._waited_ms() - self._first_ms, 0.0), _MOST_SPARED * self.seconds)
        return self._deadline + spared_s - time.monotonic()
