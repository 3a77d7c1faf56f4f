"""The command line teaches, and answers mistakes with one line and exit status 2."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import godojo as package
from godojo.cli import app
from godojo.cli.play import game_words
from godojo.cli.verbs import VERBS
from godojo.games.base import GAMES, SCENE_GAMES
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from tests.conftest import Run, fake_godot

RUN_VERBS = ("eval", "watch", "league", "plot", "report", "replay", "behaviours", "record", "film", "export", "distil")
"""Commands about a run, the latest one by default."""


def test_help_names_every_verb_and_a_first_step(godojo: Run) -> None:
    done = godojo("--help")
    assert done.returncode == 0
    assert "Start with godojo train" in done.stdout
    for name in VERBS:
        assert len(re.findall(rf"^│ {name} ", done.stdout, re.MULTILINE)) == 1, f"{name} is listed once"


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize("width", [80, 120])
def test_every_commands_help_fits(name: str, width: int) -> None:
    """No word is cut off, and examples stand on lines of their own."""
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": str(width)})
    assert shown.exit_code == 0, shown.output
    lines = shown.output.splitlines()
    assert max(len(line) for line in lines) <= width
    assert not re.search(r"\w…", shown.output), "cut off"
    assert not re.search(r"(?<!Usage): godojo ", shown.output), "an example within a sentence"


def test_the_help_of_train_is_grouped(godojo: Run) -> None:
    shown = godojo("train", "--help", COLUMNS="80").stdout
    panels = re.findall(r"╭─ (.*?) ─", shown)
    assert [panel for panel in panels if panel not in ("Arguments", "Options")] == [
        "Basics",
        "Your own game",
        "HTTP",
        "Expert",
    ]
    assert "\n   godojo train --resume first --minutes 5 " in shown
    assert len(shown.splitlines()) < 115


def test_no_verb_shows_the_help(godojo: Run) -> None:
    done = godojo()
    assert done.returncode == 0
    assert "Start with" in done.stdout
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


HEAVY = ("torch", "numba", "matplotlib", "viser", "onnx", "gymnasium", "pettingzoo")
MISTAKES = [
    ["trian"],
    ["train", "--minuts", "3"],
    ["train", "tga"],
    ["train", "tag", "--preset", "quik"],
    ["train", "tag", "--set", "epoch=3"],
    ["train", "tag", "--set", "n_epochs=three"],
    ["train", "tag", "--set", "motion.gravity=3"],
    ["train", "--resume", "nobody"],
    *([name, "nobody"] for name in RUN_VERBS),
    *([name] for name in RUN_VERBS),
    ["parity", "chess"],
    ["parity", "tag", "--set", "motion.gravity=3"],
    ["config", "example", "chess"],
    ["play", "chess"],
    ["serve-game", "chess"],
    ["check", "nothing"],
]
ANSWERS = [["--help"], *([name, "--help"] for name in VERBS), ["doctor"]]
LOADED = f"""
import contextlib, io, json, sys
from godojo.cli import main
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(words)
    loaded = [name for name in {HEAVY} if name in sys.modules]
    assert not loaded, (words, loaded)
"""


def test_answers_and_refusals_load_nothing_slow(tmp_path: Path) -> None:
    """All in one process, one after the other."""
    env = {**os.environ, "GODOT_BIN": str(fake_godot(tmp_path / "godot")), "GODOJO_RUNS": str(tmp_path / "runs")}
    words = [sys.executable, "-c", LOADED, json.dumps([*ANSWERS, *MISTAKES])]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert len(re.findall("^godojo: ", done.stderr, re.MULTILINE)) == len(MISTAKES), "each is refused in a line"


REFUSED = [
    ["eval", "mine", "-o", "nobdy"],
    ["eval", "mine", "-o", "scripted:nobdy"],
    ["eval", "mine", "-o", "mine@never"],
    ["eval", "mine", "--engine", "unreal"],
    ["eval", "mine", "-n", "0"],
    ["film", "mine", "--preset", "8k"],
    ["film", "mine", "--stage", "never"],
    ["record", "mine", "--preset", "8k"],
    ["record", "mine", "--camera", "drone"],
    ["record", "mine", "-n", "0"],
    ["replay", "mine", "-n", "0"],
]


def test_wrong_arguments_about_a_run_are_refused_before_torch_is_loaded(tmp_path: Path) -> None:
    config = RunConfig("tag", "sim", ("seeker", "hider"), "ppo", {}, {}, 1, {"minutes": 1.0})
    RunFolder.create(config, "mine", root=tmp_path / "runs").save_policy("seeker", b"never read")
    env = {**os.environ, "GODOJO_RUNS": str(tmp_path / "runs")}
    program = LOADED.replace(str(HEAVY), str(("torch", "matplotlib", "viser")))
    words = [sys.executable, "-c", program, json.dumps(REFUSED)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert len(re.findall("^godojo: ", done.stderr, re.MULTILINE)) == len(REFUSED), done.stderr


def test_play_knows_its_games(godojo: Run) -> None:
    done = godojo("play", "chess")
    assert done.returncode == 2
    there = ", ".join(sorted({*GAMES, *SCENE_GAMES}))
    assert done.stderr == f"godojo: there is no game 'chess'; there is: {there}\n"


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
