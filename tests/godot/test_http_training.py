"""Training over HTTP in several environments of one game: both trainers, and a curriculum."""

import csv
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from godojo.cli import main
from godojo.engines.godot.find import Engine
from godojo.envs.sb3 import GameVecEnv
from godojo.runs.folder import RunFolder
from tests.http_games import HttpGame, started_game

pytestmark = [pytest.mark.engine]


@pytest.fixture
def game(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpGame]:
    assert engine
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    with started_game("navigation") as started:
        monkeypatch.setenv("GODOJO_HTTP_TOKEN", started.token)
        yield started


def train(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["train", "navigation", *words, "--eval", "0"])
    assert ended.value.code == 0


def test_a_curriculum_in_several_environments(game: HttpGame, tmp_path: Path) -> None:
    stages = [
        {"name": "easy", "agent_steps": 256, "game": {"rules.round_s": 1.0}},
        {"name": "hard", "game": {"rules.round_s": 0.5}},
    ]
    (tmp_path / "mine.json").write_bytes(msgspec.json.encode({"curriculum": stages}))
    words = ["--http", game.url, "--num-envs", "8", "--set", "n_steps=32", "--set", "net_arch=[16]", "--steps", "512"]
    train("--config", str(tmp_path / "mine.json"), *words)
    run = RunFolder.open("latest")
    assert run.config.learner_settings["num_worlds"] == 8
    with run.metrics.open(newline="") as file:
        lengths = [float(row["length_s"]) for row in csv.DictReader(file) if row["winner"] == "clock"]
    assert lengths[0] == 1.0
    assert lengths[-1] == 0.5


def test_stable_baselines_steps_several_environments(game: HttpGame) -> None:
    pytest.importorskip("stable_baselines3")
    env = GameVecEnv("navigation", 4, engine="godot", http=game.url, scene="maze", truncate_after=5)
    try:
        first = env.reset()
        assert first.shape == (4, 48)
        assert len({tuple(row) for row in first.tolist()}) > 1
        for number in range(5):
            _, rewards, dones, infos = env.step(np.tile(np.array([0.0, 1.0, 0.0], np.float32), (4, 1)))
            assert rewards.shape == (4,)
            assert dones.tolist() == [number == 4] * 4
        assert all(info["TimeLimit.truncated"] for info in infos)
    finally:
        env.close()
