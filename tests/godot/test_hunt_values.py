"""What a hunt reads in an ordinary game's scripts, in the real engine: variables, branches, signals, autoloads."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.planted_bugs.bugs import Edit, patched_copy
from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive
from godojo.hunt.features import BRANCH
from godojo.hunt.game import HuntedGame, Seen, Target, open_game
from godojo.hunt.team import EXPLORERS
from tests.conftest import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

SHOP = ROOT / "benchmarks/planted_bugs/coin_shop"
COIN = '[node name="Coin1" type="Area2D" parent="Coins"]'
OPEN = '	$Options.pressed.connect(_open.bind("res://options.tscn"))'
EDITS = [
    Edit("wallet.gd", "	if coins < price:", "	if coins < 0:"),
    Edit("wallet.gd", "coins: int = 10", "coins: int\n\n\nfunc _ready() -> void:\n	coins = 10\n\n"),
    Edit("shop.gd", '"%s. %d coins', '"<null> %s. %d coins'),
    Edit("level.tscn", COIN, f"{COIN}\ncollision_mask = 8"),
    Edit("level.gd", "func _leave(", "func _on_door_opened() -> void:\n	_left = 0\n\n\nfunc _leave("),
    Edit("menu.gd", OPEN, "	$Options.pressed.connect(_open_options)"),
    Edit("menu.gd", "func _open(", "func _open_options() -> void:\n	pass\n\n\nfunc _open("),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HuntedGame]:
    project = patched_copy(tmp_path_factory.mktemp("shop") / "project", SHOP, EDITS)
    with open_game(Target(project=project, input_map=True)) as game:
        yield game


def click(game: HuntedGame, path: str, wait: int = 3) -> list[Seen]:
    space = ActionSpace(game.action_parts)
    pointer, button = space.find("pointer"), space.find("click")
    up = space.neutral.copy()
    up[pointer] = game.ui_points[path]
    down = up.copy()
    down[button] = 1.0
    return [game.step(action) for action in (up, down, *[up] * wait)]


def signatures(seen: list[Seen]) -> set[str]:
    return {event.signature for one in seen for event in one.events}


def test_values_that_cannot_be_meant(shop: HuntedGame) -> None:
    first = shop.reset(1)
    assert ("/root/Wallet/:coins", 2 * 6) in first.features
    assert not {one[0] for one in first.features}.isdisjoint({BRANCH})
    assert signatures([first]) == set()
    seen = click(shop, "/root/Menu/Shop")
    assert signatures(seen) == {"text|/root/Shop/Text|its text has <null>"}
    seen = [one for _ in range(3) for one in click(shop, "/root/Shop/Boots")]
    assert signatures(seen) == {"economy|/root/Wallet|coins is less than #"}
    assert shop.session.report.values[shop.session.report.variables.index("/root/Wallet:coins")] == -2


def test_a_button_whose_method_does_nothing(shop: HuntedGame) -> None:
    shop.reset(1)
    assert signatures(click(shop, "/root/Menu/Options", 14)) == {"dead_ui|/root/Menu/Options|does nothing"}


def test_an_area_and_a_method_that_nobody_calls(shop: HuntedGame) -> None:
    shop.reset(1)
    click(shop, "/root/Menu/Play")
    right = ActionSpace(shop.action_parts).neutral.copy()
    right[ActionSpace(shop.action_parts).find("right")] = 1.0
    found = signatures([shop.step(right) for _ in range(30)])
    assert found == {
        "dead_area|/root/Level/Coins/Coin|it does not notice Player",
        "dropped_signal|/root/Level|no signal is connected to _on_door_opened",
    }


def test_a_quick_reset_plays_what_a_new_process_plays(shop: HuntedGame) -> None:
    played: dict[int, list[np.ndarray]] = {}
    states: dict[int, list[bytes]] = {}
    for is_quick in (True, False):
        shop.is_quick = is_quick
        for number, name in enumerate(("ui", "sticky", "ui")):
            seen = shop.reset(number)
            if is_quick:
                explorer = EXPLORERS[name](ActionSpace(shop.action_parts), Archive(), np.random.default_rng(number))
                explorer.begin(shop)
                played[number] = []
            told = [seen.state.tobytes()]
            for place in range(150):
                if is_quick:
                    played[number].append(explorer.choose(seen))
                seen = shop.step(played[number][place])
                told.append(seen.state.tobytes())
            starts = shop.starts
            assert states.setdefault(number, told) == told
        assert shop.starts == starts
    shop.is_quick = True
    starts = shop.starts
    shop.reset(1)
    assert shop.starts == starts, "no new process"
    shop.is_quick = False
    shop.reset(2)
    assert shop.starts > starts


VOLUME = """[node name="Volume" type="HSlider" parent="."]
offset_left = 40.0
offset_top = 200.0
offset_right = 240.0
offset_bottom = 230.0
editable = false

