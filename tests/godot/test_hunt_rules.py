"""Detectors of a hunt in the real engine: walkers, fences, pauses, nodes that are over; and how a person presses."""

import shutil
from collections.abc import Iterator

import numpy as np
import pytest

from godojo.hunt.actions import ActionSpace
from godojo.hunt.game import HuntedGame, Seen, Target, open_game
from tests.conftest import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

PLAYER = "/root/Yard/Player"


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HuntedGame]:
    folder = tmp_path_factory.mktemp("yard") / "project"
    shutil.copytree(ROOT / "tests/walked_project", folder)
    with open_game(Target(project=folder, input_map=True)) as game:
        game.is_quick = True
        yield game


FIELD = """extends Node2D


func _ready() -> void:
	for number in 4:
		var fence := StaticBody2D.new()
		fence.position = Vector2(100, 200 * number) if number < 3 else Vector2(300, 260)
		fence.collision_layer = int(number < 3)
		fence.name = "Fence%d" % number
		var shape := CollisionShape2D.new()
		shape.shape = RectangleShape2D.new()
		shape.shape.size = Vector2(20, 200)
		var look := ColorRect.new()
		look.position = Vector2(-10, -100)
		look.size = Vector2(20, 200)
		fence.add_child(look)
		fence.add_child(shape)
		add_child(fence)


func _physics_process(_delta: float) -> void:
	$Player.velocity = Vector2.RIGHT * 160.0 * Input.get_action_strength("right")
	$Player.move_and_slide()
	if Input.is_action_just_pressed("menu"):
		$Menu.show()
		get_tree().paused = true
"""
"""A fence without a layer, and a menu that is paused with the game."""


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HuntedGame]:
    folder = tmp_path_factory.mktemp("field") / "project"
    shutil.copytree(ROOT / "tests/walked_project", folder)
    (folder / "yard.gd").write_text(FIELD)
    with open_game(Target(project=folder, input_map=True)) as game:
        game.is_quick = True
        yield game


@pytest.mark.parametrize(
    ("pressed", "decisions", "signature"),
    [
        ("right", 20, f"inside_solid|{PLAYER}|it passes through a part of Fence#"),
        ("menu", 30, "pause|/root/Yard/Menu|it came with a pause in which it cannot be used"),
    ],
)
def test_what_is_wrong_in_the_field(field: HuntedGame, pressed: str, decisions: int, signature: str) -> None:
    field.reset(1)
    assert signatures(played(field, 40)) == set(), "nothing is wrong while nothing is done"
    assert signatures(played(field, decisions, **{pressed: 1.0})) == {signature}


def played(game: HuntedGame, count: int, **held: float | tuple[float, float]) -> list[Seen]:
    space = ActionSpace(game.action_parts)
    action = space.neutral.copy()
    for name, value in held.items():
        action[space.find(name)] = value
    return [game.step(action) for _ in range(count)]


def signatures(seen: list[Seen]) -> set[str]:
    return {event.signature for one in seen for event in one.events}


@pytest.mark.parametrize(
    ("pressed", "times", "decisions", "signature"),
    [
        (("jump",), 30, 1, f"out_of_world|{PLAYER}|it jumps in mid-air, and out of the level"),
        (("right",), 1, 80, f"inside_solid|{PLAYER}|it passes through a part of Floor#"),
        (("sink",), 1, 60, f"respawn|{PLAYER}|it is put again to where nobody can stand"),
        (("shed",), 1, 120, "node_leak|nodes of the kind Node#D in Yard come and are never freed"),
        (("stop",), 1, 40, "pause|/root/Yard|it begins paused, and nothing goes on"),
        (("menu", "go"), 1, 40, "pause|/root/Yard/Menu|it paused the game, which goes on behind it"),
        (("drain",), 1, 2, "text|/root/Yard/Energy|its text has #/#"),
    ],
)
def test_what_is_wrong_in_the_yard(
    yard: HuntedGame, pressed: tuple[str, ...], times: int, decisions: int, signature: str
) -> None:
    yard.reset(1)
    assert signatures(played(yard, 40)) == set(), "nothing is wrong while nothing is done"
    found: set[str] = set()
    for name in pressed:
        for _ in range(times):
            found |= signatures([*played(yard, decisions, **{name: 1.0}), *played(yard, 1)])
    assert found == {signature}


def test_one_thing_at_a_time_in_menus(yard: HuntedGame) -> None:
    paused = 6
    yard.reset(1)
    played(yard, 2, menu=1.0)
    played(yard, 1)
    point = yard.ui_points["/root/Yard/Menu"]
    seen = played(yard, 3, pointer=point, click=1.0) + played(yard, 3, pointer=point, click=1.0, go=1.0)
    assert all(one.state[paused] for one in seen), "keys wait while the pointer holds a button"
    assert not played(yard, 2, pointer=point, go=1.0)[-1].state[paused]


def test_explorers_know_what_to_aim_at_and_what_restarts(yard: HuntedGame) -> None:
    first = yard.reset(1)
    seen = played(yard, 3)[-1]
    assert seen.aim is not None
    assert np.allclose(seen.aim, (2 * 864 / 1152 - 1, 2 * 162 / 648 - 1), atol=0.1)
    assert played(yard, 2, stop=1.0)[-1].scenes == first.scenes + 1
