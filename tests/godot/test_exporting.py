"""The page "Exporting a game", followed literally: exported, started, played and trained in."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import godojo
from godojo.engines.godot.project import problem_lines
from godojo.engines.godot.worlds import GodotWorlds
from godojo.processes import finish
from tests.conftest import ROOT, Run

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(400)]

PAGE = (ROOT / "docs/exporting.md").read_text(encoding="utf-8")
FIRST_AGENT = (ROOT / "docs/first-agent.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^Save this as `([\w.]+)`:\n\n```\w+\n(.*?)^```$", FIRST_AGENT, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory, exporting_home: Path) -> Path:
    """The folder in which the page's commands have been given, up to playing the game."""
    place = tmp_path_factory.mktemp("page")
    shutil.copytree(ROOT / "godot/addons/godojo", place / "first-agent/addons/godojo")
    for name, content in FILES.items():
        (place / "first-agent" / name).write_text(content, encoding="utf-8")
    preset = re.search(r"^```ini\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert preset is not None
    (place / "first-agent/export_presets.cfg").write_text(preset[1], encoding="utf-8")
    (place / "build").mkdir()
    words = re.search(r"^python3 dojo\.py (engine run .*--export-release.*)$", PAGE, re.MULTILINE)
    assert words is not None
    env = {**os.environ, "GODOJO_HOME": str(exporting_home), "GODOT_BIN": "", "HOME": str(place / "home")}
    (place / "home").mkdir()
    done = finish(["env", "-C", place, sys.executable, "-m", "godojo", *words[1].split()], timeout_s=200, env=env)
    assert (done.code, problem_lines(done.output)) == (0, []), done.output
    assert not list((place / "home").rglob("export_templates")), "the user's home was written to"
    return place


def test_the_game_starts_by_itself(followed: Path) -> None:
    game = followed / "build/gems.x86_64"
    assert list(game.parent.iterdir()) == [game], "the pack is embedded"
    done = finish([game, "--headless", "--fixed-fps", "60", "--quit-after", "60"], timeout_s=60)
    assert (done.code, problem_lines(done.output)) == (0, []), done.output


def test_it_plays_the_same_rounds_as_the_project(followed: Path) -> None:
    def first_rounds(worlds: GodotWorlds) -> list[object]:
        with worlds:
            ball, seen = worlds.roles["ball"], []
            assert worlds.reward_terms == ("progress", "gem", "fall")
            for _ in range(20):
                ball.action[...] = 0.5
                worlds.step()
                seen += [ball.observation.tolist(), ball.reward.tolist()]
        return seen

    exported = first_rounds(godojo.open_game(binary=followed / "build/gems.x86_64", num_worlds=2, seed=3))
    assert exported == first_rounds(godojo.open_game(followed / "first-agent", num_worlds=2, seed=3))


def test_the_code_of_the_page_steps_it(followed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(followed)
    program = re.search(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert program is not None
    exec(compile(program[1], "docs/exporting.md", "exec"), {})


def test_it_can_be_trained_in(followed: Path, godojo: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(followed)
    words = re.search(r"^python3 dojo\.py (train --binary .*) --minutes 1$", PAGE, re.MULTILINE)
    assert words is not None
    done = godojo(
        *words[1].split(), "--steps", "64", "--processes", "1", "--set", "n_steps=16", "--judge", "0", timeout_s=300
    )
    assert done.returncode == 0, done.stderr
    assert list(followed.glob("runs/*/policy_ball.pt"))


def test_without_its_engine_it_says_what_to_do(followed: Path, exporting_home: Path, tmp_path: Path) -> None:
    """The same game with its loader's path changed, as on another machine."""
    content = (followed / "build/gems.x86_64").read_bytes()
    loader = str(exporting_home / "engine/current").encode()
    if loader not in content:
        pytest.skip("official templates need no engine")
    game = tmp_path / "gems.x86_64"
    game.write_bytes(content.replace(loader, loader[:-1] + b"_"))
    game.chmod(0o755)
    with pytest.raises(Exception, match=r"cannot start on this machine.*docs/exporting\.md"):
        godojo.open_game(binary=game)
