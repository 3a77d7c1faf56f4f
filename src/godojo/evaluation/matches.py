"""Matches: many rounds between players, counted so that short rounds weigh no more than long ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from godojo.engines.base import Worlds
from godojo.engines.measures import measured
from godojo.errors import GodojoError
from godojo.evaluation.intervals import Mean, Proportion

MAX_ROUND_DECISIONS = 20_000
"""A round that takes longer is taken to be endless."""
MADE_FOR_THE_ROUND = "generated"
"""The name of arenas that have none."""
RIVAL = "opponent"
"""The winner of a round within one role that its own agents lost."""


class Player(Protocol):
    """Plays one role in all worlds of a batch; see `godojo.opponents.Opponent`."""

    def begin(self, worlds: Worlds) -> None: ...

    def act(self, worlds: Worlds, out: np.ndarray) -> None: ...


@dataclass(frozen=True)
class MatchResults:
    """Every counted round; arrays have one row a round."""

    winners: tuple[str, ...]
    arena_names: tuple[str, ...]
    winner: np.ndarray
    """int8: index in `winners`."""
    length_s: np.ndarray
    arena: np.ndarray
    """int32: index in `arena_names`; -1 is one that was made for the round."""
    reward: Mapping[str, np.ndarray]
    """By role: the sum over the round, averaged over the role's agents."""
    score: Mapping[str, np.ndarray]
    """By role: the game's own score, averaged over the role's agents."""
    terms: Mapping[str, np.ndarray] = field(default_factory=dict)
    """By role: [rounds, terms], the reward by term, likewise."""
    measures: dict[str, np.ndarray] = field(default_factory=dict)
    """By name: what the game measures besides (`Game.measures`), a bool or a number a round."""
    lost: int = 0
    """Rounds that were cut short from outside, for instance by a crash, and played again."""

    @property
    def rounds(self) -> int:
        return len(self.winner)

    def wins(self, winner: str) -> Proportion:
        """How many rounds went to this winner; GodojoError if nobody of this name can win here."""
        return Proportion.of(int(np.count_nonzero(self._won(winner))), self.rounds)

    def wins_by_arena(self, winner: str) -> dict[str, Proportion]:
        """The same for every arena that was played in."""
        won, found = self._won(winner), {}
        for number in np.unique(self.arena):
            here = self.arena == number
            name = self.arena_names[number] if number >= 0 else MADE_FOR_THE_ROUND
            found[name] = Proportion.of(int(np.count_nonzero(won & here)), int(np.count_nonzero(here)))
        return found

    def mean_reward(self, role: str) -> Mean:
        return Mean.of(self.reward[role])

    def mean_length(self, worlds: Worlds) -> Mean:
        """In decision steps."""
        return Mean.of(self.length_s / (worlds.tick_s * worlds.ticks_per_decision))

    def mean_measures(self) -> dict[str, Mean]:
        """The means of the game's measures."""
        return {name: Mean.of(values.astype(np.float64)) for name, values in self.measures.items()}

    def _won(self, winner: str) -> np.ndarray:
        if winner not in self.winners:
            raise GodojoError(f"nobody called {winner!r} wins rounds here; there is: {', '.join(self.winners)}")
        won: np.ndarray = self.winner == self.winners.index(winner)
        return won


def play_matches(
    worlds: Worlds,
    players: Mapping[str, Player],
    rounds: int,
    *,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
    seats: np.ndarray | None = None,
) -> MatchResults:
    """Plays exactly `rounds` rounds, begun by `worlds.reset(seed)`, with one player for every role.

    How many rounds each world has to play is settled beforehand: all play the same number, the first few one more
    where `rounds` cannot be shared out evenly. Counting whichever rounds end first would favour short ones, and so
    quick winners. Rounds that were cut short from outside have no winner and are played again.

    `seats` are for a game of one role: bool [N, n], the agents whose results are counted. The role wins if their mean
    score is higher than that of the others, and `RIVAL` if it is lower.
    """
    _check(worlds, players, rounds)
    worlds.reset(seed)
    for player in players.values():
        player.begin(worlds)
    tally = _Tally(worlds, rounds, seats)
    while tally.left:
        for role, player in players.items():
            player.act(worlds, worlds.roles[role].action)
        worlds.step()
        tally.count(worlds)
        if progress is not None:
            progress(1.0 - tally.left / rounds)
    return tally.results()


