"""The bench of learning measures what it says it does. How fast things are is no test."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from godojo.bench import sb3
from godojo.bench import train as bench_train
from godojo.bench.learners import Contender, Maker, OwnLearner, WholeTraining
from godojo.bench.sb3 import sb3_contenders
from godojo.bench.train import OWN, WHOLE, measure, measure_skill
from godojo.cli.bench import app
from godojo.engines.godot.report import Silent
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation.matches import Player
from godojo.learn.settings import PpoSettings
from godojo.opponents import make_opponent

TINY = PpoSettings(
    num_worlds=16, n_steps=4, n_epochs=1, n_minibatches=2, net_arch=(16,), memory_size=4, past_opponent_fraction=0.5
)
SMALL: dict[str, Any] = {"n_steps": 4, "batch_size": 16, "n_epochs": 1}


def rivals() -> dict[str, Maker]:
    return sb3_contenders(default_worlds=4, tuned_worlds=8, **SMALL)


def test_everybody_is_measured_in_every_turn() -> None:
    found = measure(rivals(), seconds=0.05, repeats=2, skill_minutes=0.002, rounds=8, goal=0.99, settings=TINY)
    assert [speed.name for speed in found.speeds] == [WHOLE, OWN, "sb3_defaults", "sb3_tuned"]
    ours = found.speeds[0]
    assert (ours.times, ours.times_learnt) == (1.0, 1.0)
    for speed in found.speeds:
        assert len(speed.agent_step_samples) == len(speed.learnt_step_samples) == 2
        assert min(speed.agent_step_samples) > 0
        ratios = [a / b for a, b in zip(ours.agent_step_samples, speed.agent_step_samples, strict=True)]
        assert speed.times == pytest.approx(sum(ratios) / 2)
    assert [skill.name for skill in found.skills] == [OWN, "sb3_defaults", "sb3_tuned"]
    for skill in found.skills:
        assert skill.seconds is None
        assert skill.times is None
        assert skill.curves[0][-1].seconds >= 0.12
    assert {"torch", "stable_baselines3"} <= set(found.versions)


def test_only_what_is_learnt_from_counts_as_learnt() -> None:
    ours = OwnLearner(0, "tag", TINY, 60.0)
    ours.train(0.0)
    ours.train(0.0)
    assert ours.agent_steps == 2 * 4 * 16 * 2
    assert ours.learnt_steps == 2 * 4 * (16 * 2 - 8)  # each role's past self plays in four of the worlds
    ours.close()
    theirs = rivals()["sb3_tuned"](0)
    theirs.train(0.0)
    theirs.train(0.0)
    assert theirs.learnt_steps == 2 * 4 * 8
    assert theirs.agent_steps == 2 * theirs.learnt_steps
    theirs.close()


def test_a_whole_training_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    whole = WholeTraining(0, "tag", TINY, 60.0)
    whole.train(0.0)
    assert whole.agent_steps == 4 * 16 * 2
    assert whole.learnt_steps < whole.agent_steps
    assert whole.seconds > 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [OWN, "sb3_defaults", "sb3_tuned"])
def test_a_seeker_that_learns_plays_what_it_thinks_best(name: str) -> None:
    makers: dict[str, Maker] = {OWN: lambda seed: OwnLearner(seed, "tag", TINY, 60.0), **rivals()}
    contender = makers[name](0)
    with make_vec("tag", num_worlds=5, seed=9) as worlds:

        def action() -> np.ndarray:
            player = contender.player()
            player.begin(worlds)
            player.act(worlds, worlds.roles["seeker"].action)
            return worlds.roles["seeker"].action.copy()

        first = action()
        assert np.abs(first).max() <= 1.0
        assert np.array_equal(first, action())
        contender.train(0.0)
        assert not np.array_equal(first, action())
    contender.close()


class Scripted(Contender):
    """Plays like a beginner for its first stretch, and like somebody who looks for the hider from then on."""

    title = "scripted"

    def __init__(self, stretches: int) -> None:
        super().__init__()
        self._stretches, self.judged = stretches, 0

    def train(self, at_least_s: float) -> None:
        self.seconds += at_least_s

    def update(self) -> None: ...

    def player(self) -> Player:
        self.judged += 1
        return make_opponent("sighted" if self.judged > self._stretches else "random", "seeker", game="tag")

    def close(self) -> None: ...


def test_the_clock_stops_when_the_goal_is_reached() -> None:
    makers: dict[str, Maker] = {
        "quick": lambda _: Scripted(1),
        "slow": lambda seed: Scripted(3 + seed),
        "never": lambda _: Scripted(99),
    }
    quick, slow, never = measure_skill(makers, "tag", 16.0, 2, "random", 0.4, 40, Silent())
    each = bench_train.JUDGED_EVERY_S
    assert quick.reached == [2 * each, 2 * each]
    assert (quick.seconds, quick.times) == (2 * each, 1.0)
    assert quick.best > 0.5
    assert slow.reached == [4 * each, 5 * each]
    assert slow.seconds == 4.5 * each
    assert slow.times == 2.25
    assert never.reached == [None, None]
    assert never.seconds is None
    assert never.times is None
    assert [len(curve) for curve in never.curves] == [6, 6]
    assert never.curves[0][-1].seconds == 16.0


def test_the_command_tells_who_trained_against_whom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sb3, "sb3_contenders", lambda _: rivals())
    monkeypatch.setattr(bench_train, "measure", partial(measure, settings=TINY, rounds=8))
    words = ["train", "--seconds", "0.05", "--repeats", "1", "--skill-minutes", "0.002", "--goal", "0.99"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "250"})
    assert done.exit_code == 0, done.output
    for word in ("godojo train", "SB3 PPO, its defaults", "large batches", "more than 0", "trains against 'random'"):
        assert word in done.output
    done = CliRunner().invoke(app, [*words, "--skill-minutes", "0", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["skills"] == []
    assert len(found["speeds"]) == 4


def test_nonsense_is_refused() -> None:
    with pytest.raises(GodojoError, match="at least one repeat"):
        measure({}, repeats=0)
    with pytest.raises(GodojoError, match="a goal between 0 and 1"):
        measure({}, goal=1.0)
    with pytest.raises(GodojoError, match="no opponent 'nobody'"):
        measure({}, opponent="nobody")
