"""What cannot be played is refused in one line that names what is wrong and what would be right."""

import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import godojo
from godojo.errors import GodojoError
from godojo.games.base import GAMES
from godojo.games.tag.arenas import Arena, Box, SpawnArea, read_arena
from godojo.games.tag.settings import TagSettings

BOTH: tuple[Literal["seeker", "hider"], ...] = ("seeker", "hider")
CORNERS = (SpawnArea((-8.0, 0.0, -8.0), (0.0, 0.0), BOTH), SpawnArea((8.0, 0.0, 8.0), (0.0, 0.0), BOTH))


def arena(*boxes: Box, spawns: tuple[SpawnArea, ...] = CORNERS) -> Arena:
    return Arena(1, "yard", "Yard", (20.0, 20.0), boxes, spawns)


def box(*numbers: float) -> Box:
    x, y, z, wide, high, deep = numbers
    return Box((x, y, z), (wide, high, deep), "tall")


def refused(*words: str, **options: Any) -> None:
    """`make_vec` says no in one line with all these words."""
    with pytest.raises(GodojoError) as caught:
        godojo.make_vec(options.pop("game", "tag"), **options)
    complains(caught, *words)


def complains(caught: "pytest.ExceptionInfo[GodojoError]", *words: str) -> None:
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 1200
    for word in words:
        assert word in said, said


@pytest.mark.parametrize("count", [0, -1])
def test_worlds_there_must_be(count: int) -> None:
    refused("at least one world", str(count), num_worlds=count)


def test_an_unknown_game_or_engine_is_answered_with_the_known_ones() -> None:
    refused("'chess'", "tag", game="chess")
    refused("'unity'", "sim", engine="unity")


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_share_is_from_0_to_1(share: float) -> None:
    refused("generated_share", str(share), generated_share=share)


def test_nothing_is_cut_short_before_it_begins() -> None:
    refused("truncate_after", "-3", truncate_after=-3)


def test_somewhere_it_must_be_played() -> None:
    refused("at least one arena", "generated_share=1", arenas=[])
    godojo.make_vec("tag", arenas=[], generated_share=1.0)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (arena(box(9.8, 1, 0, 1, 2, 1)), ["boxes[0]", "position_m", "outside"]),
        (arena(box(0, 1, -30, 1, 2, 1)), ["boxes[0]", "position_m", "outside"]),
        (arena(box(0, 0.5, 0, 1, 2, 1)), ["boxes[0]", "position_m", "sunk"]),
        (arena(box(0, 1, 0, 1, 2, 0)), ["boxes[0]", "size_m", "0.1"]),
        (arena(box(0, 1, 0, -1, 2, 1)), ["boxes[0]", "size_m", "0.1"]),
        (arena(box(0, 30, 0, 1, 2, 1)), ["boxes[0]", "size_m", "above"]),
        (arena(box(0, 1, 0, 2, 2, 2), box(1, 1, 1, 2, 2, 2)), ["boxes[1]", "overlaps boxes[0]"]),
        (arena(box(8, 1, 8, 1, 2, 1)), ["spawns[1]", "inside boxes[0]"]),
        (arena(spawns=(SpawnArea((0.0, 0.0, 0.0), (0.0, 0.0), ("hider",)),)), ["spawns", "seeker"]),
        (arena(spawns=(SpawnArea((9.8, 0.0, 0.0), (0.0, 0.0), BOTH),)), ["spawns[0]", "no room"]),
        (arena(spawns=(SpawnArea((0.0, 3.0, 0.0), (0.0, 0.0), BOTH),)), ["spawns[0]", "no ground"]),
        (arena(spawns=(SpawnArea((0.0, 0.0, 0.0), (-1.0, 0.0), BOTH),)), ["spawns[0]", "negative"]),
        (arena(spawns=(CORNERS[0], CORNERS[0])), ["spawns[1]", "spawns[0]"]),
    ],
)
def test_an_impossible_arena(bad: Arena, words: list[str]) -> None:
    refused("yard", *words, arenas=[bad])


def test_nobody_begins_with_the_head_in_the_ceiling() -> None:
    tower = box(0, 9.75, 0, 4, 19.5, 4)
    upon = SpawnArea((0.0, 19.5, 0.0), (1.0, 1.0), BOTH)
    refused("yard", "spawns[2]", "ceiling", arenas=[arena(tower, spawns=(*CORNERS, upon))])


