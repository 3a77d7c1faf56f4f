"""What public games write, in whole programs that run in plain Python."""

import math

import numpy as np
import pytest

from godojo.twin.scene.snapshot import ResourceInfo
from tests.twin_scripts import compiled, run, snapshot

SPACES = ({"obs": {"size": [1], "space": "box"}}, {"move": {"size": 2, "action_type": "continuous"}})


def test_an_action_that_defaults_to_null() -> None:
    scripts = {
        "res://p.gd": (
            'extends Node\nvar heuristic := "human"\nvar x := 0.0\nfunc _physics_process(_d):\n'
            '\tif heuristic == "human":\n\t\tset_action()\nfunc set_action(action = null):\n'
            '\tif action == null:\n\t\tx = Input.get_axis("a", "b")\n\t\treturn\n\tx = action.move[1]\n'
        )
    }
    live = {"heuristic": ["String", "model"], "x": ["float", 0.0]}
    world = run(snapshot(scripts, [("P", "Node", "res://p.gd", live)], {"P": SPACES}), scripts)
    world.call("P", "set_action", np.array([0.25, 0.5]))
    assert world.paths["P"].x == 0.5  # type: ignore[attr-defined]
    assert "Input" not in world.program.source


def test_nodes_of_a_class_connect_a_signal_to_different_methods() -> None:
    scripts = {
        "res://agent.gd": "extends Node\nsignal fell\nfunc _physics_process(_d):\n\tfell.emit()\n",
        "res://arena.gd": "extends Node\nvar a := 0\nvar b := 0\nfunc first():\n\ta += 1\nfunc second():\n\tb += 1\n",
    }
    nodes = [
        ("A", "Node", "res://arena.gd", {"a": ["int", 0], "b": ["int", 0]}),
        ("A/P", "Node", "res://agent.gd", {}),
        ("A/Q", "Node", "res://agent.gd", {}),
    ]
    links = [("A/P", "fell", "A", "first"), ("A/Q", "fell", "A", "second")]
    world = run(snapshot(scripts, nodes, connections=links), scripts)
    world.call("A/Q", "_physics_process", np.float64(0.1))
    assert (world.paths["A"].a, world.paths["A"].b) == (0, 1)  # type: ignore[attr-defined]


SEEN = """extends Node
var n := 0
var tint := Color.RED
var _material: StandardMaterial3D
func flash(node):
	var tween = create_tween()
	tween.tween_property(node, "modulate", Color(1, 0, 0), 0.2).set_trans(Tween.TRANS_SINE)
func _physics_process(_d):
	if not _material:
		_material = $Mesh.get_active_material(0)
	_material.albedo_color = tint.lightened(0.5)
	var mat = $Mesh.process_material as StandardMaterial3D
	if mat:
		mat.albedo_color = Color(tint.r, 0.0, 1.0)
	flash($Mesh)
	n += 1
"""


def test_materials_colours_and_tweens_are_left_out() -> None:
    scripts = {"res://p.gd": SEEN}
    live = {"n": ["int", 0], "tint": ["Color", [1.0, 0.0, 0.0, 1.0]], "_material": ["null"]}
    world = run(snapshot(scripts, [("P", "Node", "res://p.gd", live), ("P/Mesh", "MeshInstance3D", None, {})]), scripts)
    world.call("P", "_physics_process", np.float64(0.1))
    assert world.paths["P"].n == 1  # type: ignore[attr-defined]
    assert "tween" not in world.program.source


def test_what_is_only_seen_decides_nothing_else() -> None:
    decides = "extends Node\nvar n := 0\nvar m: StandardMaterial3D\nfunc _physics_process(_d):\n\tif m:\n\t\tn += 1\n"
    decides += "\tm = StandardMaterial3D.new()\n"
    moves = (
        "extends Node3D\nvar n := 0\nvar m := 1\nfunc _physics_process(_d):\n\tn += 1\n"
        '\tcreate_tween().tween_property(self, "position", Vector3.ZERO, 1.0)\n'
    )
    live = {"n": ["int", 0], "m": ["null"]}
    for text, line in ((decides, 5), (moves, 6)):
        tree = snapshot({"res://p.gd": text}, [("P", "Node3D", "res://p.gd", live)])
        assert [at for _, at, _ in compiled(tree, {"res://p.gd": text}).refusals] == [line]


