"""Evaluating a trained policy of each role against opponents, on held-out arenas, with intervals."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
import numpy as np
from rich.console import RenderableType

from godojo.engines.base import Worlds
from godojo.engines.make import GAMES
from godojo.errors import GodojoError
from godojo.evaluation.held_out import BOTH, judging_seed, worlds_for
from godojo.evaluation.intervals import Mean, Proportion
from godojo.evaluation.matches import MatchResults, Player, play_matches
from godojo.evaluation.players import PlayerFile, TrainedPlayer, player_from, players_of
from godojo.evaluation.reference_set import REFERENCE, reference_names
from godojo.evaluation.shared_role import SharedSeats, score_share, seats
from godojo.evaluation.tables import Printable, evaluation_table
from godojo.opponents import scripted_opponents, shared_role
from godojo.runs.config import RunConfig

ITSELF = "itself"
"""The opponent that is the judged run's own policy of the other role."""


class MatchUp(msgspec.Struct, frozen=True):
    """How one role did against one opponent."""

    role: str
    opponent: str
    wins: Proportion | None
    """None where the game names no winner of that role; then the reward has to do. Where agents of one role play
    against each other, a round is won with a higher score than the others' mean."""
    reward: Mean
    """Summed over a round."""
    median_length_s: float
    by_arena: dict[str, Proportion]
    lost_rounds: int
    """Cut short from outside and played again."""
    measures: dict[str, Mean] = {}
    """What the game measures of a round besides who won, such as catches; see `Game.measures`."""
    share: Mean | None = None
    """Where agents of one role play against each other: the share of the round that its score counts, from 0 to 1."""
    length: Mean | None = None
    """The decision steps of a round."""


class Evaluation(Printable, msgspec.Struct, frozen=True):
    """Win rates of a policy; prints as a table."""

    policy: str
    game: str
    engine: str
    arenas: str
    rounds: int
    """Of each verdict."""
    seed: int
    deterministic: bool
    agent_steps: dict[str, int]
    """How long each role's policy had trained."""
    verdicts: list[MatchUp]

    def verdict(self, role: str, opponent: str) -> MatchUp:
        return next(one for one in self.verdicts if (one.role, one.opponent) == (role, opponent))

    def __rich__(self) -> RenderableType:
        return evaluation_table(self)


def has_opponents(config: RunConfig) -> bool:
    """Whether a run's policies are judged by whom they beat."""
    return config.game in GAMES and (len(config.roles) == 2 or bool(config.opponents) or plays_itself(config))


def plays_itself(config: RunConfig) -> bool:
    """Whether the agents of a run's only role play against each other."""
    is_alone = len(config.roles) == 1 and not config.opponents
    return is_alone and config.game in GAMES and bool(GAMES[config.game].shared_score)


def default_opponents(game: str, roles: int, *, references: bool = False) -> list[str]:
    """Scripted ones without numbered members, the reference set if wanted, and, with both roles at hand, itself."""
    scripted = [name for name, kind in scripted_opponents(game).items() if not kind.is_numbered]
    return [*scripted, *([REFERENCE] if references else []), *([ITSELF] if roles > 1 else [])]


