"""The bench measures what it says it does. How fast things are is no test."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from godojo.bench.sim import SAME_M, measure
from godojo.cli.bench import app
from godojo.engines.godot.find import Engine
from godojo.errors import GodojoError
from godojo.games.tag.numpy_baseline import arenas_of_16, errors_m
from godojo.games.tag.settings import TagSettings


def test_the_arenas_have_16_boxes_and_room() -> None:
    arenas = arenas_of_16(TagSettings.defaults())
    assert [len(arena.boxes) for arena in arenas] == [16] * 8
    assert len({arena.boxes for arena in arenas}) == 8
    assert all(len(arena.spawns) >= 8 for arena in arenas)


def test_numpy_plays_the_same_game() -> None:
    settings = TagSettings.defaults()
    found = errors_m(settings, arenas_of_16(settings))
    assert found.keys() == {"position", "ray"}
    assert max(found.values()) < SAME_M


@pytest.mark.engine
def test_everything_is_measured_in_turn(engine: Engine) -> None:  # noqa: ARG001 - skips where there is none
    done = CliRunner().invoke(app, ["sim", "--json", "--worlds", "64", "--seconds", "0.1", "--repeats", "2"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    for name in ("all_cores", "one_core", "numpy", "godot"):
        assert len(found["samples"][name]) == 2
        assert min(found["samples"][name]) > 0
    assert found["times_godot"] == pytest.approx(found["agent_steps_per_s"] / found["godot_agent_steps_per_s"])
    assert found["times_numpy"] == pytest.approx(found["agent_steps_per_s"] / found["numpy_agent_steps_per_s"])
    assert found["agent_steps_per_s_one_core"] > found["numpy_agent_steps_per_s"] > found["godot_agent_steps_per_s"]
    assert isinstance(found["is_quiet"], bool)


def test_without_godot_the_rest_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GODOJO_HOME", str(tmp_path))
    monkeypatch.delenv("GODOT_BIN", raising=False)
    monkeypatch.setenv("PATH", "")
    found = measure(worlds=16, seconds=0.05, repeats=1)
    assert found.godot_agent_steps_per_s is None
    assert found.times_godot is None
    assert found.times_numpy is not None
    assert found.times_numpy > 0


def test_a_game_without_a_baseline_is_measured_by_itself() -> None:
    found = measure("navigation", worlds=16, seconds=0.05, repeats=1)
    assert found.agent_steps_per_s > 0
    assert found.numpy_agent_steps_per_s is None
    assert found.samples.keys() == {"all_cores", "one_core"}


def test_nonsense_is_refused() -> None:
    with pytest.raises(GodojoError, match="at least one world"):
        measure(worlds=0)
