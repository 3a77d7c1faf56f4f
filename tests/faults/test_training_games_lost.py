"""Games that are killed while they are learnt from: training goes on, learns from nothing broken, and gets as far.

The pretend game pays an agent the sum of its actions, so that how far learning got is seen in the actions themselves.
"""

import os
import signal
import time

import numpy as np
import pytest
import torch

from godojo.engines.base import Worlds
from godojo.engines.godot.launch import own_scene
from godojo.engines.godot.open import launch_games
from godojo.engines.godot.worlds import GodotWorlds
from godojo.games.tag.godot import TagInGodot
from godojo.learn.selfplay import SelfPlay
from godojo.learn.settings import PpoSettings
from tests.watched_games import Marked, pid_of, pretend

SETTINGS = PpoSettings(
    worlds=8, steps=16, minibatches=2, hidden=(16,), memory_size=4, past_share=0.0, learning_rate=1e-2
)
UPDATES = 30
CRASH_CHANCE = 0.005
RECOVERED_WITHIN_S = 5.0


class Killer:
    """Kills one of the games after a step, with a certain chance; sees to it that nothing spans the gap."""

    def __init__(self, worlds: GodotWorlds, chance: float, seed: int = 0) -> None:
        self.worlds, self.chance, self.rng = worlds, chance, np.random.default_rng(seed)
        self.game, self.kills, self.slowest_s, self.killed_at = 0, 0, 0.0, 0.0

    def __call__(self, worlds: Worlds) -> None:
        if self.killed_at:
            self.slowest_s = max(self.slowest_s, time.monotonic() - self.killed_at)
            self.killed_at = 0.0
            assert self.worlds.restarts == self.kills
            lost = slice(4 * self.game, 4 * self.game + 4)
            for role in worlds.roles.values():
                assert role.truncated[lost].all()
                assert not role.acted[lost].any()
        if self.rng.random() < self.chance:
            self.game = int(self.rng.integers(2))
            os.kill(pid_of(self.worlds, self.game), signal.SIGKILL)
            self.kills, self.killed_at = self.kills + 1, time.monotonic()


def reward_reached(chance: float, updates: int = UPDATES) -> tuple[float, Killer]:
    """Mean reward of a decision at the end of a training whose games are killed with that chance at every step."""
    marked = Marked(pretend())
    with launch_games(marked.recipe, num_worlds=SETTINGS.worlds, num_processes=2) as worlds:
        learner = SelfPlay(worlds, SETTINGS, 1)
        killer = Killer(worlds, chance)
        rewards: list[float] = []
        for update in range(updates):
            learner.iterate(update / updates, killer)
            for seat in learner.seats.values():
                track = seat.track
                assert not track.advantage[~track.acted].any()
                rewards.append(float(track.reward[track.acted].mean()))
        learner.close()
    assert marked.all_gone(), marked.running()
    return float(np.mean(rewards[-6:])), killer


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_chance_of_a_crash_at_every_step_does_not_keep_it_from_learning() -> None:
    clean, _ = reward_reached(0.0)
    crashing, killer = reward_reached(CRASH_CHANCE)
    untrained, _ = reward_reached(0.0, updates=3)
    assert killer.kills >= 1
    assert killer.slowest_s < RECOVERED_WITHIN_S
    assert clean > untrained + 1.0
    assert crashing > untrained + 0.8 * (clean - untrained)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("engine")
def test_a_game_of_tag_killed_ten_times_in_training() -> None:
    """In the real Godot: ten recoveries, in time; nothing broken is learnt; nobody is left behind."""
    tag = TagInGodot(generated_share=1.0)
    marked = Marked(own_scene(tag.scene))
    with launch_games(
        marked.recipe,
        num_worlds=SETTINGS.worlds,
        num_processes=2,
        ticks_per_decision=tag.ticks_per_decision,
        options=tag.configure_options,
        settings=tag.settings,
    ) as worlds:
        learner = SelfPlay(worlds, SETTINGS, 1)
        killer = Killer(worlds, 0.2)
        while killer.kills < 10:
            learner.iterate(0.0, killer)
        learner.iterate(0.0)
        assert worlds.restarts == killer.kills
        assert killer.slowest_s < RECOVERED_WITHIN_S
        for seat in learner.seats.values():
            assert all(bool(torch.isfinite(weights).all()) for weights in seat.policy.state_dict().values())
        learner.close()
    assert marked.all_gone(), marked.running()
