"""The whole road of external games, in the real engine: train, evaluate, export, and play in the game itself."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import godojo
from godojo.engines.godot.find import Engine
from godojo.engines.godot.open import open_game
from godojo.engines.godot.project import run_project
from godojo.errors import GodojoError
from godojo.evaluation.external import BEFORE, RANDOM, TRAINED, ExternalEvaluation
from godojo.export.dojo_file import load_dojo
from godojo.export.vectors import answered
from tests.conftest import ROOT
from tests.external_games import godot_rl_game, played_in_game

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(300)]

DECISIONS = 1100
"""At least 1,000 observations of all agents together."""


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))


def trained(project: Path, steps: int, **how: object) -> "godojo.Run":
    return godojo.train(project=project, steps=steps, run_id="road", processes=1, **how)  # type: ignore[arg-type]


def evaluated(policy: object, episodes: int) -> ExternalEvaluation:
    found = godojo.evaluate(policy, episodes=episodes, seconds=6)
    assert isinstance(found, ExternalEvaluation)
    return found


@pytest.mark.parametrize(
    ("generation", "agents"),
    [
        ("first", {"Walker": "shared_policy", "Walker2": "shared_policy"}),
        ("second", {"Runner": "runner", "Runner2": "runner", "Guard": "guard"}),
        ("third", {"Ends": "shared_policy_0", "IsCut": "shared_policy_0", "Blind": "shared_policy_1"}),
    ],
)
def test_a_godot_rl_game_goes_all_the_way(
    generation: str, agents: dict[str, str], engine: Engine, tmp_path: Path
) -> None:
    project = godot_rl_game(generation, tmp_path)
    run = trained(project, 3000)
    found = evaluated(run, 12)
    roles = list(dict.fromkeys(agents.values()))
    assert found.agent_steps.keys() == set(roles)
    for player in (RANDOM, BEFORE, TRAINED):
        assert all(found.performance(role, player) for role in roles)
    if generation == "first":  # a jump earns ten times as much as none
        before, after = (found.performance("shared_policy", player).reward_per_step for player in (BEFORE, TRAINED))
        assert after > before
    files = {Path(one.path).stem: Path(one.path) for one in run.export().files}
    assert list(files) == roles
    again = evaluated(files[roles[0]], 4)
    assert [one.player for one in again.performances][:2] == [RANDOM, TRAINED]
    for name, decisions in played_in_game(engine, project, files, DECISIONS).items():
        policy, _ = load_dojo(files[agents[name]])
        wanted = answered(policy, decisions.observation[:, None], decisions.fresh[:, None])
        np.testing.assert_allclose(decisions.action, wanted.action[:, 0], atol=1e-4, rtol=0, err_msg=name)
        assert decisions.fresh.sum() > 3 or name == "Guard"


def test_the_first_agent_goes_all_the_way(engine: Engine, tmp_path: Path) -> None:
    """As its page says, up to the policy that plays in the game."""
    page = (ROOT / "docs/first-agent.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"^Save this as `([\w.]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    project = tmp_path / "first-agent"
    shutil.copytree(ROOT / "godot/addons/godojo", project / "addons/godojo")
    for name, content in files.items():
        (project / name).write_text(content, encoding="utf-8")
    run = trained(project, 40_000)
    assert run.config.learner_settings["num_worlds"] == 16, "a scene that can play many worlds is asked for them"
    found = evaluated(run, 32)
    random, after = (found.performance("ball", player) for player in (RANDOM, TRAINED))
    assert random.success is not None
    assert after.success is not None
    assert after.success.low > random.success.high
    (shipped,) = run.export(out=project).files
    assert Path(shipped.path).name == "ball.dojo"
    scene = (project / "main.tscn").read_text(encoding="utf-8")
    (project / "play.tscn").write_text(played_by(scene), encoding="utf-8")
    (project / "count.gd").write_text(COUNT, encoding="utf-8")
    done = run_project(
        engine,
        ["--headless", "--fixed-fps", "60", "res://play.tscn", "--quit-after", "1800"],
        timeout_s=100,
        folder=project,
    )
    gems = re.findall(r"gems: (\d+)", done.output)
    assert gems, done.output
    assert int(gems[-1]) >= 3, done.output


COUNT = """extends Node
## Counts how often the gem has moved.

var _gems: int = 0
var _place: Vector3


func _physics_process(_delta: float) -> void:
	var gem := get_tree().root.find_child("Gem", true, false) as Node3D
	if gem != null and gem.position != _place:
		_place = gem.position
		_gems += 1
		print("gems: %d" % _gems)
