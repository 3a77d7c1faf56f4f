"""The stress script as a process of its own: what it plays, what it leaves out, and what it refuses."""

import json
from pathlib import Path

import pytest

from godojo.engines.godot import find, run_project
from godojo.engines.godot.project import problem_lines
from godojo.errors import GodojoError
from godojo.processes import Finished

PROJECT = Path(__file__).parents[1]
pytestmark = pytest.mark.engine


def stress(*words: str) -> Finished:
    try:
        engine = find()
    except GodojoError as error:
        pytest.skip(str(error))
    options = ["--headless", "--no-header", "--fixed-fps", "60", "--script", "res://tests/stress/stress.gd", "--"]
    done = run_project(engine, [*options, *words], timeout_s=60, folder=PROJECT)
    assert problem_lines(done.output) == []
    return done


def test_a_few_rounds_are_clean() -> None:
    done = stress("--rounds=6", "--arena=open", "--seed=3")
    assert done.code == 0, done.output
    assert "\nclean, " in done.output


@pytest.mark.parametrize(
    "word",
    [
        "--rounds=0",
        "--rounds=-5",
        "--rounds=many",
        "--rounds=99999999999999999999999",
        "--rounds",
        "--seed=99999999999999999999999",
        "--seed=x",
        "--arena=",
        "--arena=moon",
        "--arena=/nowhere/at/all.json",
        "--fast",
        "rounds=5",
        "--a\nb",
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(word: str) -> None:
    done = stress(word)
    lines = done.output.strip().splitlines()
    assert (done.code, len(lines)) == (2, 1), done.output
    assert word.replace("\n", "\\n").partition("=")[0].lstrip("-") in lines[0] or word.partition("=")[2] in lines[0]


def test_variants_that_an_arena_has_no_room_for_are_left_out(tmp_path: Path) -> None:
    areas = [{"position_m": [x, 0, 0], "size_m": [0, 0], "roles": ["seeker", "hider"]} for x in (-4, 4)]
    fields = {"version": 1, "name": "two", "title": "Two", "size_m": [12, 12], "boxes": [], "spawns": areas}
    (tmp_path / "two.json").write_text(json.dumps(fields), encoding="utf-8")
    done = stress("--rounds=4", f"--arena={tmp_path / 'two.json'}")
    assert done.code == 0, done.output
    assert done.output.count("left out: rules.") == 3, "those for eight, eight and three"
    assert "\nclean, " in done.output
