"""RLlib in a user's project, in the real engine: a godot_rl game from training to export, and a game that is lost."""

import os
import shutil
import signal
from pathlib import Path

import pytest

import godojo
from godojo.cli import main
from godojo.engines.godot.find import Engine
from godojo.extras import is_installed
from godojo.runs.folder import RunFolder
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.usefixtures("runs", "engine"),
    pytest.mark.skipif(not is_installed("rllib"), reason="RLlib is not installed: dojo.py install rllib"),
]
SMALL = {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "net_arch": [16]}


def test_a_project_is_trained_through_the_loss_of_a_game_and_exported(tmp_path: Path, engine: Engine) -> None:
    assert engine.program
    arcade = shutil.copytree(ROOT / "tests/godot_rl_games/arcade", tmp_path / "arcade")
    killed: list[int] = []

    def kill_one(status: object) -> None:  # noqa: ARG001 - as training calls it
        if not killed:
            killed.append(next(pid for pid in _processes() if str(arcade) in _command(pid)))
            os.kill(killed[0], signal.SIGKILL)

    run = godojo.train(
        project=arcade,
        scene="res://crossing.tscn",
        trainer="rllib",
        processes=2,
        steps=4096,
        settings=SMALL,
        device="cpu",
        run_id="mine",
        progress=kill_one,
    )
    assert killed
    assert (run.config.learner, run.config.roles) == ("rllib", ("shared_policy",))
    folder = RunFolder.open("mine")
    assert folder.checkpoints().newest()[1].agent_steps >= 4096
    for words in (["eval", "mine", "-n", "4"], ["export", "mine"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
    assert (folder.path / "export/shared_policy.dojo").is_file()


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _command(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_text()
    except OSError:
        return ""
