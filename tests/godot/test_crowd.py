"""crowd in the real engine: both rewards, and what is refused."""

import numpy as np
import pytest

from godojo.engines.godot.game_source import GameSource
from godojo.errors import GodojoError
from godojo.games.base import SCENE_GAMES

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]
AGENTS = 8


@pytest.mark.parametrize("reward", ["cooperative", "adversarial"])
def test_everybody_walks_to_the_middle(reward: str) -> None:
    """They become close, which is what one reward is for, and touch, which is what the other punishes."""
    source = GameSource.of_scene(SCENE_GAMES["crowd"], options={"reward": reward})
    with source.open(seed=1, usual_worlds=2) as worlds:
        walker = worlds.roles["walker"]
        assert walker.observation.shape == (2, AGENTS, 12)
        assert walker.action.shape == (2, AGENTS, 2)
        first = walker.observation.copy()
        rewards = []
        while not worlds.ended.any():
            walker.action[...] = np.clip(-2 * walker.observation[..., 0:2], -0.5, 0.5)
            worlds.step()
            rewards.append(walker.reward.mean())
        assert walker.truncated.all()
        assert len(rewards) == 225
        assert walker.final_measures is not None
        nearest_m, collisions_per_minute = walker.final_measures.mean(axis=(0, 1))
        assert nearest_m < 1.0
        assert collisions_per_minute > 1
        assert (rewards[-2] > rewards[0]) == (reward == "cooperative")
        assert (rewards[-2] < 0) == (reward == "adversarial")
        worlds.reset(1)
        np.testing.assert_array_equal(walker.observation, first)


def test_another_reward_is_refused() -> None:
    source = GameSource.of_scene(SCENE_GAMES["crowd"], options={"reward": "hostile"})
    with pytest.raises(GodojoError, match="must be one of cooperative, adversarial"):
        source.open(seed=1, usual_worlds=1)
