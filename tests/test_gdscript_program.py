"""Whole programs of node scripts: classes, nodes, signals, dead code; refused with file, line and reason."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from godojo.twin.scene.snapshot import Snapshot
from tests.twin_scripts import compiled, in_numba, run, snapshot

MODEL = ["String", "model"]
BASE = """class_name Base
extends Node
var heuristic := "human"
var reward := 0.0
var n_steps = 0
var done := false:
	set(value):
		done = value
		if done:
			ends += 1
var ends := 0
func _physics_process(_delta):
	n_steps += 1
	step(n_steps)
func step(_n):
	pass
func reset():
	n_steps = 0
func get_reward():
	return reward
func get_done():
	return done
"""
LIVE: dict[str, Any] = {
    "heuristic": MODEL,
    "reward": ["float", 0.0],
    "n_steps": ["int", 0],
    "done": ["bool", False],
    "ends": ["int", 0],
}
SPACES = ({"obs": {"size": [3], "space": "box"}}, {"move": {"size": 2, "action_type": "continuous"}})


def test_inheritance_super_and_accessors() -> None:
    player = """extends Base
var jumps = 0
func step(n):
	jumps += n
	if jumps > 5:
		done = true
		reset()
func reset():
	super()
	super.step(1)
	reward += 0.5
"""
    scripts = {"res://base.gd": BASE, "res://player.gd": player}
    tree = snapshot(scripts, [("P", "Node", "res://player.gd", {**LIVE, "jumps": ["int", 0]})], {"P": SPACES})
    world = run(tree, scripts)
    for _ in range(4):
        world.call("P", "_physics_process", np.float64(0.1))
    node = world.paths["P"]
    assert (node.jumps, node.ends, node.done, node.n_steps) == (7, 2, True, 0)  # type: ignore[attr-defined]
    assert world.call("P", "get_reward") == 1.0
    assert "heuristic" not in world.program.classes["Base"].members
    assert world.program.classes["Player"].base == "Base"


def _two_kinds_of_things() -> tuple[Snapshot, dict[str, str]]:
    scripts = {
        "res://a.gd": "extends Node\nvar worth = 2\nfunc value(x):\n\treturn x * worth\n",
        "res://b.gd": "extends Node\nvar worth = 0.5\nfunc value(x):\n\treturn x + worth\n",
        "res://level.gd": (
            "extends Node\nvar total = 0.0\nvar things = []\nfunc _physics_process(_delta):\n"
            "\tfor thing in things:\n\t\ttotal += thing.value(3) + thing.worth\n\t\tthing.worth += 1\n"
            '\tvar first = get_node("A")\n\tif $A.get_parent() == self and $A == first:\n\t\ttotal += 100\n'
            "\tif things[1] is Node and has_node('B'):\n\t\ttotal += 1000\n"
        ),
    }
    tree = snapshot(
        scripts,
        [
            ("L", "Node", "res://level.gd", {"total": ["float", 0.0], "things": ["Array", [["node", 2], ["node", 3]]]}),
            ("L/A", "Node", "res://a.gd", {"worth": ["int", 2]}),
            ("L/B", "Node", "res://b.gd", {"worth": ["float", 0.5]}),
        ],
    )
    return tree, scripts


def test_calls_across_scripts_and_by_class() -> None:
    world = run(*_two_kinds_of_things())
    world.call("L", "_physics_process", np.float64(0.1))
    assert world.paths["L"].total == 6 + 2 + 3.5 + 0.5 + 1100  # type: ignore[attr-defined]
    assert world.paths["L/B"].worth == 1.5  # type: ignore[attr-defined]


@pytest.mark.slow
def test_names_of_nodes(tmp_path: Path) -> None:
    scripts = {
        "res://p.gd": (
            "extends Node\nvar all := []\nvar sum := 0\nfunc _physics_process(_d):\n"
            "\tfor one in all:\n\t\tif one.name == 'B' or one.name == name:\n\t\t\tsum += 1\n"
            "\t\tif not one.name.begins_with('P'):\n\t\t\tsum += 10\n"
        )
    }
    live = {"all": ["Array", [["node", 1], ["node", 2], ["node", 3]]], "sum": ["int", 0]}
    tree = snapshot(scripts, [("P", "Node", "res://p.gd", live), ("A", "Timer", None, {}), ("B", "Node3D", None, {})])
    functions, rows, layout = in_numba(tree, compiled(tree, scripts), tmp_path)
    functions["run_1"](rows, 0.1)
    assert layout.node(rows[0], 1).sum == 22


@pytest.mark.slow
def test_numba_compiles_the_same_program(tmp_path: Path) -> None:
    tree, scripts = _two_kinds_of_things()
    functions, rows, layout = in_numba(tree, compiled(tree, scripts), tmp_path)
    functions["run_1"](rows, 0.1)
    assert layout.node(rows[0], 1).total == 6 + 2 + 3.5 + 0.5 + 1100
    assert layout.node(rows[0], 3).worth == 1.5


def test_signals_call_what_is_connected() -> None:
    scripts = {
        "res://coin.gd": "extends Node\nsignal taken(worth)\nvar worth := 3\nfunc _physics_process(_d):\n"
        "\ttaken.emit(worth)\n\temit_signal('taken', 10)\n",
        "res://bank.gd": "extends Node\nvar sum := 0\nvar calls := 0\nfunc add(n):\n\tsum += n\n"
        "func count(_n):\n\tcalls += 1\n",
    }
    tree = snapshot(
        scripts,
        [
            ("B", "Node", "res://bank.gd", {"sum": ["int", 0], "calls": ["int", 0]}),
            ("C", "Node", "res://coin.gd", {"worth": ["int", 3]}),
            ("D", "Node", "res://coin.gd", {"worth": ["int", 4]}),
        ],
        connections=[("C", "taken", "B", "add"), ("C", "taken", "B", "count")],
    )
    world = run(tree, scripts)
    world.call("C", "_physics_process", np.float64(0.1))
    world.call("D", "_physics_process", np.float64(0.1))
    assert (world.paths["B"].sum, world.paths["B"].calls) == (13, 2)  # type: ignore[attr-defined]


def test_observations_and_actions() -> None:
    agent = """extends Base
