"""The bench of the bridge measures what it says it does. How fast things are is no test."""

import json

import pytest
from typer.testing import CliRunner

from godojo.bench.bridge import make_godot, measure, overlapping, through_bridge
from godojo.cli.bench import app
from godojo.cli.console import out
from godojo.errors import GodojoError

SHORT = ("--worlds", "3", "--seconds", "0.2", "--repeats", "2")


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_everything_is_measured_in_turn() -> None:
    done = CliRunner().invoke(app, ["bridge", "--json", *SHORT])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    rival = found["godot_rl_agent_steps_per_s"]  # none where the package cannot be fetched
    for name in ("bridge", "two", "free", *(("godot_rl",) if rival else ())):
        assert len(found["samples"][name]) == 2
        assert min(found["samples"][name]) > 0
    if rival:
        assert found["times_godot_rl"] == pytest.approx(found["agent_steps_per_s"] / rival)
    shares = [a / b for a, b in zip(found["samples"]["bridge"], found["samples"]["free"], strict=True)]
    assert found["share_of_free"] == pytest.approx(sum(shares) / 2)
    split = found["split"]
    assert min(split[part] for part in ("step_us", "engine_us", "python_us")) > 0
    assert found["step_bytes"] == 3 * 2 * (109 * 4 + 4 * 4 + 1)


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_the_table_names_every_contender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out, "width", 200)
    done = CliRunner().invoke(app, ["bridge", *SHORT, "--no-godot-rl"])
    assert done.exit_code == 0, done.output
    for word in ("bridge, one process", "two processes", "the engine alone", "not measured", "overlapped"):
        assert word in done.output


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_a_step_is_counted_once_for_every_agent() -> None:
    with make_godot("tag", 4, 2) as worlds, make_godot("tag", 4, 1) as other:
        speed, split = through_bridge(worlds, 0.3)
        assert min(speed, split.step_us) > 0
        overlap = overlapping(worlds, other, 2e-3, 0.3)
        assert overlap.policy_ms == pytest.approx(2.0)
        assert overlap.in_turn > 0
        assert overlap.times == pytest.approx(overlap.overlapped / overlap.in_turn)
        worlds.step()  # nothing was left under way
        other.step()


def test_nonsense_is_refused() -> None:
    with pytest.raises(GodojoError, match="at least one world"):
        measure(worlds=0)
