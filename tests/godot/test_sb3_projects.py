"""Stable-Baselines3 in a user's project, in the real engine: a discrete godot_rl game from training to export."""

import shutil
from pathlib import Path

import pytest
from stable_baselines3 import DQN

import godojo
from godojo.cli import main
from godojo.engines.godot.find import Engine
from godojo.envs.gymnasium import WorldsVectorEnv
from godojo.errors import GodojoError
from godojo.runs.folder import RunFolder
from tests.conftest import ROOT
from tests.training_cli import train

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("runs", "engine")]
SMALL = ("--trainer", "sb3", "--engines", "1", "--device", "cpu", "--set", "net_arch=[32,32]")


@pytest.fixture(scope="module")
def arcade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, since the engine writes beside what it plays."""
    return shutil.copytree(ROOT / "tests/godot_rl_games/arcade", tmp_path_factory.mktemp("games") / "arcade")


def test_a_discrete_game_is_trained_evaluated_resumed_and_exported(
    arcade: Path, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert engine.program
    words = ("--project", str(arcade), "--scene", "res://crossing.tscn", "--algorithm", "dqn", *SMALL)
    more = ("--set", "learning_starts=200", "--set", "gradient_steps=4", "--set", "checkpoint_steps=1000")
    train(*words, *more, "--steps", "1024", "--run-id", "mine", "--eval", "4", game="")
    said = capsys.readouterr().out
    assert "random actions" in said
    assert "export mine" in said
    run = RunFolder.open("mine")
    assert (run.config.learner, run.config.roles) == ("sb3_dqn", ("shared_policy",))
    assert DQN.load(run.path / "checkpoints/arcade_model_1024_steps.zip", device="cpu").num_timesteps == 1024
    assert (run.path / "logs/DQN_1").is_dir()
    train("--resume", "mine", "--steps", "1536", "--eval", "0", game="")
    assert run.checkpoints().newest()[1].agent_steps == 1536
    with pytest.raises(SystemExit) as ended:
        main(["export", "mine"])
    assert ended.value.code == 0
    assert (run.path / "export/shared_policy.dojo").is_file()


def test_what_an_algorithm_cannot_learn_is_refused_and_a_role_is_chosen(arcade: Path) -> None:
    with pytest.raises(GodojoError, match="SAC learns continuous actions, and the shared_policy has discrete ones"):
        godojo.train(project=arcade, scene="res://driving.tscn", trainer="sb3", algorithm="sac", processes=1)
    run = godojo.train(
        project=arcade,
        scene="res://escort.tscn",
        trainer="sb3",
        role="follower",
        processes=1,
        steps=256,
        settings={"n_steps": 32, "n_epochs": 1, "net_arch": [16]},
        device="cpu",
    )
    assert (run.config.roles, run.config.opponents) == (("follower",), {"leader": "random"})
    with godojo.open_game(arcade, scene="res://crossing.tscn") as worlds:
        envs = WorldsVectorEnv(worlds)
        assert envs.num_envs == 16
        envs.reset(seed=1)
        _, rewards, *_ = envs.step(envs.action_space.sample())
        assert rewards.shape == (16,)
