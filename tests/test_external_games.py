"""External games without an engine: where they come from, what is wrong with them, and who is judged how."""

import math
from pathlib import Path

import msgspec
import numpy as np
import onnx
import onnxruntime
import pytest

import godojo
from godojo.cli import main
from godojo.engines.godot import launch
from godojo.engines.godot.complaints import ScriptErrors, complaints_in
from godojo.engines.godot.find import Engine
from godojo.engines.godot.game_source import GameSource
from godojo.engines.godot.project_check import check_project, warnings_about
from godojo.engines.godot.restarts import IN_A_ROW, GameLost, Restarts
from godojo.errors import GodojoError
from godojo.evaluation import external
from godojo.evaluation.tables import plus_minus
from godojo.export.godot_rl_onnx import godot_rl_bytes, played
from godojo.export.vectors import make_vectors
from godojo.games.parts import ActionPart, Measure, ObservationPart
from godojo.learn.networks import Policy
from godojo.learn.policy_file import PolicyCard
from tests.policies import MIXED, NUMBERS, trained

OUTPUT = """\
Godot Engine v4.6.3.stable
WARNING: res://main.tscn:3 - ext_resource, invalid UID: uid://cx4 - using text path instead: res://a.gd
     at: load (scene/resources/resource_format_text.cpp:444)
ERROR: Condition "_sock.is_null()" is true.
   at: set_no_delay (core/io/stream_peer_tcp.cpp:99)
SCRIPT ERROR: Cannot call method 'queue_free' on a null value.
          at: _physics_process (res://walker.gd:26)
          GDScript backtrace (most recent call first):
              [0] _physics_process (res://walker.gd:26)
ERROR: my own error
   at: push_error (core/variant/variant_utility.cpp:1024)
   GDScript backtrace (most recent call first):
       [0] _physics_process (res://walker.gd:28)
12 agents
ERROR: 3 resources still in use at exit (run with --verbose for details).
   at: clear (core/io/resource.cpp:810)
""".splitlines()


def test_errors_of_scripts_are_told_from_those_of_the_engine() -> None:
    found = complaints_in(OUTPUT)
    assert [one.is_noise for one in found] == [True, False, False, False, True]
    assert [str(one) for one in found if one.is_of_script] == [
        "res://walker.gd:26: Cannot call method 'queue_free' on a null value.",
        "res://walker.gd:28: my own error",
    ]
    assert str(found[1]) == (
        'ERROR: Condition "_sock.is_null()" is true. (set_no_delay (core/io/stream_peer_tcp.cpp:99))'
    )


@pytest.mark.parametrize("lines", [1, 3, 100])
def test_script_errors_are_counted_wherever_the_log_is_cut(lines: int) -> None:
    errors = ScriptErrors()
    for first in range(0, len(OUTPUT), lines):
        errors.feed(OUTPUT[first : first + lines])
    errors.feed([], is_end=True)
    assert (errors.count, errors.first[:19]) == (2, "res://walker.gd:26:")


def test_a_game_that_repeats_a_wrong_message_is_not_restarted_for_ever() -> None:
    restarts = Restarts(200)
    for _ in range(IN_A_ROW - 1):
        restarts.note(0, "'obs' has 5 numbers", None, "", "started again", by_its_messages=True)
        restarts.good_step(0)
    with pytest.raises(GameLost, match="'obs' has 5 numbers; it happened 3 times"):
        restarts.note(0, "'obs' has 5 numbers", None, "", "started again", by_its_messages=True)


