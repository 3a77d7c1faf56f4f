"""The league of a run: all snapshots of its training play each other and are rated."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
import numpy as np
from openskill.models import BradleyTerryFull

from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.evaluation.held_out import BOTH, game_settings, judging_seed, judging_worlds
from godojo.evaluation.intervals import Z95, Mean, Proportion
from godojo.evaluation.matches import MatchResults, play_matches
from godojo.evaluation.players import PolicyPlayer, policies_of
from godojo.evaluation.shared_role import cross_play_shared
from godojo.opponents import shared_role
from godojo.runs.folder import RunFolder

Entry = TypeVar("Entry")

MOST_SNAPSHOTS = 8
"""Taken when none are named, spread over the training."""


class SkillRating(msgspec.Struct, frozen=True):
    """A rating of openskill with its 95 % interval."""

    rating: float
    low: float
    high: float


class Ranking(msgspec.Struct, frozen=True):
    """A snapshot in the league."""

    name: str
    agent_steps: int
    seconds: float
    ratings: dict[str, SkillRating]
    """By role."""


class LeagueReport(msgspec.Struct, frozen=True):
    """The result of `godojo league`."""

    run: str
    game: str
    arenas: str
    rounds: int
    """Of each pairing."""
    seed: int
    deterministic: bool
    rows: str
    """The role whose wins are counted: it is played by the row's snapshot, the other role by the column's.

    Where agents of one role play against each other, both are that role, and a snapshot has a single rating.
    """
    columns: str
    standings: list[Ranking]
    matrix: list[list[Proportion]]
    measures: dict[str, list[list[Mean]]] = {}
    """Matrices of what the game measures of a round besides who won, such as catches; see `Game.measures`."""


def cross_play(
    worlds: Worlds,
    rows: Sequence[PolicyPlayer],
    columns: Sequence[PolicyPlayer],
    rounds: int,
    *,
    seed: int = 0,
    progress: Callable[[str, float | None], None] | None = None,
) -> list[list[MatchResults]]:
    """Every row against every column, `rounds` rounds each."""
    matrix: list[list[MatchResults]] = []
    for number, one in enumerate(rows):
        matrix.append([])
        for other in columns:
            if progress is not None:
                done = number * len(columns) + len(matrix[-1])
                progress("everybody against everybody", done / (len(rows) * len(columns)))
            matrix[-1].append(play_matches(worlds, {one.role: one, other.role: other}, rounds, seed=seed))
    return matrix


def rate(
    matrix: Sequence[Sequence[Proportion]], seed: int = 0, *, same: bool = False
) -> tuple[list[SkillRating], list[SkillRating]]:
    """Ratings of all rows and all columns on one scale, from every single round.

    With `same`, rows and columns are the same players.

    Rounds are taken in random order, since a rating is moved most by those that come first; and nobody's skill is
    taken to change meanwhile (`tau` 0), so that intervals shrink with the rounds. What a row wins and a column wins is
    all there is to compare by: two rows are compared by how they did against the same columns.
    """
    model = BradleyTerryFull(tau=0.0)
    row_ratings = [model.rating() for _ in matrix]
    column_ratings = row_ratings if same else [model.rating() for _ in matrix[0]]
    games = [
        (row, column, game < cell.wins)
        for row, cells in enumerate(matrix)
        for column, cell in enumerate(cells)
        if not same or column > row
        for game in range(cell.rounds)
    ]
    for index in np.random.default_rng(seed).permutation(len(games)):
        row, column, row_won = games[index]
        teams = [[row_ratings[row]], [column_ratings[column]]]
        [[row_ratings[row]], [column_ratings[column]]] = model.rate(teams, ranks=[1, 2] if row_won else [2, 1])
    return [_bounded(one.mu, one.sigma) for one in row_ratings], [_bounded(one.mu, one.sigma) for one in column_ratings]


def _bounded(mu: float, sigma: float) -> SkillRating:
    return SkillRating(mu, mu - Z95 * sigma, mu + Z95 * sigma)


class LeagueRows(msgspec.Struct, frozen=True):
    """Some rows of a league's matrix."""

    roles: tuple[str, str]
    """Of the rows and of the columns."""
    matrix: list[list[Proportion]]
    measures: list[list[dict[str, Mean]]]


