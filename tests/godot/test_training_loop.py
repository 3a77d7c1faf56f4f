"""`DojoTrainingLoop` in the real engine: the example's agents take turns, and a scene starts and stops its training."""

import re
from pathlib import Path

import pytest

import godojo
from godojo.bridge.listener import Listener
from godojo.engines.godot.find import Engine
from godojo.engines.godot.game_slots import PendingGame
from godojo.engines.godot.project import problem_lines, run_project
from godojo.learn.training import TrainingStatus
from godojo.training.args import ListenAddress, TrainArgs
from godojo.training.outcome import run_training
from godojo.training.setup import prepared
from tests.addon_games import playing
from tests.conftest import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(240)]

EXAMPLE = "res://games/cat_and_mouse/cat_and_mouse.tscn"
QUICK = {"n_steps": 32, "net_arch": [16], "memory_size": 4, "copy_interval": 3}
WORLDS = 4
STEPS = 32 * WORLDS * 2
"""Decisions of both agents in one epoch of that."""


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))


def test_the_agents_of_the_example_take_turns() -> None:
    learned: list[list[str]] = []

    def note(status: TrainingStatus) -> None:
        learned.append([role for role, mode in status.modes.items() if mode == "train"])
        for role in status.modes:
            assert (f"{role}/train/approx_kl" in status.metrics) is (role in learned[-1])

    run = godojo.train(
        project=ROOT / "godot",
        scene=EXAMPLE,
        steps=6 * STEPS,
        processes=1,
        num_envs=WORLDS,
        settings=QUICK,
        progress=note,
        strict=True,
    )
    assert learned == [["cat"]] * 5 + [["mouse"]]
    assert run.config.learner_settings["train_steps"] == {"cat": 40, "mouse": 40}
    assert run.modes == {"cat": "scene", "mouse": "scene"}
    names = {f"{role}_{epoch}.pt" for role in ("cat", "mouse") for epoch in (3, 6)}
    assert names <= {path.name for path in (run.path / "checkpoints").iterdir()}


def test_the_schedule_of_the_page_is_a_loop(engine: Engine, tmp_path: Path) -> None:
    page = (ROOT / "docs/training-loop.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^```gdscript\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "schedule.gd").write_text(script, encoding="utf-8")
    words = ["--headless", "--check-only", "--script", str(tmp_path / "schedule.gd")]
    done = run_project(engine, words, timeout_s=60)
    assert (done.code, problem_lines(done.output)) == (0, [])


def test_a_scene_stops_its_training_and_starts_it_again(tmp_path: Path) -> None:
    said: list[str] = []
    with (
        Listener(port=0) as listener,
        playing(
            tmp_path / "log", "res://tests/dojo/looped.tscn", env={"GODOJO_SERVER": f"127.0.0.1:{listener.port}"}
        ) as game,
    ):
        values = tuple(f"{name}={value}" for name, value in QUICK.items())
        listen = ListenAddress(None, None, None, PendingGame(listener))
        args = TrainArgs(listen=listen, steps=10**6, run_id="looped", num_envs=WORLDS, values=values)

        def say(line: str) -> None:
            said.append(line)
            if sum("waits for its next start" in each for each in said) == 2:
                training.stop()

        with prepared(args, say) as training:
            assert run_training(training, lambda _: None).is_spent is False
            assert training.learner.updates == 4
        assert game.wait() == 0
    shown = [line for line in game.lines if line.startswith("@")]
    assert [line for line in shown if "stopped" in line] == ["@ stopped after 2 epochs", "@ stopped after 4 epochs"]
    assert shown[:3] == ["@ playing 0 cat", "@ submitting 0 cat", "@ training 0 cat"]
    assert shown[shown.index("@ stopped after 2 epochs") - 1] == "@ done training 2 "
