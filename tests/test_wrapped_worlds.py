"""Worlds around other worlds pass on whatever the contract declares."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from godojo.bridge.messages import Loop, Plan, Status
from godojo.engines.base import Worlds
from godojo.engines.multi_task import MultiTaskWorlds
from godojo.engines.reward_wrapper import RewardWrapper
from godojo.engines.subset import WorldsSubset
from godojo.engines.wrapper import WorldsWrapper
from godojo.errors import GodojoError
from godojo.evaluation.informed_worlds import InformedWorlds
from godojo.runs.config import RunConfig
from godojo.training.worlds import worlds_of
from tests.test_agent_episodes import ScriptedWorlds

CHANGED = {"roles", "ended", "winner", "length_ticks", "arena"}
"""Attributes that a wrapper may replace by arrays of its own, and does not share."""
BUILT_ON_OTHERS = {"step", "start", "played", "describe_as"}
"""Members of `Worlds` that call the others."""
WRAPPERS: dict[str, Callable[[Worlds], Worlds]] = {
    "reward": lambda worlds: RewardWrapper(worlds, scale=2.0),
    "informed": lambda worlds: InformedWorlds(worlds, "guard"),
    "tasks": lambda worlds: MultiTaskWorlds({"one": worlds}),
    "subset": lambda worlds: WorldsSubset(worlds, slice(0, 1)),
}


class Declaring(ScriptedWorlds):
    """Everything that a scene may declare, and a note of what it was told."""

    game, settings = "other", {"round_s": 3}
    godot_version, declared_models = "4.5", {"guard": {"algorithm": "ppo", "node": "/root/Guard"}}

    def __init__(self) -> None:
        super().__init__(alone=True)
        self.declared_loop = Loop(("guard",))
        self.heard: list[Any] = []

    def plan(self, epoch: int) -> Plan:
        return Plan(running=epoch < 3)

    def pause(self, reason: str) -> bool:
        self.heard.append(reason)
        return True

    def is_resumed(self, timeout_s: float) -> bool:
        return timeout_s > 1.0

    def notice(self, status: Status) -> None:
        self.heard.append(status.phase)


@pytest.mark.parametrize("name", WRAPPERS)
def test_attributes_are_passed_on(name: str) -> None:
    inner = Declaring()
    wrapped = WRAPPERS[name](inner)
    for attribute in Worlds.__annotations__.keys() - CHANGED:
        assert getattr(wrapped, attribute) == getattr(inner, attribute), attribute
    for role, arrays in inner.roles.items():
        own = wrapped.roles[role]
        assert arrays.final_measures is not None
        assert own.final_measures is not None
        assert np.array_equal(own.final_measures, arrays.final_measures, equal_nan=True)


def test_a_game_of_ours_does_not_take_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[bool] = []
    worlds = Declaring()
    monkeypatch.setattr(worlds, "close", lambda: closed.append(True))
    monkeypatch.setattr("godojo.training.worlds._tasks", lambda *_: worlds)
    config = RunConfig("tag", "godot", (), "ppo", {}, {}, 1, {"minutes": 1.0})
    with pytest.raises(GodojoError, match="tag has a schedule of its own: remove the DojoTrainingLoop"):
        worlds_of(config)
    assert closed


@pytest.mark.parametrize("name", sorted(WRAPPERS.keys() - {"subset"}))
def test_a_scene_drives_through_a_wrapper(name: str) -> None:
    inner = Declaring()
    wrapped = WRAPPERS[name](inner)
    assert [wrapped.plan(epoch).running for epoch in (0, 3)] == [True, False]
    assert wrapped.pause("stopped")
    assert not wrapped.is_resumed(0.5)
    wrapped.notice(Status("playing"))
    assert inner.heard == ["stopped", "playing"]


def test_the_wrapper_delegates_every_call() -> None:
    calls = {name for name, value in vars(Worlds).items() if callable(value) and not name.startswith("__")}
    assert calls - BUILT_ON_OTHERS <= vars(WorldsWrapper).keys()
