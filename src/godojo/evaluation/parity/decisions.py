"""Parity of games of one agent, decision by decision: the same actions from the same starts in both engines.

Actions are made beforehand, by agents in the twin that change their manner every now and then.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.evaluation.parity.report import (
    AT_LEAST,
    AT_MOST,
    SAME_NUMBER,
    Curve,
    Example,
    Figure,
    Report,
    curve,
    percentile,
)

_EXAMPLES = 3


class Episodes(NamedTuple):
    """E episodes of D decisions in one engine; an episode that is over stays as it ended."""

    observation: np.ndarray
    """[E, D + 1, N]: the start first."""
    terms: np.ndarray
    """[E, D, T]: of the reward; zeros after the end."""
    outcome: np.ndarray
    """[E] texts; empty where the round goes on."""
    ticks: np.ndarray
    """[E]: how long the round was."""
    decisions: np.ndarray
    """[E]: how many were played."""


class Manners(NamedTuple):
    """How the agents that make the actions behave."""

    kinds: int
    """How many manners there are."""
    held: int
    """Numbers that an agent keeps until it changes its manner."""
    limit: float
    """They are drawn from ± this value."""
    change: float
    """Chance of a change, at every decision."""
    act: Callable[[np.ndarray, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
    """Actions [E, A] from observations [E, N], manners [E], held numbers [E, held] and random numbers."""


class Compared(NamedTuple):
    """What is compared of an observation besides its numbers."""

    position_m: Callable[[np.ndarray], np.ndarray]
    """[..., 3] of observations [..., N]."""
    rays: slice
    ray_scale_m: float = 1.0
    """Metres for a 1 in the observation."""


def play_both(
    game: str,
    count: int,
    seed: int,
    begin: Callable[[np.ndarray], Worlds],
    plan: Callable[[Worlds, int], np.ndarray],
    **options: Any,
) -> tuple[Episodes, Episodes]:
    """So many episodes in Godot and in the twin, which `begin` puts where Godot's first observations [E, N] are."""
    with make_vec(game, engine="godot", num_worlds=count, seed=seed, **options) as real:
        (role,) = real.roles.values()
        starts = role.observation[:, 0].copy()
        actions = plan(begin(starts), seed)
        godot = play(real, actions)
    return godot, play(begin(starts), actions)


def plan_actions(worlds: Worlds, manners: Manners, decisions: int, seed: int) -> np.ndarray:
    """Actions [E, D, A] of agents in these worlds."""
    (role,) = worlds.roles.values()
    chance, count = np.random.default_rng(seed), len(role.action)
    actions = np.zeros((count, decisions, role.action.shape[-1]), np.float32)
    manner = chance.integers(manners.kinds, size=count)
    held = chance.uniform(-manners.limit, manners.limit, (count, manners.held))
    for decision in range(decisions):
        changes = chance.random(count) < manners.change
        changed = int(changes.sum())
        manner[changes] = chance.integers(manners.kinds, size=changed)
        held[changes] = chance.uniform(-manners.limit, manners.limit, (changed, manners.held))
        actions[:, decision] = manners.act(role.observation[:, 0], manner, held, chance)
        role.action[:, 0] = actions[:, decision]
        worlds.step()
    return actions


def play(worlds: Worlds, actions: np.ndarray) -> Episodes:
    """Plays these actions; every episode until its first end."""
    (role,) = worlds.roles.values()
    count, decisions, _ = actions.shape
    observation = np.zeros((count, decisions + 1, role.observation.shape[-1]), np.float32)
    terms = np.zeros((count, decisions, len(worlds.reward_terms)), np.float32)
    outcome, ticks = np.full(count, "", dtype=object), np.zeros(count, np.int64)
    length, goes_on = np.zeros(count, np.int64), np.ones(count, np.bool_)
    observation[:, 0] = role.observation[:, 0]
    for decision in range(decisions):
        role.action[:, 0] = actions[:, decision]
        worlds.step()
        ended = goes_on & worlds.ended
        now = np.where(ended[:, None], role.final_observation[:, 0], role.observation[:, 0])
        observation[:, decision + 1] = np.where(goes_on[:, None], now, observation[:, decision])
        terms[goes_on, decision] = role.terms[goes_on, 0]
        length += goes_on
        outcome[ended] = np.array(worlds.winners, dtype=object)[worlds.winner[ended]]
        ticks[ended] = worlds.length_ticks[ended]
        goes_on &= ~ended
    return Episodes(observation, terms, outcome, ticks, length)


