"""Proof: an event is a finding once it has happened again from its seed and actions."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive
from godojo.hunt.contract import Playable
from godojo.hunt.events import Event
from godojo.hunt.game import Seen
from godojo.hunt.shrink import Shrinker
from godojo.hunt.trace import Interrupted, Replay, Trace, replay

FIRST_TRIES = 3
FLAKY_TRIES = 3
PROOF_S = 60.0
"""Proofs end after this time once there are `FEWEST_PROOFS`: every replay of a freeze lasts until it is noticed."""
FEWEST_PROOFS = 2


class Proof(NamedTuple):
    """What replaying and shrinking an event gave."""

    event: Event
    minimal: Trace
    is_minimal: bool
    replays: int
    reproduced: int
    path: list[Seen]
    """What was seen in the last replay that reproduced it."""
    log: Sequence[str]


def prove(
    reopened: Callable[[], Playable],
    trace: Trace,
    event: Event,
    *,
    proofs: int,
    shrink_seconds: float,
    archive: Archive | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> Proof | None:
    """Replays, shrinks and replays again, each in a fresh process; None if the event did not happen again.

    Raises Interrupted if it is over before the event has happened again.
    """
    game = reopened()
    hits: list[Replay] = []
    for tries in range(1, FIRST_TRIES + 1):
        found = replay(game, trace, event.signature, is_over=is_over)
        if found.event is not None:
            hits.append(found)
        if len(hits) == tries == 2:
            break  # as good as deterministic
    if not hits:
        return None
    is_flaky = len(hits) < tries
    original = trace.with_actions(trace.actions[: max(hit.at for hit in hits)])
    shrinker = Shrinker(
        game,
        event.signature,
        ActionSpace(game.action_parts).neutral,
        seconds=shrink_seconds,
        tries=FLAKY_TRIES if is_flaky else 1,
        archive=archive,
        is_over=is_over,
    )
    shrunk = shrinker.shrink(original)
    for minimal, is_minimal in ((shrunk.trace, shrunk.is_finished), (original, False)):
        game = reopened()
        replays, again = _replays(game, minimal, event, proofs, is_over)
        if again:
            seen = again[-1]
            return Proof(seen.event or event, minimal, is_minimal, replays, len(again), seen.path, list(game.log))
    return Proof(hits[-1].event or event, original, False, tries, len(hits), hits[-1].path, list(game.log))


def _replays(
    game: Playable, trace: Trace, event: Event, proofs: int, is_over: Callable[[], bool]
) -> tuple[int, list[Replay]]:
    hits: list[Replay] = []
    started = time.monotonic()
    for played in range(1, proofs + 1):
        try:
            found = replay(game, trace, event.signature, is_over=is_over)
        except Interrupted:
            return played - 1, hits
        if found.event is not None:
            hits.append(found)
        if played >= FEWEST_PROOFS and time.monotonic() - started > PROOF_S:
            return played, hits
    return proofs, hits


def first_position(path: Sequence[Seen]) -> tuple[float, ...]:
    """Where the event happened, for the map; of a game that is gone, where it was last seen."""
    for seen in reversed(path):
        if len(seen.state) and np.isfinite(seen.position).all():
            return tuple(seen.position.tolist())
    return ()
