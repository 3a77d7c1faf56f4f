"""Parity of landing: the same actions from the same starts in the real Godot and in the twin, decision by decision.

Actions are made beforehand by pilots in the twin: some land, some stray, some hold their action, so that all kinds of
touchdowns happen, on the pad and on slopes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from godojo.engines.godot.find import Engine
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation.parity.report import (
    AT_LEAST,
    AT_MOST,
    SAME_NUMBER,
    Curve,
    Example,
    Figure,
    ParityPlan,
    Progress,
    Report,
    curve,
    percentile,
)
from godojo.games.landing.autopilot import steered
from godojo.games.landing.replay import position_m
from godojo.games.landing.settings import LAYOUT, LandingSettings
from godojo.games.landing.spec import PILOT, REST

MAX_S = 60.0
"""Longer flights show nothing new."""
_EXAMPLES = 3


class Flights(NamedTuple):
    """What one engine made of E episodes of D decisions; an episode that is over stays as it ended."""

    seen: np.ndarray
    """[E, D + 1, 15]: observations, the start first."""
    terms: np.ndarray
    """[E, D, T]: of the reward; zeros after the end."""
    outcome: np.ndarray
    """[E] texts; empty where the round goes on."""
    decisions: np.ndarray
    """[E]: how many were played."""


def check_flights(
    engine: Engine,
    *,
    episodes: int,
    seed: int,
    settings: LandingSettings | None = None,
    progress: Progress = lambda _, __: None,
    places: Sequence[Any] | None = None,
) -> Report:
    """Plays so many episodes in both engines, and compares them."""
    del places  # there is one
    if episodes < 1:
        raise GodojoError(f"there must be at least one episode, not {episodes}")
    settings = settings or LandingSettings.defaults()
    settings = settings.override(
        **{"rules.max_ticks": round(MAX_S * settings.ticks_per_second), "rules.observed_fuel": 1}
    )
    progress("flying in Godot and in the twin", 0.0)
    with make_vec("landing", engine="godot", num_worlds=episodes, seed=seed, settings=settings) as real:
        starts = real.roles[PILOT].observation[:, 0].copy()
        actions = planned(_begun(settings, starts), seed)
        godot = played(real, actions)
    twin = played(_begun(settings, starts), actions)
    progress("comparing", None)
    return _report(engine.version, seed, settings, godot, twin)


def _begun(settings: LandingSettings, starts: np.ndarray) -> Any:
    """The twin, with every craft where Godot's is."""
    worlds = make_vec("landing", num_worlds=len(starts), settings=settings)
    twin = worlds.twin  # type: ignore[attr-defined]  # the embedded engine has one
    twin.crafts["position"] = position_m(settings, starts)
    twin.crafts["velocity"] = LAYOUT.view(starts, "velocity") * np.float32(50.0)
    twin.observe()
    return worlds


