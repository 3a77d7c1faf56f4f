"""Games that are killed while they are learnt from: training goes on, learns from nothing broken, and gets as far.

`benchmarks/training_losses.py` does the same at full length.
"""

import pytest

from tests.killed_games import CRASH_CHANCE, reward_reached, tag_killed
from tests.nightly import repeats


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_chance_of_a_crash_at_every_step_does_not_keep_it_from_learning() -> None:
    clean, _ = reward_reached(0.0)
    crashing, killer = reward_reached(CRASH_CHANCE)
    untrained, _ = reward_reached(0.0, updates=3)
    assert killer.kills >= 1
    assert clean > untrained + 1.0
    assert crashing > untrained + 0.8 * (clean - untrained)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("engine")
def test_a_game_of_tag_killed_again_and_again_in_training() -> None:
    """In the real Godot: as many recoveries; nothing broken is learnt; nobody is left behind."""
    kills = repeats(3, nightly=10)
    assert tag_killed(kills).kills >= kills