LAMBDAS = """extends Node
var numbers := [3, 1, 2, 5]
var sum := 0.0
var first := 0
var marks := []
func later(a, b):
	return a > b
func _physics_process(_d):
	var sorted = numbers.duplicate()
	sorted.sort_custom(func(a, b): return a < b)
	first = sorted[0] * 1000
	sorted.sort_custom(later)
	first += sorted[0] * 100 + sorted.slice(1, -1).size()
	var odd = numbers.filter(func(n): return n % 2 == 1)
	sum = odd.map(func(n): return n * 0.5).reduce(func(acc, x): return acc + x, 0.0)
	if numbers.any(func(n): return n > 4) and numbers.all(func(n): return n > 0):
		sum += 100.0
	elif numbers.any(func(n): return n > 100):
		sum = -1.0
	marks.sort_custom(func(a, b): return a.weight < b.weight)
	sum += marks[0].weight
"""


def test_functions_inside_functions_become_loops() -> None:
    scripts = {"res://p.gd": LAMBDAS, "res://m.gd": "extends Node\nvar weight := 1.0\n"}
    live = {
        "numbers": ["Array", [["int", n] for n in (3, 1, 2, 5)]],
        "sum": ["float", 0.0],
        "first": ["int", 0],
        "marks": ["Array", [["node", 2], ["node", 3]]],
    }
    nodes = [
        ("P", "Node", "res://p.gd", live),
        ("A", "Node", "res://m.gd", {"weight": ["float", 3000.0]}),
        ("B", "Node", "res://m.gd", {"weight": ["float", 2000.0]}),
    ]
    world = run(snapshot(scripts, nodes), scripts)
    world.call("P", "_physics_process", np.float64(0.1))
    assert world.paths["P"].first == 1502  # type: ignore[attr-defined]
    assert world.paths["P"].sum == 2104.5  # type: ignore[attr-defined]


def test_static_functions_of_another_script() -> None:
    scripts = {
        "res://util.gd": (
            "class_name Util\nextends RefCounted\nenum { NONE, SOME }\nconst SCALE := 0.25\nconst P := 7\n"
            "static func scaled(x: float) -> float:\n\treturn doubled(x) * SCALE + SOME\n"
            "static func doubled(x: float) -> float:\n\treturn x * 2.0\n"
        ),
        "res://p.gd": (
            "extends Node\nconst SCALE := 100.0\nvar x := 0.0\n"
            "func _physics_process(_d):\n\tx = Util.scaled(8.0) + SCALE\n"
        ),
    }
    world = run(snapshot(scripts, [("P", "Node", "res://p.gd", {"x": ["float", 0.0]})]), scripts)
    world.call("P", "_physics_process", np.float64(0.1))
    assert world.paths["P"].x == 105.0  # type: ignore[attr-defined]


def test_dictionaries_by_name() -> None:
    scripts = {
        "res://p.gd": (
            'extends Node\nvar scores := {"a": 1.0}\nvar x := 0.0\nfunc _physics_process(_d):\n'
            '\tscores["a"] += 1.0\n\tscores.b = 5.0\n\tfor key in scores:\n\t\tif key == "b":\n\t\t\tx += scores[key]\n'
            "\tx += scores.a\n"
        )
    }
    live = {"scores": ["Dictionary", [[["String", "a"], ["float", 1.0]]]], "x": ["float", 0.0]}
    world = run(snapshot(scripts, [("P", "Node", "res://p.gd", live)]), scripts)
    world.call("P", "_physics_process", np.float64(0.1))
    assert world.paths["P"].x == 7.0  # type: ignore[attr-defined]


def test_nodes_below_others_shapes_and_signals_with_fewer_values() -> None:
    scripts = {
        "res://game.gd": (
            "extends Node3D\nvar levels := []\nvar at := 1\nvar x := 0.0\nvar ends := 0\n"
            'func _physics_process(_d):\n\tvar box = levels[at].get_node("Box")\n\tx = box.width()\n'
            "func again(n, end = false):\n\tx += n\n\tif end:\n\t\tends += 1\n"
        ),
        "res://box.gd": "extends CollisionShape3D\nfunc width():\n\treturn shape.size.x\n",
        "res://player.gd": (
            'extends Node\nsignal reset(n, end)\nvar other\nfunc _physics_process(_d):\n\temit_signal("reset", 1.0)\n'
            '\tother.emit_signal("reset", 2.0, true)\n'
        ),
    }
    numbers = {"at": ["int", 1], "x": ["float", 0.0], "ends": ["int", 0]}
    tree = snapshot(
        scripts,
        [
            ("G", "Node3D", "res://game.gd", {"levels": ["Array", [["node", 2], ["node", 4]]], **numbers}),
            ("G/A", "Node3D", None, {}),
            ("G/A/Box", "CollisionShape3D", "res://box.gd", {}),
            ("G/B", "Node3D", None, {}),
            ("G/B/Box", "CollisionShape3D", "res://box.gd", {}),
            ("P", "Node", "res://player.gd", {"other": ["node", "P"]}),
        ],
        connections=[("P", "reset", "G", "again")],
    )
    tree.resources = [ResourceInfo("BoxShape3D", properties={"size": ["Vector3", [w, 1.0, 1.0]]}) for w in (3.0, 8.0)]
    for number, index in enumerate((3, 5)):
        tree.nodes[index].properties["shape"] = ["resource", number]
    world = run(tree, scripts)
    for index, node in enumerate(world.nodes):
        node.node_index = index  # type: ignore[attr-defined]
    world.call("G", "_physics_process", np.float64(0.1))
    world.call("P", "_physics_process", np.float64(0.1))
    assert (world.paths["G"].x, world.paths["G"].ends) == (11.0, 1)  # type: ignore[attr-defined]


