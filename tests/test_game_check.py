"""The findings of `godojo check`, on made-up arrays."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from godojo.engines.base import RoleArrays
from godojo.errors import GodojoError
from godojo.evaluation.game_check import GameCheck, check
from godojo.evaluation.game_findings import (
    Finding,
    RoleStatistics,
    action_columns,
    action_findings,
    findings_about,
    observation_columns,
)
from godojo.games.parts import ActionPart, ObservationPart

PLACE, SIGHT = ObservationPart("place", (3,)), ObservationPart("sight", (2, 2, 1), "image", 0.0, 1.0)
AGENTS = (2, 3)


def role(parts: Sequence[ObservationPart] = (PLACE,)) -> RoleArrays:
    """All agents act, observe 0 and earn nothing."""
    width = sum(part.size for part in parts)
    zeros: dict[str, Any] = {
        name: np.zeros(AGENTS, np.float32) for name in ("action", "reward", "terms", "final_terms", "final_score")
    }
    zeros |= {name: np.zeros((*AGENTS, width), np.float32) for name in ("observation", "final_observation")}
    flags: dict[str, Any] = {name: np.zeros(AGENTS, np.bool_) for name in ("terminated", "truncated")}
    return RoleArrays(
        "mouse", **zeros, **flags, acted=np.ones(AGENTS, np.bool_), observation_parts=tuple(parts), action_parts=()
    )


def played(
    parts: Sequence[ObservationPart] = (PLACE,),
    *,
    scale: Sequence[float] = (),
    reward: float | None = None,
    every: int = 5,
) -> list[Finding]:
    """Findings after 20 decisions: observations random from -1 to 1 times `scale`, rewards random or `reward`, and
    episodes of `every` decisions."""
    chance, made = np.random.default_rng(0), role(parts)
    found = RoleStatistics(made)
    for step in range(1, 21):
        made.observation[:] = chance.uniform(-1, 1, made.observation.shape)
        if len(scale):
            made.observation[:] *= np.asarray(scale)
        made.reward[:] = chance.uniform(-1, 1, AGENTS) if reward is None else reward
        made.terminated[:] = every > 0 and step % every == 0
        found.add(made)
    return findings_about(found)


def only(findings: Sequence[Finding], name: str) -> Finding:
    (one,) = (finding for finding in findings if finding.name == name)
    return one


def test_a_good_role_has_nothing_but_good_lines() -> None:
    findings = played()
    assert [(one.name, one.state, one.role) for one in findings] == [
        ("observation", "good", "mouse"),
        ("reward", "good", "mouse"),
        ("episodes", "good", "mouse"),
    ]
    assert findings[2].detail == "24 ended, after 5 decisions on average"


@pytest.mark.parametrize(("scale", "columns", "state"), [((1, 0, 1), ("place[1]",), "note"), ((0, 0, 0), 3, "bad")])
def test_constant_columns_are_named(scale: Sequence[float], columns: Any, state: str) -> None:
    one = only(played(scale=scale), "observation")
    assert one.state == state
    assert one.columns == columns or len(one.columns) == columns
    assert "always 0 in 120 decisions" in one.detail
    assert one.cure


def test_a_constant_pixel_is_normal_and_a_constant_picture_is_not() -> None:
    assert only(played((SIGHT,), scale=(0, 1, 1, 1)), "observation").state == "good"
    dark = played((PLACE, SIGHT), scale=(1, 1, 1, 0, 0, 0, 0))
    assert only(dark, "observation").columns == ("sight",)
    assert "--window" in only(dark, "observation").cure


def test_bounds_may_be_passed_a_little() -> None:
    assert only(played(scale=(1, 2, 1)), "observation").state == "good"
    one = only(played(scale=(1, 1, 800)), "observation")
    assert (one.state, one.columns) == ("note", ("place[2]",))
    assert one.cure.startswith("divide by 800 ")
    wide = ObservationPart("wide", (1,), low=-900.0, high=900.0)
    one = only(played((PLACE, wide), scale=(1, 0.1, 1, 800)), "observation")
    assert one.columns == ("wide", "place[1]"), "within its bounds, but of another scale"


@pytest.mark.parametrize(
    ("reward", "every", "state", "detail"),
    [
        (0.0, 5, "bad", "always 0 in 120 decisions and 24 episodes"),
        (0.0, 0, "note", "no episode ended"),
        (-0.5, 5, "note", "always -0.5"),
    ],
)
def test_rewards_that_teach_nothing(reward: float, every: int, state: str, detail: str) -> None:
    one = only(played(reward=reward, every=every), "reward")
    assert one.state == state
    assert detail in one.detail
    assert one.cure


def test_huge_rewards() -> None:
    made = role()
    found = RoleStatistics(made)
    for reward in (0.0, -4000.0):
        made.reward[:] = reward
        found.add(made)
    one = only(findings_about(found), "reward")
    assert (one.state, one.cure) == ("note", "divide it by 4,000 or so")


@pytest.mark.parametrize(("every", "detail"), [(0, "none ended in 120 decisions"), (1, "after 1.0 decisions each")])
def test_episodes_that_never_end_or_end_at_once(every: int, detail: str) -> None:
    one = only(played(every=every), "episodes")
    assert one.state == "note"
    assert detail in one.detail


def test_agents_that_never_act() -> None:
    made = role()
    made.acted[:] = False
    found = RoleStatistics(made)
    found.add(made)
    assert [(one.name, one.state) for one in findings_about(found)] == [("agents", "bad")]


def test_columns_have_names() -> None:
    assert observation_columns((PLACE, ObservationPart("x", (1,)))) == ["place[0]", "place[1]", "place[2]", "x"]
    parts = (ActionPart("move", "continuous", 2), ActionPart("jump", "discrete", 5))
    assert action_columns(parts) == ["move[0]", "move[1]", "jump"]


@pytest.mark.parametrize(
    ("effects", "state", "columns"),
    [
        ({"a": True, "b": True}, "good", ()),
        ({"a": True, "b": False}, "note", ("b",)),
        ({"a": False, "b": False}, "bad", ("a", "b")),
        ({}, "note", ()),
    ],
)
def test_actions_without_effect(effects: dict[str, bool], state: str, columns: tuple[str, ...]) -> None:
    one = action_findings("mouse", ["a", "b"], effects, 48)
    assert (one.state, one.columns) == (state, columns)


def test_it_prints_marks_cures_and_the_next_step() -> None:
    good = Finding("reward", "good", "from [0] to 1", role="mouse")
    assert str(GameCheck("game", None, False, 0, [good])).splitlines()[0] == "✓ reward       mouse: from [0] to 1"
    own = GameCheck("my game", "res://a.tscn", True, 0, [good])
    assert str(own).endswith("train --project 'my game' --scene res://a.tscn --window")
    assert "train --project game" in str(GameCheck("game", None, False, 0, [good]))
    bad = GameCheck("game", None, False, 0, [good, Finding("scripts", "bad", "2 errors", "fix it")])
    assert not bad.healthy
    assert str(bad).splitlines()[1:] == [
        "✗ scripts      2 errors",
        "               → fix it",
        "Fix the lines with ✗ before training.",
    ]


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(GodojoError, match="no project and no exported game at"):
        check(tmp_path / "nothing")
    with pytest.raises(GodojoError, match="seconds"):
        check(tmp_path, seconds=0)
