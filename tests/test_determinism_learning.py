"""The same seed learns the same bits: twice, at any number of threads, and across a kill."""

import json
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
import torch
from torch import nn

from godojo.export.distil import Distillation, settings_for
from godojo.learn.networks import Policy
from godojo.learn.policy_file import PolicyCard
from godojo.learn.sac import SacSelfPlay
from godojo.learn.self_play import shape_for
from godojo.learn.settings import PpoSettings, SacSettings
from godojo.runs.folder import RunFolder
from tests.conftest import Run
from tests.learning_games import STEPS, fingerprint, fingerprints, iterated, learner, tag
from tests.resumed_runs import TRAIN, check_same, stop_after, table

UPDATES = 10
DEFAULT_NETWORK = ("--set", "net_arch=[64,64]", "--set", "memory_size=32")
"""Large enough for torch to share the work of a layer between threads, unlike that of `TRAIN`."""
SOFT = (
    "train", "tag", "--algorithm", "sac", "--judge", "0", "--seed", "5", "--set", "rules.round_s=2.0",
    "--set", "num_worlds=32", "--set", "n_steps=8", "--set", "learning_starts=256", "--set", "batch_size=64",
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


@pytest.fixture
def threads() -> Iterator[None]:
    """Restores the number of torch's threads."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def _ppo(memory: Literal["", "leaky", "gru"]) -> list[nn.Module]:
    settings = PpoSettings(
        num_worlds=24, n_steps=6, n_minibatches=2, memory=memory, snapshot_interval=1, opponent_resample_interval=1
    )
    made = iterated(learner(settings), 2)
    made.close()
    return [module for worker in made.workers.values() for module in (worker.policy, worker.critic)]


def _sac() -> list[nn.Module]:
    made = SacSelfPlay(tag(), SacSettings(n_steps=4, learning_starts=48, gradient_steps=2), 1)
    for _ in range(2):
        made.iterate(0.0)
    made.close()
    return [module for agent in made.agents.values() for module in (agent.policy, agent.critics)]


def _distilled() -> list[nn.Module]:
    worlds = tag()
    teachers = {}
    for name, role in worlds.roles.items():
        torch.manual_seed(1)
        policy = Policy(shape_for(role, PpoSettings()))
        teachers[name] = (policy, PolicyCard("tag", name, role.observation_parts, policy.shape, 0))
    net_arch = {name: settings_for(policy.shape, (64, 64)) for name, (policy, _) in teachers.items()}
    made = Distillation(worlds, teachers, net_arch)
    made.iterate(0.0)
    made.close()
    return [student for student, _ in made.students().values()]


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(
    "learnt",
    [partial(_ppo, "leaky"), partial(_ppo, "gru"), partial(_ppo, ""), _sac, _distilled],
    ids=["leaky", "gru", "no memory", "sac", "distilled"],
)
def test_networks_of_the_default_size_learn_the_same_at_any_number_of_threads(
    learnt: Callable[[], list[nn.Module]],
) -> None:
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append([fingerprint(module) for module in learnt()])
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("words", [(*TRAIN, *DEFAULT_NETWORK), SOFT], ids=["ppo", "sac"])
def test_one_thread_and_two_learn_the_same(godojo: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Also where only the kernels have one thread, as torch then takes over their number."""
    runs = {"GODOJO_RUNS": str(tmp_path)}
    for name, kernels, threads in (("one", "1", "1"), ("two", "2", "2"), ("mixed", "1", "2")):
        env = runs | {"NUMBA_NUM_THREADS": kernels, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        done = godojo(*words, "--steps", str(4 * STEPS), "--run-id", name, timeout_s=110, **env)
        assert done.returncode == 0, done.stderr
    check_same(tmp_path / "one", tmp_path / "two")
    check_same(tmp_path / "one", tmp_path / "mixed")


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
