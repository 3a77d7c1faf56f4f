"""The shell workflow: each script runs as it says, hands its settings on, and leaves its files."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from godojo.learn.policy_file import load_policy
from godojo.show.replay_file import read_replay
from tests.conftest import ROOT
from tests.learning_games import WORDS

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
TINY = (*WORDS, "--judge", "0", "--set", "rules.round_s=1.0")
DEADLINE_S = 110


class Checkout:
    """The scripts in a folder of their own, with the Godojo under test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "scripts", folder / "scripts")

    def start(self, *words: str, **env: str) -> "subprocess.Popen[str]":
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("AI_", "GODOJO_RUNS"))}
        clean |= {"GODOJO": f"{sys.executable} -m godojo", "PYTHONPATH": str(ROOT / "src"), **env}
        return subprocess.Popen(
            [str(self.folder / "scripts/train.sh"), *words],
            env=clean, cwd=self.folder.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore Ctrl-C
        )  # fmt: skip

    def train(self, *words: str, **env: str) -> tuple[int, str]:
        process = self.start(*words, **env)
        try:
            told, said = process.communicate(timeout=DEADLINE_S)
        finally:
            process.kill()
        return process.returncode, told + said

    def newest(self) -> Path:
        return max((self.folder / "runs").iterdir(), key=lambda run: run.stat().st_mtime)

    def settings(self) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = json.loads((self.newest() / "config.json").read_bytes())["game_settings"]
        return found


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "godojo")


def check_files(checkout: Checkout) -> None:
    trainer, run = checkout.folder / "trainer", checkout.newest()
    for role in ("seeker", "hider"):
        _, card = load_policy(trainer / f"policy_{role}.pt")
        assert card.role == role
        assert (trainer / f"policy_{role}.pt").read_bytes() == (run / f"policy_{role}.pt").read_bytes()
    with (trainer / "logs/metrics.csv").open(newline="") as file:
        assert list(csv.DictReader(file)), "some rounds have been played"


@pytest.mark.slow
def test_stub_trains_and_leaves_its_files(checkout: Checkout) -> None:
    code, said = checkout.train(
        "stub",
        *TINY,
        AI_TRAIN_DURATION="2",
        AI_PROGRESS_REWARD_SCALE="0.2",
        AI_TIME_PENALTY="0.01",
        AI_TAG_BONUS="3",
        AI_STEP_TICK_INTERVAL="6",
        AI_LOG_TRAJECTORIES="1",
    )
    assert code == 0, said
    check_files(checkout)
    assert list(checkout.newest().glob("charts/*.png")), said
    for path in checkout.newest().glob("trajectories/ep_*.jsonl"):
        assert read_replay(path).outcome is not None
    assert len(list(checkout.newest().glob("trajectories/ep_*.jsonl"))) >= 2, said
    settings = checkout.settings()
    assert settings["rules"]["ticks_per_decision"] == 6
    weights = {
        role: [settings["rewards"][role][term] for term in ("distance_per_m", "time_per_decision", "tag")]  # type: ignore[index]
        for role in ("seeker", "hider")
    }
    assert weights == {"seeker": [-0.2, -0.01, 3], "hider": [0.2, 0.01, -3]}
    config = json.loads((checkout.newest() / "config.json").read_bytes())
    assert config["budget"] == {"minutes": pytest.approx(2 / 60, abs=1e-4)}
    assert config["engine"] == "sim"


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("engine")
def test_live_modes_train_one_role_in_the_real_engine(checkout: Checkout) -> None:
    """First from what a moment in the embedded game brought, then from there: who does not learn stays as it was.

    By their other names: a chaser is a seeker, a runner a hider.
    """
    live = ("--processes", "1", "--set", "num_worlds=8", "--set", "n_steps=8", "--set", "rules.round_s=1.0")
    code, said = checkout.train("live-chaser", *live, "--judge", "20", AI_TRAIN_DURATION="3")
    assert code == 0, said
    assert "no run yet" in said
    assert "after - before" in said
    check_files(checkout)
    (start,) = checkout.folder.glob("runs/first-live-seeker-*")
    hiders = [load_policy(run / "policy_hider.pt")[0].state_dict() for run in (start, checkout.newest())]
    assert all(bool((one == hiders[1][name]).all()) for name, one in hiders[0].items())
    first = {role: load_policy(checkout.newest() / f"policy_{role}.pt")[0] for role in ("seeker", "hider")}
    roles = json.loads((checkout.newest() / "roles.json").read_bytes())
    assert roles == {"seeker": "train", "hider": "frozen"}

    code, said = checkout.train("live-runner", *live, "--judge", "0", AI_TRAIN_DURATION="3")
    assert code == 0, said
    check_files(checkout)
    second = {role: load_policy(checkout.newest() / f"policy_{role}.pt")[0] for role in ("seeker", "hider")}
    same = {
        role: all(
            bool((one == other).all())
            for one, other in zip(first[role].state_dict().values(), second[role].state_dict().values(), strict=True)
        )
        for role in first
    }
    assert same == {"seeker": True, "hider": False}
    assert json.loads((checkout.newest() / "config.json").read_bytes())["engine"] == "godot"