def play_league(
    run: str,
    snapshots: Sequence[str] = (),
    *,
    rounds: int = 200,
    arenas: str = BOTH,
    seed: int = 0,
    deterministic: bool = True,
    progress: Callable[[str, float | None], None] | None = None,
    run_all: Callable[[Sequence[Callable[[], LeagueRows]]], list[LeagueRows]] | None = None,
) -> LeagueReport:
    """The cross-play of a run's snapshots, named or spread over its training, and their ratings.

    With `run_all`, every row is a call that it may run elsewhere, such as in a Ray task.
    """
    folder = RunFolder.open(run)
    store = folder.snapshots()
    entries = [store.find(name) for name in dict.fromkeys(snapshots)] or spread(store.entries())
    if len(entries) < 2:
        raise GodojoError(f"a league needs at least two snapshots; of {folder.name} there is {len(entries)} to take")
    names = [entry.name for entry in entries]
    how: dict[str, Any] = {"rounds": rounds, "arenas": arenas, "seed": seed, "deterministic": deterministic}
    play = partial(league_rows, str(folder.path.absolute()), names, **how)
    parts = (
        [play(progress=progress)] if run_all is None else run_all([partial(play, row=row) for row in range(len(names))])
    )
    one, other = parts[0].roles
    matrix = [row for part in parts for row in part.matrix]
    means = [row for part in parts for row in part.measures]
    ratings = rate(matrix, seed, same=one == other)
    return LeagueReport(
        run=folder.name,
        game=folder.config.game,
        arenas=arenas,
        rounds=rounds,
        seed=seed,
        deterministic=deterministic,
        rows=one,
        columns=other,
        standings=[
            Ranking(entry.name, entry.agent_steps, entry.seconds, {one: row, other: column})
            for entry, row, column in zip(entries, *ratings, strict=True)
        ],
        matrix=matrix,
        measures={name: [[cell[name] for cell in row] for row in means] for name in means[0][0]},
    )


def league_rows(
    run: str,
    names: Sequence[str],
    *,
    row: int | None = None,
    rounds: int,
    arenas: str,
    seed: int,
    deterministic: bool,
    progress: Callable[[str, float | None], None] | None = None,
) -> LeagueRows:
    """The cross-play of a run's snapshots: all rows, or the one of snapshot `row`."""
    folder = RunFolder.open(run)
    players: list[Mapping[str, PolicyPlayer]] = [
        {
            role: PolicyPlayer(*loaded, seed=seed, deterministic=deterministic, name=f"{folder.name}@{name}")
            for role, loaded in policies_of(f"{folder.path.absolute()}@{name}").items()
        }
        for name in names
    ]
    card = next(iter(players[-1].values())).card
    with judging_worlds(
        card.game, game_settings(card.game, card.settings), arenas=arenas, rounds=rounds, seed=seed
    ) as worlds:
        shared = shared_role(worlds)
        if len(worlds.roles) != 2 and shared is None:
            raise GodojoError(f"a league is between two roles; {card.game} has: {', '.join(worlds.roles)}")
        one, other = worlds.roles if shared is None else (shared.name, shared.name)
        for name, own in zip(names, players, strict=True):
            for role in worlds.roles:
                if role not in own:
                    raise GodojoError(f"{folder.name}@{name} has no policy of the {role}")
                own[role].begin(worlds)
        rows, columns = [own[one] for own in players], [own[other] for own in players]
        if shared is None:
            chosen = rows if row is None else [rows[row]]
            played = cross_play(worlds, chosen, columns, rounds, seed=judging_seed(seed), progress=progress)
            matrix = [[cell.wins(one) for cell in cells] for cells in played]
            return LeagueRows((one, other), matrix, [[cell.mean_measures() for cell in cells] for cells in played])
        if row is not None:
            raise GodojoError(f"the agents of {card.game} share a role; its league is played on one machine")
        matrix = cross_play_shared(worlds, one, rows, rounds, seed=judging_seed(seed), progress=progress)
        return LeagueRows((one, other), matrix, [[{} for _ in cells] for cells in matrix])


def spread(entries: Sequence[Entry], most: int = MOST_SNAPSHOTS) -> list[Entry]:
    """At most `most` of them, evenly, the first and the last included."""
    if len(entries) <= most:
        return list(entries)
    return [entries[round(place * (len(entries) - 1) / (most - 1))] for place in range(most)]
