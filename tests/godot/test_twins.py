"""Twins of godot_rl games: built from their scenes, as good as the real engine, trained on and judged in it."""

import shutil
from pathlib import Path

import pytest

import godojo
from godojo.runs.folder import RunFolder
from godojo.training.outcome import evaluate_training
from godojo.twin.build import BuiltTwin, TwinRefused, build_twin, check_twin, stored_record
from tests.conftest import ROOT

pytestmark = pytest.mark.nightly
ARCADE = ROOT / "tests/godot_rl_games/arcade"


@pytest.fixture(scope="module")
def arcade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ignored = shutil.ignore_patterns(".godot", "*.uid")
    return shutil.copytree(ARCADE, tmp_path_factory.mktemp("games") / "arcade", ignore=ignored)


@pytest.fixture(scope="module")
def driving(arcade: Path) -> BuiltTwin:
    return build_twin(arcade, "driving.tscn")


def test_a_game_without_physics_is_the_same_to_the_last_decision(driving: BuiltTwin) -> None:
    found = check_twin(driving, seeds=2, seconds=8.0)
    assert found.passes
    assert found.line("observations that agree").value == 1.0
    assert found.line("rewards that agree").value == 1.0
    assert found.line("episode ends that agree").samples > 10
    assert not found.first_difference


def test_what_was_built_is_kept_until_a_script_changes(driving: BuiltTwin, arcade: Path) -> None:
    again = build_twin(arcade, "driving.tscn")
    assert again.record.seconds == driving.record.seconds
    assert "def Driving_play(self, delta):" in again.source.read_text(encoding="utf-8")
    script = arcade / "driving.gd"
    text = script.read_text(encoding="utf-8")
    try:
        script.write_text(f"{text}\n\nfunc more() -> int:\n\treturn 1\n", encoding="utf-8")
        assert build_twin(arcade, "driving.tscn").record.sources != driving.record.sources
    finally:
        script.write_text(text, encoding="utf-8")


def test_what_is_not_understood_has_file_line_and_reason(arcade: Path) -> None:
    script = arcade / "recall.gd"
    text = script.read_text(encoding="utf-8")
    try:
        script.write_text(
            text.replace("func begin() -> void:\n", "func begin() -> void:\n\tmove_child(self, 0)\n", 1),
            encoding="utf-8",
        )
        with pytest.raises(TwinRefused, match=r"recall\.gd:\d+: ") as caught:
            build_twin(arcade, "recall.tscn")
        assert "\n" not in str(caught.value)
        record = stored_record(arcade, "recall.tscn")
        assert record is not None
        assert record.refusals
        assert record.lines[0] < record.lines[1]
    finally:
        script.write_text(text, encoding="utf-8")