@pytest.mark.slow
def test_without_godot_the_server_waits_for_a_scene(checkout: Checkout, tmp_path: Path) -> None:
    """And says what to do; Ctrl-C ends it."""
    path = os.pathsep.join(one for one in os.environ["PATH"].split(os.pathsep) if not list(Path(one).glob("godot*")))
    nowhere = {"GODOJO_HOME": str(tmp_path / "home"), "GODOT_BIN": "", "PATH": path}
    process = checkout.start("live-seeker", "--port", "0", AI_TAG_BONUS="3", **nowhere)
    assert process.stdout is not None
    try:
        assert "waiting for a game on 127.0.0.1:" in process.stdout.readline()
        for one in children_of(process.pid):
            os.kill(one, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        for one in children_of(process.pid) if process.poll() is None else ():
            os.kill(one, signal.SIGKILL)
        process.kill()
    assert f"Open the project {checkout.folder}/godot in your Godot and press Play." in said
    assert "Traceback" not in said
    assert not (checkout.folder / "trainer").exists(), "nothing was learnt"


@pytest.mark.slow
def test_ctrl_c_leaves_the_files_too(checkout: Checkout) -> None:
    process = checkout.start("stub", *TINY, AI_TRAIN_DURATION="600")
    try:
        deadline = time.monotonic() + DEADLINE_S
        while not list(checkout.folder.glob("runs/*/updates.csv")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(2.0)
        deadline_keeper = children_of(process.pid)[0]
        for one in (*children_of(deadline_keeper), deadline_keeper):  # as a terminal does: everybody is told
            os.kill(one, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert "--resume" in said
    check_files(checkout)


def children_of(pid: int) -> list[int]:
    """The programs that a program waits for."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize(
    ("words", "env", "answer"),
    [
        ((), {}, "live-seeker, live-hider, self-play or stub"),
        (("live",), {}, "live-seeker, live-hider, self-play or stub"),
        (("stub",), {"AI_TRAIN_DURATION": "soon"}, "AI_TRAIN_DURATION must be a whole number of seconds"),
        (("stub",), {"AI_TRAIN_DURATION": "0"}, "AI_TRAIN_DURATION must be a whole number of seconds"),
        (("stub",), {"AI_LOG_TRAJECTORIES": "yes"}, "AI_LOG_TRAJECTORIES must be a whole number"),
        (("stub",), {"AI_TAG_BONUS": "lots"}, "rewards"),
        (("live-seeker",), {"GODOT_BIN": "/nowhere/godot"}, "/nowhere/godot"),
    ],
)
def test_mistakes_are_answered_in_a_line(
    checkout: Checkout, words: tuple[str, ...], env: dict[str, str], answer: str
) -> None:
    code, said = checkout.train(*words, **env)
    assert code != 0
    assert answer in said
    assert "Traceback" not in said
    assert not (checkout.folder / "trainer").exists()
