"""The playable scene of tag, started as `godojo play tag` starts it, only without a window."""

import json
import sys
from pathlib import Path

import msgspec
import pytest

from godojo.cli.play import with_policies
from godojo.engines.godot import display, run_project
from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import problem_lines
from godojo.export.dojo_file import dojo_bytes
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.spec import ACTION_PARTS, HEADING, observation_size, roles
from godojo.learn.networks import Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard
from godojo.processes import Finished, finish
from tests.conftest import ROOT
from tests.dojo_policies import drawn_policy
from tests.judged_runs import make_solo_run
from tests.nightly import repeats

pytestmark = pytest.mark.engine


def play(engine: Engine, *options: str, frames: int = 120, scene: str = "res://games/tag/tag.tscn") -> Finished:
    words = ["--headless", "--no-header", "--fixed-fps", "60", "--quit-after", str(frames), scene]
    return run_project(engine, [*words, "--", *options], timeout_s=60)


@pytest.mark.parametrize("mode", ["hide_and_seek", "classic"])
@pytest.mark.parametrize("arena", ["open", "maze"])
def test_demo_plays_several_rounds_without_a_complaint(engine: Engine, mode: str, arena: str) -> None:
    settings = ["--set=rules.round_s=3", "--set=rules.classic_round_s=3"]
    done = play(engine, "--demo", f"--arena={arena}", f"--mode={mode}", *settings, frames=900)
    assert done.code == 0
    assert problem_lines(done.output) == []


def test_an_arena_of_ones_own(engine: Engine, tmp_path: Path) -> None:
    arena = json.loads((ROOT / "godot/games/tag/arenas/open.json").read_text(encoding="utf-8"))
    (tmp_path / "mine.json").write_text(json.dumps({**arena, "name": "mine"}), encoding="utf-8")
    done = play(engine, "--demo", f"--arena={tmp_path / 'mine.json'}")
    assert (done.code, problem_lines(done.output)) == (0, [])


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("--arena=mazee", ["mazee", "maze mixed open pillars platforms"]),
        ("--arena=/nowhere/at/all.json", ["/nowhere/at/all.json"]),
        ("--role=goalkeeper", ["goalkeeper", "seeker hider"]),
        ("--mode=chess", ["chess", "hide_and_seek"]),
        ("--set=motion.gravity=3", ["motion.gravity", "motion.gravity_mps2"]),
        ("--set=motion.gravity_mps2=heavy", ["motion.gravity_mps2", "heavy"]),
        ("--set=rules.hiders=8", ["rules.hiders", "7"]),
        ("--seed=many", ["many"]),
        ("--level=harder", ["harder", "easy medium hard"]),
        ("--opponent=nobody", ["nobody", "trained scripted"]),
        ("--fast", ["--fast", "--arena="]),
    ],
)
def test_a_wrong_option_is_one_line_that_names_the_valid_ones(engine: Engine, option: str, names: list[str]) -> None:
    done = play(engine, option)
    assert done.code == 2
    lines = [line for line in done.output.splitlines() if line.strip()]
    assert len(lines) == 1, done.output
    assert all(name in lines[0] for name in names), lines[0]


@pytest.mark.slow
def test_hostile_random_play_breaks_nothing(engine: Engine) -> None:
    words = ["--headless", "--no-header", "--fixed-fps", "60", "--script", "res://tests/stress/stress.gd"]
    done = run_project(engine, [*words, "--", f"--rounds={repeats(60, nightly=250)}"], timeout_s=110)
    assert done.code == 0, done.output
    assert "clean" in done.output
    assert problem_lines(done.output) == []


@pytest.mark.rendering
def test_the_command_itself_plays_in_a_window(engine: Engine) -> None:
    assert engine
    command = [sys.executable, "-m", "godojo", "play", "tag"]
    with display("1280x720") as env:
        wrong = finish([*command, "--arena", "mazee"], timeout_s=60, env=env)
        played = finish([*command, "--arena", "maze", "--role", "hider"], timeout_s=8, env=env)
    assert wrong.code == 2
    assert wrong.output.startswith("--arena: mazee: no such arena")
    assert wrong.output.count("\n") == 1
    assert played.timed_out, f"the game ended by itself: {played.output}"
    assert problem_lines(played.output) == []


