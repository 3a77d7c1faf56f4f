"""What public games do with their tree: dictionaries of nodes, deferred calls, nodes made only at the start."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from godojo.errors import GodojoError
from tests.twin_scripts import compiled, in_numba, run, snapshot

TILES = """extends Node
enum Kinds { GRASS, ROAD, TREE }
var tiles: Dictionary
var worth = {0: 5, 3: 7}
var sum := 0
func at(cell: Vector3i):
	if not tiles.has(cell):
		return null
	return tiles[cell]
func _physics_process(_delta):
	if at(Vector3(1.7, 0.0, 2.2)) == self and not at(Vector3i(1, 1, 1)):
		sum += 1
	for key in worth:
		sum += worth[key] * 10
	worth[9] = 2
	worth[0] += 1
	if 9 in worth and worth.size() == 3:
		sum += 1000
	worth.erase(3)
	sum += worth.get(3, 5) + worth.keys().size() + Kinds.size()
	tiles[Vector3i(4, 4, 4)] = self
	var next: Vector3i = Vector3i(3, 4, 0)
	sum += int(next.distance_to(Vector3i.ZERO))
"""


def _tiles() -> tuple[Any, dict[str, str]]:
    scripts = {"res://p.gd": TILES}
    live: dict[str, Any] = {
        "tiles": ["Dictionary", [[["Vector3i", [1, 0, 2]], ["node", 1]]]],
        "worth": ["Dictionary", [[["int", 0], ["int", 5]], [["int", 3], ["int", 7]]]],
        "sum": ["int", 0],
    }
    return snapshot(scripts, [("P", "Node", "res://p.gd", live)]), scripts


def test_dictionaries_that_change() -> None:
    world = run(*_tiles())
    world.call("P", "_physics_process", np.float64(0.1))
    assert world.paths["P"].sum == 1 + 120 + 1000 + 5 + 2 + 3 + 5  # type: ignore[attr-defined]


@pytest.mark.slow
def test_dictionaries_in_numba(tmp_path: Path) -> None:
    tree, scripts = _tiles()
    functions, rows, layout = in_numba(tree, compiled(tree, scripts), tmp_path)
    functions["run_1"](rows, 0.1)
    assert layout.node(rows[0], 1).sum == 1 + 120 + 1000 + 5 + 2 + 3 + 5


def test_a_missing_key_is_an_error_of_the_game() -> None:
    scripts = {"res://p.gd": "extends Node\nvar x := 0\nvar d = {1: 2}\nfunc _physics_process(_d):\n\tx = d[7]\n"}
    live: dict[str, Any] = {"x": ["int", 0], "d": ["Dictionary", [[["int", 1], ["int", 2]]]]}
    world = run(snapshot(scripts, [("P", "Node", "res://p.gd", live)]), scripts)
    with pytest.raises((IndexError, GodojoError)):
        world.call("P", "_physics_process", np.float64(0.1))


def test_deferred_calls_wait_for_the_end_of_the_tick() -> None:
    text = """extends Node
var a := 0
var b := 0
func _physics_process(_delta):
	call_deferred("later")
	again.call_deferred()
	a += 1
func later():
	a *= 10
func again():
	b += a
"""
    scripts = {"res://p.gd": text}
    world = run(snapshot(scripts, [("P", "Node", "res://p.gd", {"a": ["int", 0], "b": ["int", 0]})]), scripts)
    world.call("P", "_physics_process", np.float64(0.1))
    assert world.paths["P"].a == 1  # type: ignore[attr-defined]
    world.call("P", "@run_deferred")
    world.call("P", "@run_deferred")
    assert (world.paths["P"].a, world.paths["P"].b) == (10, 10)  # type: ignore[attr-defined]


GROWS = """extends Node
var x := 0
var parts := []
func _physics_process(_delta):
	x += 1
	while parts.size() < x - 5:
		grow()
	{more}
func grow():
	var part = Node3D.new()
	add_child(part)
	parts.append(part)
"""


def test_a_twin_stops_where_the_tree_changes_under_a_condition() -> None:
    scripts = {"res://p.gd": GROWS.replace("{more}", "pass")}
    live: dict[str, Any] = {"x": ["int", 0], "parts": ["Array", []]}
    nodes: list[Any] = [("P", "Node", "res://p.gd", live), ("P/Q", "Node3D", None, {})]
    program = compiled(snapshot(scripts, nodes), scripts)
    assert program.refusals == []
    assert program.stops == ["p.gd:10: Node3D.new() is not compiled: nothing is made while the game runs"]
    assert "stop(self, 0)" in program.source
    assert "and not has_stopped(self):" in program.source
    assert ("res://p.gd", 10, f"{program.stops[0].partition(': ')[2]}; the twin stops here") in program.left_out


def test_a_game_that_changes_the_tree_for_certain_is_refused() -> None:
    scripts = {"res://p.gd": GROWS.replace("{more}", "grow()")}
    live: dict[str, Any] = {"x": ["int", 0], "parts": ["Array", []]}
    program = compiled(snapshot(scripts, [("P", "Node", "res://p.gd", live)]), scripts)
    assert [(line, why.partition("(")[0]) for _, line, why in program.refusals] == [(10, "Node3D.new")]


INFO = """extends Node
var is_late := false
var done := false
func get_obs():
	return {"obs": [1.0]}
func get_info():
	if done:
		return {"is_success": not is_late, "TimeLimit.truncated": is_late, "speed": 3.0}
	return {}
func set_action(_action):
	is_late = true
	done = true
"""


def test_infos_of_an_agent_are_kept_for_the_trainer() -> None:
    scripts = {"res://p.gd": INFO}
    spaces = ({"obs": {"size": [1], "space": "box"}}, {"go": {"size": 2, "action_type": "discrete"}})
    live: dict[str, Any] = {"is_late": ["bool", False], "done": ["bool", False]}
    world = run(snapshot(scripts, [("P", "Node", "res://p.gd", live)], {"P": spaces}), scripts)
    node: Any = world.paths["P"]
    world.call("P", "get_info")
    assert np.isnan(node._info_success)
    world.call("P", "set_action", np.zeros(1))
    world.call("P", "get_info")
    assert (node._info_success, node._info_cut) == (0.0, 1.0)


def test_infos_that_are_not_compiled_are_left_out() -> None:
    scripts = {"res://p.gd": INFO.replace("\treturn {}", "\tvar info = {}\n\treturn info")}
    spaces = ({"obs": {"size": [1], "space": "box"}}, {"go": {"size": 2, "action_type": "discrete"}})
    live: dict[str, Any] = {"is_late": ["bool", False], "done": ["bool", False]}
    program = compiled(snapshot(scripts, [("P", "Node", "res://p.gd", live)], {"P": spaces}), scripts)
    assert program.refusals == []
    assert any(why.startswith("get_info()") for _, _, why in program.left_out)


def test_nodes_that_only_draw_are_kept_where_a_script_reads_them() -> None:
    text = """extends Node3D
var x := 0.0
func _physics_process(_delta):
	$Mark.position.x += 1.0
	$Lamp.rotation.y += 1.0
	x = $Mark.position.x
"""
    scripts = {"res://p.gd": text}
    nodes: list[Any] = [
        ("P", "Node3D", "res://p.gd", {"x": ["float", 0.0]}),
        ("P/Mark", "MeshInstance3D", None, {}),
        ("P/Lamp", "OmniLight3D", None, {}),
    ]
    program = compiled(snapshot(scripts, nodes), scripts)
    assert program.refusals == []
    assert program.kept == {"MeshInstance3D"}
    assert [line for _, line, _ in program.left_out] == [5]
