"""The Godot project imports, opens with its addon switched on, and runs, without one warning or error."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import prepared_project, problem_lines
from godojo.processes import finish
from tests.conftest import ROOT

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it is checked out."""
    leave = shutil.ignore_patterns(".godot", "__pycache__")
    return shutil.copytree(ROOT / "godot", tmp_path_factory.mktemp("fresh") / "project", ignore=leave)


def test_a_fresh_project_imports_and_opens_without_a_complaint(engine: Engine, project: Path) -> None:
    """Whatever the engine writes beside the sources (.uid, .import) is already in the repository."""
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".godot" not in path.parts}
    for words in (["--import"], ["--editor", "--quit"]):
        done = finish([engine.program, "--headless", "--path", project, *words], timeout_s=100)
        assert done.code == 0, done.output
        assert problem_lines(done.output) == []
    assert (project / ".godot/global_script_class_cache.cfg").exists()
    after = {path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".godot" not in path.parts}
    assert sorted(after) == sorted(before)
    assert [path for path in before if before[path] != after[path]] == []


def test_packed_arrays_keep_their_values_when_a_game_is_exported() -> None:
    """Godot puts the default back into exported scenes if it is written as a plain array (its issue 92690)."""
    plain = re.compile(r"^@export.*: Packed\w+Array = \[", re.MULTILINE)
    assert [path.name for path in (ROOT / "godot").rglob("*.gd") if plain.search(path.read_text("utf-8"))] == []


def test_import_happens_once_until_something_changes(engine: Engine, project: Path) -> None:
    stamp = project / ".godot/godojo_import"
    prepared_project(engine, project)
    first = stamp.stat().st_mtime_ns
    prepared_project(engine, project)
    assert stamp.stat().st_mtime_ns == first
    (project / "fresh.gd").write_text("class_name Fresh\nextends Node\n", encoding="utf-8")
    prepared_project(engine, project)
    assert stamp.stat().st_mtime_ns > first


@pytest.mark.parametrize(
    ("line", "is_problem"),
    [
        ("ERROR: 2 resources still in use at exit", True),
        ("WARNING: ObjectDB instances leaked at exit", True),
        ("SCRIPT ERROR: Invalid call.", True),
        ("USER WARNING: mind this", True),
        ("   at: push_error (core/variant/variant_utility.cpp:1098)", False),
        ("no ERROR: here", False),
    ],
)
def test_problem_lines(line: str, is_problem: bool) -> None:
    assert bool(problem_lines(f"hello\n{line}\n")) is is_problem


@pytest.mark.slow
def test_the_wheel_carries_the_project_and_runs_from_anywhere(engine: Engine, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert "godojo/godot_project/project.godot" in names
    assert "godojo/godot_project/addons/godojo/plugin.cfg" in names
    assert not [name for name in names if "tests/" in name or ".godot/" in name]
    ask = "from godojo.engines.godot import find, prepared_project; print(prepared_project(find()))"
    env = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "site"),
        "GODOJO_HOME": str(tmp_path / "home"),
        "GODOT_BIN": str(engine.program),
    }
    done = finish([sys.executable, "-c", ask], timeout_s=100, env=env)
    assert done.code == 0, done.output
    place = Path(done.output.strip())
    assert tmp_path / "home" in place.parents
    assert (place / ".godot/global_script_class_cache.cfg").exists()
