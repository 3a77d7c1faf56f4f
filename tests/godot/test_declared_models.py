"""Trainings of which the scene declares everything, in the real engine."""

import csv
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import godojo
from godojo.engines.godot.game_source import GameSource
from godojo.engines.godot.worlds import FixedWorldCount
from godojo.errors import GodojoError
from godojo.learn.declared import COMMON, LEARNER_NAMES, OF_ALGORITHM
from godojo.learn.networks import PolicyShape
from godojo.learn.policy_file import load_policy
from godojo.runs.folder import RunFolder
from tests.declared_games import declared_project, write_scene

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(240)]

COMMON_VALUES: dict[str, Any] = {
    "learning_rate": 0.003,
    "final_learning_rate": 0.001,
    "gamma": 0.95,
    "max_grad_norm": 0.7,
    "net_arch": [24, 16],
    "cnn_channels": [4, 8],
}
PPO = COMMON_VALUES | {
    "algorithm": "ppo",
    "batch_size": 64,
    "ent_coef": 0.0,
    "activation_fn": "tanh",
    "memory": "leaky",
    "memory_size": 6,
    "n_steps": 32,
    "n_epochs": 6,
    "gae_lambda": 0.9,
    "clip_range": 0.15,
    "vf_coef": 0.25,
}
SAC = COMMON_VALUES | {
    "algorithm": "sac",
    "batch_size": 128,
    "ent_coef": 0.01,
    "activation_fn": "silu",
    "buffer_size": 5000,
    "learning_starts": 256,
    "tau": 0.04,
    "train_freq": 4,
    "gradient_steps": 8,
}


ONE = {"One": ("one", None)}
SCENES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "ppo": (ONE, PPO),
    "sac": (ONE, SAC),
    "roles": (
        {
            "Small": ("small", {"net_arch": [8], "memory": "none", "learning_rate": 0.01}),
            "Large": ("large", {"net_arch": [32, 16], "memory": "gru", "memory_size": 5, "gamma": 0.9}),
            "Plain": ("plain", None),
        },
        None,
    ),
    "different": ({"One": ("one", {"gamma": 0.9}), "Two": ("one", {"gamma": 0.8})}, None),
    "huge_batch": (ONE, {"batch_size": 4096, "n_steps": 8}),
    "choices": ({"One": ("chooser", None)}, {"algorithm": "sac"}),
}
"""By name: the agents and the model of a scene; all are written at first, so that the project is imported once."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = declared_project(tmp_path_factory.mktemp("declared"))
    for name, (agents, model) in SCENES.items():
        write_scene(folder, name, agents, model)
    single = (folder / "choices_world.tscn").read_text(encoding="utf-8")
    sync = '[ext_resource type="Script" path="res://addons/godojo/sync/dojo_sync.gd" id="sync"]\n[node name="World"'
    single = single.replace('[node name="World"', sync) + '\n[node name="Sync" type="Node" parent="."]\n'
    (folder / "single.tscn").write_text(f'{single}script = ExtResource("sync")\n', encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))


def trained(project: Path, scene: str, steps: int = 600, **how: Any) -> "godojo.Run":
    given: dict[str, Any] = {"project": project, "scene": f"res://{scene}.tscn", "processes": 1, "num_envs": 16}
    return godojo.train(**given, steps=steps, **{"run_id": "declared", **how})


def shape_of(run: "godojo.Run", role: str) -> PolicyShape:
    _, card = load_policy(RunFolder.open(run.name).policy(role))
    return card.shape


def returns(run: "godojo.Run", role: str) -> list[float]:
    with (Path(run.path) / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return [float(row[f"{role}_reward"]) for row in csv.DictReader(file) if row[f"{role}_reward"]]


@pytest.mark.parametrize("declared", [PPO, SAC], ids=["ppo", "sac"])
def test_a_scene_declares_everything_and_it_learns(project: Path, declared: dict[str, Any]) -> None:
    algorithm = declared["algorithm"]
    assert set(declared) == {"algorithm", *COMMON, *OF_ALGORITHM[algorithm]}, "every property of the node"
    run = trained(project, algorithm, 6_000)
    config = RunFolder.open(run.name).config
    assert config.learner == algorithm
    for name, value in declared.items():
        if name != "algorithm":
            learner_name = LEARNER_NAMES.get(name, name)
            assert config.learner_settings[learner_name] == value, name
            assert config.more["settings_from"][learner_name] == "scene (Main/DojoSync)", name
    shape = shape_of(run, "one")
    assert (shape.net_arch, shape.activation) == ((24, 16), declared["activation_fn"])
    found = returns(run, "one")
    assert np.mean(found[:50]) < 1.4
    assert np.mean(found[-50:]) > 1.55, "nearly every mark is reached"


def test_networks_of_another_run_win_over_the_scene(project: Path) -> None:
    first = trained(project, "roles", settings={"net_arch": [16], "memory": ""})
    second = trained(project, "roles", init_from=first.name, run_id="second")
    settings = RunFolder.open(second.name).config.learner_settings
    assert (settings["net_arch"], settings["memory"]) == ([16], "")
    assert settings["roles"] == {
        "small": {"learning_rate": 0.01, "final_learning_rate": 0.01},
        "large": {"gamma": 0.9, "memory_size": 5},
    }
    godojo.train(resume=second.name, steps=4_000)


def test_roles_declare_models_of_their_own_and_the_user_wins(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"ppo": {"gamma": 0.8, "n_epochs": 2}}), encoding="utf-8")
    run = trained(project, "roles", settings={"learning_rate": 0.002}, config=file)
    config = RunFolder.open(run.name).config
    settings, sources = config.learner_settings, config.more["settings_from"]
    assert settings["roles"] == {
        "small": {"net_arch": [8], "memory": ""},
        "large": {"net_arch": [32, 16], "memory": "gru", "memory_size": 5},
    }
    assert (settings["learning_rate"], settings["gamma"], settings["n_epochs"]) == (0.002, 0.8, 2)
    assert (sources["learning_rate"], sources["gamma"]) == ("command line", str(file))
    assert sources["roles"] == "scene (World/Small, World/Large)"
    shapes = {role: shape_of(run, role) for role in config.roles}
    assert {role: shape.net_arch for role, shape in shapes.items()} == {
        "small": (8,),
        "large": (32, 16),
        "plain": (64, 64),
    }
    assert {role: shape.memory for role, shape in shapes.items()} == {"small": "", "large": "gru", "plain": "leaky"}


def test_a_scene_that_is_one_world_is_opened_with_one(project: Path) -> None:
    source = GameSource(project=str(project), scene="res://single.tscn")
    with source.open(seed=1) as worlds:
        assert worlds.num_worlds == 1, "although it was asked for more at first"
    with pytest.raises(FixedWorldCount, match="4 worlds were asked for, but this scene is one world"):
        msgspec.structs.replace(source, worlds=4).open(seed=1)


@pytest.mark.parametrize(
    ("scene", "why"),
    [
        (
            "different",
            "World/One and World/Two declare different models, but learn one policy: both have the policy_name",
        ),
        ("huge_batch", "Main/DojoSync: batch_size must be at most a rollout of the one, 128 samples"),
        ("choices", "Main/DojoSync: SAC learns continuous actions, and step of the chooser is discrete"),
    ],
)
def test_a_contradiction_is_an_error_that_names_the_node(project: Path, tmp_path: Path, scene: str, why: str) -> None:
    with pytest.raises(GodojoError) as error:
        trained(project, scene)
    assert why in str(error.value)
    assert "\n" not in str(error.value)
    assert not list((tmp_path / "runs").glob("*/config.json")), "no run is left behind"