def compare(
    game: str,
    engine: str,
    seed: int,
    settings: Any,
    compared: Compared,
    places: Sequence[tuple[str, Episodes, Episodes]],
) -> Report:
    """The report of episodes in Godot and in the twin, by the name of the arena."""
    titles, *sides = zip(*places, strict=True)
    godot, twin = (Episodes(*(np.concatenate(parts) for parts in zip(*side, strict=True))) for side in sides)
    arenas = np.repeat(titles, [len(episodes.ticks) for episodes in sides[0]])
    counts = np.arange(godot.observation.shape[1]) <= np.maximum(godot.decisions, twin.decisions)[:, None]
    positions = [compared.position_m(side.observation).astype(np.float64) for side in (godot, twin)]
    error_m = np.where(counts, np.linalg.norm(positions[0] - positions[1], axis=2), np.nan)
    decision_s = settings.rules.ticks_per_decision / settings.ticks_per_second
    second = 1 + round(1.0 / decision_s)
    figures = [
        Figure(name, value, samples, AT_MOST.get(name), AT_LEAST.get(name))
        for name, (value, samples) in _figures(godot, twin, compared, counts, error_m, second).items()
    ]
    outcomes, times = np.unique(godot.outcome.astype(str), return_counts=True)
    return Report(
        game=game,
        engine=engine,
        seed=seed,
        episodes=len(arenas),
        arenas=list(dict.fromkeys(arenas.tolist())),
        games={str(name) or "none": int(number) for name, number in zip(outcomes, times, strict=True)},
        agent_ticks=int(godot.decisions.sum()) * settings.rules.ticks_per_decision,
        figures=figures,
        mechanisms=None,
        causes=[f"{figure.name} is {figure.value:g}" for figure in figures if not figure.is_met],
        examples=[
            _example(game, arenas, godot, twin, positions, error_m, int(episode), settings.rules.ticks_per_decision)
            for episode in np.argsort(-np.nanmax(error_m, axis=1))[:_EXAMPLES]
        ],
        one_second=_curve(error_m[:, :second], decision_s),
        whole_round=_curve(error_m, decision_s),
    )


def _figures(
    godot: Episodes, twin: Episodes, compared: Compared, counts: np.ndarray, error_m: np.ndarray, second: int
) -> dict[str, tuple[float, int]]:
    """By name, the value and the number of samples."""
    worst_m, first_second_m = np.nanmax(error_m, axis=1), np.nanmax(error_m[:, 1:second], axis=1)
    off = np.abs(godot.observation.astype(np.float64) - twin.observation)
    same_place = counts & (error_m <= SAME_NUMBER)
    rays_m = compared.ray_scale_m * off[:, :, compared.rays][same_place]
    others = np.delete(off, compared.rays, axis=2)[same_place]
    terms = np.abs(godot.terms.astype(np.float64) - twin.terms)[counts[:, 1:]]
    count = len(worst_m)
    return {
        "one_second_median_position_error_m": (percentile(first_second_m, 50), count),
        "one_second_p95_position_error_m": (percentile(first_second_m, 95), count),
        "median_position_error_m": (percentile(worst_m, 50), count),
        "p90_position_error_m": (percentile(worst_m, 90), count),
        "ray_error_p99_m": (percentile(rays_m, 99), rays_m.size),
        "outcome_agreement": (float((godot.outcome == twin.outcome).mean()), count),
        "worst_position_error_m": (float(worst_m.max()), count),
        "ray_error_worst_m": (float(rays_m.max()), rays_m.size),
        "round_length_agreement": (float((godot.ticks == twin.ticks).mean()), count),
        "observation_agreement": (float((others <= 10 * SAME_NUMBER).mean()), others.size),
        "reward_agreement": (float((terms <= 10 * SAME_NUMBER).mean()), terms.size),
    }


def _example(
    game: str,
    arenas: np.ndarray,
    godot: Episodes,
    twin: Episodes,
    positions: Sequence[np.ndarray],
    error_m: np.ndarray,
    episode: int,
    ticks_per_decision: int,
) -> Example:
    """The moment of an episode at which the engines are farthest apart."""
    decision = int(np.nanargmax(error_m[episode]))
    places = [dict(zip("xyz", side[episode, decision].tolist(), strict=True)) for side in positions]
    return Example(
        what=f"worst episode (ended {godot.outcome[episode] or 'nowhere'}, {twin.outcome[episode] or 'nowhere'})",
        game=game,
        arena=str(arenas[episode]),
        episode=episode,
        tick=decision * ticks_per_decision,
        agent=0,
        error=float(error_m[episode, decision]),
        godot=places[0],
        twin=places[1],
    )


def _curve(error_m: np.ndarray, decision_s: float) -> Curve:
    """How errors grow, at every decision."""
    columns = enumerate(error_m.T[1:], 1)
    return curve((decision * decision_s, errors[~np.isnan(errors)]) for decision, errors in columns)
