"""What several tests need."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from godojo.cli import watch
from godojo.engines.godot.find import Engine, find
from godojo.errors import GodojoError
from tests.nightly import NIGHTLY

ROOT = Path(__file__).parent.parent
os.environ.pop("GODOJO_LAUNCHED_AS", None)  # hints name `godojo`, however these tests were started
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is nightly; begins with files that hold slow tests, so that no worker ends with one of them."""
    if not NIGHTLY:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("nightly")])
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]
    slow_files = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow_files)


@pytest.fixture(autouse=True, scope="session")
def keep_priority() -> None:
    """`watch` lowers the priority of its process, which in many tests is the tests' own."""
    watch.NICE = 0


@pytest.fixture
def engine() -> Engine:
    """The real Godot."""
    try:
        return find()
    except GodojoError as error:
        pytest.skip(str(error))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a test's own runs."""
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.fixture
def godojo() -> Run:
    """Runs the command line as a user does: `godojo("engine", "status", GODOT_BIN="...")`."""

    def run(*words: str, timeout_s: float = 60, **env: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "godojo", *words],
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )

    return run


def fake_godot(path: Path, version: str = "4.6.3.stable.official.0123abcd") -> Path:
    """A program that says it is Godot, for tests of finding and installing (never of running games)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{version}'\n", encoding="utf-8")
    path.chmod(0o755)
    return path
