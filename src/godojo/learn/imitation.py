"""Imitation: of a scripted opponent, which is asked what it would do in the learner's place, and of demonstrations.

Demonstrations are cloned before training and stay a term of PPO's loss, with the weight that the settings give the
imitation of scripted opponents (`PpoSettings.imitation_weight`).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from godojo.demos.file import DemoEpisode
from godojo.engines.base import Worlds
from godojo.engines.subset import WorldsSubset
from godojo.learn.networks import ActionHead, Policy, continuous_columns
from godojo.learn.policy_runner import PolicyRunner
from godojo.learn.rollout_buffer import RolloutBuffer
from godojo.opponents.base import Opponent

BATCH_STEPS = 512
"""Demonstrated steps per gradient step."""
HELD_OUT = 0.1
"""Fraction of the episodes that are not learned from but judge the clone; at least one, where there are several."""
LOG_STD_LIMITS = (-2.0, -0.5)
"""Range of a clone's log standard deviation: it must keep exploring."""


class Imitation:
    """Writes to a buffer what `opponent` would do as `role` in `count` of the worlds that the policy plays.

    They are the ones at the end where the policy meets opponents (see `self_play`). The policy itself acts, so it
    learns what to do in the situations it gets into.
    """

    def __init__(self, worlds: Worlds, role: str, opponent: Opponent, played: slice, count: int) -> None:
        count = min(count, played.stop - played.start)
        first = played.start if played.start == 0 else played.stop - count
        agents = worlds.roles[role].action.shape[1]
        self.opponent, self.weight = opponent, 0.0
        self._part = WorldsSubset(worlds, slice(first, first + count))
        self._columns = slice((first - played.start) * agents, (first - played.start + count) * agents)
        self._action = np.zeros_like(self._part.roles[role].action)
        opponent.begin(self._part)
        opponent.act(self._part, self._action)  # compile before training time counts
        opponent.begin(self._part)

    def ask(self, step: int, runner: PolicyRunner, observation: Tensor, buffer: RolloutBuffer) -> None:
        """Write the actions to imitate in this step; `observation` is that of all agents that the policy plays."""
        columns = self._columns
        buffer.imitation_weight[step, columns] = self.weight
        if not self.weight:
            return
        self.opponent.act(self._part, self._action)
        actions = torch.from_numpy(self._action).flatten(0, 1)
        runner.from_env_action(actions, observation[columns], buffer.imitated[step, columns])


class Cloning(NamedTuple):
    """How well a policy imitates the held-out episodes, before and after cloning."""

    episodes: int
    steps: int
    """Learned from."""
    loss_before: float
    loss: float
    accuracy: float
    """Share of discrete actions that equal the demonstrated ones; NaN without any."""
    error: float
    """Mean absolute error of continuous actions; NaN without any."""

    def __str__(self) -> str:
        text = (
            f"{self.episodes} episodes ({self.steps:,} steps); held-out loss {self.loss_before:.3g} -> {self.loss:.3g}"
        )
        text += "" if math.isnan(self.accuracy) else f", accuracy {self.accuracy:.1%}"
        return text + ("" if math.isnan(self.error) else f", mean error {self.error:.3f}")


class Windows(NamedTuple):
    """W stretches of demonstrated steps, each as [begin, first, end): the loss counts from `first` on.

    The steps before it only fill the memory.
    """

    begin: Tensor
    first: Tensor
    end: Tensor

    @classmethod
    def of(cls, lengths: Sequence[int], start: int, size: int, burn_in: int) -> "Windows":
        """All steps of episodes that follow each other from step `start` on, `size` steps in each window."""
        rows = []
        for length in lengths:
            rows += [
                (max(first - burn_in, start), first, min(first + size, start + length))
                for first in range(start, start + length, size)
            ]
            start += length
        return cls(*torch.tensor(rows, dtype=torch.int64).reshape(-1, 3).unbind(1))

    def select(self, rows: Tensor) -> "Windows":
        return Windows(*(column[rows] for column in self))


