"""Agents that share a world and end on their own: each episode counts, and no critic sees another agent."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from godojo.bridge.codec import ACTED, TERMINATED, RoleStep, StepFrame
from godojo.bridge.messages import Ready, RoleDescription
from godojo.engines.base import Worlds
from godojo.engines.godot.arrays import make_arrays
from godojo.games.parts import ActionPart, Measure, ObservationPart
from godojo.learn.privileged import PrivilegedObservation
from godojo.learn.training import RolloutStatistics
from godojo.runs.episodes import EpisodeLog

AGENTS = {"runner": 2, "guard": 1}
TICKS = 4


class ScriptedWorlds(Worlds):
    """One world with two runners and a guard, whose steps are given as `{role: [(reward, done, success), …]}`."""

    def __init__(self, *, independent: bool = True, alone: bool = False) -> None:
        self.num_worlds = 1
        roles = tuple(
            RoleDescription(
                name,
                agents,
                (ObservationPart("obs", (3,)),),
                (ActionPart("move", "continuous", 1),),
                measures=(Measure("success", "bool"),),
            )
            for name, agents in AGENTS.items()
        )
        ready = Ready(1, TICKS, roles, independent_agents=independent, agent_episodes=alone)
        self.arrays = make_arrays(self, ready)
        self._returns = {name: np.zeros(agents) for name, agents in AGENTS.items()}

    def play(self, results: dict[str, list[tuple[float, bool, float]]]) -> None:
        steps = []
        for name, agents in results.items():
            reward, done, success = (np.array(column) for column in zip(*agents, strict=True))
            self._returns[name] += reward
            rows = np.flatnonzero(done).astype(np.int32)
            score = self._returns[name][rows].astype(np.float32)
            self._returns[name][rows] = 0.0
            flags = np.where(done, ACTED | TERMINATED, ACTED).astype(np.uint8)[None]
            seen = np.zeros((1, len(agents), 3), np.float32)
            last = np.zeros((len(rows), 3), np.float32)
            terms = reward.astype(np.float32)[None, :, None]
            steps.append(RoleStep(seen, terms, flags, rows, last, score[:, None], score, success[rows, None]))
        self.arrays.take(slice(0, 1), StepFrame(1, 0, np.empty((0, 4), np.int32), tuple(steps)))

    def reset(self, seed: int) -> None: ...

    def _start(self) -> None: ...

    def finish(self) -> None: ...


GOING = (1.0, False, np.nan)
SCRIPT: list[dict[str, list[tuple[float, bool, float]]]] = [
    {"runner": [GOING, (2.0, True, 1.0)], "guard": [(0.5, False, np.nan)]},
    {"runner": [GOING, GOING], "guard": [(0.5, False, np.nan)]},
    {"runner": [(1.0, True, 0.0), GOING], "guard": [(0.5, True, np.nan)]},
]
"""The second runner ends after one decision with 2, the first after three with 3, the guard after three with 1.5."""


@pytest.mark.parametrize("independent", [True, False])
def test_every_agents_episode_is_a_row(tmp_path: Path, independent: bool) -> None:
    """Of agents that meet nobody, and of those that end on their own in a world that they share (`ends_world`)."""
    worlds = ScriptedWorlds(independent=independent, alone=not independent)
    log = EpisodeLog(tmp_path / "metrics.csv", worlds)
    for results in SCRIPT:
        worlds.play(results)
        log.collect(worlds, agent_steps=10, seconds=1.0)
    assert log.sync() == 3
    with (tmp_path / "metrics.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    assert reader.fieldnames is not None
    assert len(set(reader.fieldnames)) == len(reader.fieldnames)
    lengths = [round(float(row["length_s"]) * 60 / TICKS) for row in rows]
    found = [
        (row["episode"], row["runner_reward"], row["runner_success"], row["guard_reward"], length)
        for row, length in zip(rows, lengths, strict=True)
    ]
    assert found == [("1", "2", "1", "", 1), ("2", "3", "0", "", 3), ("3", "", "", "1.5", 3)]
    log.close()


def test_the_curves_are_means_over_agents_episodes() -> None:
    worlds = ScriptedWorlds()
    statistics = RolloutStatistics(worlds)
    for results in SCRIPT:
        worlds.play(results)
        statistics.collect(worlds)
    means = statistics.means()
    assert means["runner/rollout/ep_rew_mean"] == pytest.approx(2.5)
    assert means["runner/rollout/ep_len_mean"] == pytest.approx(2.0)
    assert means["runner/rollout/success_rate"] == pytest.approx(0.5)
    assert means["guard/rollout/ep_rew_mean"] == pytest.approx(1.5)
    assert "guard/rollout/success_rate" not in means
    assert statistics.latest == {"runner": 2.5, "guard": 1.5}
    assert statistics.means() == {}
    assert statistics.latest == {"runner": 2.5, "guard": 1.5}  # the last that is known


@pytest.mark.parametrize(("independent", "size"), [(True, 1), (False, 6)])
def test_critics_see_no_agent_that_is_independent(independent: bool, size: int) -> None:
    worlds = ScriptedWorlds(independent=independent)
    privileged = PrivilegedObservation(worlds, "runner")
    assert privileged.size == size
    rng = np.random.default_rng(0)
    seen: dict[str, Any] = {name: rng.random((1, agents, 3), np.float32) for name, agents in AGENTS.items()}
    assert bool(privileged.of(seen).any()) is not independent
