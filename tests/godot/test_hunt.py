"""A short hunt in the real engine: a planted script error is found, proven, shrunk and reproduced."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from godojo.cli import app
from tests.hunted_projects import planted_island

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(240)]


def test_a_planted_error_is_found_and_reproduced(tmp_path: Path) -> None:
    project, folder = planted_island(tmp_path), tmp_path / "hunt"
    words = ["--minutes", "0.1", "--no-clips", "--proofs", "2", "--json", "--out", str(folder)]
    done = CliRunner().invoke(app, ["hunt", "--project", str(project), *words])
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)["findings"]
    (bug,) = [one for one in found if "ball_agent.gd" in one["event"]["signature"]]
    assert bug["event"]["detector"] == "script_error"
    assert bug["replays"] == bug["reproduced"] == 2
    assert bug["minimal_actions"] <= bug["original_actions"]
    assert {path.name for path in folder.iterdir()} >= {"hunt.json", "report.html", "report.md", "junit.xml"}
    again = CliRunner().invoke(app, ["reproduce", str(folder / f"findings/{bug['number']:03d}")])
    assert again.exit_code == 0, again.output
