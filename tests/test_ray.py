"""Training on Ray itself: the same bits twice, a killed worker, a stopped one, Ctrl-C, and wrong clusters."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import godojo
from godojo.api.league import league
from godojo.cluster.start import resolve
from godojo.errors import GodojoError
from godojo.extras import is_installed
from godojo.processes import is_alive
from godojo.runs.folder import open_run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_installed("ray"), reason="Ray is not installed: python3 dojo.py install ray"),
]
SMALL = tuple(
    f"--set={word}"
    for word in (
        "num_worlds=32",
        "n_steps=8",
        "net_arch=[8]",
        "memory_size=4",
        "rules.round_s=2.0",
        "snapshot_interval=5",
    )
)
UPDATE = 32 * 8 * 2
"""Agent-steps of one update."""


def _train(tmp_path: Path, name: str, *more: str, updates: int = 12, ray: str = "local") -> "subprocess.Popen[str]":
    words = ("train", "tag", "--ray", ray, "--workers", "2", "--eval", "0", "--run-id", name, *SMALL)
    budget = ("--steps", str(updates * UPDATE))
    return subprocess.Popen(
        [sys.executable, "-m", "godojo", *words, *budget, *more],
        env={**os.environ, "GODOJO_RUNS": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _output(process: "subprocess.Popen[str]", timeout_s: float = 240.0) -> str:
    """What a training prints; the first one on a machine compiles kernels, in every worker."""
    try:
        return process.communicate(timeout=timeout_s)[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def _children(root: int) -> dict[int, str]:
    """All processes below one, by id, with their titles."""
    parents: dict[int, int] = {}
    titles: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
                parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
                titles[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
    below, waiting = {}, [root]
    while waiting:
        parent = waiting.pop()
        for child in [pid for pid, of in parents.items() if of == parent]:
            below[child] = titles[child]
            waiting.append(child)
    return below


def _await(found: Any, timeout_s: float = 80.0) -> Any:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def _rows(tmp_path: Path, name: str) -> int:
    path = tmp_path / name / "updates.csv"
    return len(path.read_text().splitlines()) - 1 if path.exists() else 0


def _saved_steps(tmp_path: Path) -> int:
    return open_run(str(tmp_path / "run"), lambda _: None).checkpoints().newest()[1].agent_steps


def _workers(process: "subprocess.Popen[str]") -> list[int]:
    return [pid for pid, title in _children(process.pid).items() if title.startswith("ray::Shard")]


def _fingerprint(tmp_path: Path, name: str) -> list[bytes]:
    import torch

    policies = [torch.load(tmp_path / name / f"policy_{role}.pt", weights_only=False) for role in ("seeker", "hider")]
    return [repr(policy).encode() for policy in policies]


@pytest.fixture
def no_leftovers() -> Iterator[None]:
    """Nothing of our own clusters stays behind; other tests may have clusters of their own meanwhile."""
    before = set(Path("/tmp").glob("godojo-ray-*"))
    yield
    left = set(Path("/tmp").glob("godojo-ray-*")) - before
    assert not [
        folder for folder in left if (pid := int(folder.name.split("-")[2])) == os.getpid() or not is_alive(pid)
    ]


@pytest.mark.timeout(500)
@pytest.mark.usefixtures("no_leftovers")
def test_the_same_seed_trains_the_same_policies(tmp_path: Path) -> None:
    for name in ("one", "other"):
        process = _train(tmp_path, name, updates=4)
        output = _output(process)
        assert process.returncode == 0, output
    assert _fingerprint(tmp_path, "one") == _fingerprint(tmp_path, "other")


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("no_leftovers")
def test_killed_and_stopped_workers_are_replaced_and_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    process = _train(tmp_path, "run", "--worker-timeout", "1", updates=100_000)
    try:
        _await(lambda: _rows(tmp_path, "run") >= 2)
        first, second = _await(lambda: found if len(found := _workers(process)) == 2 else None)
        os.kill(first, signal.SIGKILL)
        _await(lambda: len(found := _workers(process)) == 2 and first not in found)
        os.kill(second, signal.SIGSTOP)  # it hangs
        _await(lambda: len(found := _workers(process)) == 2 and second not in found)
        rows = _rows(tmp_path, "run")
        _await(lambda: _rows(tmp_path, "run") >= rows + 3)
        below = _children(process.pid)
        assert any("raylet" in title for title in below.values())
        os.kill(process.pid, signal.SIGINT)
        output = _output(process)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130, output
    assert output.count("is lost") == 2, output
    assert "stopped and saved" in output
    assert not [pid for pid in below if Path(f"/proc/{pid}").exists()], "processes of the cluster are still there"


@pytest.mark.timeout(300)
def test_the_drivers_death_is_survived_by_resume(tmp_path: Path) -> None:
    process = _train(tmp_path, "run", "--set=checkpoint_steps=1024", updates=100_000)
    try:
        _await(lambda: _rows(tmp_path, "run") >= 5)
        below = _children(process.pid)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    _await(lambda: not [pid for pid in below if Path(f"/proc/{pid}").exists()])
    saved = _saved_steps(tmp_path)
    words = ("train", "--resume", "run", "--eval", "0", "--steps", str(saved + 4 * UPDATE))
    again = subprocess.run(
        [sys.executable, "-m", "godojo", *words],
        env={**os.environ, "GODOJO_RUNS": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert _saved_steps(tmp_path) >= saved + 4 * UPDATE


def test_a_port_that_is_no_cluster_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("godojo.cluster.start.PROBE_TIMEOUT_S", 4.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(GodojoError, match=f"cannot use the Ray cluster at {address}: "):
            resolve(address, lambda _: None)


def test_a_cluster_without_godojo_is_named_in_one_line() -> None:
    from godojo.cluster.ray_transport import _reason  # imports Ray

    reason = _reason(ModuleNotFoundError("while unpickling:\nNo module named 'godojo'"))
    assert reason == "the cluster's Python has no Godojo; install the same version on every node"


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("no_leftovers")
def test_matches_on_ray_have_the_results_of_matches_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    run = godojo.train("tag", steps=2 * UPDATE, run_id="run", settings=[word.removeprefix("--set=") for word in SMALL])
    here, there = (
        godojo.evaluate(run, ["scripted:random", "itself"], episodes=8, ray=address) for address in (None, "local")
    )
    assert msgspec.to_builtins(there) == msgspec.to_builtins(here)
    folder = open_run(str(run.path), lambda _: None)
    leagues = [league(folder, episodes=8, ray=address, progress=lambda *_: None) for address in (None, "local")]
    assert leagues[0].as_tree() == leagues[1].as_tree()
    with pytest.raises(GodojoError, match="there is no opponent"):
        godojo.evaluate(run, ["scripted:nobody"], episodes=8, ray="local")
