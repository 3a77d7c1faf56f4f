"""Detectors of a hunt in the real engine: solids, goals, leaks by kind, panels in 3D, settings, menus of their own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.planted_bugs.bugs import Edit, patched_copy
from godojo.hunt.game import Event, HuntedGame, Target, open_game
from tests.conftest import ROOT
from tests.doc_pages import blocks

FIRST_ELEMENT = 11 + 5
"""Where the menu's observation has the way to its first element."""

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HuntedGame]:
    folder = tmp_path_factory.mktemp("hall") / "project"
    shutil.copytree(ROOT / "tests/found_project", folder)
    (program,) = [one.text for one in blocks(ROOT / "docs/hunt-detectors.md") if one.language == "gdscript"]
    (folder / "menu.gd").write_text(f"extends Node\n\nvar presses: int = 0\n\n\n{program}")
    with open_game(Target(project=folder, input_map=True)) as game:
        yield game


def played(game: HuntedGame, count: int, **held: float | tuple[float, float]) -> list[Event]:
    """The events of so many decisions with these parts of the action held."""
    numbers: list[float] = []
    for part in game.action_parts:
        value = held.get(part.name, (0.0,) * part.width)
        numbers += [value] if isinstance(value, (int, float)) else list(value)
    return [one for _ in range(count) for one in game.step(np.array(numbers, np.float32)).events]


@pytest.mark.parametrize(
    ("action", "decisions", "signature"),
    [
        ("ghost", 30, "inside_solid|/root/Hall/Hero|it is inside of Ghost"),
        ("layer", 30, "inside_solid|/root/Hall/Hero|it is inside of Layer"),
        ("tunnel", 20, "inside_solid|/root/Hall/Hero|it passes through Wall"),
        ("far_goal", 20, "unreachable|/root/Hall/Coin|it is beside the level"),
        ("shed", 300, "node_leak|nodes of the kind Node#D in Hall come and are never freed"),
        ("forget", 4, "dead_ui|/root/Hall/Options/Sound|its setting is not kept"),
    ],
)
def test_what_is_wrong_in_the_hall(hall: HuntedGame, action: str, decisions: int, signature: str) -> None:
    hall.reset(1)
    assert not played(hall, 40), "nothing is wrong while nothing is done"
    assert signature in [one.signature for one in played(hall, decisions, **{action: 1.0})]


def test_the_menu_of_the_page(hall: HuntedGame) -> None:
    assert "/root/Hall/PageMenu:sound" in hall.reset(1).ui
    played(hall, 4)
    found = played(hall, 3, use_menu=1.0) + played(hall, 3) + played(hall, 3, use_menu=1.0) + played(hall, 3)
    assert [one.signature for one in found] == ["dead_ui|/root/Hall/PageMenu|sound does nothing"]


@pytest.mark.parametrize(("part", "said"), [("key_k", "key K"), ("right_click", "right button"), ("stick", "stick")])
def test_input_that_scripts_ask_for_by_name(hall: HuntedGame, part: str, said: str) -> None:
    hall.reset(1)
    assert [one.message.endswith(said) for one in played(hall, 4, **{part: 1.0})] == [True]
    assert not played(hall, 4), "it is released"


def test_a_panel_that_nobody_listens_to(hall: HuntedGame) -> None:
    seen = hall.reset(1)
    assert {f"/root/Hall/{name}" for name in ("One", "Two", "Dead")} <= set(seen.ui), "what can be clicked in the scene"
    found: list[str] = []
    for name in ("One", "Dead"):
        point = hall.ui_points[f"/root/Hall/{name}"]
        played(hall, 2, pointer=point)
        played(hall, 2, pointer=point, click=1.0)
        found += [one.signature for one in played(hall, 14, pointer=point)]
    assert found == ["dead_ui|/root/Hall/Dead|does nothing"]


@pytest.mark.parametrize("is_dead", [True, False])
def test_a_menu_that_is_not_made_of_controls(tmp_path: Path, is_dead: bool) -> None:
    """Our settings menu; where it is broken, its buttons lead nowhere."""
    edit = Edit("games/menu/menu_model.gd", "\t\t\t_show(element.target)", "\t\t\tpass")
    project = patched_copy(tmp_path / "project", ROOT / "godot", [edit] if is_dead else [])
    with open_game(Target(game="menu", project=project)) as game:
        seen = game.reset(3)
        assert any(path.endswith(":audio") for path in seen.ui)
        found: list[Event] = []
        for step in range(60):
            way = seen.observation[FIRST_ELEMENT : FIRST_ELEMENT + 2]  # from the pointer to the first button
            turn = tuple(np.clip(8.0 * way, -1.0, 1.0).tolist())
            pulls = step % 4 == 0 and np.abs(way).max() < 0.05
            seen = game.step(np.array([*turn, pulls, 0.0], np.float32))
            found += seen.events
            if any(path.endswith(":master") for path in seen.ui):
                break
    assert [one.signature.split("|")[-1] for one in found] == (["audio does nothing"] if is_dead else [])
