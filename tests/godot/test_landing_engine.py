"""Landing in the real engine: the same game as on the twin, 90 ticks a second."""

from typing import Any

import numpy as np
import pytest

from godojo.engines.godot.find import Engine
from godojo.engines.make import make_vec
from godojo.engines.measures import measured
from godojo.games.landing import parity
from godojo.games.landing.autopilot import steered
from godojo.games.landing.settings import LandingSettings
from godojo.games.landing.spec import PILOT

pytestmark = pytest.mark.engine
LOW = {"start.min_altitude_m": 90.0, "start.max_altitude_m": 110.0, "start.offset_m": 20.0}
"""Rounds that are over soon."""


def test_parity(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parity, "MAX_S", 25.0)
    weights = {"rewards.approach": 20.0, "rewards.braking_per_mps": 15.0, "rewards.upright_per_rad": 10.0}
    settings = LandingSettings.defaults().override(**LOW, **weights, **{"rewards.fuel_per_s": -2.0})
    report = parity.check_flights(engine, episodes=24, seed=3, settings=settings)
    assert report.causes == []
    values = {figure.name: figure.value for figure in report.figures}
    assert values["worst_position_error_m"] < 0.01
    assert values["round_length_agreement"] == 1.0
    assert values["reward_agreement"] > 0.999
    assert {"pilot", "crash"} <= set(report.games)


@pytest.mark.parametrize("fuel", [0, 1])
@pytest.mark.usefixtures("engine")
def test_both_engines_describe_the_same_game(fuel: int) -> None:
    settings = LandingSettings.defaults().override(**{"rules.observed_fuel": fuel})
    twin = make_vec("landing", num_worlds=2, settings=settings)
    with make_vec("landing", engine="godot", num_worlds=2, settings=settings) as godot:
        assert (godot.reward_terms, godot.winners) == (twin.reward_terms, twin.winners)
        assert godot.arena_names == twin.arena_names
        assert godot.tick_s == 1 / 90
        assert godot.roles[PILOT].observation_parts == twin.roles[PILOT].observation_parts
        assert godot.roles[PILOT].action_parts == twin.roles[PILOT].action_parts


@pytest.mark.usefixtures("engine")
def test_the_autopilot_lands_settings_change_and_rounds_are_truncated() -> None:
    settings = LandingSettings.defaults().override(**LOW)
    with make_vec("landing", engine="godot", num_worlds=8, settings=settings, truncate_after=300) as worlds:
        assert _landed(worlds).all()
        worlds.change_settings(settings.override(**{"rules.max_ticks": 16}))
        worlds.step()
        ends = []
        for _ in range(2):
            worlds.step()
            ends.append(worlds.ended.copy())
        assert ends[-1].all()
        assert {worlds.winners[winner] for winner in worlds.winner} == {"clock"}
    with make_vec("landing", engine="godot", num_worlds=2, truncate_after=3) as worlds:
        for _ in range(3):
            worlds.step()
        assert worlds.roles[PILOT].truncated.all()
        assert worlds.length_ticks.tolist() == [24, 24]


def _landed(worlds: Any) -> np.ndarray:
    """Whether the autopilot's first round in each world was a success."""
    role, success = worlds.roles[PILOT], np.zeros(worlds.num_worlds, bool)
    flying = np.ones(worlds.num_worlds, bool)
    for _ in range(300):
        role.action[:] = steered(worlds.settings, role.observation)
        worlds.step()
        over = worlds.ended & flying
        success[over] = measured(worlds, over).get("success", np.zeros(0, bool))
        flying &= ~over
        if not flying.any():
            break
    return success
