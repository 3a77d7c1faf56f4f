"""`metrics.csv`, `updates.csv` and TensorBoard: every round and every update is in them once, after a resume too."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from godojo import make_vec
from godojo.engines.base import Worlds
from godojo.runs.episodes import EpisodeLog
from godojo.runs.updates import UpdateLog


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def play(worlds: Worlds, log: EpisodeLog, steps: int, against: dict[str, np.ndarray]) -> list[tuple[float, float, str]]:
    """Plays by chance; what the log should say about every round: the seeker's reward, the length, the winner."""
    chance = np.random.default_rng(0)
    expected = []
    for step in range(steps):
        worlds.step({name: chance.uniform(-1, 1, role.action.shape) for name, role in worlds.roles.items()})
        log.collect(worlds, agent_steps=step * 16, seconds=step / 10, against=against)
        for world in np.flatnonzero(worlds.ended):
            reward = float(worlds.roles["seeker"].final_terms[world].sum())
            expected.append((reward, worlds.length_ticks[world] / 60, worlds.winners[worlds.winner[world]]))
    return expected


def test_every_round_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    with make_vec("tag", num_worlds=8) as worlds:
        worlds.reset(0)
        log = EpisodeLog(path, worlds)
        past = np.array([0, 0, 0, 0, 0, 0, 1, 1])
        assert log.opponent("1m") == 1
        expected = play(worlds, log, 600, {"seeker": past})
        log.close()
        assert log.episodes == len(expected) > 10
    rows = read(path)
    assert [int(row["episode"]) for row in rows] == list(range(1, len(expected) + 1))
    for row, (reward, length_s, winner) in zip(rows, expected, strict=True):
        terms = [float(row[f"seeker_{term}"]) for term in worlds.reward_terms]
        assert float(row["seeker_reward"]) == pytest.approx(reward, abs=1e-4)
        assert sum(terms) == pytest.approx(reward, abs=1e-3)
        assert float(row["length_s"]) == pytest.approx(length_s, abs=1e-4)
        assert row["winner"] == winner
        assert row["arena"] in (*worlds.arena_names, "generated")
        assert row["hider_against"] == "now"
    assert {row["seeker_against"] for row in rows} == {"now", "1m"}
    steps = [int(row["agent_steps"]) for row in rows]
    assert steps == sorted(steps)


def test_rounds_after_the_checkpoint_are_cut_and_come_again(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    with make_vec("tag", num_worlds=8) as worlds:
        worlds.reset(0)
        log = EpisodeLog(path, worlds)
        play(worlds, log, 250, {})
        kept = log.sync()
        before = path.read_bytes()
        assert kept > 0
        play(worlds, log, 250, {})
        log.close()
        assert len(path.read_bytes()) > len(before)
        log = EpisodeLog(path, worlds, episodes=kept)
        assert path.read_bytes() == before
        play(worlds, log, 250, {})
        log.close()
    numbers = [int(row["episode"]) for row in read(path)]
    assert numbers == list(range(1, log.episodes + 1))
    assert log.episodes > kept


def curve(folder: Path, name: str) -> list[tuple[int, float]]:
    events = EventAccumulator(str(folder))
    events.Reload()
    return [(event.step, event.value) for event in events.Scalars(name)]


def test_updates_are_rows_and_curves(tmp_path: Path) -> None:
    table, folder = tmp_path / "updates.csv", tmp_path / "tensorboard"
    log = UpdateLog(table, folder, roles=("seeker", "hider"))
    for update in (1, 2, 3):
        log.write(update, update * 100, update / 2, {"seeker/train/loss": update / 8, "time/fps": 1e6})
    log.write(4, 400, 2.0, {"seeker/train/loss": math.nan, "seeker/rollout/rating": 25.5})
    log.sync()
    log.close()
    rows = read(table)
    assert [row["seeker/train/loss"] for row in rows] == ["0.125", "0.25", "0.375", "nan"]
    assert [row["seeker/rollout/rating"] for row in rows] == ["", "", "", "25.5"]
    assert rows[3]["time/fps"] == ""
    assert rows[2] == rows[2] | {"update": "3", "agent_steps": "300", "seconds": "1.50"}
    assert curve(folder / "seeker", "train/loss") == [(100, 0.125), (200, 0.25), (300, 0.375)]
    assert curve(folder / "seeker", "rollout/rating") == [(400, 25.5)]
    assert curve(folder, "time/fps") == [(100, 1e6), (200, 1e6), (300, 1e6)]


def test_a_single_role_has_its_curves_in_the_run_itself(tmp_path: Path) -> None:
    log = UpdateLog(tmp_path / "updates.csv", tmp_path / "tensorboard", roles=("walker",))
    log.write(1, 100, 0.5, {"walker/train/approx_kl": 0.5, "time/fps": 2.0})
    log.close()
    assert read(tmp_path / "updates.csv")[0]["walker/train/approx_kl"] == "0.5"
    assert curve(tmp_path / "tensorboard", "train/approx_kl") == [(100, 0.5)]
    assert curve(tmp_path / "tensorboard", "time/fps") == [(100, 2.0)]


def test_updates_after_the_checkpoint_are_cut_and_forgotten(tmp_path: Path) -> None:
    table, folder = tmp_path / "updates.csv", tmp_path / "tensorboard"
    log = UpdateLog(table, folder)
    for update in (1, 2, 3):
        log.write(update, update * 100, 0.0, {"loss": 1.0})
    log.close()
    log = UpdateLog(table, folder, update=1, agent_steps=100)
    log.write(2, 200, 0.0, {"loss": 2.0, "new": 3.0})
    log.close()
    assert [(row["update"], row["loss"], row["new"]) for row in read(table)] == [("1", "1", ""), ("2", "2", "3")]
    assert curve(folder, "loss") == [(100, 1.0), (200, 2.0)]