def test_a_project_is_trained_on_its_twin_and_judged_in_the_engine(
    driving: BuiltTwin, arcade: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert driving.project == arcade
    run = godojo.train(project=arcade, scene="driving.tscn", steps=200_000, run_id="twin")
    folder = RunFolder.open(str(run.path))
    assert folder.config.engine == "sim"
    found = evaluate_training(folder, 32)
    assert found is not None
    assert found.on_twin is not None
    played = check_twin(driving, seeds=1, seconds=2.0, policies={"shared_policy": godojo.load_policy(run)})
    assert played.passes
    (twin,), real = found.on_twin.performances, found.after.performance("shared_policy", "trained")  # type: ignore[union-attr]
    assert twin.reward is not None
    assert real.reward is not None
    assert real.reward.mean == pytest.approx(twin.reward.mean, abs=0.5)
    godojo.train(resume=str(run.path), steps=210_000)


def test_the_real_engine_can_be_asked_for(arcade: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = godojo.train(project=arcade, scene="driving.tscn", steps=2000, engine="godot")
    assert RunFolder.open(str(run.path)).config.engine == "godot"


WORKSHOP = ROOT / "tests/godot_rl_games/climber"


def test_what_public_games_do_besides_running_is_the_same_as_in_the_engine() -> None:
    """Timers, `await`, deferred calls, process modes, `look_at`, `move_and_collide`, bound arguments, `%Name`…"""
    built = build_twin(WORKSHOP, "workshop.tscn")
    assert [one.reason for one in built.record.left_out if "stops" not in one.reason] == []
    found = check_twin(built, seeds=2, seconds=6.0)
    assert found.passes
    assert found.line("observations that agree").value > 0.99
    worlds = built.worlds()
    for _ in range(200):
        worlds.step()
        role = worlds.roles["shared_policy"]
        if role.truncated.any():
            assert not (role.truncated & role.terminated).any()
            break
    else:
        pytest.fail("no episode was cut off")


def test_nodes_are_made_and_freed_as_in_the_engine() -> None:
    """`instantiate`, `add_child`, `queue_free`, `get_children`, groups; what is made has timers, signals, `_ready`."""
    built = build_twin(WORKSHOP, "gallery.tscn")
    assert built.snapshot.pools
    found = check_twin(built, seeds=2, seconds=6.0)
    assert found.passes
    assert found.line("observations that agree").value > 0.99
    assert found.line("episode ends that agree").samples > 10


@pytest.mark.nightly
@pytest.mark.parametrize("scene", ["hockey.tscn", "garage.tscn"])
def test_rigid_bodies_and_vehicles_play_as_in_the_engine(scene: str) -> None:
    """Contacts that call scripts, `_integrate_forces`, `get_colliding_bodies`, wheels. They compile for a minute."""
    found = check_twin(build_twin(ROOT / "tests/godot_rl_games/arcade", scene), seeds=2, seconds=6.0)
    assert found.passes
    assert found.line("observations that agree").value > 0.8


def test_a_pool_that_is_used_up_grows(tmp_path: Path) -> None:
    game = shutil.copytree(WORKSHOP, tmp_path / "game", ignore=shutil.ignore_patterns(".godot", "*.uid"))
    script = game / "gallery.gd"
    script.write_text(script.read_text(encoding="utf-8").replace("for i in 4:", "for i in 14:"), encoding="utf-8")
    (game / "gallery.tscn").write_text(
        (game / "gallery.tscn").read_text(encoding="utf-8").replace('name="Room2"', 'name="Room3"'), encoding="utf-8"
    )
    said: list[str] = []
    built = build_twin(game, "gallery.tscn", say=said.append)
    assert sum(pool.slots for pool in built.snapshot.pools or ()) > 100
    assert any("room for" in line for line in said)


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("driving.gd", "extends Node3D\nfunc broken(:\n", "parse"),
        ("driving_copy.tscn", '[gd_scene format=3]\n[node name="A" type="Node3D"]\n', "agents"),
        (
            "driving_copy.tscn",
            '[gd_scene format=3]\n[ext_resource type="PackedScene" path="res://driving_copy.tscn" id="1"]\n'
            '[node name="A" type="Node3D"]\n[node name="B" parent="." instance=ExtResource("1")]\n',
            "",
        ),
        (
            "driving_copy.tscn",
            '[gd_scene format=3]\n[ext_resource type="PackedScene" path="res://gone.tscn" id="1"]\n'
            '[node name="A" type="Node3D"]\n[node name="B" parent="." instance=ExtResource("1")]\n',
            "",
        ),
    ],
    ids=["script-error", "no-agents", "cyclic-scene", "missing-resource"],
)
def test_a_broken_project_is_refused_in_one_line(
    arcade: Path, tmp_path: Path, file: str, text: str, reason: str
) -> None:
    project = shutil.copytree(arcade, tmp_path / "broken")
    (project / file).write_text(text, encoding="utf-8")
    with pytest.raises(godojo.GodojoError) as caught:
        build_twin(project, "driving.tscn")
    assert "\n" not in str(caught.value)
    assert reason in str(caught.value)
