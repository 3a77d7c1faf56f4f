"""voxel_stress and bug_reproduction in the real engine, as trainers see them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from godojo.engines.godot.game_source import GameSource
from godojo.games.base import SCENE_GAMES

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]


def opened(name: str, *, worlds: int = 1, **options: Any) -> Any:
    return GameSource.of_scene(SCENE_GAMES[name], options=options).open(seed=1, usual_worlds=worlds)


def test_a_fast_pilot_breaks_budgets_and_keeps_findings(tmp_path: Path) -> None:
    """Four observations, four actions, the four terms; findings are written when an episode begins."""
    with opened("voxel_stress", findings_folder=str(tmp_path)) as worlds:
        pilot = worlds.roles["pilot"]
        assert pilot.observation.shape[-1] == 4
        assert pilot.action.shape[-1] == 4
        assert list(worlds.reward_terms) == ["physics", "generation", "chunks", "speed"]
        ahead = np.broadcast_to(np.array([1.0, 0.0, 1.0, 1.0], np.float32), pilot.action.shape)
        for _ in range(60):
            worlds.step({"pilot": ahead})
            assert np.isfinite(pilot.observation).all()
        assert pilot.observation[..., 2].item() > 400 / 512
        assert {"over_budget_patterns", "budgets_broken"} <= {measure.name for measure in pilot.measures}
        worlds.reset(2)
    (file,) = tmp_path.glob("findings-*.json")
    found = json.loads(file.read_text(encoding="utf-8"))
    assert any(one["pattern"].startswith("straight above 15 m/s") for one in found["findings"])


def test_a_spinning_hunter_reproduces_the_bug(tmp_path: Path) -> None:
    """Worlds of one process do not take each other's failures; a report has all steps."""
    with opened("bug_reproduction", worlds=2, report_folder=str(tmp_path)) as worlds:
        hunter = worlds.roles["hunter"]
        assert hunter.observation.shape[-1] == 9
        action = np.zeros(hunter.action.shape, np.float32)
        action[0] = [1.0, 0.3, 1.0, 1.0]  # the second world stands still
        ended = np.zeros(2, bool)
        for _ in range(100):
            worlds.step({"hunter": action})
            ended |= worlds.ended
            if ended.any():
                break
        assert ended.tolist() == [True, False]
        assert worlds.winner[0] == 1
    report = json.loads(next(tmp_path.glob("bug-*.json")).read_text(encoding="utf-8"))
    assert report["target_bug"] == "chunk generation race condition"
    assert report["target_bug"] in report["symptom"]
    assert report["steps"][0] == pytest.approx([0, 1.0, 0.3, 1.0, 1.0])
    assert report["state"]["terrain"]["jobs"]