def judge(
    policy: str,
    opponents: Sequence[str] = (),
    *,
    role: str | None = None,
    arenas: str = BOTH,
    rounds: int = 500,
    engine: str = "sim",
    seed: int = 0,
    deterministic: bool = True,
    from_pool: bool = False,
    references: bool = False,
    files: Mapping[str, PlayerFile] | None = None,
    progress: Callable[[str, float | None], None] | None = None,
) -> Evaluation:
    """Plays `rounds` rounds with each role of a policy (see `players_of`) against each opponent (see `player_from`).

    All opponents meet it in the same arenas, from the same places; `from_pool` says in which (see `judging_worlds`).
    The opponent `reference` is every policy of the reference set that fits the game; `references` adds it to the
    opponents by default. `files` are further kinds of players' files.
    """
    if rounds < 1:
        raise GodojoError(f"there must be at least one episode, not {rounds}")
    judged = players_of(policy, seed=seed, deterministic=deterministic, files=files)
    if role is not None and role not in judged:
        raise GodojoError(f"{policy} has no role {role!r}; it has: {', '.join(judged)}")
    cards = [player.card for player in judged.values()]
    game = cards[0].game
    named = list(opponents)
    chosen = [name for name in judged if role in (None, name)]
    verdicts = []
    with worlds_for(
        policy, cards[0], arenas=arenas, rounds=rounds, engine=engine, seed=seed, from_pool=from_pool
    ) as worlds:
        shared = shared_role(worlds)
        if len(worlds.roles) < 2 and shared is None:
            raise GodojoError(
                f"{game} is played here by one role alone ({', '.join(worlds.roles)}): nobody to play against"
            )
        opponents = named or default_opponents(game, 2 if shared else len(judged), references=references)
        tables = [
            (name, rival, _table(worlds, judged, name, rival, game, seed, deterministic, files))
            for name in chosen
            for rival in _expanded(opponents, worlds, name, game, files)
        ]
        if not any(rival.startswith(REFERENCE) for _, rival, _ in tables) and REFERENCE in named:
            raise GodojoError(f"{game} has no reference policy that fits the rules of {policy}")
        for name, rival, players in tables:
            title = f"{name} against {rival}"
            report = None if progress is None else (lambda share, title=title: progress(title, share))
            results = play_matches(
                worlds, players, rounds, seed=judging_seed(seed), progress=report, seats=_own_seats(worlds)
            )
            share = score_share(game, name, results) if shared else None
            verdicts.append(_verdict(name, rival, results, worlds, share))
    return Evaluation(
        policy=policy,
        game=game,
        engine=engine,
        arenas=arenas,
        rounds=rounds,
        seed=seed,
        deterministic=deterministic,
        agent_steps={card.role: card.agent_steps for card in cards},
        verdicts=verdicts,
    )


def _expanded(
    opponents: Sequence[str], worlds: Worlds, role: str, game: str, files: Mapping[str, PlayerFile] | None
) -> Iterator[str]:
    """The opponents of a role, with those of the reference set that fit these worlds for `reference`."""
    for rival in opponents:
        if rival != REFERENCE:
            yield rival
            continue
        others = [name for name in worlds.roles if name != role]
        for reference in reference_names(game, others[0]) if others else ():
            players = [player_from(reference, other, game=game, files=files) for other in others]
            try:
                for player in players:
                    player.begin(worlds)
            except GodojoError:  # trained with other eyes
                continue
            yield reference


def _table(
    worlds: Worlds,
    judged: dict[str, TrainedPlayer],
    role: str,
    rival: str,
    game: str,
    seed: int,
    deterministic: bool,
    files: Mapping[str, PlayerFile] | None,
) -> dict[str, Player]:
    """Who plays what. Everybody is made, and refused, before the first round is played."""
    players: dict[str, Player] = {role: judged[role]}
    if shared_role(worlds) is not None and rival != ITSELF:
        other_player = player_from(rival, role, game=game, seed=seed + 1, deterministic=deterministic, files=files)
        players[role] = SharedSeats(role, judged[role], other_player, 1)
    for place, other in enumerate(name for name in worlds.roles if name != role):
        if rival == ITSELF:
            if other not in judged:
                raise GodojoError(f"there is no policy of the {other} to be {ITSELF}")
            players[other] = judged[other]
        else:
            players[other] = player_from(
                rival, other, game=game, seed=seed + 1 + place, deterministic=deterministic, files=files
            )
    for player in players.values():
        player.begin(worlds)
    return {name: players[name] for name in worlds.roles}


def _own_seats(worlds: Worlds) -> np.ndarray | None:
    """Where agents of one role play against each other: the one that is judged, in every world."""
    shared = shared_role(worlds)
    return None if shared is None else seats(worlds, shared.name, 1)


def _verdict(role: str, rival: str, results: MatchResults, worlds: Worlds, share: Mean | None) -> MatchUp:
    can_win = role in results.winners
    return MatchUp(
        role=role,
        opponent=rival,
        wins=results.wins(role) if can_win else None,
        reward=results.mean_reward(role),
        median_length_s=float(np.median(results.length_s)),
        by_arena=results.wins_by_arena(role) if can_win else {},
        lost_rounds=results.lost,
        measures=results.mean_measures(),
        share=share,
        length=results.mean_length(worlds),
    )
