"""The rules of landing on the twin: flight, fuel, the ground, touchdowns and what they are worth."""

from typing import Any

import numpy as np
import pytest

from godojo.engines.make import make_vec
from godojo.engines.measures import measured
from godojo.errors import GodojoError
from godojo.games.landing.autopilot import steered
from godojo.games.landing.game import GAME
from godojo.games.landing.settings import LAYOUT, TICKS_PER_SECOND, LandingSettings
from godojo.games.landing.spec import PILOT, REWARD_TERMS
from godojo.games.landing.terrain import read_terrain

STANDING_M = LandingSettings.defaults().standing_m


def landing(settings: dict[str, Any] | None = None, count: int = 1) -> Any:
    played = LandingSettings.defaults().override(**(settings or {}))
    return make_vec("landing", num_worlds=count, settings=played, seed=1)


def put(worlds: Any, position_m: Any, velocity_mps: Any) -> None:
    worlds.twin.crafts["position"], worlds.twin.crafts["velocity"] = position_m, velocity_mps
    worlds.twin.observe()


def fly(worlds: Any, *action: float) -> Any:
    """One decision; the pilots' arrays."""
    role = worlds.roles[PILOT]
    role.action[:, 0] = action
    worlds.step()
    return role


def terms(role: Any, world: int = 0) -> dict[str, float]:
    return {name: float(value) for name, value in zip(REWARD_TERMS, role.terms[world, 0], strict=True)}


def seen(role: Any, name: str) -> list[float]:
    part: list[float] = LAYOUT.view(role.observation[:, 0], name)[0].tolist()
    return part


def test_rounds_begin_where_they_should() -> None:
    state = landing(count=500).twin.privileged()
    assert state.position_m[:, 1].min() >= 500
    assert state.position_m[:, 1].max() <= 1000
    assert np.ptp(state.position_m[:, 1]) > 450
    assert 190 < np.abs(state.position_m[:, ::2]).max() <= 200
    assert 9.5 < np.abs(state.velocity_mps[:, ::2]).max() <= 10
    assert -20 <= state.velocity_mps[:, 1].min() < -19 < -1 < state.velocity_mps[:, 1].max() <= 0
    assert (state.rotation == (0, 0, 0, 1)).all()


def test_fourteen_numbers_are_observed_and_the_fuel_on_request() -> None:
    assert landing().roles[PILOT].observation.shape == (1, 1, 14)
    worlds = landing({"rules.observed_fuel": 1, "craft.fuel_s": 1.0})
    assert worlds.roles[PILOT].observation[0, 0, 14] == 1.0
    role = fly(worlds, 0, 1, 0, 0, 0)
    assert role.observation[0, 0, 14] == pytest.approx(1 - 8 / TICKS_PER_SECOND)


def test_the_observation_is_scaled() -> None:
    worlds = landing()
    put(worlds, (30.0, 40.0 + STANDING_M, 0.0), (5.0, -10.0, 0.0))
    role = worlds.roles[PILOT]
    assert seen(role, "altitude") == pytest.approx([(40 + STANDING_M) / 1000])
    assert seen(role, "velocity") == pytest.approx([0.1, -0.2, 0.0])
    assert seen(role, "pad_direction") == pytest.approx([-0.6, -0.8, 0.0])
    assert seen(role, "pad_distance") == pytest.approx([0.05])
    assert seen(role, "ground_distance") == pytest.approx([(40 + STANDING_M) / 100])


def test_a_craft_without_thrust_falls_as_gravity_says() -> None:
    worlds = landing()
    put(worlds, (0.0, 700.0, 0.0), (3.0, -1.0, 0.0))
    for _ in range(90):  # 8 s
        fly(worlds, 0, -1, 0, 0, 0)
    state = worlds.twin.privileged()
    assert state.velocity_mps[0] == pytest.approx((3.0, -1.0 - 8 * 1.62, 0.0), rel=1e-4)
    assert state.position_m[0] == pytest.approx((24.0, 700 - 8 - 0.5 * 1.62 * 8 * (8 + 1 / 90), 0.0), rel=1e-4)


