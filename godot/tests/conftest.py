"""Makes every `func test_...` of every `test_*.gd` here a pytest item.

One engine process runs all selected methods of a script. A method that fails there, or that is never reached, runs
again in a process of its own, and that run decides. The summary lists methods that failed beside others and passed
alone.

`## needs: rendering` in a script's header gives its tests a display, `## deadline: SECONDS` more time than usual.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from threading import Timer
from typing import NamedTuple

import pytest

from godojo.engines.godot import display, find, prepared_project
from godojo.engines.godot.project import problem_lines
from godojo.errors import GodojoError
from godojo.processes import Finished, end, started

PROJECT = Path(__file__).parents[1]
DEADLINE_S = 60.0
"""For each method of a script."""
GRACE_S = 5.0
"""For a method that has already failed: after a script error, a method that awaits never ends."""
PASSED_ALONE = "passed only alone"
_TEST = re.compile(r"^func (test_\w+)\(", re.MULTILINE)
_DEADLINE = re.compile(r"^## deadline: (\d+)", re.MULTILINE)
_NEEDS_RENDERING = re.compile(r"^## needs: rendering$", re.MULTILINE)
_ENDED = re.compile(r"^@@ begins (\w+)\n(.*?)^@@ ends \1 (passed|failed)\n", re.MULTILINE | re.DOTALL)
_UNENDED = re.compile(r"^@@ begins (\w+)\n(.*)", re.MULTILINE | re.DOTALL)


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> "GodotTestScript | None":
    if file_path.suffix == ".gd" and file_path.name.startswith("test_"):
        return GodotTestScript.from_parent(parent, path=file_path)
    return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = terminalreporter.stats.get("passed", [])
    notes = [f"{each.nodeid}: {why}" for each in passed for key, why in each.user_properties if key == PASSED_ALONE]
    if notes:
        terminalreporter.section("failed beside other tests, passed alone")
        terminalreporter.line("\n".join(notes))


class GodotTestFailure(Exception):
    """A test in the engine failed; the text is the engine's output."""


class Outcome(NamedTuple):
    """How a method did in one process."""

    passed: bool
    output: str


class GodotTestScript(pytest.File):
    deadline_s = DEADLINE_S
    needs_rendering = False
    _together: dict[str, Outcome] | None = None

    def collect(self) -> Iterator["GodotTest"]:
        source = self.path.read_text(encoding="utf-8")
        if deadline := _DEADLINE.search(source):
            self.deadline_s = float(deadline[1])
        self.needs_rendering = bool(_NEEDS_RENDERING.search(source))
        for name in _TEST.findall(source):
            test = GodotTest.from_parent(self, name=name)
            test.add_marker("engine")
            test.add_marker(pytest.mark.timeout(0))  # whichever comes first runs them all; each has its deadline there
            if self.needs_rendering:
                test.add_marker("rendering")
            yield test

    def together(self) -> Mapping[str, Outcome]:
        """How the selected methods did in one process; those after a crash or a hang are missing."""
        if self._together is None:
            self._together = self.run([item.name for item in self.session.items if item.parent is self])
        return self._together

    def run(self, methods: Sequence[str]) -> dict[str, Outcome]:
        """Runs methods in one process of the engine."""
        done = self._finish(methods)
        outcomes = {
            name: Outcome(verdict == "passed" and not problem_lines(output), output)
            for name, output, verdict in _ENDED.findall(done.output)
        }
        outside = _ENDED.sub("", done.output)
        ending = f"did not end within {self.deadline_s:.0f} s" if done.timed_out else f"exit status {done.code}"
        if unended := _UNENDED.search(outside):
            outcomes[unended[1]] = Outcome(False, f"{ending}\n{unended[2]}")
        elif done.code not in (0, 1) or problem_lines(outside):  # it may be any method's doing
            outcomes = {name: Outcome(False, f"{ending}\n{outside}") for name in methods}
        return outcomes

    def _finish(self, methods: Sequence[str]) -> Finished:
        engine = find()
        program: list[str | Path] = [engine.program, "--path", prepared_project(engine, PROJECT, strict=True)]
        drawing = ["--audio-driver", "Dummy", "--resolution", "1280x720"] if self.needs_rendering else ["--headless"]
        words = ["--fixed-fps", "60", "--script", "res://tests/run_test.gd", "--", self.path.name, *methods]
        with (
            display() if self.needs_rendering else nullcontext() as env,
            started([*program, *drawing, *words], env=env) as process,
        ):
            assert process.stdout is not None
            output = ""
            timed_out = False

            def stop() -> None:
                nonlocal timed_out
                timed_out = True
                end(process)

            watchdog = Timer(self.deadline_s, stop)
            watchdog.start()
            for line in process.stdout:
                output += line
                is_problem = bool(problem_lines(line))
                if is_problem or line.startswith("@@ "):
                    watchdog.cancel()
                    watchdog = Timer(min(GRACE_S, self.deadline_s) if is_problem else self.deadline_s, stop)
                    watchdog.start()
            process.wait()
            watchdog.cancel()
            watchdog.join()
        return Finished(process.returncode, output, timed_out)


class GodotTest(pytest.Item):
    def runtest(self) -> None:
        script = self.parent
        assert isinstance(script, GodotTestScript)
        try:
            find()
        except GodojoError as error:
            pytest.skip(str(error))
        together = script.together().get(self.name)
        if together is not None and together.passed:
            self.add_report_section("call", "stdout", together.output)
            return
        alone = script.run([self.name])[self.name]
        if not alone.passed:
            raise GodotTestFailure(alone.output)
        if together is not None:
            self.user_properties.append((PASSED_ALONE, together.output))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        if isinstance(excinfo.value, GodotTestFailure | GodojoError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name
