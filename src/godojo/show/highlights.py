"""Which of many rounds to show: the best catch and the best escape, by rules that anybody can follow; and what not to.

Both are about pressure: how long the two were near each other, in sight. docs/replays.md has the rules in words.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from godojo.games.tag.settings import TICK_S
from godojo.show.replay import Replay

NEAR_M = 4.0
"""A chase: an opponent is in sight, or no farther than this, edge to edge."""
LET_GO_S = 1.0
"""A chase that pauses for no longer is still the same."""
LATE_M = 2.0
"""How much closer an escape at the start of a round must be than one at its end, to be as good."""

MOVES_MPS = 0.3
"""Whoever is slower stands still."""


class Highlight(NamedTuple):
    """A round, and the moment in it that is worth seeing."""

    replay: Replay
    worth: float
    seconds: float
    """When it happens: the touch, or the closest moment."""
    begins: float
    """When what leads to it begins, in seconds of the round."""

    def window(self, before_s: float = 2.5, after_s: float = 1.5) -> tuple[float, float]:
        """From when to when to show it."""
        return max(self.seconds - before_s, 0.0), min(self.seconds + after_s, self.replay.seconds)


def best_catch(replays: Sequence[Replay]) -> Highlight | None:
    """The catch after the longest chase; None where nobody was caught."""
    return max(filter(None, map(catch_of, replays)), key=lambda pick: pick.worth, default=None)


def best_escape(replays: Sequence[Replay]) -> Highlight | None:
    """The narrowest escape, later ones preferred; None where nobody got away from a chase."""
    return max(filter(None, map(escape_of, replays)), key=lambda pick: pick.worth, default=None)


def catch_of(replay: Replay) -> Highlight | None:
    """A round that the seeker won: worth the seconds of the chase that ended in the last touch."""
    outcome = replay.outcome
    if outcome is None or outcome.winner != "seeker":
        return None
    begins = _chase_begins(replay, len(replay.tick) - 1)
    return Highlight(replay, outcome.seconds - begins, outcome.seconds, begins)


def escape_of(replay: Replay) -> Highlight | None:
    """A round that the hider survived although it was seen: by the narrowest moment of a chase, late ones preferred."""
    outcome = replay.outcome
    if outcome is None or outcome.winner != "hider":
        return None
    gap = np.where(_chased(replay), replay.gap_m(), np.inf)
    if not np.isfinite(gap).any():
        return None
    worth = -gap - LATE_M * (1.0 - replay.tick / max(outcome.ticks, 1))
    frame = int(worth.argmax())
    return Highlight(replay, float(worth[frame]), float(replay.tick[frame]) * TICK_S, _chase_begins(replay, frame))


def standing_still(replays: Sequence[Replay], longer_s: float) -> list[tuple[float, float]]:
    """From when to when nobody moves in any of some rounds, where that takes longer; seconds of the rounds."""
    ticks = np.arange(max(int(replay.tick[-1]) for replay in replays) + 1)
    moves = np.zeros(len(ticks), bool)
    for replay in replays:
        quick = np.linalg.norm(replay.velocity_mps, axis=-1) > MOVES_MPS
        anybody = (quick & replay.active).any(axis=1)
        moves |= anybody[np.searchsorted(replay.tick, ticks).clip(max=len(anybody) - 1)]
    edges = np.flatnonzero(np.diff(moves, prepend=True, append=True))
    stretches = edges.reshape(-1, 2) * TICK_S
    return [(float(begin), float(end)) for begin, end in stretches if end - begin > longer_s]


def _chased(replay: Replay) -> np.ndarray:
    """bool [F]: whether somebody who chases sees an opponent, or is near one."""
    sees = (replay.sees() & replay.chases[replay.decision_frame]).any(axis=1)
    decision = np.searchsorted(replay.decision_frame, np.arange(len(replay.tick)), side="right") - 1
    chased: np.ndarray = np.where(decision >= 0, sees[decision], False) | (replay.gap_m() < NEAR_M)
    return chased


def _chase_begins(replay: Replay, frame: int) -> float:
    """When the chase that goes on at a frame began: looking back, the first pause longer than `LET_GO_S`."""
    chased = _chased(replay)
    begins = float(replay.tick[frame])
    for place in range(frame, -1, -1):
        if chased[place]:
            begins = float(replay.tick[place])
        elif begins - float(replay.tick[place]) > LET_GO_S / TICK_S:
            break
    return begins * TICK_S
