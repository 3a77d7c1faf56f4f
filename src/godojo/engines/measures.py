"""What a game measures of its rounds besides who won: `Game.measures` of worlds that have just ended theirs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from godojo.engines.base import Worlds
from godojo.engines.reward_wrapper import RewardWrapper
from godojo.games.base import GAMES, PlayedRounds


class EndedRounds(NamedTuple):
    """Copies of what is known of K rounds that ended."""

    winner: np.ndarray
    length_ticks: np.ndarray
    terms: dict[str, np.ndarray]
    """By role, [K, n, T]; by the game's own terms, whatever `RewardWrapper` pays."""
    score: dict[str, np.ndarray]

    @classmethod
    def of(cls, worlds: Worlds, rows: np.ndarray) -> "EndedRounds":
        """Those of the worlds `rows` (indices), whose rounds ended in the last step."""
        roles = _game_of(worlds).roles.items()
        return cls(
            worlds.winner.take(rows),
            worlds.length_ticks.take(rows),
            {name: role.final_terms.take(rows, axis=0) for name, role in roles},
            {name: role.final_score.take(rows, axis=0) for name, role in roles},
        )

    @classmethod
    def together(cls, parts: "Sequence[EndedRounds]") -> "EndedRounds":
        return cls(
            np.concatenate([part.winner for part in parts]),
            np.concatenate([part.length_ticks for part in parts]),
            {name: np.concatenate([part.terms[name] for part in parts]) for name in parts[0].terms},
            {name: np.concatenate([part.score[name] for part in parts]) for name in parts[0].score},
        )


def _game_of(worlds: Worlds) -> Worlds:
    return worlds.inner if isinstance(worlds, RewardWrapper) else worlds


def measured(worlds: Worlds, which: np.ndarray) -> dict[str, np.ndarray]:
    """Measures by name, a row for each of the worlds `which` (bool [N]), whose rounds ended in the last step."""
    return measures_of(worlds, EndedRounds.of(worlds, np.flatnonzero(which)))


def measures_of(worlds: Worlds, rounds: EndedRounds) -> dict[str, np.ndarray]:
    """Measures by name, a row for each round."""
    worlds = _game_of(worlds)
    measures = GAMES[worlds.game].measures if worlds.game in GAMES else None
    if measures is None or not len(rounds.winner):
        return {}
    played = PlayedRounds(
        outcome=np.array(worlds.winners, dtype=object)[rounds.winner],
        length_s=rounds.length_ticks * worlds.tick_s,
        terms={
            name: dict(zip(worlds.reward_terms, terms.mean(axis=1).T, strict=True))
            for name, terms in rounds.terms.items()
        },
        score={name: score.mean(axis=1) for name, score in rounds.score.items()},
    )
    return measures(worlds.settings, played)
