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
from godojo.evaluation.tables import Printable, evaluation_table
from godojo.opponents import scripted_opponents
from godojo.runs.config import RunConfig

ITSELF = "itself"
"""The opponent that is the judged run's own policy of the other role."""


class MatchUp(msgspec.Struct, frozen=True):
    """How one role did against one opponent."""

    role: str
    opponent: str
    wins: Proportion | None
    """None where the game names no winner of that role; then the reward has to do."""
    reward: Mean
    """Summed over a round."""
    median_length_s: float
    by_arena: dict[str, Proportion]
    lost_rounds: int
    """Cut short from outside and played again."""
    measures: dict[str, Mean] = {}
    """What the game measures of a round besides who won, such as catches; see `Game.measures`."""


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
    return config.game in GAMES and len(config.roles) == 2


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
    named, opponents = list(opponents), list(opponents) or default_opponents(game, len(judged), references=references)
    chosen = [name for name in judged if role in (None, name)]
    verdicts = []
    with worlds_for(
        policy, cards[0], arenas=arenas, rounds=rounds, engine=engine, seed=seed, from_pool=from_pool
    ) as worlds:
        if len(worlds.roles) < 2:
            raise GodojoError(
                f"{game} is played here by one role alone ({', '.join(worlds.roles)}): nobody to play against"
            )
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
            results = play_matches(worlds, players, rounds, seed=judging_seed(seed), progress=report)
            verdicts.append(_verdict(name, rival, results))
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
        for reference in reference_names(game, *others[:1]):
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


def _verdict(role: str, rival: str, results: MatchResults) -> MatchUp:
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
    )
