"""Python and Godot agree on what settings there are, and on which settings and arenas can be played."""

import copy
import json
import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import problem_lines, run_project
from godojo.errors import GodojoError
from godojo.games.navigation.settings import Motion
from godojo.games.tag.arenas import generate_arena, hand_made_arenas, read_arena
from godojo.games.tag.settings import Rules, TagSettings, flatten
from godojo.resources import godot_sources
from tests.conftest import ROOT

DEFAULTS = json.loads((godot_sources() / "games/tag/settings.json").read_text("utf-8"))
LIMITS = json.loads((godot_sources() / "games/tag/settings_limits.json").read_text("utf-8"))
NUMBERS = {path: limits for path, limits in LIMITS.items() if path != "rules.mode" and "sight.rows" not in path}


def plain(*boxes: tuple[float, ...], size_m: float = 40.0) -> dict[str, Any]:
    """The fields of `plain_fields` in godot/tests/tag_test.gd."""
    corner, both = size_m / 2 - 1, ["seeker", "hider"]
    return {
        "version": 1,
        "name": "plain",
        "title": "Plain",
        "size_m": [size_m, size_m],
        "boxes": [{"position_m": list(box[:3]), "size_m": list(box[3:]), "kind": "tall"} for box in boxes],
        "spawns": [
            {"position_m": [-corner, 0, -corner], "size_m": [0, 0], "roles": both},
            {"position_m": [corner, 0, corner], "size_m": [0, 0], "roles": both},
        ],
    }


def with_areas(*areas: tuple[float, float, list[str]]) -> dict[str, Any]:
    """The plain arena with spawn areas on the x axis: where, how wide, and for whom."""
    fields = plain()
    fields["spawns"] = [{"position_m": [x, 0, 0], "size_m": [wide, 0], "roles": roles} for x, wide, roles in areas]
    return fields


ONE_BOX = plain((0, 1, 0, 1, 2, 1))
ABSENT = object()


def changed(path: str, value: Any, of: dict[str, Any] = ONE_BOX) -> dict[str, Any]:
    """The arena with one thing changed or, for ABSENT, taken away: `boxes[0].size_m[1]`."""
    fields = copy.deepcopy(of)
    keys = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", path)]
    branch: Any = fields
    for key in keys[:-1]:
        branch = branch[key]
    if value is ABSENT:
        del branch[keys[-1]]
    else:
        branch[keys[-1]] = value
    return fields


