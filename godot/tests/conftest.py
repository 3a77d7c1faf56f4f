"""Makes every `func test_...` of every `test_*.gd` here a pytest item that runs in an engine of its own.

`## needs: rendering` in a script's header gives its tests a display, `## deadline: SECONDS` more time than usual.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from godojo.engines.godot import display, find, run_project
from godojo.engines.godot.project import problem_lines
from godojo.errors import GodojoError

PROJECT = Path(__file__).parents[1]
DEADLINE_S = 60.0
_TEST = re.compile(r"^func (test_\w+)\(", re.MULTILINE)
_DEADLINE = re.compile(r"^## deadline: (\d+)", re.MULTILINE)
_NEEDS_RENDERING = re.compile(r"^## needs: rendering$", re.MULTILINE)


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> "GodotTestScript | None":
    if file_path.suffix == ".gd" and file_path.name.startswith("test_"):
        return GodotTestScript.from_parent(parent, path=file_path)
    return None


class GodotTestFailure(Exception):
    """A test in the engine failed; the text is the engine's output."""


class GodotTestScript(pytest.File):
    def collect(self) -> Iterator["GodotTest"]:
        source = self.path.read_text(encoding="utf-8")
        deadline = _DEADLINE.search(source)
        for name in _TEST.findall(source):
            test = GodotTest.from_parent(self, name=name)
            test.deadline_s = float(deadline[1]) if deadline else DEADLINE_S
            test.add_marker("engine")
            test.add_marker(pytest.mark.timeout(test.deadline_s + 60))
            if _NEEDS_RENDERING.search(source):
                test.add_marker("rendering")
            yield test


class GodotTest(pytest.Item):
    deadline_s: float

    def runtest(self) -> None:
        try:
            engine = find()
        except GodojoError as error:
            pytest.skip(str(error))
        words = ["--fixed-fps", "60", "--script", "res://tests/run_test.gd", "--", self.path.name, self.name]
        if self.get_closest_marker("rendering"):
            words = ["--audio-driver", "Dummy", "--resolution", "1280x720", *words]
            with display() as env:
                done = run_project(engine, words, timeout_s=self.deadline_s, env=env, folder=PROJECT, strict=True)
        else:
            done = run_project(engine, ["--headless", *words], timeout_s=self.deadline_s, folder=PROJECT, strict=True)
        if done.timed_out:
            raise GodotTestFailure(f"did not end within {self.deadline_s:.0f} s\n{done.output}")
        if done.code or problem_lines(done.output):
            raise GodotTestFailure(f"exit status {done.code}\n{done.output}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        if isinstance(excinfo.value, GodotTestFailure | GodojoError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name}::{self.name}"