def test_a_source_survives_the_run_s_configuration() -> None:
    source = GameSource(project="/games/chase", scene="res://train.tscn", window=True, speedup=4.0, processes=3)
    more = msgspec.json.decode(msgspec.json.encode({**source.kept(), "step_timeout_s": 5.0}))
    assert GameSource.of(more) == source
    assert GameSource(project="/games/chase").kept() == {"project": "/games/chase", "processes": 1}
    assert GameSource.of({"processes": 2}) is None
    assert GameSource.of({"connect": {"port": 1}}) == GameSource(connect={"port": 1})
    with pytest.raises(GodojoError, match="processes must be a whole number, not 'two'"):
        GameSource.of({"project": "/games/chase", "processes": "two"})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "game"
    place.mkdir()
    (place / "project.godot").write_text('config_version=5\nrun/main_scene="res://main.tscn"\n', encoding="utf-8")
    (place / "main.tscn").write_text("[gd_scene format=3]\n", encoding="utf-8")
    return place


ENGINE = Engine(Path("godot"), "4.6.3.stable", "installed")


def rewritten(project: Path, old: str, new: str) -> None:
    file = project / "project.godot"
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_projects_that_cannot_run_here_are_refused(project: Path) -> None:
    check_project(ENGINE, project, None)
    with pytest.raises(GodojoError, match=r"has no scene res://mian.tscn; it has: res://main.tscn"):
        check_project(ENGINE, project, "res://mian.tscn")
    rewritten(project, 'run/main_scene="res://main.tscn"\n', "")
    with pytest.raises(GodojoError, match="has no main scene"):
        check_project(ENGINE, project, None)
    rewritten(project, "config_version=5", "config_version=4")
    with pytest.raises(GodojoError, match="is a project of Godot 3"):
        check_project(ENGINE, project, "res://main.tscn")
    rewritten(project, "config_version=4", "config_version=6")
    with pytest.raises(GodojoError, match=r"newer Godot than 4\.6\.3.*GODOT_BIN"):
        check_project(ENGINE, project, "res://main.tscn")