def bad_arenas() -> list[tuple[str, dict[str, Any], str]]:
    """A name, the fields, and the key to be named: what godot/tests/test_tag_arena_files.gd refuses."""
    cases: list[tuple[str, dict[str, Any], str]] = []
    wrong: Any
    for key in ("version", "name", "title", "size_m", "boxes", "spawns"):
        cases.append((f"no {key}", changed(key, ABSENT), key))
        for wrong in (None, True, {}, "", 7.5, [1], [[]]):
            cases.append((f"{key} {wrong!r}", changed(key, wrong), key))
    for key in ("boxes[0].position_m", "boxes[0].size_m", "boxes[0].kind"):
        cases.append((f"no {key}", changed(key, ABSENT), key))
    for key in ("spawns[1].position_m", "spawns[1].size_m", "spawns[1].roles"):
        cases.append((f"no {key}", changed(key, ABSENT), key))
    for key in ("colour", "boxes[0].colour", "spawns[0].colour"):
        cases.append((f"unknown {key}", changed(key, "red"), key))
    for key in ("boxes[0].position_m", "spawns[0].position_m"):
        for wrong in (None, "x", [1, 2], [1, 2, "3"], [1, 2, None], [1, 2, []], {}, 3):
            cases.append((f"{key} {wrong!r}", changed(key, wrong), key))
    for key in ("boxes[0].size_m[1]", "size_m[0]", "spawns[0].position_m[2]"):
        for wrong in (1e7, -1e7):
            cases.append((f"{key} {wrong}", changed(key, wrong), key.rpartition("[")[0]))
    for name, box, key in (
        ("outside x", (19.8, 1, 0, 1, 2, 1), "position_m"),
        ("outside z", (0, 1, -30, 1, 2, 1), "position_m"),
        ("sunk", (0, 0.5, 0, 1, 2, 1), "position_m"),
        ("flat", (0, 1, 0, 1, 2, 0), "size_m"),
        ("negative", (0, 1, 0, -1, 2, 1), "size_m"),
        ("thin", (0, 1, 0, 0.09, 2, 1), "size_m"),
        ("above", (0, 30, 0, 1, 2, 1), "size_m"),
    ):
        cases.append((name, plain(box), f"boxes[0].{key}"))
    cases.append(("overlap", plain((0, 1, 0, 2, 2, 2), (1, 1, 1, 2, 2, 2)), "boxes[1].position_m"))
    cases.append(("17 boxes", plain(*[(column * 2.0 - 16.0, 1, 0, 1, 2, 1) for column in range(17)]), "boxes"))
    crowd = [
        {"position_m": [x * 2 - 18, 0, z * 4 - 8], "size_m": [0, 0], "roles": ["seeker", "hider"]}
        for x in range(11)
        for z in range(3)
    ]
    cases.append(("33 spawns", changed("spawns", crowd, plain()), "spawns"))
    cases.append(("too small", plain(size_m=3.9), "size_m"))
    cases.append(("too large", plain(size_m=60.1), "size_m"))
    cases.append(("long name", changed("name", "x" * 41), "name"))
    cases.append(("version 2", changed("version", 2), "version"))
    cases.append(("kind", changed("boxes[0].kind", "soft"), "boxes[0].kind"))
    inside = changed("spawns[0].position_m", [1.2, 0, 0], plain((0, 1, 0, 2, 2, 2)))
    cases.append(("inside", inside, "spawns[0].position_m"))
    cases.append(("no room", changed("spawns[0].position_m", [19.8, 0, 0]), "spawns[0].position_m"))
    cases.append(("floating", changed("spawns[0].position_m", [0, 3, 4]), "spawns[0].position_m"))
    cases.append(("underground", changed("spawns[0].position_m", [0, -1, 4]), "spawns[0].position_m"))
    cases.append(("negative area", changed("spawns[0].size_m", [-1, 0]), "spawns[0].size_m"))
    tower = plain((0, 9.75, 0, 4, 19.5, 4))
    cases.append(("in the ceiling", changed("spawns[0].position_m", [0, 19.5, 0], tower), "spawns[0].position_m"))
    overlapping = plain()
    overlapping["spawns"] = [
        {"position_m": [0, 0, 0], "size_m": [4, 4], "roles": ["hider"]},
        {"position_m": [3, 0, 3], "size_m": [4, 4], "roles": ["seeker"]},
    ]
    cases.append(("areas overlap", overlapping, "spawns[1].position_m"))
    same = plain()
    same["spawns"][1] = same["spawns"][0]
    cases.append(("same area", same, "spawns[1].position_m"))
    lonely = plain()
    for spawn in lonely["spawns"]:
        spawn["roles"] = ["hider"]
    cases.append(("no seekers", lonely, "spawns"))
    both, seeker, hider = ["seeker", "hider"], ["seeker"], ["hider"]
    for areas in (
        [(0.0, 0.0, both)],
        [(0.0, 0.9, both)],
        [(0.0, 0.0, seeker), (0.2, 0.0, hider)],
        [(0.0, 0.0, seeker), (0.9, 0.0, hider)],
        [(0.0, 0.0, seeker), (0.2, 0.0, hider), (-0.2, 0.0, seeker)],
    ):
        cases.append((f"opponents within reach {areas}", with_areas(*areas), "spawns"))
    for name in ("a\nb", "plain\n", "../etc", "\x1b[2J", "a\x85", "Säulen"):
        cases.append((f"name {name!r}", changed("name", name), "name"))
    for title in ("a\nb", "Plain\n", "\x1b[2J", "a\x85", "\u2028", "x" * 41):
        cases.append((f"title {title!r}", changed("title", title), "title"))
    for size in ([[1, 2], 20], [[], 20], [20, {}]):
        cases.append((f"size_m {size}", changed("size_m", size), "size_m"))
    cases.append(("stranger", changed("spawns[0].roles", ["wizard"]), "spawns[0].roles"))
    cases.append(("nobody", changed("spawns[0].roles", []), "spawns[0].roles"))
    return cases


