"""Judging whoever plays alone: not by whom it beats, but by what its rounds were like, with intervals."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from godojo.engines.base import Worlds
from godojo.engines.make import GAMES
from godojo.engines.mixed import TASK, MixedWorlds
from godojo.errors import GodojoError
from godojo.evaluate.held_out import BOTH, game_settings, judging_seed, judging_worlds
from godojo.evaluate.intervals import Mean, Share
from godojo.evaluate.matches import MADE_FOR_THE_ROUND, MatchResults, Player, play_matches
from godojo.evaluate.players import POLICY_SUFFIX, PolicyPlayer, policies_of
from godojo.games.base import PlayedRounds
from godojo.learn.policy_file import PolicyCard
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference


class AloneJudgement(msgspec.Struct, frozen=True):
    """What `godojo eval` found of a game with one role."""

    policy: str
    game: str
    engine: str
    arenas: str
    rounds: int
    seed: int
    greedy: bool
    agent_steps: int
    """How long the policy had trained."""
    measures: dict[str, Share]
    """Of all rounds, how many were of each kind (success, without a collision, ...)."""
    targets: dict[str, float]
    by_arena: dict[str, dict[str, Share]]
    terms: dict[str, Mean]
    """Of the reward, summed over a round."""
    reward: Mean
    median_length_s: float
    lost_rounds: int
    """Cut short from outside and played again."""


def is_played_alone(policy: str) -> bool:
    """Whether a policy (see `policies_of`) is of a game that is judged by what its rounds are like."""
    if policy == "":
        return False
    cards = [card for _, card in policies_of(policy).values()]
    return cards[0].game in GAMES and GAMES[cards[0].game].measures is not None


def judge_alone(
    policy: str,
    *,
    arenas: str = BOTH,
    rounds: int = 500,
    engine: str = "sim",
    seed: int = 0,
    greedy: bool = True,
    progress: Callable[[str, float | None], None] | None = None,
) -> AloneJudgement:
    """Plays `rounds` rounds with a policy (see `policies_of`) and says what they were like."""
    ((role, (network, card)),) = policies_of(policy).items()
    player = PolicyPlayer(network, card, seed=seed, greedy=greedy, name=policy)
    settings = game_settings(card.game, card.settings)
    tasks = _tasks_of(policy, card)
    with _worlds(card.game, settings, tasks or [arenas], bool(tasks), rounds, engine, seed) as worlds:
        report = None if progress is None else (lambda share: progress("playing", share))
        results = judged_rounds(worlds, {role: player}, rounds, seed, report)
        found = measured(card.game, worlds, results, role)
        terms = {name: Mean.of(results.terms[role][:, at]) for at, name in enumerate(worlds.reward_terms)}
    return AloneJudgement(
        policy=policy,
        game=card.game,
        engine=engine,
        arenas=arenas,
        rounds=rounds,
        seed=seed,
        greedy=greedy,
        agent_steps=card.agent_steps,
        measures=shares(found),
        targets=dict(GAMES[card.game].targets),
        by_arena=by_arena(found, results),
        terms=terms,
        reward=results.mean_reward(role),
        median_length_s=float(np.median(results.length_s)),
        lost_rounds=results.lost,
    )


def _tasks_of(policy: str, card: PolicyCard) -> list[str]:
    """What a policy that is told its task was trained for, in order; a policy that is not has none."""
    if not any(part.name == TASK for part in card.observation_parts):
        return []
    if policy.endswith(POLICY_SUFFIX):
        raise GodojoError(f"{policy} is told its task, and only its run knows which: give the run instead of the file")
    tasks: list[str] = RunFolder.open(split_reference(policy)[0]).config.more["tasks"]
    return tasks


def _worlds(
    game: str, settings: Any, arenas: Sequence[str], tells_task: bool, rounds: int, engine: str, seed: int
) -> Worlds:
    each = -(-rounds // len(arenas))
    parts = {
        name: judging_worlds(game, settings, arenas=name, rounds=each, engine=engine, seed=seed) for name in arenas
    }
    return MixedWorlds(parts) if tells_task else parts[arenas[0]]


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


def measured(game: str, worlds: Worlds, results: MatchResults, role: str) -> dict[str, np.ndarray]:
    """What each round was like, by the game's own measures: one bool a round."""
    measures = GAMES[game].measures
    if measures is None:
        raise GodojoError(f"{game} is not played alone: judge it against opponents")
    rounds = PlayedRounds(
        outcome=np.array(results.winners, dtype=object)[results.winner],
        length_s=results.length_s,
        terms=dict(zip(worlds.reward_terms, results.terms[role].T, strict=True)),
        score=results.score[role],
    )
    return measures(worlds.settings, rounds)


def shares(found: Mapping[str, np.ndarray], here: np.ndarray | slice = slice(None)) -> dict[str, Share]:
    return {name: Share.of(int(held[here].sum()), len(held[here])) for name, held in found.items()}


def by_arena(found: Mapping[str, np.ndarray], results: MatchResults) -> dict[str, dict[str, Share]]:
    names: Sequence[str] = (*results.arena_names, MADE_FOR_THE_ROUND)
    return {names[number]: shares(found, results.arena == number) for number in np.unique(results.arena)}
