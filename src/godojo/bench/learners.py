"""Contenders of `godojo bench train`: the contract, and Godojo's own learner."""

import abc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import torch

from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation.matches import Player
from godojo.evaluation.players import PolicyPlayer
from godojo.games.base import game_named
from godojo.learn.budget import Budget
from godojo.learn.policy_file import PolicyCard
from godojo.learn.self_play import PpoSelfPlay
from godojo.learn.settings import PpoSettings
from godojo.learn.training import Training, TrainingStatus
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder


class Contender(abc.ABC):
    """Learns a game on its twin, and counts what it does."""

    title: str

    def __init__(self) -> None:
        self.agent_steps = 0
        """Decisions of all agents of all worlds."""
        self.learnt_steps = 0
        """Those of them that a policy was trained with."""
        self.seconds = 0.0
        self._torch_threads = torch.get_num_threads()

    def train(self, at_least_s: float) -> None:
        """Trains for so long, and then to the end of the update under way; at least one."""
        torch.set_num_threads(self._torch_threads)  # what another contender has set is nothing to this one
        begun, before = time.perf_counter(), self.seconds
        while True:
            self.update()
            passed = time.perf_counter() - begun
            self.seconds = before + passed
            if passed >= at_least_s:
                return

    @abc.abstractmethod
    def update(self) -> None:
        """One rollout and what is learnt from it."""

    @abc.abstractmethod
    def player(self) -> Player:
        """Its current policy of the first role, deterministic."""

    @abc.abstractmethod
    def close(self) -> None: ...


Maker = Callable[[int], Contender]
"""Makes a contender that knows nothing yet, from a seed."""


class OwnLearner(Contender):
    """Our PPO with self-play: all roles learn at once. Nothing is written."""

    title = "godojo, the learner alone"

    def __init__(self, seed: int, game: str, settings: PpoSettings, budget_s: float) -> None:
        super().__init__()
        self._budget_s = budget_s
        self._worlds = training_worlds(game, settings, seed)
        self._learner = PpoSelfPlay(self._worlds, settings, seed)

    def update(self) -> None:
        self._learner.iterate(min(self.seconds / self._budget_s, 1.0))
        self.agent_steps = self._learner.agent_steps
        self.learnt_steps = learnt_steps(self._learner)

    def player(self) -> Player:
        role = next(iter(self._worlds.roles.values()))
        policy = self._learner.policies[role.name]
        card = PolicyCard(self._worlds.game, role.name, role.observation_parts, policy.shape, self.agent_steps)
        return PolicyPlayer(policy, card)

    def close(self) -> None:
        self._learner.close()


class WholeTraining(Contender):
    """All that `godojo train` does: the same learner, and a run's folder with every episode, curves and checkpoints.

    Each call of `train` is a run of its own, with its first and its last checkpoint; it is measured for speed alone.
    """

    title = "godojo train, run's folder and all"

    def __init__(self, seed: int, game: str, settings: PpoSettings, budget_s: float) -> None:
        super().__init__()
        self._seed, self._game, self._settings = seed, game, settings
        self._budget = Budget(minutes=budget_s / 60.0)

    def train(self, at_least_s: float) -> None:
        with tempfile.TemporaryDirectory() as folder, training_worlds(self._game, self._settings, self._seed) as worlds:
            config = RunConfig(
                game=self._game,
                engine="sim",
                roles=tuple(worlds.roles),
                learner="ppo",
                learner_settings=msgspec.to_builtins(self._settings),
                game_settings=msgspec.to_builtins(worlds.settings),
                seed=self._seed,
                budget=self._budget.as_config(),
            )
            run = RunFolder.create(config, "bench", root=Path(folder))
            training = Training(run, worlds, self._budget, resume=False)

            def stop_in_time(standing: TrainingStatus) -> None:
                if standing.seconds >= at_least_s:
                    training.stop()

            try:
                begun = time.perf_counter()
                training.train(stop_in_time)
                self.seconds += time.perf_counter() - begun
                learner = training.learner
                assert isinstance(learner, PpoSelfPlay)
                self.agent_steps += learner.agent_steps
                self.learnt_steps += learnt_steps(learner)
            finally:
                training.close()

    def update(self) -> None:
        self.train(0.0)

    def player(self) -> Player:
        raise GodojoError("a whole training is measured for its speed alone")

    def close(self) -> None: ...


def training_worlds(game: str, settings: PpoSettings, seed: int) -> Worlds:
    """Where `godojo train GAME` trains."""
    rules = game_named(game).settings.defaults()
    options = {"settings": rules, **game_named(game).training_options(rules)}
    return make_vec(game, num_worlds=settings.num_worlds, seed=seed, **options)


def learnt_steps(learner: PpoSelfPlay) -> int:
    """How many decisions it has learnt from: not those of past selves. One against one, everybody always acts."""
    columns = sum(worker.buffer.num_columns for worker in learner.workers.values())
    return learner.updates * learner.settings.n_steps * columns
