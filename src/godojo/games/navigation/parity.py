"""Parity of navigation: the same actions from the same starts in the real Godot and in the twin, decision by decision.

Every course is played on each of its routes by itself, so that a start says everything. Actions are made beforehand by
walkers in the twin: some go for the marks, some stray, some press into whatever is there.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
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
from godojo.games.navigation.courses import Course, hand_made_courses
from godojo.games.navigation.settings import LAYOUT, NavigationSettings
from godojo.games.navigation.spec import OBSERVATION_SIZE, WALKER
from godojo.games.settings import TICK_S

ROUND_S = 30.0
"""Longer walks tell nothing new."""
_EXAMPLES = 3


class Walks(NamedTuple):
    """What one engine made of E episodes of D decisions; an episode that is over stays as it ended."""

    told: np.ndarray
    """[E, D + 1, 48]: observations, the start first."""
    terms: np.ndarray
    """[E, D, T]: of the reward; zeros after the end."""
    outcome: np.ndarray
    """[E] texts; empty where the round goes on."""
    ticks: np.ndarray
    """[E]: how long the round was."""
    decisions: np.ndarray
    """[E]: how many were played."""


def check_walks(
    engine: Engine,
    *,
    episodes: int,
    seed: int,
    settings: NavigationSettings | None = None,
    progress: Progress = lambda _, __: None,
    places: Sequence[Course] | None = None,
) -> Report:
    """Plays so many episodes in both engines, and compares them."""
    if episodes < 1:
        raise GodojoError(f"there must be at least one episode, not {episodes}")
    settings = (settings or NavigationSettings.defaults()).override(**{"rules.round_s": ROUND_S})
    alone = [
        msgspec.structs.replace(course, routes=(route,))
        for course in (places or hand_made_courses().values())
        for route in course.routes
    ][:episodes]
    pairs: list[tuple[str, Walks, Walks]] = []
    for number, course in enumerate(alone):
        count = episodes // len(alone) + (number < episodes % len(alone))
        progress(f"walking {course.name} in Godot and in the twin", number / len(alone))
        pairs.append((course.name, *_both(settings, course, count, seed + number)))
    progress("comparing", None)
    return _report(engine.version, seed, settings, pairs)


def _both(settings: NavigationSettings, course: Course, count: int, seed: int) -> tuple[Walks, Walks]:
    options: dict[str, Any] = {"settings": settings, "courses": [course]}
    with make_vec("navigation", engine="godot", num_worlds=count, seed=seed, **options) as real:
        starts = real.roles[WALKER].observation[:, 0].copy()
        actions = planned(_begun(settings, course, starts), seed)
        godot = played(real, actions)
    return godot, played(_begun(settings, course, starts), actions)


def _begun(settings: NavigationSettings, course: Course, starts: np.ndarray) -> Any:
    """The twin, with every walker where Godot's stands."""
    worlds = make_vec("navigation", num_worlds=len(starts), settings=settings, courses=[course])
    twin = worlds.twin  # type: ignore[attr-defined]  # the embedded engine has one
    walkers = twin.walkers
    walkers["position"][:, 0], walkers["position"][:, 2] = starts[:, 0], starts[:, 2]
    walkers["yaw"] = 2.0 * np.arctan2(starts[:, 4].astype(np.float64), starts[:, 6].astype(np.float64))
    mark = np.array(course.routes[0].marks_m, np.float64)
    legs_m = np.linalg.norm(np.diff(mark, axis=0), axis=1).sum()
    feet = walkers["position"].astype(np.float64) - (0.0, settings.motion.body_m / 2, 0.0)
    walkers["remaining_m"] = walkers["least_m"] = np.linalg.norm(mark[0] - feet, axis=1) + legs_m
    twin.observe()
    return worlds


