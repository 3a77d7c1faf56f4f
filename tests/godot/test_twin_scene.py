"""Snapshots and traces of real games: exact, repeatable, and without a change to the project."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from godojo.errors import GodojoError
from godojo.twin.gate import compare, record_godot
from godojo.twin.scene.export import snapshot_from, take_snapshot
from godojo.twin.scene.probed import Probed, probed
from godojo.twin.scene.snapshot import read_snapshot
from tests.conftest import ROOT

GAMES = ROOT / "tests/godot_rl_games"
SNAPSHOTS = ROOT / "tests/twin_snapshots"


def _copy(name: str, folder: Path) -> Path:
    return shutil.copytree(GAMES / name, folder / name, ignore=shutil.ignore_patterns(".godot", "*.uid"))


@pytest.fixture(scope="module")
def climber(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probed]:
    with probed(_copy("climber", tmp_path_factory.mktemp("games"))) as game:
        yield game


def test_a_snapshot_has_what_ready_made(climber: Probed) -> None:
    found, kept = snapshot_from(climber), read_snapshot(SNAPSHOTS / "climber.json")
    assert found.nodes == kept.nodes  # to the last bit
    assert found.connections == kept.connections
    assert found.agents == kept.agents
    player = found.node("/root/Train/Level0/Player")
    assert player.properties["transform"][1][9:] == [0.0, 0.8500000238418579, 1.0]
    rays = found.nodes[found.node("/root/Train/Level0/Player/RaycastSensor3D").index].members["rays"][1]
    assert [found.nodes[index].native_class for _, index in rays] == ["RayCast3D"] * 16
    assert found.nodes[found.sync].name == "Sync"
    assert (found.physics_engine, found.action_repeat, found.ticks_per_second) == ("Jolt Physics", 6, 60)


def test_the_engine_agrees_with_itself(climber: Probed) -> None:
    known = snapshot_from(climber)
    plays = [record_godot(climber, known, 5, 2.0) for _ in range(2)]
    found = compare([(plays[0], plays[1])])
    assert found.passes
    assert found.line("one-second position, median").samples > 8
    assert found.line("one-second position, 95th percentile").value == 0.0
    assert not found.first_difference


@pytest.mark.nightly
@pytest.mark.parametrize("generation", ["first", "second"])
def test_every_generation_of_the_wire_is_read(generation: str, tmp_path: Path) -> None:
    found = take_snapshot(_copy(generation, tmp_path))
    assert found.wire == "godot_rl"
    assert len(found.agents) >= 2
    assert all("AGENT" in found.nodes[agent.node].groups for agent in found.agents)


def test_a_scene_of_the_addon_is_read() -> None:
    found = take_snapshot(ROOT / "godot", "res://games/first_agent/first_agent.tscn")
    assert found.wire == "dojo"
    (agent,) = found.agents
    assert found.nodes[agent.node].script == "res://games/first_agent/ball_agent.gd"
    assert agent.action_space == {"push": {"size": 2, "action_type": "continuous"}}
    text = (tmp for node in found.nodes for tmp in node.members.values())
    assert not any("token" in str(value) for value in text)


def test_the_project_stays_as_it_is(tmp_path: Path) -> None:
    project = _copy("first", tmp_path)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    take_snapshot(project)
    after = {
        path: path.read_bytes()
        for path in project.rglob("*")
        if path.is_file() and ".godot" not in path.parts and path.suffix != ".uid"
    }
    assert after == before


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("scene", "script", "reason"),
    [
        ("", "", "no agents to train"),
        (
            '[node name="A" type="Node" parent="."]\nscript = ExtResource("1")\n',
            "var x = = 3\n",
            r"a\.gd:\d+: Parse Error",
        ),
        ('[node name="Again" parent="." instance=ExtResource("3")]\n', "", "do not parse.*main.tscn"),
    ],
)
def test_what_keeps_a_scene_from_being_read(scene: str, script: str, reason: str, tmp_path: Path) -> None:
    project = _copy("third", tmp_path)
    (project / "a.gd").write_text(f"extends Node\n{script}", encoding="utf-8")
    (project / "main.tscn").write_text(
        '[gd_scene format=3]\n[ext_resource type="Script" path="res://a.gd" id="1"]\n'
        '[ext_resource type="Script" path="res://addons/godot_rl_agents/sync.gd" id="2"]\n'
        + ('[ext_resource type="PackedScene" path="res://main.tscn" id="3"]\n' if "Again" in scene else "")
        + '[node name="Main" type="Node"]\n[node name="Sync" type="Node" parent="."]\nscript = ExtResource("2")\n'
        + scene,
        encoding="utf-8",
    )
    with pytest.raises(GodojoError, match=reason) as caught:
        take_snapshot(project)
    assert "\n" not in str(caught.value)
