"""Navigation in the real engine and in the twin: the same walks, and training over HTTP with scenes loaded anew."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from godojo.cli import main
from godojo.engines.godot.find import Engine
from godojo.engines.make import make_vec
from godojo.evaluation.stability import Stability
from godojo.games.navigation.parity import check_walks, planned, played
from godojo.games.navigation.settings import NavigationSettings
from godojo.games.navigation.spec import REWARD_TERMS, WALKER, WINNERS
from tests.http_games import started_game
from tests.nightly import repeats

pytestmark = pytest.mark.engine


TELEPORTS = NavigationSettings.defaults().override(**{"motion.teleport_m": 3.0})


@pytest.mark.slow
@pytest.mark.parametrize("settings", [None, TELEPORTS], ids=["walks", "teleports"])
def test_the_twin_walks_as_godot_does(engine: Engine, settings: NavigationSettings | None) -> None:
    report = check_walks(engine, episodes=repeats(6, nightly=15), seed=3, settings=settings)
    assert [(figure.name, figure.value) for figure in report.figures if not figure.is_met] == []
    assert report.arenas == ["course", "maze", "obstacle_course"]
    assert report.figure("median_position_error_m").value < 1e-4
    assert report.figure("round_length_agreement").value == 1.0
    assert report.figure("observation_agreement").value > 0.999
    assert report.figure("reward_agreement").value > 0.999


def test_planned_walks_bump_fall_and_arrive() -> None:
    """Otherwise the figures would say little."""
    worlds = make_vec("navigation", num_worlds=repeats(32, nightly=96), seed=4)
    actions = planned(worlds, seed=1)
    worlds.reset(4)
    walks = played(worlds, actions)
    assert set(walks.outcome) >= {"walker", "gap", "clock"}
    assert (walks.terms[:, :, 4] < 0).any(axis=1).mean() > 0.2
    assert tuple(worlds.winners) == WINNERS


def test_planned_teleports_happen() -> None:
    worlds = make_vec("navigation", num_worlds=8, seed=4, settings=TELEPORTS)
    actions = planned(worlds, seed=1)
    worlds.reset(4)
    assert (played(worlds, actions).terms[:, :, REWARD_TERMS.index("teleport")] < 0).any(axis=1).all()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("settings", [NavigationSettings.defaults(), TELEPORTS], ids=["walks", "teleports"])
def test_both_engines_describe_the_same_game(settings: NavigationSettings) -> None:
    twin = make_vec("navigation", num_worlds=2, settings=settings)
    with make_vec("navigation", engine="godot", num_worlds=2, settings=settings) as godot:
        assert (godot.reward_terms, godot.winners) == (twin.reward_terms, twin.winners)
        assert godot.arena_names == twin.arena_names
        assert godot.roles[WALKER].observation_parts == twin.roles[WALKER].observation_parts
        assert godot.roles[WALKER].action_parts == twin.roles[WALKER].action_parts
        assert np.isfinite(godot.roles[WALKER].observation).all()


@pytest.mark.usefixtures("engine")
def test_training_over_http_reloads_the_scene_and_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    words = ["train", "navigation", "--run-id", "far", "--scene", "maze", "--reload-every", "100", "--eval", "0"]
    with started_game("navigation") as game:
        monkeypatch.setenv("GODOJO_HTTP_TOKEN", game.token)
        with pytest.raises(SystemExit) as ended:
            main([*words, "--http", game.url, "--steps", "512", "--set", "n_steps=256"])
    assert ended.value.code == 0
    found = msgspec.json.decode((tmp_path / "far/stability.json").read_bytes(), type=Stability)
    assert (found.agent_steps, found.reloads, found.restarts) == (512, 5, 0)
    assert [(one.status, one.scene) for one in found.games] == [("ok", "maze")]
    assert (tmp_path / "far/policy_walker.pt").is_file()
