"""Snapshots of scenes are files from outside: what is wrong with one is said in a line. And the gate's arithmetic."""

import copy
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from godojo.engines.base import RoleArrays
from godojo.engines.godot.game_source import GameSource
from godojo.errors import GodojoError
from godojo.games.parts import ActionPart
from godojo.training.args import TrainArgs
from godojo.training.twins import uses_twin
from godojo.twin.gate import Recording, compare, random_actions, table
from godojo.twin.scene.snapshot import Snapshot, read_snapshot, snapshot_bytes, snapshot_of, write_snapshot

FOLDER = Path(__file__).parent / "twin_snapshots"


@pytest.fixture(scope="module")
def driving() -> Snapshot:
    return read_snapshot(FOLDER / "driving.json")


@pytest.mark.parametrize("name", ["driving", "jumper", "climber"])
def test_a_snapshot_is_read_and_written_without_a_change(name: str) -> None:
    path = FOLDER / f"{name}.json"
    assert snapshot_bytes(read_snapshot(path)) == path.read_bytes()


def test_numbers_that_json_lacks_are_kept(driving: Snapshot, tmp_path: Path) -> None:
    odd = copy.deepcopy(driving)
    odd.nodes[-1].members["least"] = ["float", math.inf]
    odd.nodes[-1].members["place"] = ["Vector3", [-math.inf, math.nan, 0.1]]
    write_snapshot(tmp_path / "odd.json", odd)
    members = read_snapshot(tmp_path / "odd.json").nodes[-1].members
    assert members["least"] == ["float", math.inf]
    assert str(members["place"]) == "['Vector3', [-inf, nan, 0.1]]"


def test_a_missing_and_a_damaged_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(GodojoError, match="there is no snapshot"):
        read_snapshot(tmp_path / "none.json")
    text = (FOLDER / "driving.json").read_bytes()
    (tmp_path / "cut.json").write_bytes(text.replace(b'"copies":', b'"copied":'))
    with pytest.raises(GodojoError, match="damaged or was edited"):
        read_snapshot(tmp_path / "cut.json")


