"""A small dojo/1 game whose scenes declare their models, and the scenes."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

PROJECT = """config_version=5

[application]

config/name="Declared"
config/features=PackedStringArray("4.4")
run/main_scene="res://main.tscn"
"""
AGENT = """extends DojoAgent
## Slides along a line to a mark.

var _place: float = 0.0
var _mark: float = 0.0


func observe() -> PackedFloat32Array:
	return [_place, _mark]


func action_parts() -> Array[Dictionary]:
	if policy_name == "chooser":
		return [DojoObservationLayout.choice("step", 3)]
	return [DojoObservationLayout.move("go", 1)]


func apply_action(action: PackedFloat32Array) -> void:
	var before: float = absf(_mark - _place)
	_place += 0.2 * (action[0] - 1.0 if policy_name == "chooser" else action[0])
	add_reward(before - absf(_mark - _place))
	if absf(_mark - _place) < 0.1:
		add_reward(1.0)
		end_episode(true)


func reset() -> void:
	_place = 0.0
	_mark = chance.randf_range(0.4, 1.0) * (1.0 if chance.randf() < 0.5 else -1.0)
"""
ALGORITHMS = {"ppo": 0, "sac": 1}
Model = Mapping[str, Any]
"""Properties of a `DojoModel`; `algorithm` by name."""


def declared_project(folder: Path) -> Path:
    """The project, without a scene."""
    shutil.copytree(ROOT / "godot/addons/godojo", folder / "addons/godojo")
    (folder / "project.godot").write_text(PROJECT, encoding="utf-8")
    (folder / "agent.gd").write_text(AGENT, encoding="utf-8")
    return folder


def write_scene(
    project: Path, name: str, agents: Mapping[str, tuple[str, Model | None]], model: Model | None = None
) -> str:
    """A scene of a `DojoSync` and its world; by node: an agent's policy and its model. Returns the scene's path."""
    world = [_model(index, own) for index, (_, own) in enumerate(agents.values()) if own is not None]
    nodes = "".join(
        f'\n[node name="{node}" type="Node" parent="."]\nscript = ExtResource("agent")\npolicy_name = "{policy}"\n'
        + "ends_world = false\nmax_ticks = 60\n"
        + (f'model = SubResource("model{index}")\n' if own is not None else "")
        for index, (node, (policy, own)) in enumerate(agents.items())
    )
    (project / f"{name}_world.tscn").write_text(
        _HEAD + _script("agent", "agent.gd") + "\n" + "".join(world) + '[node name="World" type="Node"]\n' + nodes,
        encoding="utf-8",
    )
    (project / f"{name}.tscn").write_text(
        _HEAD
        + _script("sync", "addons/godojo/sync/dojo_sync.gd")
        + f'[ext_resource type="PackedScene" path="res://{name}_world.tscn" id="world"]\n\n'
        + ("" if model is None else _model(0, model))
        + '[node name="Main" type="Node"]\n\n[node name="DojoSync" type="Node" parent="."]\n'
        + 'script = ExtResource("sync")\nworld_scene = ExtResource("world")\n'
        + ("" if model is None else 'model = SubResource("model0")\n'),
        encoding="utf-8",
    )
    return f"res://{name}.tscn"


def _script(key: str, path: str) -> str:
    return f'[ext_resource type="Script" path="res://{path}" id="{key}"]\n'


_HEAD = "[gd_scene format=3]\n\n" + _script("model", "addons/godojo/agents/dojo_model.gd")


def _model(index: int, model: Model) -> str:
    lines = "".join(f"{name} = {_text(name, value)}\n" for name, value in model.items())
    return f'[sub_resource type="Resource" id="model{index}"]\nscript = ExtResource("model")\n{lines}\n'


def _text(name: str, value: Any) -> str:
    if name == "algorithm":
        return str(ALGORITHMS.get(value, 7))
    if isinstance(value, list):
        return f"PackedInt32Array({', '.join(map(str, value))})"
    return f'"{value}"' if isinstance(value, str) else str(value)
