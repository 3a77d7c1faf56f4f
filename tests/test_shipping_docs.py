"""docs/shipping.md names every option, and its programs run."""

import re
from pathlib import Path

import pytest
import typer.main

from godojo.cli import app
from godojo.export.onnx_file import onnx_bytes
from tests.conftest import ROOT
from tests.judged_runs import make_run, small_policy

TEXT = (ROOT / "docs/shipping.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", ["export", "distil"])
def test_every_option_stands_there(verb: str) -> None:
    command = typer.main.get_command(app).commands[verb]  # type: ignore[attr-defined]
    options = {name for parameter in command.params for name in parameter.opts if name.startswith("--")}
    for option in options - {"--help"}:
        assert f"`{option}" in TEXT or f" {option} " in TEXT or f" {option}`" in TEXT, option


def test_its_programs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "runs")
    policy, card = small_policy("seeker", memory="leaky", remembered=((2, 3),))
    (tmp_path / "seeker.onnx").write_bytes(onnx_bytes(policy, card)[0])
    programs = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(programs) == 2
    for program in programs:
        found: dict[str, object] = {}
        exec(program, found)
        assert "action" not in found or getattr(found["action"], "shape", None) == (1, 3)
    assert sorted(path.name for path in (tmp_path / "policies").iterdir()) == ["hider.onnx", "seeker.onnx"]
