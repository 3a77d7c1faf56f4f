"""Pools: room in a snapshot for nodes that a game makes while it runs."""

import copy
from pathlib import Path

import pytest

from godojo.errors import GodojoError
from godojo.twin.gdscript.connections import connect_templates, link_of
from godojo.twin.gdscript.parse import parse
from godojo.twin.scene.pools import LEAST_SLOTS, MOST_SLOTS, default_slots, pool_of, with_pools
from godojo.twin.scene.snapshot import (
    Connection,
    NodeInfo,
    ResourceInfo,
    ScriptInfo,
    Snapshot,
    Template,
    can_process,
    read_snapshot,
    snapshot_of,
    write_snapshot,
)

FOLDER = Path(__file__).parent / "twin_snapshots"
BOLT = "res://bolt.tscn"


@pytest.fixture
def game() -> Snapshot:
    found = read_snapshot(FOLDER / "driving.json")
    found.resources.append(ResourceInfo("PackedScene", path=BOLT))
    found.nodes[-1].members["scenes"] = ["Array", [["resource", len(found.resources) - 1], ["null"]]]
    found.scripts["res://bolt.gd"] = ScriptInfo("res://bolt.gd", "Bolt", "", "Area3D")
    nodes = [
        NodeInfo(0, "Bolt", "Bolt", -1, "Area3D", "res://bolt.gd", members={"clock": ["local", 1]}),
        NodeInfo(1, "Timer", "Bolt/Timer", 0, "Timer"),
    ]
    found.templates = [Template(BOLT, nodes, [Connection(1, "timeout", 0, "_on_timeout")], live=3)]
    return found


def test_an_instance_is_a_copy_whose_values_name_its_own_nodes(game: Snapshot) -> None:
    count, links = len(game.nodes), len(game.connections)
    found = with_pools(game, {BOLT: 4})
    pool = (found.pools or [])[0]
    assert (pool.first, pool.size, pool.slots) == (count + 1, 2, 4)
    assert len(found.nodes) == count + 1 + 2 * 5
    assert [one.index for one in found.nodes] == list(range(len(found.nodes)))
    last = found.nodes[pool.first + 8]
    assert last.members["clock"] == ["node", last.index + 1]
    assert found.nodes[last.index + 1].parent == last.index
    made = found.connections[links:]
    assert [(one.source - one.target, one.method) for one in made] == [(1, "_on_timeout")] * 5
    assert len(game.nodes) == count
    assert pool_of(found, last.index) == pool
    assert pool_of(found, 0) is None


def test_a_variable_that_holds_a_scene_holds_its_template(game: Snapshot) -> None:
    found = with_pools(game, {BOLT: 1})
    pool = (found.pools or [])[0]
    holder = found.nodes[len(game.nodes) - 1]
    assert holder.members["scenes"] == ["Array", [["node", pool.first], ["null"]]]


def test_what_is_made_is_processed_although_pools_are_not(game: Snapshot) -> None:
    found = with_pools(game, {BOLT: 1})
    pool = (found.pools or [])[0]
    assert can_process(found, found.nodes[pool.first])
    assert not can_process(found, found.nodes[pool.first - 1])


def test_a_pool_has_room_for_what_is_there_and_for_what_replaces_it(game: Snapshot) -> None:
    (template,) = game.templates
    assert default_slots(template) == LEAST_SLOTS
    template.live = 100
    assert default_slots(template) == 204
    template.live = 10_000
    assert default_slots(template) == MOST_SLOTS


def test_templates_are_kept_and_checked(game: Snapshot, tmp_path: Path) -> None:
    write_snapshot(tmp_path / "game.json", game)
    assert read_snapshot(tmp_path / "game.json").templates == game.templates
    bad = copy.deepcopy(game)
    bad.templates[0].nodes[0].members["clock"] = ["local", 2]
    write_snapshot(tmp_path / "bad.json", bad)
    with pytest.raises(GodojoError, match=r"bolt\.tscn: Bolt\.clock is no value"):
        read_snapshot(tmp_path / "bad.json")
    assert snapshot_of.__doc__


SCRIPT = """
extends Area3D
@onready var clock = $Timer
func _ready():
	clock.timeout.connect(_on_clock)
	area_entered.connect(self._on_area)
	$Timer.connect("timeout", _again)
	$Missing.timeout.connect(_on_clock)
	clock.timeout.connect(_on_clock.bind(1))
	clock.timeout.connect(func(): pass)
"""


def test_signals_that_ready_connects_are_known_before_the_node_is_made(game: Snapshot) -> None:
    found = connect_templates(game, lambda path: SCRIPT if path == "res://bolt.gd" else "")
    links = {(one.source, one.signal, one.target, one.method) for one in found.templates[0].connections}
    assert links == {
        (1, "timeout", 0, "_on_timeout"),
        (1, "timeout", 0, "_on_clock"),
        (0, "area_entered", 0, "_on_area"),
        (1, "timeout", 0, "_again"),
    }
    assert link_of(parse(SCRIPT, "x.gd").functions["_ready"].body[4]) is None