def good_arenas() -> list[tuple[str, dict[str, Any]]]:
    """What both must take, some of it barely."""
    floating = changed("spawns[0].position_m", [0, 2, 0])
    return [
        ("plain", plain()),
        ("a box", ONE_BOX),
        ("smallest", plain(size_m=4.0)),
        ("largest", plain(size_m=60.0)),
        ("on a box", floating),
        ("touching", plain((0, 1, 0, 2, 2, 2), (2, 1, 0, 2, 2, 2))),
        ("stacked", plain((0, 1, 0, 2, 2, 2), (0, 2.5, 0, 2, 1, 2))),
        ("letters", changed("title", "Säulenhof 迷宮")),
        ("a number in the title", changed("title", "Stage 3e100")),
        ("a wide area", with_areas((0.0, 0.95, ["seeker", "hider"]))),
        ("wide enough together", with_areas((0.0, 0.0, ["seeker"]), (0.5, 1.0, ["hider"]))),
        ("one far enough", with_areas((0.0, 0.0, ["seeker"]), (0.2, 0.0, ["hider"]), (9.0, 0.0, ["hider"]))),
        ("to the ceiling", plain((0, 10, 0, 2, 20, 2))),
        ("in the corner", plain((19, 1, -19, 2, 2, 2))),
        ("thinnest", plain((0, 1, 0, 0.1, 2, 0.1))),
        ("whole version", changed("version", 1.0)),
    ]


def bad_settings() -> list[tuple[str, dict[str, Any], str]]:
    """Every limit of every number, crossed by a little; and what is missing, unknown or of a wrong type."""
    cases: list[tuple[str, dict[str, Any], str]] = []
    for path, (least, most) in NUMBERS.items():
        beyond = (least - 1, most + 1) if isinstance(least, int) else (least - 0.01, most + 0.01)
        wrong = (*beyond, "x", None, True, [], [1, 2], {})
        cases += [(f"{path}={value}", with_setting(path, value), path) for value in wrong]
        cases.append((f"no {path}", with_setting(path, ABSENT), path))
    for path, value in (
        ("rules.mode", "chess"),
        ("rules.mode", 1),
        ("rules.seekers", 1.5),
        ("rules.hiders", 8),
        ("rules.colour", 1),
        ("colour", 1),
        ("sight.eye_height_m", 0.45),
        ("sight.rows", []),
        ("sight.rows", [{"elevation_deg": 0.0}]),
        ("sight.rows", [{"elevation_deg": 0.0, "columns": 2, "colour": 1}]),
        ("sight.rows", [{"elevation_deg": 89.5, "columns": 2}]),
        ("sight.rows", [{"elevation_deg": 0.0, "columns": 0}]),
        ("sight.rows", [{"elevation_deg": 0.0, "columns": 257}]),
        ("sight.rows", [{"elevation_deg": 0.0, "columns": 200}, {"elevation_deg": 1.0, "columns": 57}]),
    ):
        cases.append((f"{path}={value}", with_setting(path, value), path))
    return cases


def with_setting(path: str, value: Any) -> dict[str, Any]:
    return changed(path, value, DEFAULTS)


def good_settings() -> list[tuple[str, dict[str, Any]]]:
    """Every limit of every number, reached; those that also depend on others are left out."""
    tied = {"rules.hiders", "rules.seekers", "sight.eye_height_m", "body.size_m"}
    return [
        (f"{path}={value}", with_setting(path, value))
        for path, limits in NUMBERS.items()
        for value in limits
        if path not in tied
    ] + [
        ("whole as 2.0", with_setting("rules.seekers", 2.0)),
        ("a whole gravity", with_setting("motion.gravity_mps2", 20)),
    ]


