"""The runner of tests in the engine: what passes passes, and everything that can go wrong fails by itself."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from godojo.engines.godot.find import find
from godojo.errors import GodojoError
from tests.conftest import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(300)]

BAD = """\
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


func test_error_after_its_end() -> void:
	check(true, "before")
	tree_exiting.connect(push_error.bind("a parting shot"))


func test_good_between() -> void:
	check(true, "before")


func test_hangs() -> void:
	check(true, "before")
	while true:
		await ticks(1)


func test_crashes() -> void:
	check(true, "before")
	OS.crash("on purpose")


func test_good_after() -> void:
	check(true, "before")
"""
EXPECTED_WORDS = {
    "test_failed_check": "arithmetic: expected 5, got 4",
    "test_nan_is_near_nothing": "nan: expected",
    "test_checks_nothing": "the test checked nothing",
    "test_script_error": "SCRIPT ERROR",
    "test_engine_error": "something broke",
    "test_engine_warning": "something smells",
    "test_error_after_its_end": "a parting shot",
    "test_hangs": "did not end within 5 s",
    "test_crashes": "on purpose",
}
CRASHES = """\
extends EngineTest


func test_good_before() -> void:
	check(true, "before")


func test_dies() -> void:
	OS.crash("on purpose")


func test_good_after() -> void:
	check(true, "before")
"""
IN_ORDER = """\
extends EngineTest

static var earlier: int = 0


func test_first() -> void:
	earlier += 1
	check_equal(earlier, 1, "methods so far")


func test_second() -> void:
	earlier += 1
	check_equal(earlier, 1, "methods so far")


func test_nodes_of_others_are_gone() -> void:
	get_tree().root.add_child(Node.new())
	check_equal(get_tree().root.get_child_count(), 2, "this test and its node")


func test_nodes_of_others_are_gone_again() -> void:
	get_tree().root.add_child(Node.new())
	check_equal(get_tree().root.get_child_count(), 2, "this test and its node")
"""
UNPARSABLE = "extends EngineTest\nfunc test_x() -> void:\n\tcheck(\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, imported, without its own tests."""
    try:
        find()
    except GodojoError as error:
        pytest.skip(str(error))
    leave = shutil.ignore_patterns("__pycache__", "test_*")
    return shutil.copytree(ROOT / "godot", tmp_path_factory.mktemp("runner") / "project", ignore=leave)


def run_pytest(project: Path, **sources: str) -> str:
    for name, source in sources.items():
        (project / "tests" / f"test_{name}.gd").write_text(source, encoding="utf-8")
    files = [f"tests/test_{name}.gd" for name in sources]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-c", ROOT / "pyproject.toml", "--rootdir", project, *files],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 1, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def said(project: Path) -> str:
    return run_pytest(project, bad=BAD, crashes=CRASHES, in_order=IN_ORDER)


def section(said: str, test: str) -> str:
    """What pytest shows of one failure."""
    found = re.search(rf"^_+ {test} _+\n(.*?)^(_+ test_\w+ _+|=+ [a-z ,]+ =+)$", said, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{test} did not fail: {said}"
    return found[1]


@pytest.mark.parametrize("test", EXPECTED_WORDS)
def test_every_kind_of_failure_fails_with_its_own_output(said: str, test: str) -> None:
    assert f"test_bad.gd::{test} FAILED" in said
    output = section(said, test)
    for other, words in EXPECTED_WORDS.items():
        assert (words in output) == (other == test), output


def test_no_failure_hides_another_test(said: str) -> None:
    for test in ("good", "good_between", "good_after"):
        assert f"test_bad.gd::test_{test} PASSED" in said
    for test in ("good_before", "good_after"):
        assert f"test_crashes.gd::test_{test} PASSED" in said
    assert "on purpose" in section(said, "test_dies")
    assert f"{len(EXPECTED_WORDS) + 1} failed, {3 + 2 + 4} passed" in said


def test_who_passes_only_alone_is_listed(said: str) -> None:
    listed = said.partition("failed beside other tests, passed alone")[2].partition("short test summary")[0]
    assert "test_in_order.gd::test_second: FAILED: methods so far: expected 1, got 2" in listed
    assert listed.count("::") == 1, listed


def test_a_script_that_does_not_parse_fails(project: Path) -> None:
    said = run_pytest(project, unparsable=UNPARSABLE)
    assert "1 failed" in said
    assert "test_unparsable.gd" in said