def planned(worlds: Any, seed: int) -> np.ndarray:
    """Actions [E, D, 3 or 4] of walkers who change their minds every now and then."""
    chance = np.random.default_rng(seed)
    role = worlds.roles[WALKER]
    count = len(role.action)
    decisions = -(-worlds.settings.round_ticks // worlds.ticks_per_decision)
    actions = np.zeros((count, decisions, role.action.shape[-1]), np.float32)
    manner, held = chance.integers(3, size=count), chance.uniform(-1.3, 1.3, (count, 3))
    goes_on = np.ones(count, np.bool_)
    for decision in range(decisions):
        changes = chance.random(count) < 0.03
        manner[changes] = chance.integers(3, size=int(changes.sum()))
        held[changes] = chance.uniform(-1.3, 1.3, (int(changes.sum()), 3))
        goal = role.observation[:, 0, LAYOUT.slice("goal_position")]
        turn = np.arctan2(goal[:, 0], -goal[:, 2])
        straight = np.stack([0.2 * held[:, 0], np.clip(np.cos(turn), 0.0, 1.0), np.clip(turn, -1.0, 1.0)], axis=1)
        noisy = straight + chance.normal(0.0, 0.3, (count, 3))
        chosen = np.choose(manner[:, None], (straight, noisy, held))
        actions[:, decision, :3] = np.where(goes_on[:, None], chosen, 0.0)
        actions[:, decision, 3:] = chance.random((count, actions.shape[-1] - 3)) < 0.05
        role.action[:, 0] = actions[:, decision]
        worlds.step()
        goes_on &= ~worlds.ended
    return actions


def played(worlds: Any, actions: np.ndarray) -> Walks:
    """Plays these actions; every episode until its first end."""
    role = worlds.roles[WALKER]
    count, decisions, _ = actions.shape
    told = np.zeros((count, decisions + 1, OBSERVATION_SIZE), np.float32)
    terms = np.zeros((count, decisions, len(worlds.reward_terms)), np.float32)
    outcome, ticks = np.full(count, "", dtype=object), np.zeros(count, np.int64)
    length, goes_on = np.zeros(count, np.int64), np.ones(count, np.bool_)
    told[:, 0] = role.observation[:, 0]
    for decision in range(decisions):
        role.action[:, 0] = actions[:, decision]
        worlds.step()
        ended = goes_on & worlds.ended
        now = np.where(ended[:, None], role.final_observation[:, 0], role.observation[:, 0])
        told[:, decision + 1] = np.where(goes_on[:, None], now, told[:, decision])
        terms[goes_on, decision] = role.terms[goes_on, 0]
        length += goes_on
        outcome[ended] = np.array(worlds.winners, dtype=object)[worlds.winner[ended]]
        ticks[ended] = worlds.length_ticks[ended]
        goes_on &= ~ended
    return Walks(told, terms, outcome, ticks, length)


def _report(engine: str, seed: int, settings: NavigationSettings, pairs: list[tuple[str, Walks, Walks]]) -> Report:
    titles, *sides = zip(*pairs, strict=True)
    godot, twin = (Walks(*(np.concatenate(parts) for parts in zip(*side, strict=True))) for side in sides)
    names = np.repeat(titles, [len(walks.ticks) for walks in sides[0]])
    counts = np.arange(godot.told.shape[1]) <= np.maximum(godot.decisions, twin.decisions)[:, None]
    position = LAYOUT.slice("camera_position")
    away = godot.told[:, :, position].astype(np.float64) - twin.told[:, :, position]
    error_m = np.where(counts, np.linalg.norm(away, axis=2), np.nan)
    worst_m = np.nanmax(error_m, axis=1)
    off = np.abs(godot.told.astype(np.float64) - twin.told)
    same_place = counts & (error_m <= SAME_NUMBER)
    rays_m = off[:, :, LAYOUT.slice("rays")][same_place]
    others = np.delete(off, LAYOUT.slice("rays"), axis=2)[same_place]
    terms = np.abs(godot.terms.astype(np.float64) - twin.terms)[counts[:, 1:]]
    second = counts[:, 1 : 1 + round(1.0 / (TICK_S * settings.rules.ticks_per_decision))]
    first_second_m = np.nanmax(np.where(second, error_m[:, 1 : 1 + second.shape[1]], np.nan), axis=1)
    found = {
        "one_second_median_position_error_m": (percentile(first_second_m, 50), len(first_second_m)),
        "one_second_p95_position_error_m": (percentile(first_second_m, 95), len(first_second_m)),
        "median_position_error_m": (percentile(worst_m, 50), len(worst_m)),
        "p90_position_error_m": (percentile(worst_m, 90), len(worst_m)),
        "ray_error_p99_m": (percentile(rays_m, 99), rays_m.size),
        "outcome_agreement": (float((godot.outcome == twin.outcome).mean()), len(worst_m)),
        "worst_position_error_m": (float(worst_m.max()), len(worst_m)),
        "ray_error_worst_m": (float(rays_m.max()), rays_m.size),
        "round_length_agreement": (float((godot.ticks == twin.ticks).mean()), len(worst_m)),
        "observation_agreement": (float((others <= 10 * SAME_NUMBER).mean()), others.size),
        "reward_agreement": (float((terms <= 10 * SAME_NUMBER).mean()), terms.size),
    }
    figures = [
        Figure(name, value, samples, AT_MOST.get(name), AT_LEAST.get(name)) for name, (value, samples) in found.items()
    ]
    return Report(
        game="navigation",
        engine=engine,
        seed=seed,
        episodes=len(worst_m),
        arenas=list(dict.fromkeys(names.tolist())),
        games={"walks": len(worst_m)},
        agent_ticks=int(godot.decisions.sum()) * settings.rules.ticks_per_decision,
        figures=figures,
        mechanisms=None,
        causes=[f"{figure.name} is {figure.value:g}" for figure in figures if not figure.is_met],
        examples=_examples(names, godot, twin, error_m, settings.rules.ticks_per_decision),
        one_second=_curve(error_m[:, : second.shape[1] + 1], settings),
        whole_round=_curve(error_m, settings),
    )


def _examples(names: np.ndarray, godot: Walks, twin: Walks, error_m: np.ndarray, ticks: int) -> list[Example]:
    """The walks that came out farthest apart."""
    found = []
    for episode in np.argsort(-np.nanmax(error_m, axis=1))[:_EXAMPLES]:
        decision = int(np.nanargmax(error_m[episode]))
        told = [LAYOUT.view(side.told[episode, decision], "camera_position").tolist() for side in (godot, twin)]
        places = [dict(zip("xyz", position, strict=True)) for position in told]
        found.append(
            Example(
                what=f"worst walk (ended {godot.outcome[episode] or 'nowhere'}, {twin.outcome[episode] or 'nowhere'})",
                game="navigation",
                arena=str(names[episode]),
                episode=int(episode),
                tick=decision * ticks,
                agent=0,
                error=float(error_m[episode, decision]),
                godot=places[0],
                twin=places[1],
            )
        )
    return found


def _curve(error_m: np.ndarray, settings: NavigationSettings) -> Curve:
    """How errors grow, at every decision."""
    step_s = settings.rules.ticks_per_decision * TICK_S
    columns = enumerate(error_m.T[1:], 1)
    return curve((decision * step_s, errors[~np.isnan(errors)]) for decision, errors in columns)


PARITY = ParityPlan(check_walks, ("rules.round_s",))
