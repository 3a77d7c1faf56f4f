"""The command line teaches, and answers mistakes with one line and exit status 2."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import godojo as package
from godojo.cli.play import game_words
from tests.conftest import Run, fake_godot


def test_help_names_every_verb_and_a_first_step(godojo: Run) -> None:
    done = godojo("--help")
    assert done.returncode == 0
    for word in ("doctor", "engine", "play", "parity", "bench", "Begin here", "dojo.py"):
        assert word in done.stdout


def test_no_verb_shows_the_help(godojo: Run) -> None:
    done = godojo()
    assert done.returncode == 0
    assert "Begin here" in done.stdout
    assert done.stderr == ""


def test_version(godojo: Run) -> None:
    done = godojo("--version")
    assert (done.returncode, done.stdout) == (0, f"godojo {package.__version__}\n")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["trian"], "trian"),
        (["--colour"], "--colour"),
        (["engine", "instal"], "instal"),
        (["engine", "install", "--fast"], "--fast"),
        (["doctor", "now"], "now"),
    ],
)
def test_a_mistake_is_one_line(godojo: Run, words: list[str], named: str) -> None:
    done = godojo(*words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert named in done.stderr
    assert "--help" in done.stderr


def test_hints_name_the_command_the_user_typed(godojo: Run) -> None:
    assert "python3 dojo.py --help" in godojo("nonsense", GODOJO_LAUNCHED_AS="python3 dojo.py").stderr


def test_a_broken_engine_is_one_line(godojo: Run, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a program", encoding="utf-8")
    runnable_text = tmp_path / "runnable.txt"
    runnable_text.write_text("\x7fnot a program", encoding="utf-8")
    runnable_text.chmod(0o755)
    old = fake_godot(tmp_path / "old", "3.5.3.stable.official.6c814135b")
    for chosen, reason in [
        (tmp_path / "nothing", "does not exist"),
        (tmp_path, "not a file"),
        (text, "not a program"),
        (runnable_text, "not a program"),
        (old, "3.5.3"),
    ]:
        for words in (["engine", "status"], ["engine", "path"], ["engine", "run", "--", "--version"]):
            done = godojo(*words, GODOT_BIN=str(chosen))
            assert done.returncode == 2, done
            assert done.stderr.count("\n") == 1
            assert reason in done.stderr
            assert "GODOT_BIN" in done.stderr


def test_play_knows_its_games(godojo: Run) -> None:
    done = godojo("play", "chess")
    assert done.returncode == 2
    assert done.stderr == "godojo: there is no game 'chess'; there is: first_agent, navigation, tag\n"


def test_play_needs_a_display(godojo: Run) -> None:
    done = godojo("play", "tag", "--arena", "maze", DISPLAY="", WAYLAND_DISPLAY="")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "display" in done.stderr


def test_game_words_join_names_and_values() -> None:
    words = ["--arena", "maze", "--demo", "--seed=3", "--set", "a.b=1"]
    assert game_words(words) == ["--arena=maze", "--demo", "--seed=3", "--set=a.b=1"]
    assert game_words(["--arena", "mine.json"]) == [f"--arena={Path('mine.json').absolute()}"]


def test_engine_run_hands_over_words_and_exit_status(godojo: Run, tmp_path: Path) -> None:
    program = fake_godot(tmp_path / "godot")
    program.write_text('#!/bin/sh\nif [ "$2" = --version ]; then echo 4.6.3.stable.x; else echo "$@"; exit 7; fi\n')
    done = godojo("engine", "run", "--", "--path", "a b", "--", "--arena=x", GODOT_BIN=str(program))
    assert (done.returncode, done.stdout) == (7, "--path a b -- --arena=x\n")


@pytest.mark.parametrize(("given", "kept"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_that_wait_leave_the_cores_to_others(given: str | None, kept: str) -> None:
    env = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    program = "import godojo, os; print(os.environ['OMP_WAIT_POLICY'])"
    if given is not None:
        env["OMP_WAIT_POLICY"] = given
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == kept
