"""Which of many rounds to show: the best moment of each kind, by the game's rules; and what not to show."""

from collections.abc import Sequence

import numpy as np

from godojo.games.base import game_named
from godojo.show.replay import Highlight, Replay

MOVES_MPS = 0.3
"""A slower agent stands still."""


def highlights_of(replay: Replay) -> Sequence[Highlight]:
    """The moments of a round that are worth showing; by default the end of a round that a role won."""
    offered = replay.header.spec.highlights
    if offered is not None:
        return offered(replay)
    outcome = replay.outcome
    won = [role for role in replay.header.roles if outcome is not None and role.name == outcome.winner]
    if outcome is None or not won:
        return []
    text, team = f"{outcome.winner} wins after {outcome.seconds:.1f} s", int(replay.team[-1, won[0].first])
    return [Highlight("win", "Fastest win", text, replay, -outcome.seconds, outcome.seconds, 0.0, team)]


def behaviours_of(replay: Replay) -> Sequence[Highlight]:
    """What agents do in a round, by the game's rules, if it has any (`Game.behaviours`)."""
    rules = game_named(replay.header.game).behaviours
    return [] if rules is None else [one for found in rules()(replay).values() for one in found]


def best_highlights(replays: Sequence[Replay]) -> list[Highlight]:
    """The best of each kind, sorted by kind."""
    best: dict[str, Highlight] = {}
    for highlight in (one for replay in replays for one in highlights_of(replay)):
        if highlight.kind not in best or highlight.worth > best[highlight.kind].worth:
            best[highlight.kind] = highlight
    return [best[kind] for kind in sorted(best)]


def standing_still(replays: Sequence[Replay], longer_s: float) -> list[tuple[float, float]]:
    """From when to when nobody moves in any of some rounds, where that takes longer; seconds of the rounds."""
    ticks = np.arange(max(int(replay.tick[-1]) for replay in replays) + 1)
    moves = np.zeros(len(ticks), bool)
    for replay in replays:
        quick = np.linalg.norm(replay.velocity_mps, axis=-1) > MOVES_MPS
        anybody = (quick & replay.active).any(axis=1)
        moves |= anybody[np.searchsorted(replay.tick, ticks).clip(max=len(anybody) - 1)]
    edges = np.flatnonzero(np.diff(moves, prepend=True, append=True))
    stretches = edges.reshape(-1, 2) * replays[0].tick_s
    return [(float(begin), float(end)) for begin, end in stretches if end - begin > longer_s]
