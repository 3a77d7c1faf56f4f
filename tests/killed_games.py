"""Trainings whose games are killed on their way: what tests and benchmarks of that share.

The pretend game pays an agent the sum of its actions, so that how far learning got is seen in the actions themselves.
"""

import os
import signal
import time

import numpy as np
import torch

from godojo.engines.base import Worlds
from godojo.engines.godot.launch import own_scene
from godojo.engines.godot.open import launch_games
from godojo.engines.godot.worlds import GodotWorlds
from godojo.games.tag.godot import TagInGodot
from godojo.learn.self_play import PpoSelfPlay
from godojo.learn.settings import PpoSettings
from tests.watched_games import Marked, pid_of, pretend

GAMES = 2
SETTINGS = PpoSettings(
    num_worlds=8,
    n_steps=16,
    n_minibatches=2,
    net_arch=(16,),
    memory_size=4,
    past_opponent_fraction=0.0,
    learning_rate=1e-2,
)
UPDATES = 30
CRASH_CHANCE = 0.005
RECOVERED_WITHIN_S = 5.0


class Killer:
    """Kills one of the games after a step, with a certain chance; sees to it that nothing spans the gap."""

    def __init__(self, worlds: GodotWorlds, chance: float, seed: int = 0) -> None:
        self.worlds, self.chance, self.rng = worlds, chance, np.random.default_rng(seed)
        self.game, self.steps, self.killed_at = 0, 0, 0.0
        self.times_s: list[float] = []
        """From each kill to the end of the first step after it, in which all worlds play again."""

    @property
    def kills(self) -> int:
        return len(self.times_s) + (self.killed_at > 0.0)

    @property
    def slowest_s(self) -> float:
        return max(self.times_s, default=0.0)

    def __call__(self, worlds: Worlds) -> None:
        self.steps += 1
        if self.killed_at:
            self.times_s.append(time.monotonic() - self.killed_at)
            self.killed_at = 0.0
            assert self.worlds.restarts == self.kills
            each = worlds.num_worlds // GAMES
            lost = slice(each * self.game, each * (self.game + 1))
            for role in worlds.roles.values():
                assert role.truncated[lost].all()
                assert not role.acted[lost].any()
        elif self.rng.random() < self.chance:  # a game that has not made one good step yet would pass for broken
            self.game = int(self.rng.integers(GAMES))
            os.kill(pid_of(self.worlds, self.game), signal.SIGKILL)
            self.killed_at = time.monotonic()


def reward_reached(chance: float, updates: int = UPDATES) -> tuple[float, Killer]:
    """Mean reward of a decision at the end of a training whose games are killed with that chance at every step."""
    marked = Marked(pretend())
    with launch_games(
        marked.recipe, num_worlds=SETTINGS.num_worlds, num_processes=GAMES, max_restarts=10_000
    ) as worlds:
        learner = PpoSelfPlay(worlds, SETTINGS, 1)
        killer = Killer(worlds, chance)
        rewards: list[float] = []
        for update in range(updates):
            learner.iterate(update / updates, killer)
            for worker in learner.workers.values():
                buffer = worker.buffer
                assert not buffer.advantage[~buffer.acted].any()
                rewards.append(float(buffer.reward[buffer.acted].mean()))
        learner.close()
    assert marked.all_gone(), marked.running()
    return float(np.mean(rewards[-6:])), killer


def tag_killed(kills: int, chance: float = 0.2) -> Killer:
    """Both roles learn tag in the real Godot until its games have been killed so often, and once more."""
    tag = TagInGodot(generated_share=1.0)
    marked = Marked(own_scene(tag.scene))
    with launch_games(
        marked.recipe,
        num_worlds=SETTINGS.num_worlds,
        num_processes=GAMES,
        ticks_per_decision=tag.ticks_per_decision,
        options=tag.configure_options,
        settings=tag.settings,
        max_restarts=10_000,
    ) as worlds:
        learner = PpoSelfPlay(worlds, SETTINGS, 1)
        killer = Killer(worlds, chance)
        while killer.kills < kills:
            learner.iterate(0.0, killer)
        killer.chance = 0.0
        learner.iterate(0.0, killer)
        assert worlds.restarts == killer.kills
        for worker in learner.workers.values():
            assert all(bool(torch.isfinite(weights).all()) for weights in worker.policy.state_dict().values())
        learner.close()
    assert marked.all_gone(), marked.running()
    return killer
