"""Matches within one role whose agents play against each other, such as classic tag: two players share the agents.

A player's result is that of its own agents. Which ones those are changes from world to world, so that no place in the
order of the agents favours anybody.
"""

from collections.abc import Callable, Sequence

import numpy as np

from godojo.engines.base import Worlds
from godojo.evaluation.intervals import Mean, Proportion
from godojo.evaluation.matches import RIVAL, MatchResults, Player, play_matches
from godojo.games.base import GAMES
from godojo.opponents import Opponent


def seats(worlds: Worlds, role: str, count: int | None = None, *, in_turn: bool = True) -> np.ndarray:
    """bool [N, n]: the agents of a player that has `count` of them in every world, half of them by default.

    They are others in every world, or the first ones if not `in_turn`.
    """
    agents = worlds.roles[role].action.shape[1]
    first = np.arange(worlds.num_worlds) if in_turn else np.zeros(worlds.num_worlds, np.int64)
    found: np.ndarray = (np.arange(agents) - first[:, None]) % agents < (agents // 2 if count is None else count)
    return found


class SharedSeats(Opponent):
    """Two players of one role: `own` acts for its `seats`, `rival` for all other agents.

    Each decides for all agents, so that it needs to know nothing of the other.
    """

    def __init__(
        self, role: str, own: Player, rival: Player, count: int | None = None, *, in_turn: bool = True
    ) -> None:
        super().__init__(role)
        self._own, self._rival, self._count, self._in_turn = own, rival, count, in_turn

    def begin(self, worlds: Worlds) -> None:
        self._own.begin(worlds)
        self._rival.begin(worlds)
        self._theirs = ~seats(worlds, self.role, self._count, in_turn=self._in_turn)[..., None]
        self._actions = np.zeros_like(worlds.roles[self.role].action)

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        self._own.act(worlds, out)
        self._rival.act(worlds, self._actions)
        np.copyto(out, self._actions, where=self._theirs)


def score_share(game: str, role: str, results: MatchResults) -> Mean | None:
    """The share of a round that the score counts (`Game.shared_score`), from 0 to 1; None if the game names none."""
    if not GAMES[game].shared_score:
        return None
    return Mean.of(results.score[role] / results.length_s)


def cross_play_shared(
    worlds: Worlds,
    role: str,
    players: Sequence[Player],
    rounds: int,
    *,
    seed: int = 0,
    progress: Callable[[str, float | None], None] | None = None,
) -> list[list[Proportion]]:
    """Everybody against everybody, with half of the agents each: how often the row's mean score was the higher one."""
    mine, count = seats(worlds, role), len(players)
    cells: dict[tuple[int, int], Proportion] = {}
    for number, one in enumerate(players):
        for place, other in enumerate(players[number:], number):
            if progress is not None:
                progress("everybody against everybody", len(cells) / count**2)
            player = one if one is other else SharedSeats(role, one, other)
            results = play_matches(worlds, {role: player}, rounds, seed=seed, seats=mine)
            cells[number, place] = results.wins(role)
            if place > number:
                cells[place, number] = results.wins(RIVAL)
    return [[cells[row, column] for column in range(count)] for row in range(count)]