def _check(worlds: Worlds, players: Mapping[str, Player], rounds: int) -> None:
    if rounds < 1:
        raise GodojoError(f"there must be at least one round to play, not {rounds}")
    missing = [role for role in worlds.roles if role not in players]
    if missing:
        raise GodojoError(f"nobody plays {' and '.join(missing)}; there must be a player for every role")
    for role in players:
        if role not in worlds.roles:
            raise GodojoError(f"there is no role {role!r} to play; there is: {', '.join(worlds.roles)}")


class _Tally:
    """Counts rounds: each world has its own rows, so the order of results does not depend on who is quicker."""

    def __init__(self, worlds: Worlds, rounds: int, seats: np.ndarray | None = None) -> None:
        self.left, self._seats = rounds, seats
        self._wanted = np.full(worlds.num_worlds, rounds // worlds.num_worlds)
        self._wanted[: rounds % worlds.num_worlds] += 1
        self._first_row = np.cumsum(self._wanted) - self._wanted
        self._played = np.zeros(worlds.num_worlds, np.int64)
        self._decisions = np.zeros(worlds.num_worlds, np.int64)
        self._lost = 0
        self._found = MatchResults(
            winners=worlds.winners if seats is None else ("nobody", *worlds.roles, RIVAL),
            arena_names=worlds.arena_names,
            winner=np.zeros(rounds, np.int8),
            length_s=np.zeros(rounds),
            arena=np.zeros(rounds, np.int32),
            reward={role: np.zeros(rounds) for role in worlds.roles},
            score={role: np.zeros(rounds) for role in worlds.roles},
            terms={role: np.zeros((rounds, len(worlds.reward_terms))) for role in worlds.roles},
        )

    def count(self, worlds: Worlds) -> None:
        """Takes in the rounds that the last step ended."""
        self._decisions += 1
        if self._decisions.max() > MAX_ROUND_DECISIONS:
            world = int(self._decisions.argmax())
            raise GodojoError(
                f"the round in world {world} does not end: {MAX_ROUND_DECISIONS:,} decisions and no winner"
            )
        if not worlds.ended.any():
            return
        self._decisions[worlds.ended] = 0
        counts = worlds.ended & (self._played < self._wanted)
        self._lost += int(np.count_nonzero(counts & ~worlds.played))
        counts &= worlds.played
        rows, found = (self._first_row + self._played)[counts], self._found
        found.winner[rows], found.arena[rows] = self._winner(worlds)[counts], worlds.arena[counts]
        found.length_s[rows] = worlds.length_ticks[counts] * worlds.tick_s
        for role, arrays in worlds.roles.items():
            found.reward[role][rows] = self._mean(arrays.final_terms[counts].sum(axis=2), counts)
            found.terms[role][rows] = self._mean(arrays.final_terms[counts], counts)
            found.score[role][rows] = self._mean(arrays.final_score[counts], counts)
        for name, values in measured(worlds, counts).items():
            found.measures.setdefault(name, np.zeros(len(found.winner), values.dtype))[rows] = values
        self._played += counts
        self.left -= len(rows)

    def _mean(self, values: np.ndarray, worlds: np.ndarray) -> np.ndarray:
        """Over the agents of these worlds whose results are counted."""
        mean: np.ndarray = values.mean(axis=1) if self._seats is None else _mean(values, self._seats[worlds])
        return mean

    def _winner(self, worlds: Worlds) -> np.ndarray:
        if self._seats is None:
            return worlds.winner
        ((_, role),) = worlds.roles.items()
        own, others = (_mean(role.final_score, seats) for seats in (self._seats, ~self._seats))
        return np.select([own > others, own < others], [1, 2])

    def results(self) -> MatchResults:
        return replace(self._found, lost=self._lost)


def _mean(values: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """[N, ...] of [N, n, ...]: the mean over some of the agents of every world."""
    weights = (seats / seats.sum(axis=1, keepdims=True)).reshape(seats.shape + (1,) * (values.ndim - 2))
    mean: np.ndarray = (values * weights).sum(axis=1)
    return mean
