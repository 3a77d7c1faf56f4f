"""Shrinking a trace: the fewest and simplest steps that still make the event happen.

Delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002), on what a person
would do: steps, each an input that is held for a while, and waits. Whole episodes go first, then detours and chunks;
what is left is made of as few inputs as possible, each as short, with as few buttons and as round as possible.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive, Cell
from godojo.hunt.game import Seen
from godojo.hunt.trace import Effort, Interrupted, Replay, Trace, effort_of, runs_of, still_tail

_MOST_DETOURS = 24
_LAST = (0, 1, 2, 4, 8, 16, 32)
"""Actions before the event that a shorter way to their beginning keeps."""
_LONGER = 2
"""An input that is held all the time may take so many times as long."""
_FEWEST_HELD = 4
"""Decisions of a chunk that is tried as one input."""
_MOST_ROUNDS = 4
_FEW = 24
"""Runs whose pairs are all tried."""


class Shrunk(NamedTuple):
    """The result."""

    trace: Trace
    effort: Effort
    tail: int
    """Decisions at its end in which anything can be done."""
    replays: int
    is_finished: bool
    """Whether no step can be left out or shortened; otherwise time ran out."""


class Shrinker:
    """Tries simpler traces until none makes the event happen, or time is over.

    `attempt` replays a trace. Of an event that is a long standstill, the decisions of the standstill stay as they are:
    they are no way to it.
    """

    def __init__(
        self,
        attempt: Callable[[Trace], Replay],
        space: ActionSpace,
        *,
        seconds: float,
        tries: int = 1,
        archive: Archive | None = None,
    ) -> None:
        self._replayed, self._space, self._neutral = attempt, space, space.neutral
        self._tries, self._archive = tries, archive
        self._deadline = time.monotonic() + seconds
        self._failed: set[bytes] = set()
        self.replays = 0

    def shrink(self, trace: Trace, found: Replay) -> Shrunk:
        """`found` is a replay of the trace in which the event happened."""
        assert found.event is not None
        self._anything = still_tail(found.event, found.path)
        self._keep(trace, found)
        is_finished = False
        try:
            self._try_anything()
            self._cut_episodes()
            self._try_simplest()
            self._cut_detours()
            self._cut_chunks()
            self._hold_chunks()
            for _ in range(_MOST_ROUNDS):
                before = self._cost
                self._cut_runs()
                self._shorten_runs()
                self._gather_runs()
                self._simplify_actions()
                if self._cost == before:
                    is_finished = True
                    break
            self._cut_pairs()
        except (_OutOfTime, Interrupted):
            pass
        return Shrunk(self._best, self._cost[0], self._tail, self.replays, is_finished)

    @property
    def _head(self) -> np.ndarray:
        """The actions that may be changed."""
        actions = self._best.actions
        return actions[: len(actions) - self._tail]

    def _keep(self, trace: Trace, found: Replay) -> None:
        assert found.event is not None
        late = np.repeat(self._neutral[None], max(found.at - len(trace), 0), 0)
        self._best, self._found = trace.with_actions(np.concatenate([trace.actions[: found.at], late])), found
        self._tail = min(still_tail(found.event, found.path), self._anything, len(self._best))
        self._cost = self._cost_of(self._best)

    def _cost_of(self, trace: Trace) -> tuple[Effort, int]:
        """Fewer steps are better, then fewer actions, then less waiting, then fewer buttons and rounder numbers."""
        actions = trace.actions[: max(len(trace) - self._tail, 0)]
        distinct = actions[[start for start, _ in runs_of(actions)]]
        odd = int((distinct != self._neutral).sum() + (distinct != np.round(distinct)).sum())
        return effort_of(trace, self._neutral, self._tail), odd

    def _try(self, head: np.ndarray) -> bool:
        """Whether these actions in place of the head make the event happen, and are simpler; then they are kept."""
        actions = np.concatenate([head, self._best.actions[len(self._best) - self._tail :]])
        return self._try_trace(self._best.with_actions(actions.astype(np.float32)))

    def _try_trace(self, trace: Trace) -> bool:
        if self._cost_of(trace) >= self._cost:
            return False
        key = b"|".join(each.actions.tobytes() for each in (*trace.earlier, trace)) + bytes(str(trace.seed), "ascii")
        if key in self._failed:
            return False
        for _ in range(self._tries):
            if time.monotonic() > self._deadline:
                raise _OutOfTime
            self.replays += 1
            found = self._replayed(trace)
            if found.event is not None:
                before = self._best, self._found, self._tail, self._cost
                self._keep(trace, found)
                if self._cost < before[3]:
                    return True
                self._best, self._found, self._tail, self._cost = before  # it came later, or moved for longer
                break
        self._failed.add(key)
        return False

    def _try_anything(self) -> None:
        """Other actions in a standstill: what they cannot replace at its beginning has led to it."""
        longest = self._tail
        if not longest:
            return
        rng, best = np.random.default_rng(0), self._best
        for kept in (0, *reversed(_halves(longest))):
            first = len(best) - longest + kept
            anything = rng.permutation(best.actions[first:])  # the same in another order: detectors ask for variety
            trace = best.with_actions(np.concatenate([best.actions[:first], anything]))
            self.replays += 1
            found = self._replayed(trace)
            if found.event is not None:
                self._anything = longest - kept
                self._keep(trace, found)
                return
        self._anything = 0
        self._keep(best, self._found)

    def _cut_episodes(self) -> None:
        """Leaves out earlier episodes, most of them first, and then what was done in those that are needed."""
        size = len(self._best.earlier)
        while size:
            start = 0
            while start < len(self._best.earlier):
                earlier = self._best.earlier
                if not self._try_trace(self._best.after(earlier[:start] + earlier[start + size :])):
                    start += size
            size //= 2
        for number in range(len(self._best.earlier)):
            for size in _halves(len(self._best.earlier[number])):
                start = 0
                while start < len(self._best.earlier[number]):
                    one = self._best.earlier[number]
                    less = one.with_actions(np.delete(one.actions, slice(start, start + size), 0))
                    earlier = (*self._best.earlier[:number], less, *self._best.earlier[number + 1 :])
                    if not self._try_trace(self._best.after(earlier)):
                        start += size

    def _try_simplest(self) -> None:
        """Nothing at all, waiting, only the last few actions, or one input that is held all the time."""
        count = len(self._head)
        if not count or self._try(self._head[:0]):
            return
        if self._try(np.repeat(self._neutral[None], count, 0)):
            return
        for size in reversed(_halves(count // 2)):  # short ones are replayed quickly
            if self._try(self._head[-size:]):
                break
        count = len(self._head)
        for action in self._inputs_of(self._head):
            if self._try(np.repeat(action[None], _LONGER * count, 0)):
                return

    def _inputs_of(self, actions: np.ndarray) -> list[np.ndarray]:
        """Inputs that may stand for a stretch: its direction as a whole, its most frequent one, its last."""
        distinct, counts = np.unique(actions, axis=0, return_counts=True)
        found = [self._space.summary(actions), distinct[counts.argmax()], actions[-1]]
        return list({one.tobytes(): one for one in found if (one != self._neutral).any()}.values())

    def _cut_detours(self) -> None:
        """Cuts stretches that lead back to where they began, the longest first, and takes shorter known ways."""
        while self._archive is not None:
            path = self._found.path
            if not any(self._try(head) for head in (*self._shortcuts(path), *self._without_detours(path))):
                return

    def _shortcuts(self, path: Sequence[Seen]) -> Iterator[np.ndarray]:
        assert self._archive is not None
        head = self._head
        for kept in _LAST:
            place = len(head) - kept
            if 0 < place < len(path):
                way = self._archive.way_to(path[place], self._best.seed)
                if way is not None and 0 < len(way) < place:
                    yield np.concatenate([way.actions, head[place:]])

    def _without_detours(self, path: Sequence[Seen]) -> Iterator[np.ndarray]:
        assert self._archive is not None
        head, loops = self._head, []
        first: dict[Cell, int] = {}
        for place, seen in enumerate(path[: len(head)]):
            start = first.setdefault(self._archive.cell(seen), place)
            if start < place:
                loops.append((place - start, start, place))
        for _, start, stop in sorted(loops, reverse=True)[:_MOST_DETOURS]:
            yield np.delete(head, slice(start, stop), 0)

    def _cut_chunks(self) -> None:
        """Removes chunks of half of it, then of a quarter, and so on; or waits instead."""
        for size in _halves(len(self._head) // 2):
            start, is_cut = 0, False
            while start < len(self._head):
                chunk = slice(start, start + size)
                waiting = self._head.copy()
                waiting[chunk] = self._neutral
                if self._try(np.delete(self._head, chunk, 0)):
                    is_cut = True
                else:
                    is_cut |= self._try(waiting)
                    start += size
            if size <= _FEWEST_HELD or (size <= len(self._head) // 16 and not is_cut):
                return  # runs are next

    def _hold_chunks(self) -> None:
        """Replaces stretches of many inputs with one that is held."""
        misses = 0
        for size in _halves(len(self._head) // 2):
            if size < _FEWEST_HELD or misses > 1:
                return
            is_held, start = False, 0
            while start < len(self._head):
                head, chunk = self._head, slice(start, start + size)
                if len(runs_of(head[chunk])) > 1:
                    around = [head[place] for place in (start - 1, start + size) if 0 <= place < len(head)]
                    for action in (*around, *self._inputs_of(head[chunk])):
                        held = head.copy()
                        held[chunk] = action
                        if self._try(held):
                            is_held = True
                            break
                start += size
            misses = 0 if is_held else misses + 1

    def _cut_runs(self) -> None:
        """Leaves out each run of equal actions; or waits, or goes on with the input beside it."""
        number = 0
        while number < len(runs := runs_of(self._head)):
            (start, stop), head = runs[number], self._head
            tried = [np.delete(head, slice(start, stop), 0)]
            for action in (self._neutral, head[start - 1] if start else None, head[stop] if stop < len(head) else None):
                if action is not None:
                    tried.append(head.copy())
                    tried[-1][start:stop] = action
            if not any(self._try(one) for one in tried):
                number += 1

    def _shorten_runs(self) -> None:
        """The least time that each input is held and each wait lasts."""
        number = 0
        while number < len(runs := runs_of(self._head)):
            start, stop = runs[number]
            least, most = 0, stop - start
            while most - least > 1:
                middle, before = (least + most) // 2, len(runs)
                if self._try(np.delete(self._head, slice(start, start + most - middle), 0)):
                    if len(runs_of(self._head)) != before:
                        break  # the event came sooner: other runs are gone
                    most = middle
                else:
                    least = middle
            number += 1

    def _gather_runs(self) -> None:
        """Does in one go what is done twice: right, down, right becomes right, right, down."""
        number = 0
        while number < len(runs := runs_of(self._head)):
            (start, stop), head = runs[number], self._head
            rest = np.delete(head, slice(start, stop), 0)
            same = [one for one in runs if one[0] != start and np.array_equal(head[one[0]], head[start])]
            places = [end - (stop - start) * (end > start) for _, end in same]
            if not any(self._try(np.insert(rest, place, head[start:stop], 0)) for place in places):
                number += 1

    def _simplify_actions(self) -> None:
        """Fewer buttons and rounder numbers, in each run."""
        for number in range(len(runs_of(self._head))):
            for where in range(self._space.size):
                runs, head = runs_of(self._head), self._head
                if number >= len(runs):
                    return
                value = head[runs[number][0], where]
                for simpler in (self._neutral[where], np.round(value), np.sign(value), np.round(value, 1)):
                    changed = head.copy()
                    changed[slice(*runs[number]), where] = simpler
                    if simpler != value and self._try(changed):
                        break

    def _cut_pairs(self) -> None:
        """Removes two runs that undo each other, such as a step to the left and a later one to the right."""
        first = 0
        while first < len(runs := runs_of(self._head)) <= _FEW:
            for second in range(first + 1, len(runs)):
                both = np.r_[slice(*runs[first]), slice(*runs[second])]
                each = np.array([runs[first][0], runs[second][0]])
                if any(self._try(np.delete(self._head, gone, 0)) for gone in (both, each)):
                    break
            else:
                first += 1


def _halves(size: int) -> list[int]:
    return [size >> shift for shift in range(size.bit_length())]


class _OutOfTime(Exception):
    pass
