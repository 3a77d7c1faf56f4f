"""The embedded game of navigation: rewards and comfort by term, motion, ends, and the same bits for a seed."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.games.navigation.courses import Box, Course, Route, Start, check_course, hand_made_courses, read_course
from godojo.games.navigation.settings import LAYOUT, NavigationSettings
from godojo.games.navigation.sim import rewards, state
from godojo.games.navigation.sim.motion import cut_action, smooth
from godojo.games.navigation.spec import OBSERVATION_SIZE, REWARD_TERMS, WALKER

DEFAULTS = NavigationSettings.defaults()
FLOOR = Box((0.0, -0.5, 0.0), (40.0, 1.0, 40.0), "floor")
AT = {name: place for place, name in enumerate(REWARD_TERMS)}
PER_METRE = dict.fromkeys(("rewards.smooth", "rewards.comfort"), 0.0) | {
    "rewards.smooth_per_m": 0.1,
    "rewards.comfort_per_m": 2.0,
}


def course(
    *boxes: Box, marks: Sequence[tuple[float, float, float]] = ((0.0, 0.0, -10.0),), floor: Box = FLOOR
) -> Course:
    """A walk from the origin, looking along -z."""
    start = Start((0.0, 0.0, 0.0), (0.0, 0.0), 0.0, 0.0)
    return Course(1, "test", "Test", "outdoor", (floor, *boxes), (), (start,), (Route(tuple(marks)),))


class Walk:
    """One world on a course; `go` repeats an action."""

    def __init__(self, own: Course, changes: Mapping[str, object] | None = None, **options: Any) -> None:
        settings = DEFAULTS.override(**dict(changes or {}))
        self.worlds = make_vec("navigation", settings=settings, courses=[own], **options)
        self.role = self.worlds.roles[WALKER]

    def go(self, decisions: int, *action: float) -> np.ndarray:
        """The terms of every decision, until the round ends."""
        found = []
        for _ in range(decisions):
            self.role.action[0, 0] = action
            self.worlds.step()
            found.append(self.role.terms[0, 0].copy())
            if self.worlds.ended[0]:
                break
        return np.array(found)

    @property
    def outcome(self) -> str:
        assert self.worlds.ended[0]
        return str(self.worlds.winners[self.worlds.winner[0]])

    @property
    def at(self) -> np.ndarray:
        return np.asarray(self.worlds.privileged().position_m[0])


def test_the_observation_has_48_numbers_in_the_order_that_is_documented() -> None:
    assert LAYOUT.size(DEFAULTS) == OBSERVATION_SIZE == 48
    walk = Walk(course(Box((0.0, 0.625, -3.0), (4.0, 1.25, 1.0), "wall")))
    told = {name: LAYOUT.view(walk.role.observation[0, 0], name) for name in LAYOUT.names}
    assert told["camera_position"] == pytest.approx([0.0, 1.6, 0.0], abs=2e-3)
    assert told["camera_rotation"] == pytest.approx([0.0, 0.0, 0.0, 1.0])
    assert told["rays"][5] == pytest.approx(2.5, abs=1e-5)  # straight ahead
    assert told["rays"][0] == pytest.approx(5.0)  # 120 degrees to the left: nothing
    assert told["rays"][13] == pytest.approx(0.9 / math.sin(math.radians(35.0)), abs=5e-3)  # down at the floor
    assert told["goal_position"] == pytest.approx([0.0, 0.0, -10.0], abs=2e-3)
    assert told["goal_distance"] == pytest.approx([10.0], abs=1e-3)
    assert told["goal_direction"] == pytest.approx([0.0, 0.0, -1.0], abs=1e-3)
    assert told["left_position"] == pytest.approx([-0.25, 1.1, -0.35])


def test_walking_and_turning_keep_to_their_limits_and_are_smoothed() -> None:
    walk = Walk(course())
    walk.go(1, 0.0, 1.0, 0.0)
    first = -walk.role.observation[0, 0, 9]
    share = 1.0 - math.exp(-4 / 60 / DEFAULTS.motion.smoothing_s)
    assert first == pytest.approx(2.0 * share, abs=1e-5)
    walk.go(30, 1.0, 1.0, 1.0)
    told = walk.role.observation[0, 0]
    assert math.hypot(told[7], told[9]) == pytest.approx(2.0, abs=1e-3)  # both at once are not faster than one
    assert told[11] == pytest.approx(-math.radians(90.0), abs=1e-3)


def test_action_pieces() -> None:
    action = np.zeros(4)
    cut_action(np.array([3.0, 4.0, -7.0], np.float32), action)
    assert action == pytest.approx([math.sqrt(0.5), math.sqrt(0.5), -1.0, 0.0])
    cut_action(np.array([math.nan, math.inf, 0.5, 2.0], np.float32), action)
    assert action == pytest.approx([0.0, 0.0, 0.5, 1.0])
    smoothed = np.array([0.0, 1.0, -1.0])
    smooth(smoothed, np.array([1.0, 1.0, 1.0]), 0.25)
    assert smoothed == pytest.approx([0.25, 1.0, -0.5])


@pytest.mark.parametrize(
    ("rotate", "speed", "roll", "comfort"),
    [
        (0.0, 0.0, 0.0, 1.0),
        (0.71, 0.0, 0.0, 0.7),
        (-0.71, 0.0, 0.0, 0.7),
        (0.7, 1.6, 0.3, 1.0),  # at the limits, not beyond them
        (0.0, 1.61, 0.0, 0.8),
        (0.0, 0.0, -0.31, 0.8),
        (1.0, 2.0, 0.35, 0.3),
    ],
)
def test_comfort_loses_what_the_requirements_say(rotate: float, speed: float, roll: float, comfort: float) -> None:
    assert rewards.comfort_of(state.numbers(DEFAULTS, 0)[0], rotate, speed, roll) == pytest.approx(comfort)


def test_smoothness_is_what_did_not_change() -> None:
    still = np.zeros(3)
    assert rewards.smoothness(still, still) == 1.0
    assert rewards.smoothness(np.array([0.5, 0.0, -0.5]), still) == pytest.approx(0.5)
    assert rewards.smoothness(np.ones(3), -np.ones(3)) == 0.0


def test_the_weights_are_those_of_the_requirements() -> None:
    own = DEFAULTS.rewards
    assert (own.goal, own.progress_per_m, own.smooth, own.comfort) == (100.0, 1.0, 0.1, 2.0)
    assert (own.smooth_per_m, own.comfort_per_m, own.comfort_warning) == (0.0, 0.0, 0.0)
    assert (own.collision, own.fall, own.timeout, own.teleport) == (-10.0, -50.0, -20.0, -1.0)


def test_smoothness_and_comfort_are_paid_at_every_decision() -> None:
    walk = Walk(course(), {"rules.round_s": 2.0})
    still = walk.go(10, 0.0, 0.0, 0.0)
    assert still[:, AT["smooth"]] == pytest.approx(0.1)
    assert still[:, AT["comfort"]] == pytest.approx(2.0)
    assert still.sum() == pytest.approx(21.0)
    turning = walk.go(10, 0.0, 0.0, 1.0)
    assert turning[0, AT["smooth"]] == pytest.approx(0.05)  # the action changed by 1
    assert turning[-1, AT["comfort"]] == pytest.approx(2.0 * 0.7)


def test_older_settings_pay_by_the_metre_only() -> None:
    old = {"rewards": {"smooth_per_m": 0.1, "comfort_per_m": 2.0}}
    own = NavigationSettings.from_values(old).rewards
    assert (own.smooth, own.smooth_per_m, own.comfort, own.comfort_per_m) == (0.0, 0.1, 0.0, 2.0)


def test_a_walk_to_the_goal_is_paid_by_the_metre_and_once_at_the_end() -> None:
    walk = Walk(course(), PER_METRE)
    terms = walk.go(900, 0.0, 0.75, 0.0)  # 1.5 m/s: comfortable
    assert walk.outcome == "walker"
    assert walk.role.terminated[0, 0]
    walked = 10.0 - walk.role.final_observation[0, 0, 44]
    assert terms[:, AT["goal"]].tolist() == [0.0] * (len(terms) - 1) + [100.0]
    assert terms[:, AT["progress"]].sum() == pytest.approx(walked, abs=2e-3)
    assert terms[:, AT["comfort"]].sum() == pytest.approx(2.0 * walked, abs=1e-2)
    assert terms[1:, AT["smooth"]].sum() == pytest.approx(0.1 * walked, abs=2e-2)
    assert terms[:, [AT[name] for name in ("collision", "fall", "timeout", "teleport")]].sum() == 0.0
    assert walk.role.final_score[0, 0] == 0.0
    assert walk.role.reward[0, 0] == pytest.approx(terms[-1].sum(), rel=1e-6)
    assert walk.role.final_terms[0, 0] == pytest.approx(terms.sum(axis=0), rel=1e-4)


def test_going_back_and_forth_earns_nothing_and_standing_about_neither() -> None:
    walk = Walk(course(marks=[(0.0, 0.0, -15.0)]), PER_METRE)
    total = sum(walk.go(20, 0.0, way, 0.0).sum(axis=0) for way in (0.75, -0.75, 0.75, -0.75))
    ahead = walk.go(1, 0.0, 0.0, 0.0)
    new_ground_m = total[AT["comfort"]] / 2.0
    assert 1.0 < new_ground_m < 2.2  # what was gained on the first way, and not once more
    assert abs(total[AT["progress"]]) < 0.5
    assert ahead[0, AT["comfort"]] <= 0.02


def test_fast_turning_is_a_warning_and_may_cost_something() -> None:
    walk = Walk(course(), {**PER_METRE, "rewards.comfort_warning": -3.0, "rules.round_s": 2.0})
    terms = walk.go(900, 0.0, 0.0, 1.0)
    warned = walk.role.final_score[0, 0]
    assert walk.outcome == "clock"
    assert walk.role.truncated[0, 0]
    assert 25 <= warned < 30
    assert terms[:, AT["comfort"]].sum() == pytest.approx(-3.0 * warned)
    assert terms[:, AT["timeout"]].tolist() == [0.0] * (len(terms) - 1) + [-20.0]


def test_a_wall_stops_and_a_contact_that_lasts_counts_every_second() -> None:
    walk = Walk(course(Box((0.0, 0.625, -3.0), (4.0, 1.25, 1.0), "wall")))
    terms = walk.go(75, 0.0, 1.0, 0.0)
    assert walk.at[2] == pytest.approx(-2.25, abs=3e-3)
    since = np.flatnonzero(terms[:, AT["collision"]])
    assert terms[since, AT["collision"]].tolist() == [-10.0] * len(since)
    assert np.diff(since).tolist() == [15] * (len(since) - 1)
    assert len(since) >= 3


def test_steps_are_walked_up_and_higher_things_are_not() -> None:
    stairs = [Box((0.0, 0.1 * n, -2.0 - 0.5 * n), (4.0, 0.2 * n, 0.5), "step") for n in (1, 2, 3)]
    walk = Walk(course(*stairs, marks=[(0.0, 0.6, -3.5)]), {"motion.step_up_m": 0.25, "rules.mark_radius_m": 0.2})
    terms = walk.go(200, 0.0, 0.5, 0.0)
    assert walk.outcome == "walker"
    assert walk.role.final_observation[0, 0, 1] == pytest.approx(1.6 + 0.6, abs=5e-3)
    assert terms[:, AT["collision"]].sum() == 0.0
    too_high = Walk(course(Box((0.0, 0.15, -2.0), (4.0, 0.3, 1.0), "block")))
    assert too_high.go(45, 0.0, 1.0, 0.0)[:, AT["collision"]].sum() < 0.0


def test_a_gap_is_fallen_into() -> None:
    short = Box((0.0, -0.5, 0.0), (4.0, 1.0, 4.0), "floor")
    walk = Walk(course(floor=short))
    terms = walk.go(200, 0.0, 1.0, 0.0)
    assert walk.outcome == "gap"
    assert walk.role.terminated[0, 0]
    assert terms[-1, AT["fall"]] == -50.0


def test_snap_turns_jump_once_until_the_stick_is_let_go() -> None:
    walk = Walk(course(), {"motion.turn": "snap"})
    held = walk.go(30, 0.0, 0.0, 1.0)
    assert held[:, AT["teleport"]].sum() == -1.0
    assert walk.worlds.privileged().yaw_rad[0] == pytest.approx(-math.radians(30.0))
    walk.go(30, 0.0, 0.0, 0.0)
    assert walk.go(30, 0.0, 0.0, -1.0)[:, AT["teleport"]].sum() == -1.0
    assert walk.worlds.privileged().yaw_rad[0] == pytest.approx(0.0)


TELEPORTS = {"motion.teleport_m": 3.0, "motion.smoothing_s": 0.0}


def test_a_teleport_is_a_fourth_number_that_is_off_by_default() -> None:
    assert [part.name for part in Walk(course()).role.action_parts] == ["strafe", "forward", "rotate"]
    walk = Walk(course(marks=[(0.0, 0.0, -15.0)]), TELEPORTS)
    assert [part.name for part in walk.role.action_parts] == ["strafe", "forward", "rotate", "teleport"]
    assert walk.role.observation.shape[-1] == OBSERVATION_SIZE
    assert walk.go(3, 0.0, 0.0, 0.0, 0.5)[:, AT["teleport"]].tolist() == [0.0] * 3
    held = walk.go(3, 0.0, 0.0, 0.0, 0.51)
    assert held[:, AT["teleport"]].tolist() == [-1.0, 0.0, 0.0]  # once, while it is held
    assert held[0, AT["progress"]] == pytest.approx(3.0, abs=1e-3)
    assert walk.at == pytest.approx([0.0, 0.251, -3.0], abs=2e-3)
    walk.go(1, 0.0, 0.0, 0.0, 0.0)
    assert walk.go(1, 0.0, 0.0, 0.0, 1.0)[0, AT["teleport"]] == -1.0


@pytest.mark.parametrize(
    ("solids", "z", "y"),
    [
        ([Box((0.0, 0.625, -2.0), (4.0, 1.25, 1.0), "wall")], -1.2, 0.0),  # stops before a wall
        ([Box((0.0, 0.1, -2.5), (4.0, 0.2, 3.0), "step")], -3.0, 0.2),  # onto a step
        ([Box((0.0, 0.3, -2.5), (4.0, 0.6, 2.0), "block")], -1.2, 0.0),  # not onto a block
    ],
)
def test_a_teleport_ends_on_free_ground(solids: list[Box], z: float, y: float) -> None:
    walk = Walk(course(*solids), TELEPORTS)
    walk.go(1, 0.0, 0.0, 0.0, 1.0)
    assert walk.at == pytest.approx([0.0, y + 0.251, z], abs=3e-3)


@pytest.mark.parametrize(("behind_m", "z"), [(2.5, -2.9), (9.0, -1.2)])
def test_a_teleport_crosses_a_gap_or_stays_before_it(behind_m: float, z: float) -> None:
    floor = Box((0.0, -0.5, 1.0), (4.0, 1.0, 4.0), "floor")
    behind = Box((0.0, -0.5, -behind_m - 2.0), (4.0, 1.0, 4.0), "floor")
    walk = Walk(course(behind, floor=floor), TELEPORTS)
    walk.go(1, 0.0, 0.0, 0.0, 1.0)
    assert walk.at[2] == pytest.approx(z, abs=0.11)


def test_a_teleport_into_a_wall_is_none() -> None:
    walk = Walk(course(Box((0.0, 0.625, -0.8), (4.0, 1.25, 1.0), "wall")), TELEPORTS)
    terms = walk.go(1, 0.0, 0.0, 0.0, 1.0)
    assert terms[0, AT["teleport"]] == 0.0
    assert walk.at[2] == pytest.approx(0.0)


def test_marks_come_one_after_the_other_and_goals_can_be_nearer() -> None:
    marks = [(0.0, 0.0, -4.0), (0.0, 0.0, -8.0), (0.0, 0.0, -12.0)]
    whole, near = Walk(course(marks=marks)), Walk(course(marks=marks), {"rules.goal_within_m": 9.0})
    assert len(whole.go(900, 0.0, 1.0, 0.0)) > len(near.go(900, 0.0, 1.0, 0.0))
    assert (whole.outcome, near.outcome) == ("walker", "walker")
    assert near.role.final_terms[0, 0, AT["progress"]] == pytest.approx(8.0 - 0.75, abs=0.2)


def test_the_same_seed_gives_the_same_bits_in_batches_of_any_size() -> None:
    def told(count: int) -> np.ndarray:
        worlds = make_vec("navigation", num_worlds=count, seed=5)
        chance = np.random.default_rng(1)
        kept = []
        for _ in range(120):
            actions = chance.uniform(-1, 1, (64, 1, 3)).astype(np.float32)[:count]
            worlds.step({WALKER: actions + np.array([0.0, 0.5, 0.0], np.float32)})
            kept.append(np.concatenate([worlds.roles[WALKER].observation[:9, 0], worlds.roles[WALKER].terms[:9, 0]], 1))
        return np.array(kept)

    many = told(64)
    assert np.array_equal(many, told(9))
    assert np.isfinite(many).all()


def test_worlds_go_on_from_a_saved_state_and_change_their_settings() -> None:
    one, other = make_vec("navigation", num_worlds=5, seed=1), make_vec("navigation", num_worlds=5, seed=2)
    ahead = {WALKER: np.tile(np.array([0.1, 0.9, 0.2], np.float32), (5, 1, 1))}
    one.step(ahead)
    saved = one.save_state()
    assert saved is not None
    other.load_state(saved)
    for worlds in (one, other):
        worlds.step(ahead)
    assert np.array_equal(one.roles[WALKER].observation, other.roles[WALKER].observation)
    other.change_settings(DEFAULTS.override(**{"motion.speed_mps": 1.0}))
    for worlds in (one, other):
        for _ in range(30):
            worlds.step(ahead)
    speeds = [np.hypot(*worlds.roles[WALKER].observation[:, 0, (7, 9)].T).max() for worlds in (one, other)]
    assert speeds[1] <= 1.0 < speeds[0]


@pytest.mark.parametrize("name", ["course", "maze", "obstacle_course"])
def test_straight_walkers_reach_the_goals_of_every_course(name: str) -> None:
    worlds = make_vec("navigation", num_worlds=32, seed=3, courses=[name])
    role, done = worlds.roles[WALKER], np.zeros(32, np.bool_)
    for _ in range(900):
        goal = role.observation[:, 0, 41:44]
        turn = np.arctan2(goal[:, 0], -goal[:, 2])
        role.action[:, 0] = np.stack([np.zeros(32), 0.75 * np.cos(turn).clip(0, 1), turn.clip(-0.65, 0.65)], axis=1)
        worlds.step()
        done |= worlds.ended & (worlds.winner == worlds.winners.index(WALKER))
    assert done.mean() > 0.9


def test_what_cannot_be_played_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(GodojoError, match="there is no course 'mase'; there is: course, maze, obstacle_course"):
        make_vec("navigation", courses=["mase"])
    with pytest.raises(GodojoError, match="navigation has no option 'arenas'"):
        make_vec("navigation", arenas=[])
    with pytest.raises(GodojoError, match="there must be 16 rays in all, not 3"):
        DEFAULTS.override(**{"sight.rows": [{"elevation_deg": 0, "fov_deg": 90, "columns": 3}]})
    with pytest.raises(GodojoError, match=r"motion\.speed_mps must be from"):
        DEFAULTS.override(**{"motion.speed_mps": 99})
    with pytest.raises(GodojoError, match=r"starts\[0\]: there is no ground"):
        check_course(course(floor=Box((0.0, -5.0, 0.0), (4.0, 1.0, 4.0), "floor")))
    broken = tmp_path / "broken.json"
    broken.write_text('{"version": 1}')
    with pytest.raises(GodojoError, match=r"broken\.json"):
        read_course(broken)
    broken.write_bytes(msgspec.json.encode(hand_made_courses()["maze"]))
    assert read_course(broken).name == "maze"