@pytest.mark.parametrize(
    ("number", "wrong"), [("boxes", math.nan), ("boxes", math.inf), ("spawns", math.nan), ("size", math.nan)]
)
def test_an_arena_made_in_python_is_made_of_numbers(number: str, wrong: float) -> None:
    """Types are not checked when a structure is made by hand, only when it is read from a file."""
    bad = arena(box(0, 1, 0, 1, 2, 1))
    if number == "boxes":
        bad = arena(box(wrong, 1, 0, 1, 2, 1))
    elif number == "spawns":
        bad = arena(spawns=(SpawnArea((wrong, 0.0, 0.0), (0.0, 0.0), BOTH),))
    else:
        bad = Arena(1, "yard", "Yard", (wrong, 20.0), (), CORNERS)
    refused("yard", arenas=[bad])


def test_more_boxes_than_fit_are_refused_when_made_in_python_too() -> None:
    many = [box(column * 1.1 - 9.0, 1, 0, 1, 2, 1) for column in range(17)]
    refused("yard", "boxes", "16", arenas=[arena(*many)])


def test_bodies_too_large_for_an_arena() -> None:
    large = TagSettings.defaults().override(**{"body.size_m": 1.5})
    refused("spawns[0]", "no room for a body", settings=large)


def test_files_that_are_no_arena(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    for text in (b"", b"{", b"[]", b'{"version": 1}', b'{"version": NaN}', b"[" * 60000, b"\x7b\xff\xfe\x00\xc8\x22"):
        path.write_bytes(text)
        with pytest.raises(GodojoError) as caught:
            read_arena(path)
        complains(caught, "bad.json")
    path.write_bytes(b" " * 70000)
    with pytest.raises(GodojoError, match="longer than"):
        read_arena(path)
    with pytest.raises(GodojoError, match=r"not_there\.json"):
        read_arena(tmp_path / "not_there.json")
    assert GAMES["tag"].places is not None
    places = GAMES["tag"].places(TagSettings.defaults())
    with pytest.raises(GodojoError, match="not a folder"):
        places.read_folder(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(GodojoError, match="no arena"):
        places.find(str(tmp_path / "empty"))
    with pytest.raises(GodojoError, match="there is no arena 'maz'; did you mean maze"):
        places.find("maz")
    with pytest.raises(GodojoError, match="named by its seed"):
        places.find("generated:x")


# Actions.


def test_actions_of_a_wrong_shape() -> None:
    worlds = godojo.make_vec("tag", num_worlds=4)
    for shape in [(4, 1, 2), (3, 1, 3), (4, 3), (4, 2, 3), ()]:
        with pytest.raises(GodojoError) as caught:
            worlds.step({"seeker": np.zeros(shape, np.float32)})
        complains(caught, "seeker", "(4, 1, 3)", str(shape))


def test_actions_of_an_unknown_role() -> None:
    worlds = godojo.make_vec("tag")
    with pytest.raises(GodojoError) as caught:
        worlds.step({"wizard": np.zeros((1, 1, 3))})
    complains(caught, "'wizard'", "seeker, hider")


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_actions_that_are_no_numbers_name_world_and_agent(wrong: float) -> None:
    settings = TagSettings.defaults().override(**{"rules.seekers": 2, "rules.hiders": 3})
    worlds = godojo.make_vec("tag", num_worlds=6, settings=settings)
    ticks = worlds.twin.worlds["ticks"].copy()  # type: ignore[attr-defined]
    worlds.roles["hider"].action[4, 2, 1] = wrong
    with pytest.raises(GodojoError) as caught:
        worlds.step()
    complains(caught, "hider 2", "world 4", "action 1", str(wrong))
    assert (worlds.twin.worlds["ticks"] == ticks).all(), "nothing has moved"  # type: ignore[attr-defined]
    worlds.roles["hider"].action[4, 2, 1] = 0.0
    worlds.step()
    with pytest.raises(GodojoError) as caught:
        worlds.step({"seeker": np.full((6, 2, 3), wrong)})
    complains(caught, "seeker 0", "world 0")


@pytest.mark.parametrize("given", [[[["a", "b", "c"]]], [[[1j, 0, 0]]], [[[None, None, None]]], [[1, 2], [3]]])
def test_actions_of_a_wrong_kind(given: list[Any]) -> None:
    worlds = godojo.make_vec("tag")
    with pytest.raises(GodojoError) as caught:
        worlds.step({"seeker": given})  # type: ignore[dict-item]
    complains(caught, "seeker")


def test_whole_numbers_and_doubles_are_taken() -> None:
    worlds = godojo.make_vec("tag")
    worlds.step({"seeker": np.ones((1, 1, 3), int), "hider": np.ones((1, 1, 3), float)})
    assert (worlds.roles["seeker"].action == 1).all()


# Settings.


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("motion.gravity_mps2", 0.0, ["from 1.0 to 200.0", "not 0.0"]),
        ("motion.gravity_mps2", "strong", ["motion.gravity_mps2"]),
        ("motion.gravity_mps2", None, ["motion.gravity_mps2"]),
        ("motion.gravity_mps2", math.nan, ["motion.gravity_mps2"]),
        ("motion.gravity_mps2", True, ["motion.gravity_mps2"]),
        ("rules.seekers", 0, ["rules.seekers", "from 1"]),
        ("rules.seekers", 1.5, ["rules.seekers"]),
        ("rules.hiders", 8, ["rules.hiders"]),
        ("rules.players", 1, ["rules.players", "from 2"]),
        ("rules.mode", "chess", ["rules.mode"]),
        ("sight.eye_height_m", 0.5, ["sight.eye_height_m", "inside the body"]),
        ("sight.rows", [], ["sight.rows"]),
        ("sight.rows", [{"elevation_deg": 0.0, "columns": 0}], ["sight.rows"]),
        ("sight.rows", [{"elevation_deg": 90.0, "columns": 2}], ["sight.rows"]),
        ("sight.rows", [{"elevation_deg": 0.0, "columns": 300}], ["sight.rows", "256"]),
        ("sight.rows", [{"elevation_deg": 0.0}], ["sight.rows", "columns"]),
        ("motion", 3, ["motion"]),
    ],
)
def test_a_setting_out_of_its_limits(path: str, value: object, words: list[str]) -> None:
    with pytest.raises(GodojoError) as caught:
        TagSettings.defaults().override(**{path: value})
    complains(caught, *words)


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("motion.gravity", "motion.gravity_mps2"),
        ("motion.gravty_mps2", "motion.gravity_mps2"),
        ("gravity_mps2", "motion.gravity_mps2"),
        ("rules.seeker", "rules.seekers"),
        ("rewards.seeker.tags", "rewards.seeker.tag"),
        ("sight.fov", "sight.fov_deg"),
        ("rules.seekers.count", "rules.seekers"),
    ],
)
def test_an_unknown_setting_is_answered_with_the_nearest(path: str, near: str) -> None:
    with pytest.raises(GodojoError) as caught:
        TagSettings.defaults().override(**{path: 1})
    complains(caught, repr(path), near)
    with pytest.raises(GodojoError) as caught:
        TagSettings.defaults().override_texts([f"{path}=1"])
    complains(caught, repr(path), near)


