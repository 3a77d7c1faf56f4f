"""The game menu: what its tester sees and does, and what is measured; a scripted tester covers all of it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import godojo
from godojo.engines.godot.find import Engine
from godojo.engines.godot.game_source import GameSource
from godojo.engines.godot.worlds import GodotWorlds
from godojo.engines.random_play import play_randomly
from godojo.evaluation.external import BEFORE, ExternalEvaluation
from godojo.games.base import SCENE_GAMES
from godojo.opponents import make_opponent
from tests.conftest import ROOT

pytestmark = pytest.mark.engine
WORLDS = 4
TERMS = ("screen", "kept", "silent")
TESTER = ROOT / "examples/menu_tester.py"


@pytest.fixture(autouse=True)
def _has_engine(engine: Engine) -> None:
    """Without one there is nothing to play."""


def played(worlds: GodotWorlds, decisions: int = 450) -> Iterator[tuple[dict[str, float], dict[str, float]]]:
    """Measures and reward terms of the first finished round of each world, played by the script."""
    role = worlds.roles["tester"]
    tester = make_opponent(f"{TESTER}:MenuTester", "tester", game="menu")
    tester.begin(worlds)
    pending = set(range(WORLDS))
    for _ in range(decisions):
        tester.act(worlds, role.action)
        worlds.step()
        assert role.final_measures is not None
        for world in sorted(pending & set(np.flatnonzero(role.terminated[:, 0] | role.truncated[:, 0]))):
            pending.remove(world)
            names = [measure.name for measure in role.measures]
            yield (
                dict(zip(names, role.final_measures[world, 0].tolist(), strict=True)),
                dict(zip(TERMS, role.final_terms[world, 0].tolist(), strict=True)),
            )
    assert not pending


def test_a_script_covers_the_menu_and_settings_are_kept() -> None:
    """Two rounds with the same seed begin alike; each reward comes as often as the menu has screens and settings."""
    with GameSource.of_scene(SCENE_GAMES["menu"]).open(seed=1, usual_worlds=WORLDS) as worlds:
        role = worlds.roles["tester"]
        assert (worlds.ticks_per_second, worlds.ticks_per_decision, worlds.reward_terms) == (90, 8, TERMS)
        assert role.observation.shape == (WORLDS, 1, 71)
        assert [(part.name, part.kind, part.size) for part in role.action_parts] == [
            ("pointing", "continuous", 2),
            ("trigger", "discrete", 2),
            ("grip", "discrete", 2),
        ]
        first = role.observation.copy()
        assert len(np.unique(first[:, 0, 0])) == WORLDS, "all pointers begin alike"
        for measures, terms in played(worlds):
            assert measures["success"] == measures["coverage"] == measures["settings_kept"] == 1
            assert (measures["screens"], measures["dead_elements"]) == (5, 0)
            assert (terms["screen"], terms["kept"]) == (4 * 1, 11 * 5)
            assert terms["silent"] == -2 * measures["unanswered"]
        chance = np.random.default_rng(0)
        for _ in range(100):
            play_randomly(role, chance)
            worlds.step()
            assert np.isfinite(role.observation).all()
        worlds.reset(1)
        np.testing.assert_array_equal(role.observation, first)


def test_a_dead_element_is_reported_by_its_name() -> None:
    source = GameSource.of_scene(SCENE_GAMES["menu"], options={"dead_button": True})
    with source.open(seed=1, usual_worlds=WORLDS) as worlds:
        for measures, terms in played(worlds):
            assert measures["success"] == 0
            assert measures["coverage"] == pytest.approx(0.95)
            assert {name for name, value in measures.items() if name.startswith("dead_") and value} == {
                "dead_elements",
                "dead_shadows",
            }
            assert terms["silent"] <= -6


@pytest.mark.nightly
@pytest.mark.slow
def test_a_policy_that_imitates_the_script_covers_the_menu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of docs/games/menu.md: the target is reached with deterministic actions."""
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    demos = godojo.record_demos(tmp_path / "tester.jsonl", "menu", policy=f"{TESTER}:MenuTester", rounds=300)
    found = godojo.train("menu", demos=demos.path, steps=4096).evaluate(episodes=32)
    assert isinstance(found, ExternalEvaluation)
    cloned = found.performance("tester", BEFORE)  # the snapshot `start`, before PPO's first update
    assert cloned.means["coverage"].mean == 1
    assert cloned.success is not None
    assert cloned.success.rate == 1
