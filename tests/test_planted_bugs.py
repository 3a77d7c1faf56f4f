"""The planted bugs of benchmarks/planted_bugs: their edits fit today's sources, and what they break still starts."""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from benchmarks.planted_bugs.bugs import Bug, clean_edits, patched_copy, read_bugs
from benchmarks.planted_bugs.run import Result, summary
from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import prepared_project
from godojo.games.base import GAMES, SCENE_GAMES

BUGS = read_bugs()
STARTS_S = 120


def test_there_are_enough_of_many_kinds() -> None:
    assert len(BUGS) >= 40
    assert len({bug.game for bug in BUGS}) >= 5
    assert len({bug.kind for bug in BUGS}) >= 15
    assert sum(bug.hard for bug in BUGS) >= 10
    assert max(Counter(bug.game for bug in BUGS).values()) <= len(BUGS) / 3


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_its_edits_fit_the_sources(bug: Bug, tmp_path: Path) -> None:
    copy = patched_copy(tmp_path / "project", bug.source, [*clean_edits(bug.game), *bug.edits])
    for edit in bug.edits:
        assert edit.new in (copy / edit.file).read_text(encoding="utf-8")
        assert edit.new != edit.old
        assert not re.search(r"^ +\S", edit.new, re.MULTILINE), "GDScript is indented by tabs"
    assert bug.description.endswith(".")
    assert bug.reproduce.endswith(".")


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
@pytest.mark.nightly
@pytest.mark.engine
@pytest.mark.timeout(300)
def test_what_it_breaks_still_imports_and_starts(bug: Bug, tmp_path: Path, engine: Engine) -> None:
    copy = patched_copy(tmp_path / "project", bug.source, [*clean_edits(bug.game), *bug.edits])
    prepared_project(engine, copy)
    game = SCENE_GAMES.get(bug.game)
    scene = [] if bug.project or (game is None and bug.game not in GAMES) else [_scene(bug.game)]
    ended = subprocess.run(
        [engine.program, "--headless", "--path", copy, "--quit-after", "5", *scene],
        capture_output=True, text=True, timeout=STARTS_S, check=False, env=os.environ,
    )  # fmt: skip
    assert ended.returncode == 0
    assert "Parse Error" not in ended.stdout + ended.stderr


def _scene(game: str) -> str:
    if game in SCENE_GAMES:
        return SCENE_GAMES[game].scene_path
    return f"res://games/{game}/{game}.tscn"


def test_the_summary_counts_what_was_found() -> None:
    found = Result("a", "menu", "team", 0, 1.0, True, ("nan",), 12.0, 5, 5, 200, 4, 900)
    found = msgspec.structs.replace(found, original_steps=500, minimal_steps=5)
    missed = Result("b", "menu", "team", 0, 1.0, False, (), None, 0, 0, 0, 0, 800)
    clean = Result("", "menu", "team", 1, 1.0, False, (), None, 0, 0, 0, 0, 700, other=("stuck: x",))
    text = summary([found, missed, clean])
    assert "| team | 1 of 2 (50 %) | 12 s | 5 of 5 | 1.0 % | 2.0 % |" in text
    assert "b" in text
    assert "stuck: x" in text
    same = msgspec.structs.replace(found, bug="c", signatures=("stuck: x",))
    assert "| team | 1 of 2 (50 %)" in summary([found, same, clean]), (
        "what clean builds have, too, is no bug that was found"
    )