def test_an_override_looks_like_one() -> None:
    with pytest.raises(GodojoError) as caught:
        TagSettings.defaults().override_texts(["motion.gravity_mps2"])
    complains(caught, "motion.gravity_mps2=20")
    changed = TagSettings.defaults().override_texts(["motion.gravity_mps2=20", "rules.mode=classic", "rules.players=3"])
    assert (changed.motion.gravity_mps2, changed.rules.mode, changed.agent_count) == (20.0, "classic", 3)


def test_too_many_agents() -> None:
    with pytest.raises(GodojoError, match=r"rules\.hiders.*8 agents"):
        TagSettings.defaults().override(**{"rules.seekers": 4, "rules.hiders": 5})


def test_settings_that_are_no_settings() -> None:
    for text in ("", "{", "[]", "{}", '{"rules": 3}', '{"motion": {"gravity_mps2": NaN}}'):
        with pytest.raises(GodojoError) as caught:
            TagSettings.from_json(text)
        complains(caught, "settings")


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, "seven", None])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    refused("seed", seed=seed)


@pytest.mark.parametrize("count", [2.5, "many", None])
def test_a_number_of_worlds_is_a_whole_number(count: Any) -> None:
    refused("world", num_worlds=count)


def test_an_unknown_option_is_named() -> None:
    refused("colour", colour="red")


def test_settings_and_arenas_are_of_their_types() -> None:
    refused("settings", settings={"rules": {}})
    refused("arena", arenas=["open"])


def test_more_players_than_an_arena_has_room_for() -> None:
    """Two single points hold two players, not eight; Godot says the same."""
    crowd = TagSettings.defaults().override(**{"rules.seekers": 4, "rules.hiders": 4})
    refused("yard", "no room for 8 bodies", arenas=[arena()], settings=crowd)
    godojo.make_vec("tag", arenas=[arena()])