def test_trained_players_play_several_rounds_without_a_complaint(engine: Engine) -> None:
    done = play(engine, "--attract", "--level=hard", "--set=rules.round_s=3", frames=900)
    assert (done.code, done.output.strip()) == (0, "")


def test_a_trained_player_plays_classic_tag(engine: Engine, tmp_path: Path) -> None:
    settings = TagSettings.defaults().override(**{"rules.mode": "classic"})
    (role,) = roles(settings)
    shape = PolicyShape(observation_size(settings), ACTION_PARTS, (8,), "", 0, HEADING)
    card = PolicyCard("tag", role.name, role.observation_parts, shape, 1, msgspec.to_builtins(settings))
    (tmp_path / "mine.dojo").write_bytes(dojo_bytes(Policy(shape), card))
    words = ["--attract", "--mode=classic", "--set=rules.players=3", "--set=rules.classic_round_s=3"]
    done = play(engine, *words, f"--policy={tmp_path / 'mine.dojo'}", frames=400)
    assert (done.code, done.output.strip()) == (0, "")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--policy=/nowhere/mine.dojo"], "/nowhere/mine.dojo cannot be read"),
        (["--policy={folder}/damaged.dojo"], "its checksum does not fit"),
        (["--policy={folder}/other.dojo"], "it plays drawn as the agent, not tag as the hider"),
        (["--set=sight.fov_deg=100"], "it was trained with another sight.fov_deg"),
        (["--set=rules.ticks_per_decision=2"], "it was trained with another rules.ticks_per_decision"),
    ],
)
def test_a_policy_that_cannot_play_is_one_line_and_a_script_plays(
    engine: Engine, tmp_path: Path, options: list[str], why: str
) -> None:
    good = dojo_bytes(*drawn_policy())
    (tmp_path / "other.dojo").write_bytes(good)
    (tmp_path / "damaged.dojo").write_bytes(good[:-1] + b"?")
    done = play(engine, *(option.format(folder=tmp_path) for option in options))
    assert done.code == 0
    lines = [line for line in done.output.splitlines() if line.strip()]
    assert len(lines) == 1, done.output
    assert lines[0].startswith("the hider is played by a script: ")
    assert why in lines[0]


def test_a_trained_walker_walks(engine: Engine, tmp_path: Path) -> None:
    """As `play navigation --policy RUN` starts it: the run's settings, and its policy exported for Godot."""
    scene, run = "res://games/navigation/navigation.tscn", make_solo_run(tmp_path, round_s=3.0)
    words = with_policies("navigation", [f"--policy={run.path}", "--camera=follow"])
    assert words[0] == "--set=rules.round_s=3.0"
    assert words[1].endswith("walker.dojo")
    done = play(engine, *words, frames=700, scene=scene)
    assert (done.code, done.output.strip()) == (0, "")
    script = ["--headless", "--no-header", "--fixed-fps", "60", "--script", "res://tests/navigation/walk.gd"]
    walked = run_project(engine, [*script, "--", "2", *words], timeout_s=60)
    ends = [line.split() for line in walked.output.splitlines()]
    assert [winner for winner, _, _ in ends] == ["clock", "clock"], walked.output
    assert all(float(metres) > 1.0 for _, metres, _ in ends), "it walks straight on"
    (tmp_path / "other.dojo").write_bytes(dojo_bytes(*drawn_policy()))
    for option, why in (
        (f"--policy={tmp_path / 'other.dojo'}", "it plays drawn, not navigation"),
        ("--policy=/nowhere/mine.dojo", "/nowhere/mine.dojo cannot be read"),
        ("--set=sight.range_m=4", "it was trained with another sight.range_m"),
    ):
        refused = play(engine, *words[:2], option, scene=scene)
        assert refused.code == 2
        assert len(refused.output.strip().splitlines()) == 1, refused.output
        assert why in refused.output


def test_a_person_plays_beside_trained_team_mates(engine: Engine) -> None:
    for role in ("seeker", "hider"):
        done = play(engine, "--teams=2v6", f"--role={role}", "--level=hard", "--set=rules.round_s=2", frames=360)
        assert (done.code, done.output.strip()) == (0, "")
