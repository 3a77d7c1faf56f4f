"""Hunted games in the real engine: an unmodified project by its input map, one of ours by its agents, an export."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import run_project
from godojo.errors import GodojoError
from godojo.hunt.game import Event, HuntedGame, Seen, Target, open_game
from godojo.processes import is_alive
from tests.conftest import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

INVARIANT = """
[node name="Health" type="Node" parent="."]
script = ExtResource("3")
expression = "health >= 0"
message = "health is negative"
"""


def act(game: HuntedGame, **wanted: object) -> np.ndarray:
    """An action with these parts, and nothing else pressed."""
    numbers: list[object] = []
    for part in game.action_parts:
        value = wanted.get(part.name, [0.0] * part.size if part.kind == "continuous" else 0)
        numbers += value if isinstance(value, list) else [value]
    return np.array(numbers, np.float32)


def play(game: HuntedGame, count: int, **wanted: object) -> Seen:
    """The last that is seen, with all events on the way."""
    events: list[Event] = []
    for _ in range(count):
        seen = game.step(act(game, **wanted))
        events += seen.events
        if game.is_lost:
            break
    return seen._replace(events=tuple(events))


def random_states(game: HuntedGame, seed: int, count: int) -> list[bytes]:
    """The states of random play."""
    states, chance = [game.reset(seed).state.tobytes()], np.random.default_rng(seed)
    for _ in range(count):
        action = [
            number
            for part in game.action_parts
            for number in (
                chance.uniform(-1, 1, part.size) if part.kind == "continuous" else [chance.integers(part.size)]
            )
        ]
        states.append(game.step(np.array(action)).state.tobytes())
    return states


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ordinary project without any addon, and a scene in which everything can go wrong, with an invariant."""
    folder = tmp_path_factory.mktemp("plain") / "project"
    shutil.copytree(ROOT / "tests/plain_project", folder)
    scene = (folder / "lab.tscn").read_text()
    script = '[ext_resource type="Script" path="res://addons/godojo/hunt/dojo_invariant.gd" id="3"]\n'
    (folder / "lab.tscn").write_text(scene.replace("\n[sub_resource", f"{script}\n[sub_resource", 1) + INVARIANT)
    return folder


@pytest.fixture(scope="module")
def lab(plain: Path) -> Iterator[HuntedGame]:
    target = Target(project=plain, scene="res://lab.tscn", input_map=True)
    with open_game(target, timeout_s=4.0) as game:
        yield game


def test_an_unmodified_project_is_played_by_its_input_map(plain: Path) -> None:
    before = sorted(path.name for path in plain.iterdir() if path.name != ".godot")
    with open_game(Target(project=plain, input_map=True)) as game:
        names = [part.name for part in game.action_parts]
        assert {"pointer", "click", "left", "right", "jump", "ui_accept"} <= set(names)
        assert "quit_game" not in names, "what would only end the game is left out"
        seen = game.reset(1)
        assert seen.ui == ("/root/Menu/Start", "/root/Menu/Credits")
        idle = list(game.ui_points["/root/Menu/Credits"])
        play(game, 1, pointer=idle)
        play(game, 1, pointer=idle, click=1)
        dead = play(game, 12, pointer=idle).events
        assert [one.signature for one in dead] == ["dead_ui|/root/Menu/Credits|does nothing"]
        start = list(game.ui_points["/root/Menu/Start"])
        play(game, 1, pointer=start)
        play(game, 1, pointer=start, click=1)
        seen = play(game, 3, pointer=start)
        assert (seen.ui, seen.events) == ((), ()), "the level has begun"
        first = seen.position
        seen = play(game, 10, right=1)
        assert seen.position[0] > first[0] + 50, "a key moves the player"
        fallen = play(game, 120, right=1).events
        assert [one.detector for one in fallen] == ["out_of_world"]
        again = game.reset(1)
        assert again.ui == ("/root/Menu/Start", "/root/Menu/Credits")
        assert game.starts == 1, "the scene is loaded anew in the same process"
        pid = game.session.pid
    assert not is_alive(pid)
    after = sorted(path.name for path in plain.iterdir() if path.name != ".godot" and path.suffix != ".uid")
    assert before == after, "nothing but the engine's own import is written"


