"""The same seed learns the same bits: twice, at any number of threads, and across a kill."""

import json
import signal
from pathlib import Path

import pytest

from godojo.runs.folder import RunFolder
from tests.conftest import Run
from tests.learning_games import STEPS, fingerprints, iterated, learner
from tests.resumed_runs import TRAIN, check_same, stop_after, table

UPDATES = 10
SOFT = (
    "train", "tag", "--algorithm", "sac", "--judge", "0", "--seed", "5", "--set", "rules.round_s=2.0",
    "--set", "worlds=32", "--set", "steps=8", "--set", "hidden=[8]", "--set", "warm_up=256", "--set", "batch=64",
)  # fmt: skip


def test_the_same_seed_twice_and_another() -> None:
    found = []
    for seed in (1, 1, 2):
        made = learner(seed=seed)
        try:
            found.append(fingerprints(iterated(made, 3)))
        finally:
            made.close()
    assert found[0] == found[1]
    assert all(found[0][name] != found[2][name] for name in found[0])


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("words", [TRAIN, SOFT], ids=["ppo", "sac"])
def test_one_thread_and_two_learn_the_same(godojo: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    runs = {"GODOJO_RUNS": str(tmp_path)}
    for name, threads in (("one", "1"), ("two", "2"), ("again", "2")):
        env = runs | {"NUMBA_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        done = godojo(*words, "--steps", str(4 * STEPS), "--run-id", name, timeout_s=110, **env)
        assert done.returncode == 0, done.stderr
    check_same(tmp_path / "one", tmp_path / "two")
    check_same(tmp_path / "two", tmp_path / "again")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_kill_in_the_middle_changes_nothing(godojo: Run, tmp_path: Path) -> None:
    """Ten updates at once; or three, a resume that is killed on its way, and a resume that comes to the end."""
    runs = {"GODOJO_RUNS": str(tmp_path)}
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    budget = ("--steps", str(UPDATES * STEPS))
    done = godojo(*TRAIN, *budget, "--run-id", "whole", timeout_s=110, **runs)
    assert done.returncode == 0, done.stderr

    stop_after(3, [*TRAIN, *budget, "--run-id", "killed"], killed, signal.SIGTERM, runs)
    _, entry = RunFolder.open(killed).checkpoints().newest()
    assert 3 <= entry.update < UPDATES, "it was to be stopped on its way"
    stop_after(entry.update + 1, ["train", "tag", "--resume", "killed"], killed, signal.SIGKILL, runs)
    _, after = RunFolder.open(killed).checkpoints().newest()
    assert after == entry, "a kill saves nothing"
    assert len(table(killed / "updates.csv")) > entry.update, "and what was written since has to go"

    done = godojo("train", "tag", "--resume", "killed", "--judge", "0", timeout_s=110, **runs)
    assert done.returncode == 0, done.stderr
    check_same(whole, killed)
    assert len(table(killed / "updates.csv")) == UPDATES
    names = [entry["name"] for entry in json.loads((killed / "snapshots/snapshots.json").read_bytes())["snapshots"]]
    assert names == ["start", "final"]
