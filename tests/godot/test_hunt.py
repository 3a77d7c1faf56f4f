"""Short hunts in the real engine: a planted error is found, proven, shrunk, reproduced and compared between builds."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from godojo.bridge.http import TOKEN_VARIABLE
from godojo.cli import app, main
from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import run_project
from tests.conftest import ROOT
from tests.http_games import started_game
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
    assert bug["minimal_steps"] <= bug["original_steps"]
    assert bug["steps"][0].startswith("start with seed")
    assert {path.name for path in folder.iterdir()} >= {"hunt.json", "report.html", "report.md", "junit.xml"}
    again = CliRunner().invoke(app, ["reproduce", str(folder / f"findings/{bug['number']:03d}")])
    assert again.exit_code == 0, again.output


@pytest.mark.nightly
def test_the_next_build_and_a_resumed_hunt(tmp_path: Path) -> None:
    project, first = planted_island(tmp_path), tmp_path / "first"
    how = ["--no-clips", "--proofs", "2", "--fail-on", "never", "--json"]
    hunt(["--project", str(project), "--minutes", "0.3", "--out", str(first), *how])
    again = hunt(["--resume", str(first), "--minutes", "0.1", "--fail-on", "never", "--json"])
    assert planted(again)[0]["number"] == 1
    assert again["hunt"]["seconds"] > 20
    still = hunt(["--project", str(project), "--minutes", "0.1", "--against", str(first), "--out", f"{first}2", *how])
    assert planted(still)[0]["status"] == "still there"
    script = project / "games/first_agent/ball_agent.gd"
    script.write_text(script.read_text().replace('gem.get_node_or_null("Sparkles").visible = false', "pass"))
    fixed = hunt(["--project", str(project), "--minutes", "0.1", "--against", str(first), "--out", f"{first}3", *how])
    assert not planted(fixed)
    assert any("ball_agent.gd" in one["event"]["signature"] for one in fixed["hunt"]["fixed"])


@pytest.mark.nightly
def test_an_exported_game_with_agents(tmp_path: Path, exporting_engine: Engine) -> None:
    project, binary = planted_island(tmp_path), tmp_path / "build/island.x86_64"
    binary.parent.mkdir()
    (project / "export_presets.cfg").write_bytes((ROOT / "tests/plain_project/export_presets.cfg").read_bytes())
    words = ["--headless", "--export-debug", "Linux", str(binary)]
    assert run_project(exporting_engine, words, timeout_s=200, folder=project).code == 0
    found = hunt(["--binary", str(binary), "--minutes", "0.3", "--out", str(tmp_path / "hunt"), "--no-clips", "--json"])
    assert planted(found)[0]["reproduced"] == planted(found)[0]["replays"]
    assert found["hunt"]["launches"] < 12, "its scene is loaded anew, without another process"


@pytest.mark.nightly
def test_a_godot_rl_game(tmp_path: Path) -> None:
    project = tmp_path / "first"
    shutil.copytree(ROOT / "tests/godot_rl_games/first", project)
    found = hunt(
        ["--project", str(project), "--minutes", "0.2", "--out", str(tmp_path / "hunt"), "--no-clips", "--json"]
    )
    assert found["hunt"]["decisions"] > 100
    assert not found["findings"]


@pytest.mark.nightly
def test_a_game_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rule, folder = tmp_path / "rules.py", tmp_path / "hunt"
    rule.write_text("def far(state): return state['observation'][0] < 0.9 or 'too far'\n")
    with started_game() as game:
        monkeypatch.setenv(TOKEN_VARIABLE, game.token)
        how = ["--http", game.url, "--minutes", "0.1", "--reload-every", "40", "--invariant", f"{rule}:far"]
        found = hunt([*how, "--proofs", "2", "--out", str(folder), "--json"])
        (bug,) = found["findings"]
        assert (bug["event"]["detector"], bug["reproduced"]) == ("invariant", 2)
        assert CliRunner().invoke(app, ["reproduce", str(folder / "findings/001")]).exit_code == 0
        game.process.end()
        with pytest.raises(SystemExit) as ended:
            main(["reproduce", str(folder / "findings/001")])
    assert ended.value.code == 2
    assert "no game answers at" in capsys.readouterr().err


def hunt(words: list[str]) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["hunt", *words])
    assert done.exit_code in (0, 1), done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def planted(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in found["findings"] if "ball_agent.gd" in one["event"]["signature"]]