@pytest.mark.parametrize(
    ("action", "detectors", "is_lost"),
    [
        ("fail", ["script_error"], False),
        ("not_a_number", ["nan"], False),
        ("bury", ["inside_solid"], False),
        ("leak", ["node_leak"], False),
        ("orphan", ["orphans"], False),
        ("slow", ["frame_budget"], False),
        ("hurt", ["invariant"], False),
        ("alert", [], False),
        ("leave", ["exit"], True),
        ("crash", ["crash", "script_error"], True),
        ("freeze", ["freeze"], True),
    ],
)
def test_what_goes_wrong_is_seen(lab: HuntedGame, action: str, detectors: list[str], is_lost: bool) -> None:
    lab.reset(1)
    assert play(lab, 65).events == ()
    seen = play(lab, 250 if action == "leak" else 20, **{action: 1})
    assert list(dict.fromkeys(one.detector for one in seen.events)) == detectors
    assert (lab.is_lost, seen.ended) == (is_lost, is_lost)
    if action == "freeze":
        assert "_spin (res://lab.gd:" in seen.events[0].message
        assert "_physics_process" in seen.events[0].signature
    if action == "crash":
        assert seen.events[0].signature == "crash|res://lab.gd:10|crash"
    if action == "hurt":
        assert seen.events[0].signature == "invariant|/root/Lab/Health|health is negative"


MAZE = """extends Node2D
var health: int = 1

func _ready() -> void:
	while randi() % 2 == 0:
		while true:
			pass
"""


def test_a_freeze_at_the_start_is_an_event(plain: Path) -> None:
    (plain / "maze.gd").write_text(MAZE)
    scene = (plain / "lab.tscn").read_text().replace("res://lab.gd", "res://maze.gd")
    (plain / "maze.tscn").write_text(scene)
    with open_game(Target(project=plain, scene="res://maze.tscn", input_map=True), timeout_s=2.0) as game:
        frozen: dict[bool, int] = {}
        for seed in range(1, 7):
            seen = game.reset(seed)
            assert game.is_lost == bool(seen.events)
            assert {one.detector for one in seen.events} <= {"freeze"}
            assert all("_ready (res://maze.gd:" in one.message for one in seen.events)
            frozen.setdefault(game.is_lost, seed)
            if len(frozen) == 2:
                break
        for is_lost, seed in frozen.items():
            game.reset(seed)
            assert game.is_lost == is_lost, "the seed decides"
        assert set(frozen) == {True, False}


def test_a_flood_is_bounded(lab: HuntedGame) -> None:
    lab.reset(1)
    seen = play(lab, 1, flood=1)
    assert {one.signature for one in seen.events if one.detector != "freeze"} == {
        "script_error|res://lab.gd:22|flood number #"
    }
    assert len(lab.log) <= 2000


def test_a_game_with_agents_plays_the_same_again(tmp_path: Path) -> None:
    rule = tmp_path / "rules.py"
    rule.write_text("def low(state): return state['position'][1] < 100\n")
    states = []
    for _ in range(2):
        with open_game(Target(game="first_agent", invariants=(f"{rule}:low",))) as game:
            assert [(part.name, part.width) for part in game.action_parts] == [("push", 2)]
            states += [random_states(game, 7, 60), random_states(game, 8, 10), random_states(game, 7, 60)]
            assert len(game.reset(7).state) == len(game.state_names)
    assert states[0] == states[2] == states[3] == states[5]
    assert states[1][0] != states[0][0]


def test_what_cannot_be_hunted_is_said_in_a_line(plain: Path, tmp_path: Path) -> None:
    with pytest.raises(GodojoError, match="has no agents: play it by its input actions"):
        open_game(Target(project=plain))
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/project.godot").write_text("config_version=5\n")
    with pytest.raises(GodojoError, match="has no main scene: set one"):
        open_game(Target(project=tmp_path / "bare", input_map=True))
    with pytest.raises(GodojoError, match="quits at once"):
        open_game(Target(project=plain, scene="res://brief.tscn", input_map=True))
    (tmp_path / "deaf").mkdir()
    (tmp_path / "deaf/project.godot").write_text('config_version=5\n[application]\nrun/main_scene="res://a.tscn"\n')
    (tmp_path / "deaf/a.tscn").write_text('[gd_scene format=3]\n\n[node name="A" type="Node"]\n')
    with pytest.raises(GodojoError, match="has no input actions"):
        open_game(Target(project=tmp_path / "deaf", input_map=True))


@pytest.mark.slow
def test_an_exported_game(plain: Path, tmp_path: Path, exporting_engine: Engine) -> None:
    binary = tmp_path / "plain.x86_64"
    words = ["--headless", "--export-release", "Linux", os.fspath(binary)]
    assert run_project(exporting_engine, words, timeout_s=100, folder=plain).code == 0
    with open_game(Target(binary=binary, input_map=True)) as game:
        assert game.reset(0).ui == ("/root/Menu/Start", "/root/Menu/Credits")
        play(game, 1, ui_accept=1)
        assert play(game, 4).ui == ()
        assert [one.detector for one in play(game, 120, right=1).events] == ["out_of_world"]
    assert list(tmp_path.iterdir()) == [binary], "nothing is written beside the game"
