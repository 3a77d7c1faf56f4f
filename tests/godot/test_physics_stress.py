"""A game that exists in Godot only, by its name: physics_stress, with its measures, options and commands."""

import csv
from pathlib import Path

import numpy as np
import pytest

import godojo
from godojo.engines.godot.game_source import GameSource
from godojo.errors import GodojoError
from godojo.evaluation.external import RANDOM, TRAINED, ExternalEvaluation
from godojo.games.base import SCENE_GAMES

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(120)]
NAME, ROLE = "physics_stress", "stress"


def test_a_round_is_judged_by_its_frames() -> None:
    source = GameSource.of_scene(SCENE_GAMES[NAME], options={"spawn_rate": 1, "lifetime_ticks": 50})
    with source.open(seed=1) as worlds:
        role = worlds.roles[ROLE]
        assert (role.observation.shape, role.action.shape) == ((1, 1, 8), (1, 1, 5))
        assert (worlds.ticks_per_second, worlds.ticks_per_decision) == (90, 8)
        for _ in range(20):
            role.action[:] = 1.0
            worlds.step()
        assert role.observation[0, 0, 3] == pytest.approx(0.051, abs=0.002), "50 bodies live"
        assert role.observation[0, 0, 4:7].sum() == pytest.approx(role.observation[0, 0, 3], abs=1e-6)
        while not worlds.ended.any():
            worlds.step()
        assert role.final_measures is not None
        found = dict(zip([one.name for one in role.measures], role.final_measures[0, 0], strict=True))
        assert worlds.length_ticks[0] == 1000
        assert found["success"] == (found["frames over budget"] == 0)
        assert np.isnan(found["bodies at first frame over budget"]) == bool(found["success"])
        assert (found["bodies"], found["leaked objects"]) == (51, 0)
        assert role.final_terms[0, 0, 0] == 999 - found["frames over budget"]


def test_it_is_trained_and_evaluated_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    short = {"spawn_rate": 0, "max_ticks": 160}
    settings = {f"options.{name}": value for name, value in short.items()}
    run = godojo.train(
        NAME, steps=40, run_id="one", settings={**settings, "n_steps": 20, "n_minibatches": 1, "n_epochs": 1}
    )
    assert (run.config.game, run.config.engine, run.config.more["options"]) == (NAME, "godot", short)
    assert "project" not in run.config.more, "it is found wherever Godojo is"
    with (run.path / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row[f"{ROLE}_success"] in ("0", "1") for row in rows] == [True] * 2
    assert float(rows[0]["length_s"]) == pytest.approx(160 / 90, abs=1e-3)
    header = (run.path / "updates.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert {f"{ROLE}/rollout/success_rate", f"{ROLE}/performance/physics_frame_time_ratio"} <= set(header)
    found = run.evaluate(episodes=2)
    assert isinstance(found, ExternalEvaluation)
    assert found.targets == {"success": 0.9}
    assert {RANDOM, TRAINED} <= {one.player for one in found.performances}
    trained = found.performance(ROLE, TRAINED)
    assert trained.measures["success"] == trained.success
    assert trained.means["bodies"].mean == 0
    assert "frames over budget" in str(found)


def test_what_needs_a_twin_says_so() -> None:
    with pytest.raises(GodojoError, match="physics_stress has no embedded twin"):
        godojo.train(NAME, engine="sim")
    with pytest.raises(GodojoError, match="has no embedded twin"):
        godojo.make_vec(NAME)
    with pytest.raises(GodojoError, match="there is no option spawn_rat:"):
        godojo.train(NAME, settings={"options.spawn_rat": 0})
