"""Stages of a training: when they end, what they change, and that they are found again."""

import msgspec
import pytest

from godojo.errors import GodojoError
from godojo.games.curriculum import RECENT_ROUNDS, Curriculum, Stage
from godojo.games.navigation.settings import NavigationSettings
from godojo.games.tag.settings import TagSettings

STAGES = (
    Stage("near", {"rules.goal_within_m": 10.0}, agent_steps=1000, success=0.9),
    Stage("far", {"rules.goal_within_m": 20.0}, success=0.5),
    Stage("all"),
)


def made() -> Curriculum:
    return Curriculum(STAGES, NavigationSettings.defaults())


def test_a_stage_ends_by_steps_or_by_success() -> None:
    by_steps, by_success = made(), made()
    assert not by_steps.after(999, 10, 0)
    assert by_steps.after(1000, 10, 0)
    assert not by_success.after(10, RECENT_ROUNDS - 1, RECENT_ROUNDS - 1)  # too few rounds to believe
    assert by_success.after(20, 1, 1)
    assert by_success.stage.name == "far"
    assert by_success.success is None  # rounds of the stage before do not count
    assert not by_success.after(5000, RECENT_ROUNDS, RECENT_ROUNDS // 2 - 1)
    assert by_success.after(5010, RECENT_ROUNDS, RECENT_ROUNDS // 2)
    assert not by_success.after(10**9, RECENT_ROUNDS, RECENT_ROUNDS)  # the last lasts
    assert [settings.rules.goal_within_m for settings in made().settings] == [10.0, 20.0, 0.0]


def test_steps_of_a_model_that_is_continued_are_of_no_stage() -> None:
    continued = made()
    continued.begin(50_000)
    assert not continued.after(50_999, 10, 0)
    assert continued.after(51_000, 10, 0)


def test_it_goes_on_where_it_was() -> None:
    one, other = made(), made()
    one.after(1000, 10, 0)
    one.after(1100, RECENT_ROUNDS - 1, RECENT_ROUNDS - 1)
    other.load_state(msgspec.json.decode(msgspec.json.encode(one.state())))
    assert other.stage == one.stage
    assert one.after(1200, 1, 1) == other.after(1200, 1, 1) is True


def test_any_game_can_have_one_and_wrong_ones_are_refused() -> None:
    stages = [Stage("slow", {"motion.hider_speed_mps": 2.0}, agent_steps=5), Stage("real")]
    assert Curriculum(stages, TagSettings.defaults()).settings[0].motion.hider_speed_mps == 2.0
    with pytest.raises(GodojoError, match=r"there is no setting 'motion\.speed'"):
        Curriculum([Stage("wrong", {"motion.speed": 2.0})], TagSettings.defaults())
    with pytest.raises(GodojoError, match="stage 'first' never ends"):
        Curriculum([Stage("first"), Stage("second")], TagSettings.defaults())