def test_what_a_project_may_lack_is_named(project: Path) -> None:
    assert list(warnings_about(ENGINE, project)) == []
    rewritten(project, "config_version=5", 'config_version=5\nconfig/features=PackedStringArray("4.10", "Mobile")')
    (project / "car.blend").write_bytes(b"")
    newer, blender = warnings_about(ENGINE, project)
    assert "was made with Godot 4.10, and this is 4.6.3" in newer
    assert "needs Blender, since car.blend cannot be imported" in blender
    (project / ".godot/imported").mkdir(parents=True)
    (project / ".godot/imported/car.blend-1234.scn").write_bytes(b"")
    assert len(list(warnings_about(ENGINE, project))) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("train", "--window"), "--window needs --project or --binary"),
        (("train", "--scene", "x"), "--scene needs --project or --binary or --http"),
        (("train", "--strict"), "--strict needs --project or --binary"),
        (("train", "--resume", "mine", "--strict"), "with its own configuration; remove --strict"),
        (("train", "navigation", "--resume", "some.zip", "--window"), "--window needs --project or --binary"),
        (("train", "tag", "--action-repeat", "4"), "--action-repeat needs"),
        (("train", "--project", "a", "--binary", "b"), "give either --project or --binary"),
        (("train", "--binary", "nowhere"), "there is no exported game nowhere"),
        (("train", "--project", "nowhere"), "has no project.godot"),
    ],
)
def test_options_of_external_games_are_checked(
    words: tuple[str, ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("seconds", [0.0, math.nan, math.inf])
def test_the_time_of_an_evaluation_is_checked(seconds: float) -> None:
    with pytest.raises(GodojoError, match="seconds must be above 0"):
        godojo.evaluate("mine", seconds=seconds)


def test_speed_is_for_games_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "find", lambda: ENGINE)
    words = launch.faster(launch.Recipe(("godot",), "godot_rl"), 4.0).words(1, 2)
    assert words == ["godot", "--port=1", "--env_seed=2", "--speedup=4"]
    with pytest.raises(GodojoError, match="must be 1 or more"):
        launch.faster(launch.Recipe(("godot",), "godot_rl"), 0.5)
    with pytest.raises(GodojoError, match="DojoSync never waits"):
        launch.faster(launch.Recipe(("godot",), "dojo/1"), 2.0)


def for_godot_rl(parts: tuple[ActionPart, ...], memory: str = "") -> tuple[Policy, PolicyCard]:
    policy, card = trained(parts, memory, heading=None)
    return policy, msgspec.structs.replace(card, observation_parts=(ObservationPart("obs", (13,)),))


@pytest.mark.parametrize(
    "parts", [MIXED, NUMBERS, (ActionPart("turn", "discrete", 3),)], ids=["mixed", "numbers", "turn"]
)
def test_models_for_godot_rl_act_as_torch_does(parts: tuple[ActionPart, ...]) -> None:
    policy, card = for_godot_rl(parts)
    content, differs = godot_rl_bytes(policy, card)
    assert differs <= 1e-5
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    width = sum(part.size for part in parts)
    assert [(one.name, one.shape, one.type) for one in session.get_inputs()] == [
        ("obs", ["batch", 13], "tensor(float)"),
        ("state_ins", ["batch"], "tensor(float)"),
    ]
    assert [(one.name, one.shape) for one in session.get_outputs()] == [
        ("output", ["batch", width]),
        ("state_outs", ["batch"]),
    ]
    vectors = make_vectors(policy, card, 1000, seed=3)
    # One agent at a time, as the game does.
    rows = np.concatenate([played(content, row, parts) for row in vectors.observation[:50]])
    np.testing.assert_allclose(rows, vectors.action[:50, 0], atol=1e-4, rtol=0)
    many = played(content, vectors.observation[:, 0], parts)
    np.testing.assert_allclose(many, vectors.action[:, 0], atol=1e-4, rtol=0)
    props = {entry.key: entry.value for entry in onnx.load_from_string(content).metadata_props}
    assert (props["game"], props["role"]) == ("race", "driver")


def test_policies_that_godot_rl_cannot_play_are_refused() -> None:
    with pytest.raises(GodojoError, match=r"has no memory.*memory=.*DojoGodotRlPlayer"):
        godot_rl_bytes(*for_godot_rl(NUMBERS, "leaky"))
    with pytest.raises(GodojoError, match="'obs' alone, and the driver observes forward, rays, speed"):
        godot_rl_bytes(*trained(NUMBERS, "", heading=None))


def test_every_agent_plays_the_same_number_of_episodes() -> None:
    """Counting whichever end first would favour agents whose episodes are short."""
    worlds = TwoSpeeds()
    tally = external._Tally(worlds, ["a"], 8)  # type: ignore[arg-type]
    while tally.left:
        worlds.step()
        tally.count(worlds)  # type: ignore[arg-type]
    found = tally.performance("a", "trained")
    assert found.episodes == 8
    assert found.reward is not None
    assert found.length is not None
    assert found.reward.mean == pytest.approx((2 + 10) / 2)
    assert found.length.mean == pytest.approx((2 + 10) / 2)
    assert found.success is not None
    assert (found.success.wins, found.success.rounds) == (4, 8)
    assert found.measures == {"success": found.success}
    assert found.means["fuel"].mean == pytest.approx(0.25), "episodes with nothing to report do not count"
    assert plus_minus(found.reward) == "6.0 ± 3.0"


class TwoSpeeds:
    """One agent has episodes of two steps, and succeeds; the other of ten, and fails."""

    winners = ("nobody",)

    def __init__(self) -> None:
        self.role = _Role()
        self.roles = {"a": self.role}
        self._steps = 0

    def step(self) -> None:
        self._steps += 1
        over = np.array([[self._steps % 2 == 0, self._steps % 10 == 0]])
        self.role.terminated, self.role.truncated = over, np.zeros_like(over)


class _Role:
    def __init__(self) -> None:
        self.reward = np.ones((1, 2), np.float32)
        self.acted = np.ones((1, 2), np.bool_)
        self.measures = (Measure("success", "bool"), Measure("fuel"))
        self.final_measures = np.array([[[1.0, 0.25], [0.0, np.nan]]], np.float32)
        self.terminated = self.truncated = np.zeros((1, 2), np.bool_)