[node name="Back" type="Button" parent="."]"""


@pytest.mark.parametrize("is_locked", [True, False])
def test_a_setting_that_can_never_be_used(tmp_path: Path, is_locked: bool) -> None:
    """A slider that a switch should enable."""
    edits = [Edit("options.tscn", '[node name="Back" type="Button" parent="."]', VOLUME)]
    if not is_locked:
        loud = "	Wallet.is_loud = is_on\n"
        edits.append(Edit("options.gd", loud, f"{loud}	$Volume.editable = is_on\n"))
    project = patched_copy(tmp_path / "project", SHOP, edits)
    with open_game(Target(project=project, input_map=True)) as game:
        game.reset(1)
        found = signatures(click(game, "/root/Menu/Options"))
        for _ in range(3):
            found |= signatures(click(game, "/root/Options/Sound"))
    assert found == ({"dead_ui|/root/Options/Volume|it can never be used"} if is_locked else set())


MUSIC_ON = "	Wallet.has_music = is_on"
KEPT = """
func _ready() -> void:
	var file := ConfigFile.new()
	file.load("user://options.cfg")
	is_loud = file.get_value("sound", "is_loud", true)
	has_music = file.get_value("sound", "has_music", true)


func keep() -> void:
	var file := ConfigFile.new()
	file.set_value("sound", "is_loud", is_loud)
	file.save("user://options.cfg")


func earn("""
MUSIC = """[node name="Music" type="CheckButton" parent="."]
offset_left = 40.0
offset_top = 120.0
offset_right = 240.0
offset_bottom = 160.0

[node name="Back" type="Button" parent="."]"""


def test_a_setting_that_is_not_saved(tmp_path: Path) -> None:
    loud = "	Wallet.is_loud = is_on\n"
    edits = [
        Edit("wallet.gd", "var is_loud: bool = true\n", "var is_loud: bool = true\nvar has_music: bool = true\n"),
        Edit("wallet.gd", "\nfunc earn(", KEPT),
        Edit("options.tscn", '[node name="Back" type="Button" parent="."]', MUSIC),
        Edit("options.gd", loud, f"{loud}	Wallet.keep()\n"),
        Edit("options.gd", "	$Back.pressed", "	$Music.button_pressed = Wallet.has_music\n	$Back.pressed"),
        Edit("options.gd", "	$Back.grab", "	$Music.toggled.connect(_set_music)\n	$Back.grab"),
        Edit("options.gd", "func _set_loud", f"func _set_music(is_on: bool) -> void:\n{MUSIC_ON}\n\n\nfunc _set_loud"),
    ]
    project = patched_copy(tmp_path / "project", SHOP, edits)
    with open_game(Target(project=project, input_map=True)) as game:
        game.reset(1)
        for name in ("Menu/Options", "Options/Sound", "Options/Music", "Options/Back", "Menu/Options"):
            assert signatures(click(game, f"/root/{name}")) == set(), "it is kept while the game runs"
        assert game.settings_left == {"/root/Options/Sound", "/root/Options/Music"}
        game.restart(1)
        found = signatures(click(game, "/root/Menu/Options"))
        assert found == {"dead_ui|/root/Options/Music|its setting is not kept after a restart"}
        game.reset(1)
        assert signatures(click(game, "/root/Menu/Options")) == set(), "without the data there is nothing to keep"
