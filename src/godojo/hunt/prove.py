"""Proof: an event is a finding once it has happened again from its seed and actions."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive
from godojo.hunt.contract import Playable
from godojo.hunt.events import FREEZE, TIMED, Event, is_placed
from godojo.hunt.game import Seen
from godojo.hunt.shrink import Shrinker
from godojo.hunt.trace import Effort, Interrupted, Replay, Trace, effort_of, replay, still_tail

FIRST_TRIES = 3
FLAKY_TRIES = 3
PROOF_S = 60.0
"""Proofs end after this time once there are `FEWEST_PROOFS`: a long trace, or a game that is slow to start."""
FEWEST_PROOFS = 2
AT_ONCE = 10
"""Decisions before the end of a trace within which an event that takes time must happen."""


class Proof(NamedTuple):
    """What replaying and shrinking an event gave."""

    event: Event
    original: Trace
    """What was played, up to the event; without earlier episodes where it happens without them."""
    minimal: Trace
    effort: Effort
    """Of the minimal trace."""
    tail: int
    """Decisions at its end in which anything can be done."""
    is_minimal: bool
    replays: int
    reproduced: int
    path: list[Seen]
    """What was seen in a replay of the minimal trace that reproduced it."""
    log: Sequence[str]


class Prover:
    """Replays and shrinks events in fresh processes of a game."""

    def __init__(
        self,
        reopened: Callable[[], Playable],
        *,
        proofs: int,
        archive: Archive | None = None,
        is_over: Callable[[], bool] = lambda: False,
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        self._reopened, self._proofs, self._archive = reopened, proofs, archive
        self._is_over, self._is_late = is_over, is_late
        self._game: Playable | None = None
        self._is_exact = False
        """Whether every replay begins as a new process would; otherwise, as the hunt plays."""
        self._is_freeze = False

    def prove(
        self, trace: Trace, event: Event, *, shrink_seconds: float, earlier: tuple[Trace, ...] = ()
    ) -> Proof | None:
        """Replays, shrinks and replays again; None if the event did not happen again.

        `earlier` are the episodes that were played in the same process before: they are replayed, too, if the event
        does not happen without them. Raises Interrupted if it is over before the event has happened again.
        """
        self._game, self._is_freeze = None, event.detector == FREEZE
        needs_earlier = earlier and event.detector not in TIMED
        for original in (trace, trace.after(earlier)) if needs_earlier else (trace,):
            hits, tries = self._first(original, event)
            if hits and not _is_chance(event, len(hits), tries):
                return self._shrunk(original, hits, tries, shrink_seconds)
        return None

    def shrink_on(self, trace: Trace, event: Event, *, seconds: float) -> Proof | None:
        """Shrinks the minimal trace of a finding further."""
        self._game, self._is_freeze = None, event.detector == FREEZE
        hits, tries = self._first(trace, event)
        return self._shrunk(trace, hits, tries, seconds) if hits else None

    def _first(self, trace: Trace, event: Event) -> tuple[list[Replay], int]:
        hits: list[Replay] = []
        for tries in range(1, FIRST_TRIES + 1):
            found = self._replay(trace, event.signature)
            if _happened(found, trace):
                hits.append(found)
            if len(hits) == tries == 2:
                break  # as good as deterministic
            if trace.earlier and not hits:
                break  # long, and in a process of its own
        return hits, tries

    def _replay(self, trace: Trace, signature: str, *, is_patient: bool = False) -> Replay:
        """In one process for all replays, unless the trace begins with its start. A freeze that is known is noticed
        soon, unless `is_patient`."""
        if self._game is None or trace.earlier:
            self._game = self._reopened()
        self._game.is_quick = not self._is_exact
        self._game.is_hurried = self._is_freeze and not is_patient
        return replay(self._game, trace, signature, is_over=self._is_over)

    def _shrunk(self, trace: Trace, hits: list[Replay], tries: int, seconds: float) -> Proof | None:
        event, game = hits[-1].event, self._game
        assert event is not None
        assert game is not None
        last = max(hits, key=lambda hit: hit.at)
        original = trace.with_actions(trace.actions[: last.at])
        space = ActionSpace(game.action_parts)
        shrinker = Shrinker(
            lambda shorter: self._replay(shorter, event.signature),
            space,
            seconds=seconds,
            tries=FLAKY_TRIES if len(hits) < tries else 1,
            archive=None if trace.earlier else self._archive,
        )
        shrunk = shrinker.shrink(original, last)
        tail = still_tail(event, last.path)
        whole = effort_of(original, space.neutral, tail)
        for minimal, effort, still, is_minimal in (
            (shrunk.trace, shrunk.effort, shrunk.tail, shrunk.is_finished),
            (original, whole, tail, False),
        ):
            self._game, self._is_exact = None, True
            try:
                replays, again = self._replays(minimal, event.signature)
            finally:
                self._is_exact = False
                if self._game is not None:
                    self._game.is_quick, self._game.is_hurried = True, False
            if again and not _is_chance(event, len(again), replays):
                log: Sequence[str] = [] if self._game is None else list(self._game.log)
                seen = next((one for one in again if one.event and is_placed(one.event.signature)), again[0])
                return Proof(
                    seen.event or event,
                    original,
                    minimal,
                    effort,
                    still,
                    is_minimal,
                    replays,
                    len(again),
                    seen.path,
                    log,
                )
            if minimal is original and not again and (replays >= FEWEST_PROOFS or (self._is_freeze and replays)):
                return None  # it depends on what the process has done before, or only takes long
        return Proof(event, original, original, whole, tail, False, tries, len(hits), last.path, [])

    def _replays(self, trace: Trace, signature: str) -> tuple[int, list[Replay]]:
        hits: list[Replay] = []
        started = time.monotonic()
        for played in range(1, self._proofs + 1):
            try:
                found = self._replay(trace, signature, is_patient=played == 1)
            except Interrupted:
                return played - 1, hits
            if _happened(found, trace):
                hits.append(found)
            elif self._is_freeze and played == 1:
                return played, hits
            if played >= FEWEST_PROOFS and (self._is_late() or time.monotonic() - started > PROOF_S):
                return played, hits
        return self._proofs, hits


def _happened(found: Replay, trace: Trace) -> bool:
    """Whether a replay had the event. One that takes time must come where it came: a busy machine makes others."""
    if found.event is None or found.event.detector not in TIMED:
        return found.event is not None
    return found.at >= len(trace) - AT_ONCE


def _is_chance(event: Event, hits: int, tries: int) -> bool:
    """Whether an event that takes time happened too rarely to be the game's."""
    return event.detector in TIMED and 2 * hits <= tries


def first_position(path: Sequence[Seen]) -> tuple[float, ...]:
    """Where the event happened, for the map; of a game that is gone, where it was last seen."""
    for seen in reversed(path):
        if len(seen.state) and np.isfinite(seen.position).all():
            return tuple(seen.position.tolist())
    return ()