var move := Vector2.ZERO
var brake = 0
func get_obs():
	var seen := [move.x, move.y]
	seen.append_array(more())
	return {"obs": seen + [done]}
func more() -> Array:
	return [n_steps, float(brake)]
func set_action(action):
	move = Vector2(action["move"][0], action.move[1])
	if action.has("brake"):
		brake = int(action["brake"]) - 1
	if action.has("horn"):
		action["horn"].blow()
"""
    scripts = {"res://base.gd": BASE, "res://agent.gd": agent}
    live = {**LIVE, "move": ["Vector2", [0.0, 0.0]], "brake": ["int", 0]}
    space = {"brake": {"size": 3, "action_type": "discrete"}, "move": {"size": 2, "action_type": "continuous"}}
    tree = snapshot(scripts, [("A", "Node", "res://agent.gd", live)], {"A": (SPACES[0], space)})
    world = run(tree, scripts)
    world.call("A", "set_action", np.array([2.0, 0.25, -0.5]))
    out = np.zeros(8)
    assert world.call("A", "get_obs", out) == 5
    assert out.tolist() == [0.25, -0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]


def test_dead_code_is_no_reason_to_refuse() -> None:
    text = """extends Base
var speed = 1.0
func step(n):
	if heuristic == "human":
		speed = Input.get_vector("a", "b", "c", "d").what()
	elif Engine.is_editor_hint() or Input.is_action_pressed("x"):
		nothing_known()
	else:
		reward += speed
	return
	never()
func unused():
	load("res://x").make()
"""
    scripts = {"res://base.gd": BASE, "res://player.gd": text}
    tree = snapshot(scripts, [("P", "Node", "res://player.gd", {**LIVE, "speed": ["float", 2.0]})])
    world = run(tree, scripts)
    world.call("P", "_physics_process", np.float64(0.1))
    assert world.paths["P"].reward == 2.0  # type: ignore[attr-defined]
    assert world.program.understood[0] == world.program.understood[1]


def test_what_only_shows_is_left_out_and_listed() -> None:
    text = """extends Node
@onready var label = $Label
@onready var robot = $Robot
var hits := 0
func _physics_process(_delta):
	hits += 1
	var shown = "%s hits" % hits + str(hits)
	label.text = shown
	$Label.hide()
	robot.animate("walk")
	print("hit ", hits)