def test_thrust_is_limited_turns_with_the_craft_and_burns_fuel() -> None:
    worlds = landing()
    put(worlds, (0.0, 700.0, 0.0), (0.0, 0.0, 0.0))
    fly(worlds, 1, 1, 1, 0, 0)
    state = worlds.twin.privileged()
    push = 10 * 8 / 90 / np.sqrt(3)
    assert state.velocity_mps[0] == pytest.approx((push, push - 1.62 * 8 / 90, push), rel=1e-4)
    assert state.fuel_s[0] == pytest.approx(50 - 8 / 90)
    tilted = 2**-0.5
    worlds.twin.crafts["rotation"] = (0.0, 0.0, -tilted, tilted)  # rolled to the right by 90 degrees
    put(worlds, (0.0, 700.0, 0.0), (0.0, 0.0, 0.0))
    fly(worlds, 0, 1, 0, 0, 0)
    assert state.velocity_mps[0] == pytest.approx((10 * 8 / 90, -1.62 * 8 / 90, 0.0), abs=1e-4)


@pytest.mark.parametrize(("action", "thrust"), [(-2.0, 0.0), (-1.0, 0.0), (0.0, 0.5), (0.5, 0.75), (2.0, 1.0)])
def test_the_whole_range_of_the_upward_thrust_counts(action: float, thrust: float) -> None:
    worlds = landing()
    before = worlds.twin.privileged().velocity_mps[0, 1]
    fly(worlds, 0, action, 0, 0, 0)
    push_mps2 = 10.0 * thrust - 1.62
    assert worlds.twin.privileged().velocity_mps[0, 1] == pytest.approx(before + push_mps2 * 8 / 90, abs=1e-4)


def test_an_empty_tank_gives_no_thrust() -> None:
    worlds = landing({"craft.fuel_s": 0.0})
    put(worlds, (0.0, 700.0, 0.0), (0.0, 0.0, 0.0))
    fly(worlds, 0, 1, 0, 0, 0)
    assert worlds.twin.privileged().velocity_mps[0, 1] == pytest.approx(-1.62 * 8 / 90, rel=1e-4)


def test_jets_turn_the_craft() -> None:
    worlds = landing({"craft.angular_damp": 0.0})
    for _ in range(45):
        role = fly(worlds, 0, -1, 0, 0.1, 0)
    assert seen(role, "angular_velocity") == pytest.approx([0.05 * 4, 0.0, 0.0], rel=1e-3)
    assert seen(role, "rotation") == pytest.approx([0.5 * 0.05 * 16 / np.pi, 0.0], rel=1e-2)


@pytest.mark.parametrize(
    ("away_m", "speed_mps", "outcome", "touchdown", "pad"),
    [
        (0.0, 1.0, "pilot", 50, 20),
        (1.9, 1.0, "pilot", 50, 20),
        (2.1, 1.0, "off_pad", 50, 0),
        (0.0, 3.0, "rough", 10, 20),
        (0.0, 8.0, "crash", -50, 20),
        (12.0, 45.0, "crash", -50, 0),
    ],
)
def test_touchdowns(away_m: float, speed_mps: float, outcome: str, touchdown: float, pad: float) -> None:
    worlds = landing({"craft.gravity_mps2": 0.0})
    put(worlds, (away_m, STANDING_M + 0.03, 0.0), (0.0, -speed_mps, 0.0))
    role = fly(worlds, 0, -1, 0, 0, 0)
    assert worlds.winners[worlds.winner[0]] == outcome
    assert worlds.ended[0]
    assert role.terminated[0, 0]
    found = terms(role)
    assert (found["touchdown"], found["pad"]) == (touchdown, pad)


def test_missing_the_ground_is_a_crash() -> None:
    worlds = landing()
    put(worlds, (600.0, -8.0, 0.0), (0.0, -40.0, 0.0))
    found = terms(fly(worlds, 0, -1, 0, 0, 0))
    assert worlds.winners[worlds.winner[0]] == "crash"
    assert (found["touchdown"], found["timeout"]) == (-50.0, 0.0)


def test_every_tick_near_the_pad_and_every_slow_tick_counts() -> None:
    worlds = landing({"craft.gravity_mps2": 0.0})
    put(worlds, (0.0, 49.0, 0.0), (0.0, 0.0, 0.0))
    found = terms(fly(worlds, 0, -1, 0, 0, 0))
    assert found["slow"] == 8 * 0.5
    assert found["distance"] == pytest.approx(8 * 0.1 / (49 - STANDING_M), rel=1e-4)
    put(worlds, (0.0, 51.0, 0.0), (0.0, 0.0, 0.0))
    assert terms(fly(worlds, 0, -1, 0, 0, 0))["slow"] == 0.0
    put(worlds, (0.0, 40.0, 0.0), (0.0, -5.1, 0.0))
    assert terms(fly(worlds, 0, -1, 0, 0, 0))["slow"] == 0.0