"""


def played_by(scene: str) -> str:
    """The scene of the page with the policy on its DojoSync, as the page says, and a counter."""
    resources = (
        '[ext_resource type="Resource" path="res://ball.dojo" id="3"]\n'
        '[ext_resource type="Script" path="res://count.gd" id="4"]\n[ext_resource'
    )
    scene = scene.replace("[ext_resource", resources, 1)
    policies = 'world_spacing = 16.0\nmode = 2\npolicies = Dictionary[String, Resource]({"ball": ExtResource("3")})'
    return (
        scene.replace("world_spacing = 16.0", policies)
        + '\n[node name="Count" type="Node" parent="."]\nscript = ExtResource("4")\n'
    )


def play(project: Path, decisions: int, **how: Any) -> None:
    with open_game(project, **how) as worlds:
        for _ in range(decisions):
            worlds.step()


def broken(project: Path, old: str, new: str) -> Path:
    walker = project / "walker.gd"
    text = walker.read_text(encoding="utf-8")
    assert old in text
    walker.write_text(text.replace(old, new), encoding="utf-8")
    return project


def test_errors_of_scripts_are_shown_once_counted_and_fatal_if_strict(tmp_path: Path) -> None:
    project = broken(
        godot_rl_game("first", tmp_path),
        "\tclock += 1\n",
        "\tclock += 1\n\tif clock > 0:\n\t\tget_node(^'No').free()\n",
    )
    said: list[str] = []
    with open_game(project, num_processes=2, say=said.append) as worlds:
        for _ in range(200):
            worlds.step()
    count, first = worlds.script_errors
    assert count > 100
    assert re.match(r"res://walker\.gd:2[56]: ", first)
    errors = [line for line in said if line.startswith("a script")]
    assert len(errors) == 1
    assert first in errors[0]
    with pytest.raises(GodojoError, match=r"a script of the game failed: .*walker\.gd:\d+.*strict"):
        play(project, 100_000, strict=True, say=said.append)


def test_errors_of_the_last_second_count(tmp_path: Path) -> None:
    """The log is looked at once a second, and a last time when somebody asks."""
    late = "\tclock += 1\n\tif clock == 30:\n\t\tget_node(^'No').free()\n"
    project = broken(godot_rl_game("first", tmp_path), "\tclock += 1\n", late)
    with open_game(project, strict=True) as worlds:
        assert worlds.script_errors == (0, "")
        for seat in worlds.seats:
            seat.look_after()  # and not again within a second
        for _ in range(8):
            worlds.step()
        with pytest.raises(GodojoError, match=r"a script of the game failed: res://walker\.gd:\d+"):
            _ = worlds.script_errors
        assert worlds.script_errors[0] >= 1
    with pytest.raises(GodojoError, match=r"a script of the game failed: res://walker\.gd:\d+"):
        trained(project, 64, strict=True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[place, clock / 100.0,", "[place, 0.0, clock / 100.0,", r"shared_policy 0: 'obs' has 5 numbers, and 4 were"),
        (
            "[place, clock / 100.0, place > 0.0, jump]",
            "[[1, 2], [3], 4]",
            r"'obs' is a list of lists of different lengths",
        ),
        ("\t\treset()\n\n\nfunc reset", "\t\tget_tree().quit(3)\n\n\nfunc reset", r"exit status 3"),
    ],
    ids=["changed", "ragged", "stops"],
)
def test_a_game_that_breaks_its_word_is_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    project = broken(godot_rl_game("first", tmp_path), old, new)
    with pytest.raises(GodojoError, match=message):
        play(project, 2000, max_restarts=2)


def test_a_project_without_an_agent_says_so(tmp_path: Path) -> None:
    project = godot_rl_game("second", tmp_path)
    scene = (project / "main.tscn").read_text(encoding="utf-8")
    for name in ("Runner", "Guard", "Runner2"):
        scene = re.sub(rf'\[node name="{name}"[^\[]*', "", scene)
    (project / "main.tscn").write_text(scene, encoding="utf-8")
    with pytest.raises(GodojoError, match="has no agents to train"):
        open_game(project, max_restarts=0).close()


@pytest.mark.rendering
def test_a_film_of_the_game_as_it_draws_itself(tmp_path: Path) -> None:
    project = godot_rl_game("first", tmp_path)
    run = trained(project, 200)
    before = {path.name for path in project.iterdir()}
    film = run.record(tmp_path / "film.mp4", episodes=2, preset="small")
    assert film.frames >= 15
    assert {path.name for path in project.iterdir()} == before
