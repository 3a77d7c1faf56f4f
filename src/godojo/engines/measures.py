"""What a game measures of its rounds besides who won: `Game.measures` of worlds that have just ended theirs."""

import numpy as np

from godojo.engines.base import Worlds
from godojo.engines.reward_wrapper import RewardWrapper
from godojo.games.base import GAMES, PlayedRounds


def measured(worlds: Worlds, which: np.ndarray) -> dict[str, np.ndarray]:
    """Measures by name, a row for each of the worlds `which` (bool [N]), whose rounds ended in the last step."""
    if isinstance(worlds, RewardWrapper):
        worlds = worlds.inner  # measures are by the game's own terms
    measures = GAMES[worlds.game].measures if worlds.game in GAMES else None
    if measures is None or not which.any():
        return {}
    rounds = PlayedRounds(
        outcome=np.array(worlds.winners, dtype=object)[worlds.winner[which]],
        length_s=worlds.length_ticks[which] * worlds.tick_s,
        terms={
            name: dict(zip(worlds.reward_terms, role.final_terms[which].mean(axis=1).T, strict=True))
            for name, role in worlds.roles.items()
        },
        score={name: role.final_score[which].mean(axis=1) for name, role in worlds.roles.items()},
    )
    return measures(worlds.settings, rounds)