def complaint_of_python(fields: dict[str, Any], folder: Path) -> str:
    path = folder / "arena.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    try:
        read_arena(path)
    except GodojoError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("name", "fields", "key"), bad_arenas(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_python_refuses_what_godot_refuses(name: str, fields: dict[str, Any], key: str, tmp_path: Path) -> None:
    said = complaint_of_python(fields, tmp_path)
    assert said, name
    assert "\n" not in said
    assert "arena.json" in said
    # `boxes[0].size_m` may also be told as `$.boxes[0].size_m`, `boxes[0]: size_m` or, when missing, as its name alone.
    for part in key.split("."):
        assert re.search(
            re.escape(part).replace(r"\[0\]", r"\[(0|\.\.\.)\]").replace(r"\[1\]", r"\[(1|\.\.\.)\]"), said
        ), said


@pytest.mark.parametrize(("name", "fields"), good_arenas(), ids=lambda value: value if isinstance(value, str) else "")
def test_python_takes_what_can_be_played(name: str, fields: dict[str, Any], tmp_path: Path) -> None:
    assert complaint_of_python(fields, tmp_path) == "", name


@pytest.mark.parametrize(
    ("name", "tree", "key"), bad_settings(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_python_refuses_settings_that_godot_refuses(name: str, tree: dict[str, Any], key: str) -> None:
    with pytest.raises(GodojoError) as caught:
        TagSettings.from_json(json.dumps(tree))
    said = str(caught.value)
    assert key.rpartition(".")[2] in said, (name, said)
    assert "\n" not in said


def test_both_engines_allow_the_same_texts() -> None:
    assert tuple(LIMITS["rules.mode"]) == get_args(get_type_hints(Rules)["mode"])
    limits = json.loads((godot_sources() / "games/navigation/settings_limits.json").read_text("utf-8"))
    assert tuple(limits["motion.turn"]) == get_args(get_type_hints(Motion)["turn"])


@pytest.mark.parametrize(("name", "tree"), good_settings(), ids=lambda value: value if isinstance(value, str) else "")
def test_python_takes_settings_at_their_limits(name: str, tree: dict[str, Any]) -> None:
    assert TagSettings.from_json(json.dumps(tree)), name


def test_every_setting_is_in_both() -> None:
    settings = TagSettings.defaults()
    assert json.loads(settings.to_json()) == DEFAULTS
    assert TagSettings.from_json(settings.to_json()) == settings
    flat = flatten(DEFAULTS)
    assert set(NUMBERS) == set(flat) - {"rules.mode", "sight.rows"}, "every number has its limits"


def test_an_arena_survives_being_written(tmp_path: Path) -> None:
    for arena in (*hand_made_arenas().values(), generate_arena(3)):
        path = tmp_path / "arena.json"
        path.write_bytes(arena.to_json())
        assert read_arena(path) == arena


def test_generated_arenas_are_many_and_the_same_again() -> None:
    arenas = [generate_arena(seed) for seed in range(50)]
    assert len({arena.to_json() for arena in arenas}) == 50
    assert arenas == [generate_arena(seed) for seed in range(50)]
    assert any(box.kind == "low" for arena in arenas for box in arena.boxes)


@pytest.mark.engine
def test_godot_says_the_same(engine: Engine, tmp_path: Path) -> None:
    """One run of the real engine over everything above, and over generated arenas."""
    generated = [generate_arena(seed).to_json().decode() for seed in range(24)]
    bad, good = bad_arenas(), good_arenas()
    wrong, right = bad_settings(), good_settings()
    questions = {
        "arenas": [
            *generated,
            *(json.dumps(fields) for _, fields in good),
            *(json.dumps(fields) for _, fields, _ in bad),
        ],
        "settings": [*(json.dumps(tree) for _, tree in right), *(json.dumps(tree) for _, tree, _ in wrong)],
    }
    asked, told = tmp_path / "questions.json", tmp_path / "answers.json"
    asked.write_text(json.dumps(questions), encoding="utf-8")
    words = ["--headless", "--script", "res://tests/check_arenas.gd", "--", str(asked), str(told)]
    done = run_project(engine, words, timeout_s=60, folder=ROOT / "godot")
    assert (done.code, problem_lines(done.output)) == (0, []), done.output
    answers = json.loads(told.read_text(encoding="utf-8"))
    fine = len(generated) + len(good)
    assert [said for said in answers["arenas"][:fine] if said] == []
    for (name, _, key), said in zip(bad, answers["arenas"][fine:], strict=True):
        assert said.startswith(f"arena: {key}"), (name, said)
    assert [said for said in answers["settings"][: len(right)] if said] == []
    for (name, _, key), said in zip(wrong, answers["settings"][len(right) :], strict=True):
        assert key.rpartition(".")[2] in said, (name, said)
    assert flatten(answers["defaults"]) == flatten(DEFAULTS)
