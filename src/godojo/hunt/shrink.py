"""Shrinking a trace by delta debugging: the fewest actions that still make the event happen.

Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002. Actions move things, so beside chunks
also whole detours are cut: stretches after which the game looks as it did before, and everything before a place that
the archive knows a shorter way to.
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from godojo.hunt.archive import Archive, Cell
from godojo.hunt.contract import Playable
from godojo.hunt.game import Seen
from godojo.hunt.trace import Interrupted, Replay, Trace, replay

_MOST_DETOURS = 24
_FEW = 32
"""Actions whose pairs are all tried."""
_LAST = (0, 1, 2, 4, 8, 16, 32)
"""Actions before the event that a shorter way to their beginning keeps."""


class Shrunk(NamedTuple):
    """The result."""

    trace: Trace
    replays: int
    is_finished: bool
    """Whether no single action can be left out; otherwise time ran out."""


class Shrinker:
    """Tries shorter traces on a game until none makes the event happen, or time is over."""

    def __init__(
        self,
        game: Playable,
        signature: str,
        neutral: np.ndarray,
        *,
        seconds: float,
        tries: int = 1,
        archive: Archive | None = None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._game, self._signature, self._neutral = game, signature, neutral
        self._tries, self._archive, self._is_over = tries, archive, is_over
        self._deadline = time.monotonic() + seconds
        self.replays = 0

    def shrink(self, trace: Trace) -> Shrunk:
        """The trace must make the event happen."""
        self._best = trace
        is_finished = False
        try:
            if self._reproduces(trace.with_actions(trace.actions[:0])):
                return Shrunk(self._best, self.replays, is_finished=True)
            self._cut_detours()
            self._cut_chunks()
            self._shorten_holds()
            self._neutralise()
            self._cut_chunks()
            is_finished = True
            self._cut_pairs()
        except (_OutOfTime, Interrupted):
            pass
        return Shrunk(self._best, self.replays, is_finished)

    def _reproduces(self, trace: Trace) -> bool:
        """Whether the event happens; then this trace, up to the event, is the best one."""
        return self._attempt(trace) is not None

    def _attempt(self, trace: Trace) -> Replay | None:
        for _ in range(self._tries):
            if time.monotonic() > self._deadline:
                raise _OutOfTime
            self.replays += 1
            found = replay(self._game, trace, self._signature, is_over=self._is_over)
            if found.event is not None:
                self._best = trace.with_actions(trace.actions[: found.at])
                return found
        return None

    def _cut_detours(self) -> None:
        """Cuts stretches that lead back to where they began, the longest first, and takes shorter known ways."""
        found = self._attempt(self._best)
        while found is not None:
            before, path = len(self._best), found.path
            found = None
            for trace in (*self._shortcuts(path), *self._without_detours(path)):
                if len(trace) < before and (found := self._attempt(trace)) is not None:
                    break

    def _shortcuts(self, path: list[Seen]) -> Iterator[Trace]:
        if self._archive is None:
            return
        best = self._best
        for kept in _LAST:
            place = len(best) - kept
            if 0 < place < len(path):
                way = self._archive.way_to(path[place], best.seed)
                if way is not None and 0 < len(way) < place:
                    yield best.with_actions(np.concatenate([way.actions, best.actions[place:]]))

    def _without_detours(self, path: list[Seen]) -> Iterator[Trace]:
        if self._archive is None:
            return
        best, loops = self._best, []
        first: dict[Cell, int] = {}
        for place, seen in enumerate(path[: len(best)]):
            start = first.setdefault(self._archive.cell(seen), place)
            if start < place:
                loops.append((place - start, start, place))
        for _, start, stop in sorted(loops, reverse=True)[:_MOST_DETOURS]:
            yield best.with_actions(np.delete(best.actions, slice(start, stop), 0))

    def _cut_chunks(self) -> None:
        """Removes chunks of half the trace, then of a quarter, down to single actions, until nothing can go."""
        size = max(len(self._best) // 2, 1)
        while len(self._best):
            removed, start = False, 0
            while start < len(self._best):
                best = self._best
                shorter = best.with_actions(np.delete(best.actions, slice(start, start + size), 0))
                if self._reproduces(shorter):
                    removed = True
                else:
                    start += size
            if size == 1 and not removed:
                return
            size = max(size // 2, 1) if not removed or size > 1 else 1

    def _cut_pairs(self) -> None:
        """Removes two actions that undo each other, such as a step to the left and a later one to the right."""
        first = 0
        while first < len(self._best) <= _FEW:
            second = first + 1
            while second < len(self._best):
                shorter = np.delete(self._best.actions, (first, second), 0)
                if self._reproduces(self._best.with_actions(shorter)):
                    first, second = max(first - 1, 0), first
                second += 1
            first += 1

    def _shorten_holds(self) -> None:
        """Halves runs of equal actions: a run cannot lose its middle without losing its length."""
        start = 0
        while start < len(self._best):
            actions = self._best.actions
            stop = start + 1
            while stop < len(actions) and np.array_equal(actions[stop], actions[start]):
                stop += 1
            half = (stop - start) // 2
            if half and self._reproduces(self._best.with_actions(np.delete(actions, slice(start, start + half), 0))):
                continue
            start = stop

    def _neutralise(self) -> None:
        """Replaces actions that only pass time with the one that does nothing."""
        size = max(len(self._best) // 2, 1)
        while True:
            start = 0
            while start < len(self._best):
                actions = self._best.actions.copy()
                if (actions[start : start + size] != self._neutral).any():
                    actions[start : start + size] = self._neutral
                    self._reproduces(self._best.with_actions(actions))
                start += size
            if size == 1:
                return
            size = max(size // 2, 1)


class _OutOfTime(Exception):
    pass