class Demonstrations:
    """The demonstrations of one role: clones them, and adds their gradient to that of PPO.

    A policy with memory learns from windows of `sequence_length` steps, with as many before them to fill its memory;
    one without learns from single steps.
    """

    def __init__(self, episodes: Sequence[DemoEpisode], policy: Policy, sequence_length: int) -> None:
        self.weight = 0.0
        """Of the imitation loss in PPO."""
        observation = torch.from_numpy(np.concatenate([episode.observation for episode in episodes]))
        action = torch.from_numpy(np.concatenate([episode.action for episode in episodes]))
        self._observation = policy.to_egocentric(observation)
        self._action = policy.from_env_action(action, observation)
        self._heading = policy.heading_of(observation) if policy.rotated_cells else observation[:, :0]
        size = sequence_length if policy.memory_size else 1
        burn_in = size if policy.memory_size else 0
        self._batch = max(BATCH_STEPS // size, 1)
        lengths = [len(episode.action) for episode in episodes]
        held_out = max(round(HELD_OUT * len(lengths)), 1) if len(lengths) > 1 else 0
        cut = len(lengths) - held_out
        self._steps, self._episodes = sum(lengths[:cut]), cut
        self._learned = Windows.of(lengths[:cut], 0, size, burn_in)
        self._judged = Windows.of(lengths[cut:], self._steps, size, burn_in) if held_out else self._learned

    def clone(self, policy: Policy, epochs: int, learning_rate: float, generator: torch.Generator) -> Cloning:
        """Behaviour cloning: the policy's normaliser, weights and exploration become those of the demonstrations."""
        policy.normaliser.update(self._observation[: self._steps])
        before = self._judge(policy)[0]
        parameters = [parameter for parameter in policy.parameters() if parameter.requires_grad]
        optimiser = torch.optim.Adam(parameters, lr=learning_rate, eps=1e-5)
        for _ in range(epochs):
            for rows in torch.split(torch.randperm(len(self._learned.end), generator=generator), self._batch):
                optimiser.zero_grad(set_to_none=False)  # the gradients are views, see `flatten_parameters`
                self._loss(policy, self._learned.select(rows)).backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(parameters, 1.0)
                optimiser.step()
        optimiser.zero_grad(set_to_none=False)
        if epochs:
            self._match_exploration(policy)
        return Cloning(self._episodes, self._steps, before, *self._judge(policy))

    def add_gradient(self, policy: Policy, generator: torch.Generator, max_grad_norm: float) -> float:
        """Add the weighted gradient of a random minibatch to `.grad`; returns the weighted loss."""
        if not self.weight:
            return 0.0
        rows = torch.randint(len(self._learned.end), (self._batch,), generator=generator)
        loss = self.weight * self._loss(policy, self._learned.select(rows))
        parameters = list(policy.parameters())
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        pairs = [(one.grad, found) for one, found in zip(parameters, gradients, strict=True) if found is not None]
        norm = torch.stack([found.norm() for _, found in pairs]).norm()
        scale = (max_grad_norm / (norm + 1e-6)).clamp(max=1.0)
        for total, found in pairs:
            assert total is not None, "gradients of learners are views that stay"
            total.add_(found * scale)
        return float(loss.detach())

    def _features(self, policy: Policy, windows: Windows) -> tuple[Tensor, Tensor, Tensor]:
        """Features [T, B, F], the steps [T, B] they belong to, and whether these count."""
        length = int((windows.end - windows.begin).max())
        steps = windows.begin + torch.arange(length)[:, None]
        counts = (steps >= windows.first) & (steps < windows.end)
        steps = torch.minimum(steps, windows.end - 1)
        seen = policy.see(policy.normaliser(self._observation[steps]))
        memory, not_done = policy.initial_memory(len(windows.end)), torch.ones(steps.shape)
        return policy.features_of_sequence(seen, memory, not_done, self._heading[steps]), steps, counts

    def _loss(self, policy: Policy, windows: Windows) -> Tensor:
        features, steps, counts = self._features(policy, windows)
        assert isinstance(policy.head, ActionHead)
        return policy.head.imitation_loss(features[counts], self._action[steps[counts]]).mean()

    @torch.no_grad()
    def _judge(self, policy: Policy) -> tuple[float, float, float]:
        """Loss, accuracy and mean error on the held-out episodes."""
        losses, differences = [], []
        for rows in torch.split(torch.arange(len(self._judged.end)), 8 * self._batch):
            features, steps, counts = self._features(policy, self._judged.select(rows))
            wanted = self._action[steps[counts]]
            assert isinstance(policy.head, ActionHead)
            losses.append(policy.head.imitation_loss(features[counts], wanted))
            differences.append(policy.head.sample(features[counts], deterministic=True).action - wanted)
        difference = torch.cat(differences).abs()
        continuous = list(continuous_columns(policy.shape.action_parts))
        discrete = sorted(set(range(difference.shape[1])) - set(continuous))
        accuracy, error = (difference[:, discrete] == 0.0).float().mean(), difference[:, continuous].mean()
        return float(torch.cat(losses).mean()), float(accuracy), float(error)

    @torch.no_grad()
    def _match_exploration(self, policy: Policy) -> None:
        """Set the standard deviation of continuous actions to the clone's error, within limits."""
        columns = list(continuous_columns(policy.shape.action_parts))
        if not columns:
            return
        assert isinstance(policy.head, ActionHead)
        squares = []
        for rows in torch.split(torch.arange(len(self._learned.end)), 8 * self._batch):
            features, steps, counts = self._features(policy, self._learned.select(rows))
            found = policy.head.sample(features[counts], deterministic=True).action
            squares.append((found - self._action[steps[counts]])[:, columns].square())
        policy.head.log_std.copy_(torch.cat(squares).mean(0).sqrt().clamp(min=1e-6).log().clamp(*LOG_STD_LIMITS))
