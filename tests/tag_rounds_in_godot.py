"""Rounds of tag that the game plays by itself: policies in pure GDScript, nobody connected."""

import json
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from godojo.engines.godot.find import find
from godojo.engines.godot.project import problem_lines, run_project
from godojo.errors import GodojoError
from godojo.evaluation.intervals import Proportion
from godojo.games.tag.spec import WINNERS

SCRIPT = "res://games/tag/bench/inference_rounds.gd"


class GameRounds(NamedTuple):
    """What became of every round; one row a world, one column a round."""

    winner: np.ndarray
    """Index in `WINNERS`."""
    ticks: np.ndarray

    def wins(self, role: str) -> Proportion:
        return Proportion.of(int(np.count_nonzero(self.winner == WINNERS.index(role))), self.winner.size)


def play_in_game(
    policies: Mapping[str, Path],
    options: Mapping[str, Any],
    rounds: int,
    *,
    worlds: int = 32,
    seed: int = 0,
    timeout_s: float = 600.0,
) -> GameRounds:
    """At least so many rounds, the same number in each world; `options` are those of `TagInGodot`."""
    plan = {
        "worlds": worlds,
        "rounds": math.ceil(rounds / worlds),
        "seed": seed,
        "options": dict(options),
        "policies": {role: str(path.absolute()) for role, path in policies.items()},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        path.write_text(json.dumps(plan), encoding="utf-8")
        words = ["--headless", "--no-header", "--fixed-fps", "60", "--script", SCRIPT, "--", str(path)]
        done = run_project(find(), words, timeout_s=timeout_s)
    lines = done.output.strip().splitlines() or ["nothing"]
    if done.timed_out:
        raise GodojoError(f"the game did not play {rounds} rounds within {timeout_s:.0f} s")
    if done.code or problem_lines(done.output):
        raise GodojoError(f"the game cannot play these policies: {lines[-1]}")
    played = np.array(json.loads(lines[-1]))
    return GameRounds(played[..., 0].astype(np.int64), played[..., 1].astype(np.int64))
