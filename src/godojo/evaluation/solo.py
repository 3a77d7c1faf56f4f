"""Evaluating a game that is played alone: by measures of its rounds, with intervals."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
from rich.console import RenderableType

from godojo.engines.base import Worlds
from godojo.engines.make import GAMES
from godojo.evaluation.held_out import BOTH, judging_seed, worlds_for
from godojo.evaluation.intervals import Mean, Proportion
from godojo.evaluation.matches import MADE_FOR_THE_ROUND, MatchResults, Player, play_matches
from godojo.evaluation.players import PlayerFile, players_of
from godojo.evaluation.tables import Printable, solo_table


class SoloEvaluation(Printable, msgspec.Struct, frozen=True):
    """Measures of a policy that plays alone; prints as a table."""

    policy: str
    game: str
    engine: str
    arenas: str
    rounds: int
    seed: int
    deterministic: bool
    agent_steps: int
    """How long the policy had trained."""
    measures: dict[str, Proportion]
    """Of all rounds, how many were of each kind (success, without a collision, ...)."""
    means: dict[str, Mean]
    """Of the measures that are numbers (comfort warnings per minute, ...), over all rounds."""
    targets: dict[str, float]
    by_arena: dict[str, dict[str, Proportion]]
    terms: dict[str, Mean]
    """Of the reward, summed over a round."""
    reward: Mean
    median_length_s: float
    lost_rounds: int
    """Cut short from outside and played again."""
    length: Mean | None = None
    """The decision steps of a round."""

    def __rich__(self) -> RenderableType:
        return solo_table(self)


def is_solo_policy(game: str) -> bool:
    """Whether a game is evaluated by measures of its rounds alone: it has no opponents."""
    return game in GAMES and GAMES[game].measures is not None and GAMES[game].opponents is None


def is_solo(policy: str, files: Mapping[str, PlayerFile] | None = None) -> bool:
    """The same of the game that a policy (see `players_of`) plays."""
    return is_solo_policy(next(iter(players_of(policy, files=files).values())).card.game)


def evaluate_solo(
    policy: str,
    *,
    arenas: str = BOTH,
    rounds: int = 500,
    engine: str = "sim",
    seed: int = 0,
    deterministic: bool = True,
    files: Mapping[str, PlayerFile] | None = None,
    progress: Callable[[str, float | None], None] | None = None,
) -> SoloEvaluation:
    """Plays `rounds` rounds with a policy (see `players_of`) and measures them."""
    ((role, player),) = players_of(policy, seed=seed, deterministic=deterministic, files=files).items()
    card = player.card
    with worlds_for(policy, card, arenas=arenas, rounds=rounds, engine=engine, seed=seed) as worlds:
        report = None if progress is None else (lambda share: progress("playing", share))
        results = judged_rounds(worlds, {role: player}, rounds, seed, report)
        length = results.mean_length(worlds)
        terms = {name: Mean.of(results.terms[role][:, at]) for at, name in enumerate(worlds.reward_terms)}
    return SoloEvaluation(
        policy=policy,
        game=card.game,
        engine=engine,
        arenas=arenas,
        rounds=rounds,
        seed=seed,
        deterministic=deterministic,
        agent_steps=card.agent_steps,
        measures=shares(results.measures),
        means={name: Mean.of(values) for name, values in results.measures.items() if values.dtype != np.bool_},
        targets=dict(GAMES[card.game].targets),
        by_arena=by_arena(results),
        terms=terms,
        reward=results.mean_reward(role),
        median_length_s=float(np.median(results.length_s)),
        lost_rounds=results.lost,
        length=length,
    )


def judged_rounds(
    worlds: Worlds,
    players: Mapping[str, Player],
    rounds: int,
    seed: int,
    progress: Callable[[float], None] | None = None,
) -> MatchResults:
    for player in players.values():
        player.begin(worlds)
    return play_matches(worlds, players, rounds, seed=judging_seed(seed), progress=progress)


def shares(found: Mapping[str, np.ndarray], here: np.ndarray | slice = slice(None)) -> dict[str, Proportion]:
    """Of the measures that are bools."""
    return {
        name: Proportion.of(int(held[here].sum()), len(held[here]))
        for name, held in found.items()
        if held.dtype == np.bool_
    }


def by_arena(results: MatchResults) -> dict[str, dict[str, Proportion]]:
    names: Sequence[str] = (*results.arena_names, MADE_FOR_THE_ROUND)
    return {names[number]: shares(results.measures, results.arena == number) for number in np.unique(results.arena)}
