"""A full disk, a folder that cannot be written: one clear error, and the old checkpoint is as it was."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from godojo.errors import GodojoError
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from godojo.runs.tables import append, open_table
from tests.faults.saving_trainer import is_whole, state_of

CONFIG = RunConfig("tag", "sim", ("seeker", "hider"), "ppo", {}, {}, seed=0, budget={})
OWN_MOUNTS = ["unshare", "--user", "--map-root-user", "--mount"]
"""Mounts that nobody else sees and that end with the process."""


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """With one checkpoint of a third of a mebibyte."""
    made = RunFolder.create(CONFIG, "mine", root=tmp_path)
    made.checkpoints().save(state_of(1), 1, 1, 0.0)
    return made


def can_mount() -> bool:
    words = [*OWN_MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"]
    return (
        shutil.which("unshare") is not None and subprocess.run(words, capture_output=True, timeout=20).returncode == 0
    )


def save_in_shell(run: Path, script: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """Runs a shell script that ends by saving 8 MiB into the run: `"$@"`."""
    save = [sys.executable, "-m", "tests.faults.saving_trainer", "once", str(run), "2", "8"]
    return subprocess.run([*words, "sh", "-c", script, "sh", *save], capture_output=True, text=True, timeout=60)


def check_old_one(path: Path, steps: int = 1) -> None:
    said: list[str] = []
    state, entry = RunFolder.open(path).checkpoints(said.append).newest()
    assert (entry.agent_steps, said) == (steps, [])
    assert is_whole(state)


def check_failed(done: "subprocess.CompletedProcess[str]", why: str) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert why in done.stderr
    assert "intact" in done.stderr


def test_a_full_disk(run: RunFolder) -> None:
    if not can_mount():
        pytest.skip("a disk of our own needs Linux with user namespaces")
    room = run.path.parent / "disk"
    kept = run.path.parent / "kept"
    room.mkdir()
    script = f"""
        mount -t tmpfs -o size=2m none {room} || exit 3
        cp -r {run.path} {room}/mine || exit 3
        "$@"; code=$?
        cp -r {room}/mine {kept} && exit $code
    """
    check_failed(save_in_shell(room / "mine", script, *OWN_MOUNTS), "No space left on device")
    check_old_one(kept)
    assert sorted(path.name for path in (kept / "checkpoints").iterdir()) == ["index.json", "step_000000000001.pt"]


def test_a_read_only_disk(run: RunFolder) -> None:
    if not can_mount():
        pytest.skip("a disk of our own needs Linux with user namespaces")
    script = f"""
        mount --bind {run.path} {run.path} && mount -o remount,ro,bind {run.path} || exit 3
        "$@"
    """
    check_failed(save_in_shell(run.path, script, *OWN_MOUNTS), "Read-only file system")
    check_old_one(run.path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of a process are POSIX")
def test_a_limit_on_the_size_of_files(run: RunFolder) -> None:
    """Like a full disk for those who may not mount one: the write stops in the middle."""
    check_failed(save_in_shell(run.path, 'trap "" XFSZ; ulimit -f 2048; "$@"'), "File too large")
    check_old_one(run.path)
    assert not list(run.path.glob("checkpoints/.*"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write(run: RunFolder) -> None:
    folder = run.path / "checkpoints"
    folder.chmod(0o555)
    try:
        with pytest.raises(GodojoError, match="Permission denied"):
            run.checkpoints().save(state_of(2), 2, 2, 0.0)
        check_old_one(run.path)
    finally:
        folder.chmod(0o755)


def test_saving_goes_on_when_there_is_room_again(run: RunFolder) -> None:
    folder = run.path / "checkpoints"
    folder.rename(run.path / "away")
    folder.write_bytes(b"something that is no folder")
    with pytest.raises(GodojoError, match="cannot be created"):
        run.checkpoints().save(state_of(2), 2, 2, 0.0)
    folder.unlink()
    (run.path / "away").rename(folder)
    check_old_one(run.path)
    run.checkpoints().save(state_of(2), 2, 2, 0.0)
    check_old_one(run.path, steps=2)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_tables_on_a_full_disk() -> None:
    with pytest.raises(GodojoError, match=r"No space left on device.*resume"):
        open_table(Path("/dev/full"), ["episode"], None, lambda _: None)
    with Path("/dev/full").open("wb", buffering=0) as file, pytest.raises(GodojoError, match="No space left on device"):
        append(file, Path("metrics.csv"), np.zeros(10, np.uint8).tobytes())