"""
    robot = (
        "extends Node\nvar player\nfunc animate(name):\n\tif player.current_animation != name:\n\t\tplayer.play(name)\n"
    )
    scripts = {"res://p.gd": text, "res://robot.gd": robot}
    tree = snapshot(
        scripts,
        [
            ("P", "Node", "res://p.gd", {"label": ["node", 2], "robot": ["node", 3], "hits": ["int", 0]}),
            ("P/Label", "Label", None, {}),
            ("P/Robot", "Node", "res://robot.gd", {"player": ["node", 4]}),
            ("P/Robot/Player", "AnimationPlayer", None, {}),
        ],
    )
    world = run(tree, scripts)
    assert [line for _, line, _ in world.program.left_out] == [8, 9, 10, 11]
    world.call("P", "_physics_process", np.float64(0.1))
    assert world.paths["P"].hits == 1  # type: ignore[attr-defined]


def test_nodes_lists_groups_and_null() -> None:
    text = """extends Node
var target = null
var best = null
var found := 0
func _physics_process(_delta):
	for child in get_children():
		if child.is_in_group("goal"):
			target = child
	if target != null:
		found += get_tree().get_nodes_in_group("goal").size()
	if best == null:
		best = 2.5
	elif best < 3.0 and is_instance_valid(target):
		found += 10
"""
    scripts = {"res://p.gd": text}
    live = {"target": ["null"], "best": ["null"], "found": ["int", 0]}
    nodes = [("P", "Node", "res://p.gd", live), ("P/A", "Timer", None, {}), ("P/B", "Area3D", None, {})]
    tree = snapshot(scripts, nodes, groups={"P/B": ["goal"]})
    world = run(tree, scripts)
    for _ in range(2):
        world.call("P", "_physics_process", np.float64(0.1))
    assert world.paths["P"].target is world.paths["P/B"]  # type: ignore[attr-defined]
    assert world.paths["P"].found == 12  # type: ignore[attr-defined]


def test_vectors_of_members_and_constants_of_others() -> None:
    scripts = {
        "res://p.gd": "class_name Thing\nextends Node\nconst TOP = 4\nenum Kind {LOW, HIGH}\nvar kind: Kind\n"
        "var v := Vector3.ZERO\n",
        "res://l.gd": (
            "extends Node\nvar thing: Thing\nfunc _physics_process(delta):\n\tthing.v.y += thing.TOP * delta\n"
            "\tthing.v = thing.v.rotated(Vector3.UP, 0.0)\n\tthing.kind = Thing.Kind.HIGH\n"
            "\tmatch thing.kind:\n\t\tThing.Kind.LOW:\n\t\t\tthing.v.x = 1\n\t\t_:\n\t\t\tthing.v.x = 2\n"
        ),
    }
    nodes = [
        ("L", "Node", "res://l.gd", {"thing": ["node", 2]}),
        ("L/T", "Node", "res://p.gd", {"kind": ["int", 0], "v": ["Vector3", [0.0, 1.0, 0.0]]}),
    ]
    world = run(snapshot(scripts, nodes), scripts)
    world.call("L", "_physics_process", np.float64(0.5))
    v = world.paths["L/T"].v  # type: ignore[attr-defined]
    assert (v.x, v.y, v.z) == (2.0, 3.0, 0.0)


def test_names_of_what_is_shown_may_be_the_games_own() -> None:
    scripts = {
        "res://p.gd": (
            "extends Node\nvar other\nfunc _physics_process(_d):\n\tother.emission = 3\n\tother.set_color(2)\n"
        ),
        "res://o.gd": "extends Node\nvar emission := 0\nvar color := 0\nfunc set_color(c):\n\tcolor = c\n",
    }
    nodes = [
        ("P", "Node", "res://p.gd", {"other": ["node", 2]}),
        ("O", "Node", "res://o.gd", {"emission": ["int", 0], "color": ["int", 0]}),
    ]
    world = run(snapshot(scripts, nodes), scripts)
    world.call("P", "_physics_process", np.float64(0.1))
    assert (world.paths["O"].emission, world.paths["O"].color) == (3, 2)  # type: ignore[attr-defined]


def test_cameras_that_nobody_asks_are_left_out() -> None:
    camera = (
        "extends Camera3D\nvar target: Node\nvar speed = 0.0\nfunc _physics_process(delta):\n"
        "\tif Input.is_action_just_pressed('quit'):\n\t\tget_tree().quit()\n"
        "\tspeed += Input.get_last_mouse_velocity().x\n\tglobal_position = target.what.lerp(speed)\n"
    )
    scripts = {
        "res://camera.gd": camera,
        "res://p.gd": "extends Node\nvar x := 0\nfunc _physics_process(_d):\n\tx += 1\n",
    }
    nodes = [
        ("P", "Node", "res://p.gd", {"x": ["int", 0]}),
        ("C", "Camera3D", "res://camera.gd", {"target": ["node", 1], "speed": ["float", 0.0]}),
    ]
    world = run(snapshot(scripts, nodes), scripts)
    assert [what for _, _, what in world.program.left_out] == ["_physics_process() of Camera only moves what is shown"]


def test_arrays_of_arrays_are_read() -> None:
    text = """extends Node
