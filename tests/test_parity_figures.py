"""The arithmetic of the parity check, on made-up recordings whose answers are known."""

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest

from godojo.errors import GodojoError
from godojo.evaluation.parity.picture import draw
from godojo.evaluation.parity.report import Curve, Figure, Report, percentile, share
from godojo.games.tag.arenas import hand_made_arenas
from godojo.games.tag.parity import error_curve
from godojo.games.tag.parity.compare import Divergence, set_apart
from godojo.games.tag.parity.plan import GAMES, make_plan
from godojo.games.tag.parity.record import FIELDS, Recording, read_recording, write_job
from godojo.games.tag.parity.replay import AT, Replay
from godojo.games.tag.settings import TagSettings

ACTIVE = AT["active"]


def recording(ticks: int, agents: int = 2, shown: int = 5) -> Recording:
    """One episode in which everybody stands at the origin, in play, for so many ticks."""
    states = np.zeros((1, shown + 1, agents, len(FIELDS)), np.float32)
    states[..., ACTIVE] = 1.0
    nothing = np.zeros((1, 1, agents, 4), np.float32)
    return Recording(states, nothing, nothing, np.array([ticks]), np.array([1]), ("hider",), np.array([-1]), nothing[0])


def again(states: np.ndarray, ended: int, first: int = 0) -> Replay:
    return Replay(np.array([0]), np.array([first]), states[None], np.array([ended]))


def test_error_is_the_distance_and_the_worst_tick_counts() -> None:
    real = recording(5)
    states = real.states[0].copy()
    states[2, 0, :3] = (0.3, 0.0, 0.4)
    states[5, 1, :3] = (0.0, 0.1, 0.0)
    apart = set_apart(real, again(states, ended=5))
    assert apart.error_m[0, 2, 0] == pytest.approx(0.5)
    assert apart.worst_m()[0] == pytest.approx([0.5, 0.1])
    assert not apart.counts[0, 0].any()  # the start is given, not reached
    assert apart.counts[0, 1:].all()


def test_who_is_out_no_longer_counts_but_a_catch_in_one_engine_alone_does() -> None:
    real = recording(5)
    real.states[0, 3:, 1, ACTIVE] = 0.0
    same = real.states[0].copy()
    counts = set_apart(real, again(same, ended=5)).counts[0]
    assert counts[:, 1].tolist() == [False, True, True, True, False, False]
    never_caught = real.states[0].copy()
    never_caught[:, 1, ACTIVE] = 1.0
    never_caught[4, 1, 0] = 2.0
    apart = set_apart(real, again(never_caught, ended=5))
    assert apart.counts[0, :, 1].tolist() == [False, True, True, True, True, True]
    assert apart.worst_m()[0, 1] == pytest.approx(2.0)


def test_a_round_that_ends_early_counts_to_the_later_of_both_ends() -> None:
    real = recording(2)
    counts = set_apart(real, again(real.states[0].copy(), ended=4)).counts[0]
    assert counts[:, 0].tolist() == [False, True, True, True, True, False]


def test_where_somebody_caught_in_the_last_tick_was_is_not_guessed() -> None:
    real = recording(3)
    real.states[0, 3:, 1] = 0.0
    real.states[0, 3:, 1, 0] = 0.1  # moved, and was caught
    twin = real.states[0].copy()
    twin[3:, 1, 0] = 0.0
    apart = set_apart(real, again(twin, ended=3))
    assert apart.worst_m()[0, 1] == 0.0


def test_a_window_is_laid_beside_the_ticks_it_stands_for() -> None:
    real = recording(5)
    real.states[0, :, 0, 0] = np.arange(6)
    states = np.zeros((3, 2, len(FIELDS)), np.float32)
    states[..., ACTIVE] = 1.0
    states[:, 0, 0] = (3, 4, 5.5)
    apart = set_apart(real, again(states, ended=2, first=3))
    assert apart.worst_m()[0, 0] == pytest.approx(0.5)


