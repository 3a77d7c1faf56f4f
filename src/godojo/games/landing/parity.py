"""Parity of landing: the same flights in the real Godot and in the twin.

Some pilots land, some stray, some hold their action, so that all kinds of touchdowns happen, on the pad and on slopes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.engines.godot.find import Engine
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation.parity.decisions import Compared, Manners, compare, plan_actions, play_both
from godojo.evaluation.parity.oracle import OraclePlan
from godojo.evaluation.parity.report import ParityPlan, Progress, Report
from godojo.games.landing.autopilot import steered
from godojo.games.landing.replay import position_m
from godojo.games.landing.settings import LAYOUT, LandingSettings
from godojo.games.landing.spec import REST

MAX_S = 60.0
"""Longer flights show nothing new."""
RAY_M = 100.0


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
    both = play_both("landing", episodes, seed, lambda starts: _begun(settings, starts), planned, settings=settings)
    progress("comparing", None)
    compared = Compared(lambda seen: position_m(settings, seen), LAYOUT.slice("ground_distance"), RAY_M)
    return compare("landing", engine.version, seed, settings, compared, [("valley", *both)])


def _begun(settings: LandingSettings, starts: np.ndarray) -> Worlds:
    """The twin, with every craft where Godot's is."""
    worlds = make_vec("landing", num_worlds=len(starts), settings=settings)
    twin = worlds.twin  # type: ignore[attr-defined]  # the embedded engine has one
    twin.crafts["position"] = position_m(settings, starts)
    twin.crafts["velocity"] = LAYOUT.view(starts, "velocity") * np.float32(50.0)
    twin.observe()
    return worlds


def oracle(settings: LandingSettings) -> OraclePlan:
    """There is one valley, and the observation has all of the start."""

    def put(worlds: Worlds, observation: np.ndarray, nudges: np.ndarray) -> None:
        twin = worlds.twin  # type: ignore[attr-defined]  # the embedded engine has one
        twin.begin(0)
        starts = np.repeat(observation, worlds.num_worlds, axis=0)
        twin.crafts["position"] = position_m(settings, starts)
        twin.crafts["position"][:, ::2] += nudges[:, :2]
        twin.crafts["velocity"] = LAYOUT.view(starts, "velocity") * np.float32(50.0)
        twin.observe()

    return OraclePlan(
        candidates=1,
        make=lambda count: make_vec("landing", num_worlds=count, settings=settings),
        put=put,
        tolerance={"altitude": 1e-3, "velocity": 0.02, "angular_velocity": 0.2, "rotation": 0.1, "pad_distance": 1e-3},
        rays="",
    )


def planned(worlds: Any, seed: int) -> np.ndarray:
    """Actions [E, D, 5]."""

    def act(seen: np.ndarray, manner: np.ndarray, held: np.ndarray, chance: np.random.Generator) -> np.ndarray:
        steady = steered(worlds.settings, seen)
        noisy = steady + chance.normal(0.0, 0.3, steady.shape)
        held_lightly = steady * (1.0, 1.0, 1.0, 0.0, 0.0) + 0.1 * held
        return np.choose(manner[:, None], (steady, noisy, held_lightly, REST + 0.3 * held))

    decisions = -(-worlds.settings.rules.max_ticks // worlds.ticks_per_decision)
    return plan_actions(worlds, Manners(kinds=4, held=5, limit=1.2, change=0.01, act=act), decisions, seed)


PARITY = ParityPlan(check_flights, ("rules.max_ticks", "rules.observed_fuel"), oracle)
