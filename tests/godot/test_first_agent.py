"""The page "Your first agent", followed literally, and the finished game that it speaks of."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from godojo.bridge.messages import Configure, GameRefused
from godojo.engines.godot import display, prepared_project, run_project
from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import game_scenes, problem_lines
from godojo.processes import finish
from tests.addon_games import FIRST_AGENT, PATIENCE_S, connected, no_actions
from tests.conftest import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(240)]

PAGE = (ROOT / "docs/first-agent.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^Save this as `([\w.]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything has been done that the page says, before its commands."""
    place = tmp_path_factory.mktemp("page")
    shutil.copytree(ROOT / "godot/addons/godojo", place / "first-agent/addons/godojo")
    for name, content in FILES.items():
        (place / name if name == "play.py" else place / "first-agent" / name).write_text(content, encoding="utf-8")
    return place


def test_the_page_has_all_files() -> None:
    assert sorted(FILES) == ["ball_agent.gd", "island.tscn", "main.tscn", "play.py", "project.godot"]


def test_the_agent_of_the_page_is_the_one_of_the_game() -> None:
    assert FILES["ball_agent.gd"] == (ROOT / "godot/games/first_agent/ball_agent.gd").read_text(encoding="utf-8")


def test_the_empty_project_imports_without_a_complaint(engine: Engine, followed: Path) -> None:
    prepared_project(engine, followed / "first-agent", strict=True)


def test_the_game_is_played_by_hand(engine: Engine, followed: Path) -> None:
    words = ["--headless", "--fixed-fps", "60", "--quit-after", "300"]
    done = run_project(engine, words, timeout_s=60, folder=followed / "first-agent", strict=True)
    assert done.code == 0
    assert problem_lines(done.output) == []


def test_python_plays_as_the_page_says(followed: Path) -> None:
    done = subprocess.run([sys.executable, "play.py"], cwd=followed, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^(.+): (\d+) gems in (\d+) rounds$", done.stdout, re.MULTILINE)
    assert [name for name, _, _ in found] == ["random", "straight to the gem"], done.stdout
    (_, random_gems, random_rounds), (_, gems, rounds) = found
    assert int(rounds) > 100
    assert int(gems) / int(rounds) > 0.9
    assert int(random_gems) / max(int(random_rounds), 1) < 0.7


def template() -> str:
    path = ROOT / "godot/addons/godojo/script_templates/DojoAgent/agent.gd"
    return path.read_text(encoding="utf-8").replace("_BASE_", "DojoAgent")


def documented() -> list[str]:
    """The scripts of docs/addon.md; one is only a function of an agent."""
    blocks = (ROOT / "docs/addon.md").read_text(encoding="utf-8").split("```gdscript\n")[1:]
    variables = "extends DojoAgent\n\nvar has_landed := false\nvar fuel := 1.0\nvar hits := 0\n\n\n"
    scripts = [block.split("```")[0] for block in blocks]
    return [script if script.startswith("extends") else variables + script for script in scripts]


@pytest.mark.parametrize("script", [template(), *documented()], ids=["template", "measures", "invariant"])
def test_a_documented_script_has_no_errors(engine: Engine, followed: Path, script: str) -> None:
    (followed / "first-agent/documented.gd").write_text(script, encoding="utf-8")
    words = ["--headless", "--check-only", "--script", "res://documented.gd"]
    done = run_project(engine, words, timeout_s=60, folder=followed / "first-agent")
    assert (done.code, problem_lines(done.output)) == (0, [])


def test_the_finished_game_is_one_of_the_games() -> None:
    assert game_scenes()["first_agent"] == FIRST_AGENT


def test_rounds_of_the_finished_game(tmp_path: Path) -> None:
    with connected(tmp_path / "log", FIRST_AGENT) as (_, connection):
        ready = connection.configure(Configure(4), PATIENCE_S)
        assert ready.winners == ("nobody", "ball")
        assert ready.reward_terms == ("progress", "gem", "fall")
        first = connection.reset(11, PATIENCE_S).roles[0].observation.copy()
        assert len(np.unique(first[:, 0, 0])) == 4, "the islands are alike"
        np.testing.assert_array_equal(connection.reset(11, PATIENCE_S).roles[0].observation, first)
        actions = no_actions(ready)
        # The first island does nothing, the second leaves, the others roll to the gem.
        actions[0][1] = [1, 0]
        ends: dict[int, tuple[int, int, bool, bool]] = {}
        seen = first
        for _ in range(150):
            actions[0][2:] = np.clip(4 * seen[2:, :, 0:2] - 2 * seen[2:, :, 2:4], -1, 1)
            connection.send_actions(actions)
            step = connection.receive_step(PATIENCE_S)
            role = step.roles[0]
            seen = role.observation
            for world, winner, length, arena in step.ended:
                assert arena == -1
                row = list(role.final_rows).index(world)
                if world == 0:
                    assert np.abs(role.final_observation[row] - first[0, 0]).max() < 0.05, "it moved"
                what = (winner, length, bool(role.terminated[world, 0]), bool(role.truncated[world, 0]))
                ends.setdefault(int(world), what)
        assert ends[0] == (0, 600, False, True)
        assert [ends[world][0] for world in (1, 2, 3)] == [0, 1, 1]
        assert all(ends[world][2:] == (True, False) for world in (1, 2, 3))


def test_the_finished_game_plays_up_to_its_limits(tmp_path: Path) -> None:
    with connected(tmp_path / "log", FIRST_AGENT) as (game, connection):
        with pytest.raises(GameRefused, match="number of worlds"):
            connection.configure(Configure(5000), PATIENCE_S)
        assert game.wait() == 1


@pytest.mark.rendering
def test_the_finished_game_plays_in_a_window(engine: Engine) -> None:
    assert engine
    with display("1280x720") as env:
        played = finish([sys.executable, "-m", "godojo", "play", "first_agent"], timeout_s=10, env=env)
    assert played.timed_out, f"the game ended by itself: {played.output}"
    assert problem_lines(played.output) == []