var rooms: Array[Array]
var sizes := []
var sum := 0
func _physics_process(_delta):
	for i in rooms.size():
		var row = rooms[i]
		for room in row:
			if room == rooms[1][0]:
				sum += 10
		sum += row.size()
	sum += sizes[0][1]
"""
    scripts = {"res://p.gd": text}
    rooms = ["Array", [["Array", [["node", 2]]], ["Array", [["node", 3], ["node", 2]]], ["Array", []]]]
    live = {"rooms": rooms, "sizes": ["Array", [["Array", [["int", 5], ["int", 7]]]]], "sum": ["int", 0]}
    nodes = [("P", "Node", "res://p.gd", live), ("A", "Timer", None, {}), ("B", "Timer", None, {})]
    world = run(snapshot(scripts, nodes), scripts)
    world.call("P", "_physics_process", np.float64(0.1))
    assert world.paths["P"].sum == 10 + 3 + 7  # type: ignore[attr-defined]


def test_awaited_timers_go_on_in_a_later_tick() -> None:
    text = """extends Node
var frozen := false
var shown := 0
func _physics_process(_delta):
	if not frozen:
		freeze()
func freeze():
	frozen = true
	if shown < 100:
		await get_tree().create_timer(0.25).timeout
		frozen = false
		await get_tree().physics_frame
		shown += 10
	shown += 1
"""
    scripts = {"res://p.gd": text}
    live = {"frozen": ["bool", False], "shown": ["int", 0]}
    world = run(snapshot(scripts, [("P", "Node", "res://p.gd", live)]), scripts)
    seen = []
    for _ in range(6):
        world.call("P", "_physics_process", np.float64(0.1))
        world.call("P", "@pass_time", np.float64(0.1))
        seen.append((world.paths["P"].frozen, int(world.paths["P"].shown)))  # type: ignore[attr-defined]
    assert seen == [(True, 0), (True, 0), (False, 0), (True, 11), (True, 11), (False, 11)]


@pytest.mark.parametrize(
    ("body", "line", "reason"),
    [
        ("\tvar y = await x", 4, "`await`"),
        ("\tx = {1: 2}", 4, "constant strings as keys"),
        ("\tx = some.thing", 4, "some is not compiled"),
        ("\tqueue_free()", 4, "queue_free()"),
        ("\tvar f = func(): return 1", 4, "functions inside functions"),
        ("\t$Missing.hide()", 4, "no node Missing"),
        ("\thelp()\nfunc help():\n\tx = 1\n\t_physics_process(0.1)", 3, "recursion"),
        ("\tx = 'a'\n\tx = 1", 5, "String"),
        ("\tget_tree().reload_current_scene()", 4, "reload_current_scene()"),
        ("\tadd_child(Node.new())", 4, "add_child()"),
        ("\tx = $Eye.global_position", 4, "such nodes are left out"),
        ("\tpass\nfunc _integrate_forces(state):\n\tx = state", 5, "_integrate_forces()"),
        ("\tx = 3 3", 4, "does not understand this"),
    ],
)
def test_refusals_name_file_line_and_reason(body: str, line: int, reason: str) -> None:
    scripts = {"res://p.gd": f"extends Node\nvar x\nfunc _physics_process(_delta):\n{body}\n"}
    nodes = [("P", "Node", "res://p.gd", {"x": ["null"]}), ("P/Eye", "Camera3D", None, {})]
    program = compiled(snapshot(scripts, nodes), scripts)
    assert any(path == "res://p.gd" and at == line and reason in why for path, at, why in program.refusals), program
    assert program.source == ""
