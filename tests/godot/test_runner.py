"""The runner of tests in the engine: what passes passes, and everything that can go wrong fails."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from godojo.engines.godot.find import Engine
from tests.conftest import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SCRIPT = """\
extends EngineTest
## deadline: 5


func test_good() -> void:
	await ticks(3)
	check_near(1.0, 1.0005, 0.001, "one")


func test_failed_check() -> void:
	check_equal(2 + 2, 5, "arithmetic")
	check(true, "goes on after a failed check")


func test_nan_is_near_nothing() -> void:
	check_near(NAN, 0.0, 1.0, "nan")


func test_checks_nothing() -> void:
	await ticks(1)


func test_script_error() -> void:
	check(true, "before")
	var nothing: Node = null
	nothing.queue_free()


func test_engine_error() -> void:
	check(true, "before")
	push_error("something broke")


func test_engine_warning() -> void:
	check(true, "before")
	push_warning("something smells")


func test_hangs() -> void:
	check(true, "before")
	while true:
		await ticks(1)


func test_crashes() -> void:
	check(true, "before")
	OS.crash("on purpose")
"""
EXPECTED_WORDS = {
    "test_failed_check": "arithmetic: expected 5, got 4",
    "test_nan_is_near_nothing": "nan: expected",
    "test_checks_nothing": "the test checked nothing",
    "test_script_error": "SCRIPT ERROR",
    "test_engine_error": "something broke",
    "test_engine_warning": "something smells",
    "test_hangs": "did not end within 5 s",
    "test_crashes": "on purpose",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project without its own tests."""
    leave = shutil.ignore_patterns(".godot", "__pycache__", "test_*")
    return shutil.copytree(ROOT / "godot", tmp_path / "project", ignore=leave)


def run_pytest(project: Path, script: str, source: str) -> str:
    (project / "tests" / script).write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-c", ROOT / "pyproject.toml", "--rootdir", project, f"tests/{script}"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 1, done.stdout
    return done.stdout


def test_every_kind_of_failure_fails(engine: Engine, project: Path) -> None:
    assert engine
    said = run_pytest(project, "test_bad.gd", SCRIPT)
    assert "::test_good PASSED" in said
    assert f"{len(EXPECTED_WORDS)} failed, 1 passed" in said
    for test, words in EXPECTED_WORDS.items():
        assert f"::{test} FAILED" in said
        assert words in said


def test_a_script_that_does_not_parse_fails(engine: Engine, project: Path) -> None:
    assert engine
    said = run_pytest(project, "test_unparsable.gd", "extends EngineTest\nfunc test_x() -> void:\n\tcheck(\n")
    assert "1 failed" in said
    assert "test_unparsable.gd" in said