def test_the_clock_ends_a_round() -> None:
    worlds = landing({"rules.max_ticks": 20, "craft.gravity_mps2": 0.0})
    for _ in range(3):
        role = fly(worlds, 0, -1, 0, 0, 0)
    assert worlds.winners[worlds.winner[0]] == "clock"
    assert terms(role)["timeout"] == -20.0
    assert role.terminated[0, 0]


def test_shaping_pays_for_changes_alone() -> None:
    weights = {"rewards.approach": 20.0, "rewards.braking_per_mps": 15.0, "rewards.upright_per_rad": 10.0}
    worlds = landing({**weights, "craft.gravity_mps2": 0.0})
    put(worlds, (0.0, 100.0 + STANDING_M, 0.0), (0.0, -10.0, 0.0))
    found = terms(fly(worlds, 0, -1, 0, 0, 0))
    assert found["shaping"] == pytest.approx(20 * np.log(101 / (101 - 80 / 90)), rel=1e-2)
    put(worlds, (0.0, 100.0 + STANDING_M, 0.0), (0.0, 0.0, 0.0))
    assert terms(fly(worlds, 0, -1, 0, 0, 0))["shaping"] == 0.0


def test_shaping_charges_for_speed_that_is_braked_too_late() -> None:
    worlds = landing({"rewards.braking_per_mps": 15.0, "craft.gravity_mps2": 0.0})
    put(worlds, (0.0, 100.0 + STANDING_M, 0.0), (0.0, -40.0, 0.0))
    closer_m = 100 - 40 * 8 / 90
    fewer_mps = np.sqrt(2 * 3 * (100 - 2)) - np.sqrt(2 * 3 * (closer_m - 2))
    assert terms(fly(worlds, 0, -1, 0, 0, 0))["shaping"] == pytest.approx(-15 * fewer_mps, rel=1e-2)
    put(worlds, (0.0, 100.0 + STANDING_M, 0.0), (0.0, -20.0, 0.0))
    assert terms(fly(worlds, 0, -1, 0, 0, 0))["shaping"] == 0.0


def test_the_ground_is_level_at_the_pad_and_has_slopes() -> None:
    ground = read_terrain()
    middle = len(ground.height_m) // 2
    assert (ground.height_m[middle - 1 : middle + 2, middle - 1 : middle + 2] == 0).all()
    slopes = np.abs(np.diff(ground.height_m, axis=0)) / ground.cell_m
    assert 0.3 < slopes.max() < 0.7
    worlds = landing()
    for i, j in ((3, 7), (20, 25), (middle, middle + 4)):
        x, z = i * ground.cell_m - ground.half_m, j * ground.cell_m - ground.half_m
        put(worlds, (x, ground.height_m[i, j] + 50.0, z), (0.0, 0.0, 0.0))
        assert seen(worlds.roles[PILOT], "ground_distance") == pytest.approx([0.5], abs=1e-5)
    put(worlds, (600.0, 20.0, 0.0), (0.0, 0.0, 0.0))
    assert seen(worlds.roles[PILOT], "ground_distance") == [1.0]  # there is none


def test_the_autopilot_lands() -> None:
    worlds, found = landing(count=100), []
    first = np.ones(100, bool)
    for _ in range(700):
        worlds.roles[PILOT].action[:] = steered(worlds.settings, worlds.roles[PILOT].observation)
        worlds.step()
        found += measured(worlds, worlds.ended & first).get("success", np.zeros(0)).tolist()
        first &= ~worlds.ended
    assert len(found) == 100
    assert np.mean(found) >= 0.95


def test_advice_warns_of_hovering() -> None:
    settings = LandingSettings.defaults()
    assert "hovering" in GAME.advice(settings, 0.99)
    assert GAME.advice(settings, 0.9) == ""
    assert GAME.advice(settings.override(**{"rewards.slow": 0.0, "rewards.distance": 0.0}), 0.999) == ""


def test_settings_that_cannot_be_played_are_refused() -> None:
    with pytest.raises(GodojoError, match=r"start\.min_altitude_m must not be above"):
        landing({"start.min_altitude_m": 900.0, "start.max_altitude_m": 800.0})
    with pytest.raises(GodojoError, match=r"rules\.observed_fuel must be from 0 to 1"):
        landing({"rules.observed_fuel": 2})
