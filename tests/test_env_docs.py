"""Runs the examples of docs/environments.md as they stand."""

import re
from pathlib import Path

import pytest

from godojo.extras import is_installed
from tests.conftest import ROOT

PAGE = ROOT / "docs/environments.md"
EXAMPLES = re.findall(
    r"^## ([^\n]+)\n.*?```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize(
    ("title", "code"),
    [
        pytest.param(*example, marks=[pytest.mark.engine] if 'engine="godot"' in example[1] else [], id=example[0])
        for example in EXAMPLES
    ],
)
def test_example(
    request: pytest.FixtureRequest, title: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if title == "RLlib" and not is_installed("rllib"):
        pytest.skip("RLlib is not installed: dojo.py install rllib")
    monkeypatch.chdir(tmp_path)
    if 'engine="godot"' in code:
        request.getfixturevalue("engine")
    exec(compile(code, f"{PAGE.name}: {title}", "exec"), {"__name__": "example"})


def test_every_example_was_found() -> None:
    assert len(EXAMPLES) == PAGE.read_text(encoding="utf-8").count("```python") == 9
