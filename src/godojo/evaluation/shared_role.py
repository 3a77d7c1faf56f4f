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


def seats(worlds: Worlds, role: str, count: int) -> np.ndarray:
    """bool [N, n]: the agents of a player that has `count` of them in every world, each in turn."""
    agents = worlds.roles[role].action.shape[1]
    places = np.arange(agents)[None, :] - np.arange(worlds.num_worlds)[:, None]
    found: np.ndarray = places % agents < count
    return found


class SharedSeats:
    """Two players of one role: `own` acts for the agents in `mine`, `rival` for all others.

    Each decides for all agents, so that it needs to know nothing of the other.
    """

    def __init__(self, role: str, own: Player, rival: Player, mine: np.ndarray) -> None:
        self._role, self._own, self._rival, self._theirs = role, own, rival, ~mine[..., None]

    def begin(self, worlds: Worlds) -> None:
        self._own.begin(worlds)
        self._rival.begin(worlds)
        self._actions = np.zeros_like(worlds.roles[self._role].action)

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        self._own.act(worlds, out)
        self._rival.act(worlds, self._actions)
        np.copyto(out, self._actions, where=self._theirs)


def play_shared(
    worlds: Worlds,
    role: str,
    own: Player,
    rival: Player,
    rounds: int,
    *,
    count: int = 1,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> MatchResults:
    """`rounds` rounds of `own`, which plays `count` agents of every world, against `rival`, which plays the others.

    Rewards and scores are those of its own agents. It wins a round (as `role`) if their mean score is the higher one.
    """
    mine = seats(worlds, role, count)
    player = own if own is rival else SharedSeats(role, own, rival, mine)
    return play_matches(worlds, {role: player}, rounds, seed=seed, progress=progress, seats=mine)


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
    half, count = worlds.roles[role].action.shape[1] // 2, len(players)
    cells: dict[tuple[int, int], Proportion] = {}
    for number, one in enumerate(players):
        for place, other in enumerate(players[number:], number):
            if progress is not None:
                progress("everybody against everybody", len(cells) / count**2)
            results = play_shared(worlds, role, one, other, rounds, count=half, seed=seed)
            cells[number, place] = results.wins(role)
            if place > number:
                cells[place, number] = results.wins(RIVAL)
    return [[cells[row, column] for column in range(count)] for row in range(count)]
