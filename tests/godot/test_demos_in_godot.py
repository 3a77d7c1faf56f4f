"""Demonstrations in the real engine: by key presses in our games, and in projects of others."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import godojo
from godojo.demos import Demos, read_demos
from godojo.engines.godot import display, prepared_project, run_project
from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import problem_lines
from godojo.processes import started
from tests.addon_games import FIRST_AGENT
from tests.conftest import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(200)]


def by_hand(engine: Engine, monkeypatch: pytest.MonkeyPatch, file: Path, game: str, frames: int, *words: str) -> Demos:
    """The game played by key presses for so many frames."""
    for name, value in {"GODOJO_DEMO": file, "GODOJO_SERVER": "off", "PRESS_KEYS": f"{game} {frames}"}.items():
        monkeypatch.setenv(name, str(value))
    program = ["--headless", "--no-header", "--fixed-fps", "60", "--script", "res://tests/demo/press_keys.gd", "--"]
    done = run_project(engine, [*program, *words], timeout_s=100)
    assert (done.code, problem_lines(done.output)) == (0, []), done.output
    return read_demos(file)


def test_the_example_game_is_recorded_and_its_demonstrations_train_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = by_hand(engine, monkeypatch, tmp_path / "demo.jsonl", "first_agent", 500)
    monkeypatch.delenv("GODOJO_DEMO")
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    assert (found.header.game, found.header.ticks_per_decision, len(found.episodes) >= 5) == ("first_agent", 4, True)
    one = found.episodes[0]
    assert one.end == "terminated"
    assert one.reward > 5.0  # it has found the gem
    assert np.allclose(one.observation[0, 2:], 0.0, atol=0.05)  # at rest in the middle
    assert np.isin(
        np.abs(one.action).round(2), np.array([0.0, 0.71, 1.0], np.float32)
    ).all()  # keys, alone or two at once
    # Where it was pushed, it rolls.
    moving = one.action[1:-1].any(1)
    assert (np.sum(one.action[1:-1] * np.diff(one.observation[:, 2:4], axis=0)[1:], 1)[moving] > -0.02).all()
    caplog.set_level("INFO", logger="godojo")
    godojo.train(project=ROOT / "godot", scene=FIRST_AGENT, demos=found.path, steps=3000, num_envs=16, processes=1)
    assert "cloned the ball from" in caplog.text


def test_tag_and_navigation_are_recorded_as_in_training(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = by_hand(engine, monkeypatch, tmp_path / "tag.jsonl", "tag", 400, "--set=rules.round_s=2", "--role=hider")
    assert {episode.role for episode in found.episodes} == {"hider"}
    assert max(len(episode.action) for episode in found.episodes) == 30
    assert found.for_game(godojo.make_vec("tag", num_worlds=1))
    found = by_hand(engine, monkeypatch, tmp_path / "walk.jsonl", "navigation", 330, "--set=rules.round_s=4")
    assert [(one.role, one.end, len(one.action)) for one in found.episodes] == [("walker", "truncated", 60)]
    assert found.for_game(godojo.make_vec("navigation", num_worlds=1))
    assert found.episodes[0].action[5:, 1].min() == 1.0  # W was held


def test_a_killed_game_keeps_every_finished_episode(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "demo.jsonl"
    asked = {"GODOJO_DEMO": str(file), "GODOJO_SERVER": "off", "PRESS_KEYS": "first_agent 1000000"}
    place: list[str | Path] = ["--path", prepared_project(engine), "--script", "res://tests/demo/press_keys.gd"]
    with started([engine.program, "--headless", "--fixed-fps", "60", *place], env={**os.environ, **asked}) as game:
        assert game.stdout is not None
        assert any("episode 3 recorded" in line for line in game.stdout)
        game.kill()
    assert len(read_demos(file).episodes) >= 3


@pytest.mark.rendering
def test_the_command_records_in_a_window_until_it_is_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "demo.jsonl"
    words = ["play", "tag", "--role", "hider", "--set", "rules.round_s=2", "--demo", str(file)]
    with display("640x360") as env, started([sys.executable, "-m", "godojo", *words], env=env) as command:
        assert command.stdout is not None
        deadline = time.monotonic() + 100.0
        while not file.is_file() or file.read_bytes().count(b"\n") < 2:  # the engine keeps back what it says to a pipe
            assert time.monotonic() < deadline
            assert command.poll() is None, command.stdout.read()
            time.sleep(0.05)
        command.send_signal(signal.SIGINT)
        said = " ".join(command.stdout.read().split())
    assert f"train tag --demos {file}" in said.replace("- ", "-"), said
    assert read_demos(file).episodes[0].role == "hider"


class Crosser:
    """Crosses when the next lane is free."""

    def __init__(self, role: str, _seed: int) -> None:
        self._role = role

    def begin(self, worlds: Any) -> None:
        pass

    def act(self, worlds: Any, out: np.ndarray) -> None:
        ahead = worlds.roles[self._role].observation[..., 3]
        out[..., 0] = np.where(np.abs(ahead) > 0.25, 1.0, 0.0)


def test_a_script_of_ones_own_demonstrates_a_godot_rl_game(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    project = shutil.copytree(ROOT / "tests/godot_rl_games/arcade", tmp_path / "arcade")
    scene, file = "res://crossing.tscn", tmp_path / "demo.jsonl"
    found = godojo.record_demos(file, project=project, scene=scene, policy=f"{__file__}:Crosser", rounds=48)
    assert len(found.episodes) == 48
    caplog.set_level("INFO", logger="godojo")
    godojo.train(project=project, scene=scene, demos=file, steps=2000, processes=1)
    (cloned,) = [line for line in caplog.messages if "cloned the shared_policy" in line]
    assert float(cloned.partition("accuracy ")[2].rstrip("%")) > 80.0, cloned
