"""However we end, no game is left behind, and none of its children."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.watched_games import PRETEND, marked_processes

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes by /proc")
PARENT = """
import signal, sys, os, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests by nohup has it ignored
from godojo.engines.godot.launch import Recipe, own_scene
from godojo.engines.godot.open import launch_games
from godojo.games.tag.godot import TagInGodot
kind, mark, end = sys.argv[1:]
tag = TagInGodot()
if kind == "tag":
    program = own_scene(tag.scene).program
else:
    program = ("/bin/sh", "-c", f"sleep 300 & exec {sys.executable} %(game)s", "game")
worlds = launch_games(
    Recipe(program, env={"GODOJO_TEST_MARK": mark}),
    num_worlds=2,
    num_processes=2,
    ticks_per_decision=4,
    options=tag.configure_options,
)
worlds.step()
print("playing", flush=True)
%(rest)s
"""
PLAYS_ON = """
with worlds:
    while True:
        worlds.step()
"""
ENDS = """
if end == "forgets": sys.exit(3)
if end == "raises": raise ValueError("out of luck")
if end == "aborts": os.abort()
if end == "forks":
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    os.kill(os.getpid(), 9)
"""
Trainer = Callable[[str, str], tuple["subprocess.Popen[str]", str]]


@pytest.fixture(params=["pretend", pytest.param("tag", marks=pytest.mark.engine)])
def trainer(request: pytest.FixtureRequest) -> Trainer:
    """Starts a program that plays with two games; returns it when it does, and the games' mark."""
    if request.param == "tag":
        request.getfixturevalue("engine")

    def start(rest: str, end: str = "") -> tuple["subprocess.Popen[str]", str]:
        mark = uuid.uuid4().hex
        words = [sys.executable, "-c", PARENT % {"game": PRETEND, "rest": rest}, request.param, mark, end]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "playing\n"
        return process, mark

    return start


def check_nothing_is_left(mark: str, within_s: float = 30.0) -> float:
    """Seconds until it was so."""
    begun = time.monotonic()
    while marked_processes(mark) and time.monotonic() - begun < within_s:
        time.sleep(0.01)
    took_s = time.monotonic() - begun
    assert marked_processes(mark) == []
    return took_s


@pytest.mark.parametrize(
    "signals",
    [
        (signal.SIGINT,),
        (signal.SIGINT, signal.SIGINT),
        (signal.SIGTERM,),
        (signal.SIGHUP,),
        (signal.SIGKILL,),
    ],
    ids=["ctrl-c", "ctrl-c twice", "terminated", "hung up", "killed"],
)
def test_signals(
    trainer: Trainer,
    signals: tuple[signal.Signals, ...],
    request: pytest.FixtureRequest,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """How long it took is written to the output."""
    process, mark = trainer(PLAYS_ON, "")
    with process:
        assert len(marked_processes(mark)) >= 4
        begun = time.monotonic()
        for number in signals:
            process.send_signal(number)
            time.sleep(0.05)
        assert process.wait(10) != 0
        ended_s = time.monotonic() - begun
    gone_s = check_nothing_is_left(mark)
    with capfd.disabled():
        sys.stdout.write(f"\n{request.node.name}: ended in {ended_s:.2f} s, nothing left {gone_s:.2f} s later\n")


@pytest.mark.parametrize("end", ["forgets", "raises", "aborts"])
def test_ends_of_our_own(trainer: Trainer, end: str) -> None:
    process, mark = trainer(ENDS, end)
    with process:
        assert process.wait(10) != 0
    check_nothing_is_left(mark)


def test_a_forked_child_that_lives_on_does_not_keep_games_alive(trainer: Trainer) -> None:
    process, mark = trainer(ENDS, "forks")
    assert process.wait(10) == -signal.SIGKILL
    check_nothing_is_left(mark)
    assert process.stdout is not None
    process.stdout.close()


def test_frozen_games_end_with_us_too(trainer: Trainer) -> None:
    process, mark = trainer(PLAYS_ON, "")
    with process:
        for pid in marked_processes(mark):
            if not Path(f"/proc/{pid}/cmdline").read_bytes().endswith(b"godojo-guard\0"):
                os.kill(pid, signal.SIGSTOP)
        process.kill()
    check_nothing_is_left(mark)


@pytest.mark.parametrize("times", [1, 2])
def test_serve_ends_by_ctrl_c(times: int) -> None:
    mark = uuid.uuid4().hex
    words = [sys.executable, "-m", "godojo", "serve", "--port", "0"]
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        line = server.stdout.readline()
        port = line.split("127.0.0.1:")[1].split()[0]
        game_env = {**os.environ, "GODOJO_PORT": port, "GODOJO_TEST_MARK": mark}
        with subprocess.Popen([sys.executable, str(PRETEND)], env=game_env) as game:
            assert "connected" in server.stdout.readline()
            assert "pretend on Godot 4.6.3 is here: 1 world(s), in each 1 role0 (sees 12, does 3)" in (
                server.stdout.readline()
            )
            time.sleep(0.2)
            for _ in range(times):
                server.send_signal(signal.SIGINT)
            code = server.wait(10)
            assert game.wait(10) == 0
        said = server.stdout.read()
        assert "Traceback" not in server.stderr.read()
    if times == 1:
        assert code == 0
        assert said.endswith("stopped\n")
    check_nothing_is_left(mark)