def test_percentiles_and_shares_leave_out_what_is_no_number() -> None:
    assert percentile(np.array([1.0, math.nan, 3.0]), 50) == 2.0
    assert math.isnan(percentile(np.array([math.nan]), 50))
    assert share(np.array([True, True, False, True])) == 0.75
    assert math.isnan(share(np.array([], np.bool_)))


@pytest.mark.parametrize(
    ("figure", "is_met"),
    [
        (Figure("a", 0.001, 1, at_most=0.001), True),
        (Figure("a", 0.0011, 1, at_most=0.001), False),
        (Figure("a", 0.97, 1, at_least=0.97), True),
        (Figure("a", 0.9699, 1, at_least=0.97), False),
        (Figure("a", math.nan, 0, at_most=1.0), False),
        (Figure("a", math.nan, 0, at_least=0.5), False),
        (Figure("a", 123.0, 1), True),
    ],
)
def test_targets(figure: Figure, is_met: bool) -> None:
    assert figure.is_met is is_met


def test_the_curve_takes_only_what_counts() -> None:
    error_m = np.array([[[0.0], [1.0], [9.0]], [[0.0], [3.0], [5.0]]])
    counts = np.array([[[False], [True], [False]], [[False], [True], [True]]])
    nothing = np.zeros(0)
    found = error_curve([Divergence(Replay(nothing, nothing, nothing, nothing), nothing, error_m, counts)])
    assert found.median_m == [2.0, 5.0]
    assert found.worst_m == [3.0, 5.0]
    assert found.seconds == pytest.approx([1 / 60, 2 / 60])


def test_the_same_seed_makes_the_same_plan_and_every_game_is_in_it() -> None:
    arenas = list(hand_made_arenas().values())
    one, two, other = make_plan(16, arenas, 1), make_plan(16, arenas, 1), make_plan(16, arenas, 2)
    assert [group.name for group in one.groups] == list(GAMES)
    assert sorted(np.concatenate([group.number for group in one.groups])) == list(range(16))
    for left, right, third in zip(one.groups, two.groups, other.groups, strict=True):
        assert np.array_equal(left.actions, right.actions)
        assert np.array_equal(left.starts, right.starts)
        assert not np.array_equal(left.actions, third.actions)
    actions = np.concatenate([group.actions.reshape(-1, 3) for group in one.groups])
    assert (np.abs(actions[:, :2]).max(axis=1) > 1.5).any()  # too much is asked for now and then
    assert (np.abs(actions[:, :2]).max(axis=1) < 0.05).any()
    assert 0.1 < (actions[:, 2] > 0).mean() < 0.6


def test_settings_of_a_users_own_are_compared_too() -> None:
    arenas = list(hand_made_arenas().values())
    for group in make_plan(8, arenas, 1, TagSettings.defaults().override(**{"motion.gravity_mps2": 12})).groups:
        assert group.settings.motion.gravity_mps2 == 12


def test_a_recording_of_something_else_is_refused(tmp_path: Path) -> None:
    plan = make_plan(1, list(hand_made_arenas().values()), 1)
    write_job(plan, tmp_path)
    assert (tmp_path / "job.bin").stat().st_size == 150 * 2 * 3 * 4
    (tmp_path / "recording.bin").write_bytes(b"")
    listing = {"fields": list(FIELDS), "episodes": []}
    (tmp_path / "recording.json").write_bytes(msgspec.json.encode(listing))
    with pytest.raises(GodojoError, match="do not fit together"):
        read_recording(plan, tmp_path)


def test_a_perfect_report_can_be_drawn(tmp_path: Path) -> None:
    """Errors of exactly zero have no logarithm."""
    flat = Curve([0.0, 1.0], *[[0.0, 0.0]] * 5)
    report = Report("tag", "4.6", 1, 1, ["open"], {"1v1": 1}, 1, [], [], [], [], flat, flat)
    draw(report, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000
