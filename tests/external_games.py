"""External games for tests: copies of the small godot_rl games, and scenes in which a policy plays them."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import run_project
from tests.conftest import ROOT

GAMES = ROOT / "tests/godot_rl_games"
_LOGGER = """extends Node
## Writes what a DojoGodotRlPlayer does into a file, and quits after enough decisions.

@export var player: DojoGodotRlPlayer
@export var most: int = 100

var _lines: PackedStringArray = []


func _ready() -> void:
	player.decided.connect(_note)
	player.episode_ended.connect(func(agent: Node) -> void: _lines.append(JSON.stringify([agent.name])))


func _note(agent: Node, observation: PackedFloat32Array, action: PackedFloat32Array) -> void:
	_lines.append(JSON.stringify([agent.name, Array(observation), Array(action)], "", false, true))
	if _lines.size() >= most:
		player.set_physics_process(false)
		FileAccess.open("res://decisions.jsonl", FileAccess.WRITE).store_string("\\n".join(_lines))
		get_tree().quit()
"""


class Decisions(NamedTuple):
    """What one agent saw and did, decision by decision."""

    fresh: np.ndarray
    """[T]: 1 where an episode begins."""
    observation: np.ndarray
    action: np.ndarray


def godot_rl_game(generation: str, folder: Path) -> Path:
    """A copy, since the engine writes beside what it plays."""
    return shutil.copytree(GAMES / generation, folder / generation, ignore=shutil.ignore_patterns(".godot"))


def played_in_game(engine: Engine, project: Path, files: Mapping[str, Path], most: int) -> dict[str, Decisions]:
    """Lets a DojoGodotRlPlayer play the project with these policies, without a trainer; what each agent did."""
    shutil.copytree(ROOT / "godot/addons/godojo", project / "addons/godojo", dirs_exist_ok=True)
    for role, file in files.items():
        shutil.copy(file, project / f"{role}.dojo")
    (project / "logger.gd").write_text(_LOGGER, encoding="utf-8")
    (project / "play.tscn").write_text(_scene(list(files), most), encoding="utf-8")
    words = ["--headless", "--fixed-fps", "60", "res://play.tscn", "--port=9"]  # nobody listens there
    done = run_project(engine, words, timeout_s=100, folder=project)
    assert "is not played" not in done.output, done.output
    assert "SCRIPT ERROR" not in done.output, done.output
    log = project / "decisions.jsonl"
    assert log.is_file(), done.output
    found: dict[str, list[tuple[float, list[float], list[float]]]] = {}
    begins: dict[str, float] = {}
    for name, *decision in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
        if decision:
            found.setdefault(name, []).append((begins.pop(name, 0.0), *decision))
        else:
            begins[name] = 1.0
    return {
        name: Decisions(*(np.array(column, np.float32) for column in zip(*rows, strict=True)))
        for name, rows in found.items()
    }


def _scene(roles: list[str], most: int) -> str:
    """The main scene with a player and a logger."""
    resources = "".join(
        f'[ext_resource type="Resource" path="res://{role}.dojo" id="p{place}"]\n' for place, role in enumerate(roles)
    )
    policies = ", ".join(f'"{role}": ExtResource("p{place}")' for place, role in enumerate(roles))
    addon = "res://addons/godojo/inference/dojo_godot_rl_player.gd"
    return f"""[gd_scene format=3]

[ext_resource type="PackedScene" path="res://main.tscn" id="game"]
[ext_resource type="Script" path="{addon}" id="player"]
[ext_resource type="Script" path="res://logger.gd" id="logger"]
{resources}
[node name="Play" type="Node"]

[node name="Game" parent="." instance=ExtResource("game")]

[node name="Player" type="Node" parent="."]
script = ExtResource("player")
policies = Dictionary[String, Resource]({{{policies}}})

[node name="Logger" type="Node" parent="." node_paths=PackedStringArray("player")]
script = ExtResource("logger")
player = NodePath("../Player")
most = {most}
"""
