"""Navigation in the real engine and in the twin: the same walks, and training over HTTP with scenes loaded anew."""

import csv
from pathlib import Path

import msgspec
import numpy as np
import pytest

from godojo.cli import main
from godojo.engines.godot.find import Engine
from godojo.engines.godot.worlds import GodotWorlds
from godojo.engines.make import make_vec
from godojo.evaluation.parity.decisions import play
from godojo.evaluation.stability import Stability
from godojo.games.navigation.parity import check_walks, planned
from godojo.games.navigation.settings import NavigationSettings
from godojo.games.navigation.spec import REWARD_TERMS, WALKER, WINNERS
from godojo.runs.folder import RunFolder
from tests.http_games import started_game
from tests.nightly import repeats
from tests.watched_games import pid_of

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
    walks = play(worlds, actions)
    assert set(walks.outcome) >= {"walker", "gap", "clock"}
    assert (walks.terms[:, :, 4] < 0).any(axis=1).mean() > 0.2
    assert tuple(worlds.winners) == WINNERS


def test_planned_teleports_happen() -> None:
    worlds = make_vec("navigation", num_worlds=8, seed=4, settings=TELEPORTS)
    actions = planned(worlds, seed=1)
    worlds.reset(4)
    assert (play(worlds, actions).terms[:, :, REWARD_TERMS.index("teleport")] < 0).any(axis=1).all()


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
def test_settings_change_between_two_decisions() -> None:
    ahead = {WALKER: np.tile(np.array([0.0, 1.0, 0.0], np.float32), (3, 1, 1))}
    with make_vec("navigation", engine="godot", num_worlds=3, num_processes=2, seed=2) as worlds:
        role = worlds.roles[WALKER]
        assert isinstance(worlds, GodotWorlds)
        processes = [pid_of(worlds, game) for game in range(2)]
        worlds.step(ahead)
        worlds.change_settings(NavigationSettings.defaults())  # the same: nothing happens
        worlds.step(ahead)
        assert not worlds.ended.any()
        worlds.change_settings(NavigationSettings.defaults().override(**{"rules.round_s": 0.5}))
        worlds.step(ahead)
        assert worlds.ended.all()
        assert role.truncated.all()
        assert not role.acted.any()
        assert not np.array_equal(role.observation, role.final_observation)
        for _ in range(8):
            worlds.step(ahead)
        assert worlds.length_ticks.tolist() == [30] * 3
        assert worlds.settings.rules.round_s == 0.5
        assert [pid_of(worlds, game) for game in range(2)] == processes, "games are kept"


@pytest.mark.usefixtures("engine")
def test_training_in_godot_goes_through_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    stages = [
        {"name": "easy", "agent_steps": 256, "game": {"rules.round_s": 1.0}},
        {"name": "hard", "game": {"rules.round_s": 0.5}},
    ]
    (tmp_path / "mine.json").write_bytes(msgspec.json.encode({"curriculum": stages}))
    words = ["--engine", "godot", "--set", "num_worlds=8", "--set", "net_arch=[16]", "--steps", "512"]
    with pytest.raises(SystemExit) as ended:
        main(["train", "navigation", "--config", str(tmp_path / "mine.json"), *words, "--eval", "0"])
    assert ended.value.code == 0
    with (RunFolder.open("latest").metrics).open(newline="") as file:
        lengths = [float(row["length_s"]) for row in csv.DictReader(file) if row["winner"] == "clock"]
    assert lengths[0] == 1.0
    assert lengths[-1] == 0.5


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