ROWS = """extends Node
var history: Array[Array] = []
var grid := [[0, 0], [0, 0]]
var sum := 0.0
func _physics_process(d):
	history.push_back([d, 2.0])
	history.push_front([3.0])
	if history.size() > 3:
		history.pop_front()
		history.pop_back()
	sum = 0.0
	for row in history:
		for x in row:
			sum += x
	grid[1][0] += 5
	grid[-1][-1] = history.size()
	sum += grid[1][0] * 100 + grid[1][1] * 1000 + history[0][0] * 10000
	if history.size() == 2 and sum > 1e9:
		history = []
"""


def test_arrays_of_arrays_change() -> None:
    scripts = {"res://p.gd": ROWS}
    zeros = ["Array", [["int", 0], ["int", 0]]]
    live = {"history": ["Array", []], "grid": ["Array", [zeros, zeros]], "sum": ["float", 0.0]}
    world = run(snapshot(scripts, [("P", "Node", "res://p.gd", live)]), scripts)
    for d in (0.25, 0.5):
        world.call("P", "_physics_process", np.float64(d))
    # after the second: [3], [0.25, 2] stay of [3], [3], [0.25, 2], [0.5, 2]
    assert world.paths["P"].sum == 3 + 2.25 + 1000 + 2000 + 30000  # type: ignore[attr-defined]


GROUPS = """extends Node
const WORTH = {"coin": 1.5, "gem": 4.0}
enum Mode { REST, RUN }
var mode := Mode.RUN
var sum := 0.0
var far := Vector2.INF
func _physics_process(d):
	get_tree().call_group("marks", "poke", d)
	get_tree().set_group("marks", "worth", WORTH.gem)
	var first = get_tree().get_first_node_in_group("marks")
	print(Mode.keys()[mode])
	var seen := {}
	for x in [2, 3, 2]:
		if not seen.has(x):
			seen[x] = true
	sum = first.poked + first.worth + seen.size() * 100
	if far == Vector2.INF:
		sum += WORTH["coin"]
"""


def test_groups_constant_dictionaries_and_local_ones() -> None:
    scripts = {
        "res://p.gd": GROUPS,
        "res://m.gd": "extends Node\nvar poked := 0.0\nvar worth := 0.0\nfunc poke(x):\n\tpoked += x\n",
    }
    live = {"mode": ["int", 1], "sum": ["float", 0.0], "far": ["Vector2", [math.inf, math.inf]]}
    mark = {"poked": ["float", 0.0], "worth": ["float", 0.0]}
    nodes = [("P", "Node", "res://p.gd", live), ("A", "Node", "res://m.gd", mark), ("B", "Node", "res://m.gd", mark)]
    world = run(snapshot(scripts, nodes, groups={"A": ["marks"], "B": ["marks"]}), scripts)
    for _ in range(2):  # a local dictionary begins anew
        world.call("P", "_physics_process", np.float64(0.5))
    assert world.paths["P"].sum == 1.0 + 4.0 + 200.0 + 1.5  # type: ignore[attr-defined]
    assert world.paths["B"].poked == 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("shapes", [1, 2])
def test_signals_of_shapes_need_bodies_of_one_shape(shapes: int) -> None:
    scripts = {
        "res://p.gd": "extends Node3D\nvar n := 0\nfunc _on_shape(_rid, area, _at, own):\n\tif area:\n\t\tn += own\n"
    }
    nodes = [("P", "Node3D", "res://p.gd", {"n": ["int", 0]}), ("P/A", "Area3D", None, {})]
    nodes += [(f"P/A/S{i}", "CollisionShape3D", None, {}) for i in range(shapes)]
    tree = snapshot(scripts, nodes, connections=[("P/A", "area_shape_entered", "P", "_on_shape")])
    program = compiled(tree, scripts)
    assert [line for _, line, _ in program.refusals] == [3] * (shapes - 1)
    assert (("P", "_on_shape") in program.methods) is (shapes == 1)
