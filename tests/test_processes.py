"""No program we start outlives us or holds us up."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from godojo.processes import GuardedProcess, finish, started

POSIX = pytest.mark.skipif(os.name != "posix", reason="process groups are a POSIX thing")
# Notes its own and its child's number, then both sleep on, deaf to polite requests.
STUBBORN_FAMILY = "trap '' TERM; sleep 300 & echo $! > $0.child; echo $$ > $0.parent; wait; sleep 300"


def alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def family(note: Path) -> list[int]:
    """Both numbers, once both are written."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            return [int(note.with_suffix(kin).read_text()) for kin in (".parent", ".child")]
        except (FileNotFoundError, ValueError):
            time.sleep(0.02)
    raise AssertionError("the family did not start")


def all_gone(numbers: list[int]) -> bool:
    deadline = time.monotonic() + 5
    while any(map(alive, numbers)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(alive, numbers))


def test_finish_keeps_output_and_status() -> None:
    done = finish(
        [sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"], timeout_s=30
    )
    assert done.code == 3
    assert sorted(done.output.split()) == ["err", "out"]
    assert not done.timed_out


def test_finish_ends_at_the_deadline_and_keeps_what_was_said() -> None:
    slow = "import time; print('begun', flush=True); time.sleep(300)"
    done = finish([sys.executable, "-c", slow], timeout_s=1)
    assert done.timed_out
    assert done.output == "begun\n"


@POSIX
def test_children_end_too(tmp_path: Path) -> None:
    with started(["sh", "-c", STUBBORN_FAMILY, tmp_path / "note"]):
        numbers = family(tmp_path / "note")
        assert all(map(alive, numbers))
    assert all_gone(numbers)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children of a killed parent by itself")
def test_a_program_dies_with_us_even_when_we_are_killed(tmp_path: Path) -> None:
    ours = f"""
from godojo.processes import finish
family = "echo $$ > $0.child; echo $PPID > $0.parent; exec sleep 300"
finish(["sh", "-c", family, {str(tmp_path / "note")!r}], timeout_s=300)
"""
    with subprocess.Popen([sys.executable, "-c", ours]) as process:
        numbers = family(tmp_path / "note")
        process.send_signal(signal.SIGKILL)
    assert all_gone(numbers)


@POSIX
def test_a_ward_ends_with_its_children_and_leaves_its_words(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as output:
        ward = GuardedProcess(
            ["sh", "-c", f"echo begun; {STUBBORN_FAMILY}", tmp_path / "note"], env=os.environ, output=output
        )
    numbers = family(tmp_path / "note")
    assert ward.pid in numbers
    assert ward.status() is None
    assert not ward.wait(0.05)
    ward.end(grace_s=0)
    assert all_gone(numbers)
    assert ward.status() == -signal.SIGKILL
    assert (tmp_path / "log").read_text() == "begun\n"
    ward.end()  # twice is once


@POSIX
def test_a_ward_that_ended_by_itself_leaves_no_children(tmp_path: Path) -> None:
    script = "sleep 300 & echo $! > $0.child; echo $$ > $0.parent; exit 4"
    with (tmp_path / "log").open("wb") as output:
        ward = GuardedProcess(["sh", "-c", script, tmp_path / "note"], env=os.environ, output=output)
    numbers = family(tmp_path / "note")
    assert ward.wait(10)
    assert ward.status() == 4
    assert any(map(alive, numbers))
    ward.end()
    assert all_gone(numbers)


@POSIX
def test_a_ward_does_not_outlive_us_nor_do_its_children(tmp_path: Path) -> None:
    """Killed outright; and the thread that started it has long ended."""
    ours = f"""
import os, sys, threading, time
from godojo.processes import GuardedProcess
def start():
    global ward
    words = ["sh", "-c", {STUBBORN_FAMILY!r}, {str(tmp_path / "note")!r}]
    ward = GuardedProcess(words, env=os.environ, output=sys.stdout.buffer)
thread = threading.Thread(target=start)
thread.start()
thread.join()
time.sleep(300)
"""
    with subprocess.Popen([sys.executable, "-c", ours], stdout=subprocess.DEVNULL) as process:
        numbers = family(tmp_path / "note")
        time.sleep(0.2)
        assert all(map(alive, numbers))
        process.kill()
    assert all_gone(numbers)
