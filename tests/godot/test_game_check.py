"""`godojo check` in the real engine: a good game, and copies of it that are broken on purpose."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import godojo
from godojo.cli import app
from tests.conftest import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(200)]


def chase(folder: Path, **changes: str) -> Path:
    """A copy of the game; `changes` are texts of its script and what replaces them."""
    project = shutil.copytree(
        ROOT / "tests/godot_rl_games/arcade", folder / "chase", ignore=shutil.ignore_patterns(".godot")
    )
    script = project / "chase.gd"
    text = script.read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    script.write_text(text, encoding="utf-8")
    return project


def test_a_good_game_is_ready(tmp_path: Path) -> None:
    found = godojo.check(chase(tmp_path), seconds=2)
    assert found.healthy
    assert {one.name: one.state for one in found.findings} == dict.fromkeys(
        ("scripts", "agents", "speed", "observation", "reward", "episodes", "determinism", "actions"), "good"
    ), str(found)


def test_every_fault_of_a_bad_copy_is_found(tmp_path: Path) -> None:
    faults = {
        "speed.x, speed.y": "speed.x, 0.5",
        "reward -= 0.005": "pass",
        "reward += 1.0": "pass",
        'action["move"][1]': "0.0",
        "func begin() -> void:\n": "func begin() -> void:\n\tpush_error('oops')\n",
    }
    done = CliRunner().invoke(app, ["check", str(chase(tmp_path, **faults)), "--seconds", "2", "--json"])
    assert done.exit_code == 1, done.output
    answer = json.loads(done.stdout)
    assert not answer["healthy"]
    wrong = {one["name"]: (one["state"], one["columns"]) for one in answer["findings"] if one["state"] != "good"}
    assert wrong == {
        "scripts": ("bad", []),
        "observation": ("note", ["obs[3]"]),
        "reward": ("bad", []),
        "actions": ("note", ["move[1]"]),
    }


def test_a_number_that_is_not_finite_is_found(tmp_path: Path) -> None:
    found = godojo.check(chase(tmp_path, **{"[way.x,": "[way.x if n_steps < 30 else NAN,"}), seconds=2)
    wrong = found.findings[0]
    assert (wrong.name, wrong.state) == ("numbers", "bad")
    assert "shared_policy 0: obs[0] is not finite" in wrong.detail
    assert "division by zero" in wrong.cure


def test_chance_without_the_seed_is_told(tmp_path: Path) -> None:
    changes = {"func begin() -> void:\n": "func begin() -> void:\n\trandomize()\n"}
    found = godojo.check(chase(tmp_path, **changes), seconds=2)
    (told,) = (one for one in found.findings if one.name == "determinism")
    assert told.state == "note"
    assert "cannot be told" in told.detail
    assert found.healthy