def _set(tree: Any, path: str, value: Any) -> None:
    *folders, last = [int(part) if part.isdecimal() else part for part in path.split("/")]
    for part in folders:
        tree = tree[part]
    tree[last] = value


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("nodes/3/parent", 7, "tree order"),
        ("nodes/3/index", 2, "tree order"),
        ("nodes/3/script", "res://none.gd", "is not listed"),
        ("nodes/3/members/angle", ["float", "much"], "no value of the kind 'float'"),
        ("nodes/3/members/angle", ["Vector3", [1.0, 2.0]], "no value of the kind 'Vector3'"),
        ("nodes/3/members/angle", ["node", 99999], "no value of the kind 'node'"),
        ("nodes/3/members/angle", ["resource", -1], "no value of the kind 'resource'"),
        ("nodes/3/members/angle", ["int", 2**63], "no value of the kind 'int'"),
        ("nodes/3/members/angle", ["Dictionary", [[["null"]]]], "no value of the kind 'Dictionary'"),
        ("nodes/3/members/angle", [], "is no value"),
        ("agents/0/node", 99999, "an agent does not exist"),
        ("bodies", [99999], "a body does not exist"),
        ("action_repeat", 0, "from 1 on"),
        ("wire", "smoke", "Invalid enum value"),
        ("scripts/res:~~driving.gd/base", "res://driving.gd", "its own base"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(driving: Snapshot, path: str, value: Any, reason: str) -> None:
    tree = msgspec.to_builtins(driving)
    tree["scripts"] = {name.replace("/", "~"): script for name, script in tree["scripts"].items()}
    _set(tree, path, value)
    tree["scripts"] = {name.replace("~", "/"): script for name, script in tree["scripts"].items()}
    with pytest.raises(GodojoError, match=reason) as caught:
        snapshot_of(tree, "x.json")
    assert "\n" not in str(caught.value)


def test_a_nest_without_an_end_is_refused(driving: Snapshot) -> None:
    tree = msgspec.to_builtins(driving)
    nest: list[Any] = ["null"]
    for _ in range(5000):
        nest = ["Array", [nest]]
    tree["nodes"][3]["members"]["angle"] = nest
    with pytest.raises(GodojoError, match="not a valid snapshot"):
        snapshot_of(tree, "x.json")


def _recording(jumper: Snapshot, ends_at: int = 20) -> Recording:
    decisions, bodies = 30, len(jumper.bodies)
    chance = np.random.default_rng(1)
    ends = np.zeros((decisions, 16, 1), np.bool_)
    ends[ends_at] = True
    return Recording(
        jumper,
        {"a": np.zeros((decisions, 16, 1, 3), np.float32)},
        {"a": chance.random((decisions + 1, 16, 1, 9), np.float32)},
        {"a": chance.random((decisions, 16, 1), np.float32)},
        {"a": ends},
        np.cumsum(chance.random((decisions + 1, bodies, 3), np.float32), axis=0),
    )


def test_the_gate_measures_what_differs() -> None:
    jumper = read_snapshot(FOLDER / "jumper.json")
    godot, twin = _recording(jumper), _recording(jumper)
    same = compare([(godot, twin)])
    assert same.passes
    assert not same.first_difference
    assert same.line("one-second position, median").samples == len(jumper.bodies)

    twin.positions[15] += np.float32(0.005)  # 15 decisions of 4 ticks are a second
    apart = compare([(godot, twin)])
    assert apart.line("one-second position, median").value == pytest.approx(0.005 * math.sqrt(3), rel=1e-3)
    assert "one-second position, median 8.66 mm (limit 1 mm)" in apart.missed()
    assert [row[3] for row in table(apart)] == ["missed", "met", "", "met", "met"]


def test_the_gate_forgives_one_decision_and_not_more() -> None:
    jumper = read_snapshot(FOLDER / "jumper.json")
    godot = _recording(jumper)
    assert compare([(godot, _recording(jumper, ends_at=21))]).passes
    late = compare([(godot, _recording(jumper, ends_at=23))])
    assert late.line("episode ends that agree").value == 0.0
    assert "episode end of a 0 is 1 in the engine and 0 in the twin" in late.first_difference


@pytest.mark.parametrize(("engine", "twin_s", "is_used"), [(None, 0.001, True), (None, 0.1, False), ("sim", 0.1, True)])
def test_the_faster_of_twin_and_engine_is_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str | None, twin_s: float, is_used: bool
) -> None:
    jumper = read_snapshot(FOLDER / "jumper.json")
    godot, twin = _recording(jumper), _recording(jumper)
    godot.step_s, twin.step_s = 0.01, twin_s
    parity = compare([(godot, twin)])
    assert parity.engine_speed == 1600.0
    built = SimpleNamespace(parity=parity)
    monkeypatch.setattr("godojo.training.twins._built", lambda *_: built)
    said: list[str] = []
    args = TrainArgs(project=tmp_path, engine=engine)
    assert uses_twin(args, GameSource(project=str(tmp_path)), said.append) is is_used
    assert ("faster than the twin: 1,600" in said[-1]) is not is_used


def test_a_body_that_is_lost_is_no_agreement() -> None:
    jumper = read_snapshot(FOLDER / "jumper.json")
    godot, twin = _recording(jumper), _recording(jumper)
    twin.positions[:] = np.nan
    assert not compare([(godot, twin)]).passes


def test_actions_are_seeded_held_and_exact() -> None:
    rows = np.zeros((4, 1, 3), np.float32)
    parts = (ActionPart("move", "continuous", 2), ActionPart("jump", "discrete", 5))
    arrays = dict.fromkeys(RoleArrays.__dataclass_fields__, rows)
    role = RoleArrays(**{**arrays, "name": "a", "observation_parts": (), "action_parts": parts})  # type: ignore[arg-type]
    one, two = random_actions({"a": role}, 200, 1)["a"], random_actions({"a": role}, 200, 2)["a"]
    assert np.array_equal(one, random_actions({"a": role}, 200, 1)["a"])
    assert not np.array_equal(one, two)
    assert np.array_equal(one[..., :2] * 64, np.round(one[..., :2] * 64))
    assert set(np.unique(one[..., 2])) == {0, 1, 2, 3, 4}
    held = np.mean(one[1:] == one[:-1])
    assert 0.7 < held < 0.95
