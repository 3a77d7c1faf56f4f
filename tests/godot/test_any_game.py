"""Small games of six kinds in the manner of public godot_rl examples: they are played, learnt, counted and drawn."""

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest

import godojo
from godojo.engines.godot.find import Engine
from godojo.engines.random_play import play_randomly
from godojo.learn.defaults import MAX_EPOCHS
from godojo.training.args import TrainArgs
from godojo.training.setup import prepared
from tests.conftest import ROOT

pytestmark = pytest.mark.engine
ARCADE = ROOT / "tests/godot_rl_games/arcade"
STEPS = 40_000
GAMES = {
    "chase": {"shared_policy": (16, 1)},
    "jumper": {"shared_policy": (16, 1)},
    "escort": {"leader": (1, 8), "follower": (1, 8)},
    "crossing": {"shared_policy": (16, 1)},
    "driving": {"shared_policy": (16, 1)},
    "recall": {"shared_policy": (16, 1)},
}
"""Worlds and agents by role."""


@pytest.fixture(autouse=True)
def _has_engine(engine: Engine) -> None:
    """Without one there is nothing to play."""


@pytest.fixture(scope="module")
def arcade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, since the engine writes beside what it plays."""
    return shutil.copytree(ARCADE, tmp_path_factory.mktemp("games") / "arcade")


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))


def rows_of(run: Path) -> list[dict[str, str]]:
    with (run / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("game", GAMES)
def test_every_kind_of_game_is_played(arcade: Path, game: str) -> None:
    with godojo.open_game(arcade, scene=f"res://{game}.tscn", seed=3) as worlds:
        assert {name: role.acted.shape for name, role in worlds.roles.items()} == GAMES[game]
        chance, ended = np.random.default_rng(0), 0
        for _ in range(150):
            for role in worlds.roles.values():
                play_randomly(role, chance)
            worlds.step()
            ended += sum(int((role.terminated | role.truncated).sum()) for role in worlds.roles.values())
        assert ended > 5


def test_chasing_is_learnt_with_the_defaults(arcade: Path) -> None:
    """Random play earns -2.2 an episode; the main scene is the chase."""
    run = godojo.train(project=arcade, steps=STEPS, num_envs=32, engine="godot")
    settings = run.config.learner_settings
    assert (settings["num_worlds"], settings["n_steps"], settings["normalize_reward"]) == (32, 32, True)
    assert 2 <= settings["n_epochs"] <= MAX_EPOCHS  # by the speed of this machine
    rows = rows_of(run.path)
    rewards = [float(row["shared_policy_reward"]) for row in rows]
    late = [reward for row, reward in zip(rows, rewards, strict=True) if float(row["agent_steps"]) > 0.8 * STEPS]
    assert np.mean(rewards[:32]) < -1.0
    assert np.mean(late) > 0.0
    assert {"learning.png", "reward.png", "episode_length.png"} <= {path.name for path in run.plot()}
    with prepared(TrainArgs(resume=str(run.path), steps=STEPS + 1), lambda _: None) as resumed:
        assert resumed.run.config.learner_settings["n_epochs"] == settings["n_epochs"]
        assert resumed.worlds.num_worlds == 32


def test_the_number_of_worlds_is_taken_or_explained(arcade: Path) -> None:
    with pytest.raises(godojo.GodojoError, match="16 worlds in each process: 64 worlds need 4 processes"):
        godojo.train(project=arcade, num_envs=64, engine="godot")


def test_episodes_of_two_policies_count_for_each(arcade: Path, tmp_path: Path) -> None:
    project = shutil.copytree(arcade, tmp_path / "escort")
    file = project / "project.godot"
    file.write_text(file.read_text("utf-8").replace("res://chase.tscn", "res://escort.tscn"), encoding="utf-8")
    rewards: list[dict[str, float]] = []
    run = godojo.train(project=project, steps=6000, processes=1, progress=lambda status: rewards.append(status.rewards))
    rows = rows_of(run.path)
    leaders = [row for row in rows if row["leader_reward"]]
    followers = [row for row in rows if row["follower_reward"]]
    assert len(leaders) + len(followers) == len(rows)
    assert min(len(leaders), len(followers)) >= 8
    assert not any(row["follower_reward"] for row in leaders)
    assert {row["leader_success"] for row in leaders} <= {"0", "1"}
    assert rewards[-1].keys() == {"leader", "follower"}