def planned(worlds: Any, seed: int) -> np.ndarray:
    """Actions [E, D, 5] of pilots who change their minds every now and then."""
    chance = np.random.default_rng(seed)
    role = worlds.roles[PILOT]
    count = len(role.action)
    decisions = -(-worlds.settings.rules.max_ticks // worlds.ticks_per_decision)
    actions = np.zeros((count, decisions, role.action.shape[-1]), np.float32)
    manner, held = chance.integers(4, size=count), chance.uniform(-1.2, 1.2, (count, 5))
    goes_on = np.ones(count, np.bool_)
    for decision in range(decisions):
        changes = chance.random(count) < 0.01
        manner[changes] = chance.integers(4, size=int(changes.sum()))
        held[changes] = chance.uniform(-1.2, 1.2, (int(changes.sum()), 5))
        steady = steered(worlds.settings, role.observation[:, 0])
        noisy = steady + chance.normal(0.0, 0.3, steady.shape)
        held_lightly = steady * (1.0, 1.0, 1.0, 0.0, 0.0) + 0.1 * held
        chosen = np.choose(manner[:, None], (steady, noisy, held_lightly, REST + 0.3 * held))
        actions[:, decision] = np.where(goes_on[:, None], chosen, REST)
        role.action[:, 0] = actions[:, decision]
        worlds.step()
        goes_on &= ~worlds.ended
    return actions


def played(worlds: Any, actions: np.ndarray) -> Flights:
    """Plays these actions; every episode until its first end."""
    role = worlds.roles[PILOT]
    count, decisions, _ = actions.shape
    seen = np.zeros((count, decisions + 1, role.observation.shape[-1]), np.float32)
    terms = np.zeros((count, decisions, len(worlds.reward_terms)), np.float32)
    outcome, length = np.full(count, "", dtype=object), np.zeros(count, np.int64)
    goes_on = np.ones(count, np.bool_)
    seen[:, 0] = role.observation[:, 0]
    for decision in range(decisions):
        role.action[:, 0] = actions[:, decision]
        worlds.step()
        ended = goes_on & worlds.ended
        now = np.where(ended[:, None], role.final_observation[:, 0], role.observation[:, 0])
        seen[:, decision + 1] = np.where(goes_on[:, None], now, seen[:, decision])
        terms[goes_on, decision] = role.terms[goes_on, 0]
        length += goes_on
        outcome[ended] = np.array(worlds.winners, dtype=object)[worlds.winner[ended]]
        goes_on &= ~ended
    return Flights(seen, terms, outcome, length)


def _report(engine: str, seed: int, settings: LandingSettings, godot: Flights, twin: Flights) -> Report:
    counts = np.arange(godot.seen.shape[1]) <= np.maximum(godot.decisions, twin.decisions)[:, None]
    away = position_m(settings, godot.seen).astype(np.float64) - position_m(settings, twin.seen)
    error_m = np.where(counts, np.linalg.norm(away, axis=2), np.nan)
    worst_m = np.nanmax(error_m, axis=1)
    off = np.abs(godot.seen.astype(np.float64) - twin.seen)[counts]
    terms = np.abs(godot.terms.astype(np.float64) - twin.terms)[counts[:, 1:]]
    rays_m = 100.0 * off[:, LAYOUT.slice("ground_distance")]
    second = 1 + round(settings.ticks_per_second / settings.rules.ticks_per_decision)
    first_second_m = np.nanmax(error_m[:, 1:second], axis=1)
    count = len(worst_m)
    found = {
        "one_second_median_position_error_m": (percentile(first_second_m, 50), count),
        "one_second_p95_position_error_m": (percentile(first_second_m, 95), count),
        "median_position_error_m": (percentile(worst_m, 50), count),
        "p90_position_error_m": (percentile(worst_m, 90), count),
        "ray_error_p99_m": (percentile(rays_m, 99), rays_m.size),
        "outcome_agreement": (float((godot.outcome == twin.outcome).mean()), count),
        "worst_position_error_m": (float(worst_m.max()), count),
        "round_length_agreement": (float((godot.decisions == twin.decisions).mean()), count),
        "observation_agreement": (float((off <= 10 * SAME_NUMBER).mean()), off.size),
        "reward_agreement": (float((terms <= 10 * SAME_NUMBER).mean()), terms.size),
    }
    figures = [
        Figure(name, value, samples, AT_MOST.get(name), AT_LEAST.get(name)) for name, (value, samples) in found.items()
    ]
    outcomes, times = np.unique(godot.outcome, return_counts=True)
    return Report(
        game="landing",
        engine=engine,
        seed=seed,
        episodes=count,
        arenas=["valley"],
        games={str(name) or "in flight": int(number) for name, number in zip(outcomes, times, strict=True)},
        agent_ticks=int(godot.decisions.sum()) * settings.rules.ticks_per_decision,
        figures=figures,
        mechanisms=None,
        causes=[f"{figure.name} is {figure.value:g}" for figure in figures if not figure.is_met],
        examples=_examples(settings, godot, twin, error_m),
        one_second=_curve(settings, error_m[:, :second]),
        whole_round=_curve(settings, error_m),
    )


def _examples(settings: LandingSettings, godot: Flights, twin: Flights, error_m: np.ndarray) -> list[Example]:
    """The flights that came out farthest apart."""
    found = []
    for episode in np.argsort(-np.nanmax(error_m, axis=1))[:_EXAMPLES]:
        decision = int(np.nanargmax(error_m[episode]))
        places = [position_m(settings, side.seen[episode, decision]).tolist() for side in (godot, twin)]
        ends = f"{godot.outcome[episode] or 'in flight'}, {twin.outcome[episode] or 'in flight'}"
        found.append(
            Example(
                what=f"worst flight (ended {ends})",
                game="landing",
                arena="valley",
                episode=int(episode),
                tick=decision * settings.rules.ticks_per_decision,
                agent=0,
                error=float(error_m[episode, decision]),
                godot=dict(zip("xyz", places[0], strict=True)),
                twin=dict(zip("xyz", places[1], strict=True)),
            )
        )
    return found


def _curve(settings: LandingSettings, error_m: np.ndarray) -> Curve:
    """How errors grow, at every decision."""
    step_s = settings.rules.ticks_per_decision / settings.ticks_per_second
    columns = enumerate(error_m.T[1:], 1)
    return curve((decision * step_s, errors[~np.isnan(errors)]) for decision, errors in columns)


PARITY = ParityPlan(check_flights, ("rules.max_ticks", "rules.observed_fuel"))
