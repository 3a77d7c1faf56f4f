"""Proximal policy optimisation (Schulman et al. 2017): the update of one role from one rollout."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from godojo.errors import GodojoError
from godojo.learn.networks import ActionHead, Critic, Policy
from godojo.learn.rollout import RolloutWorker
from godojo.learn.rollout_buffer import RolloutBuffer
from godojo.learn.settings import PpoSettings


class Losses(NamedTuple):
    """The terms of the loss, and diagnostics of the update."""

    policy_gradient_loss: Tensor
    value_loss: Tensor
    entropy: Tensor
    approx_kl: Tensor
    """Approximate KL divergence from the policy that collected the rollout."""
    clip_fraction: Tensor
    """Fraction of decision steps whose probability ratio was clipped."""
    imitation_loss: Tensor
    """Distance to the imitated actions, weighted."""


METRICS = (*Losses._fields, "grad_norm")
"""Names of the numbers that a `PpoGradient` returns, in order."""
IMITATION_LOSS = METRICS.index("imitation_loss")
LARGE_REWARD = 1e6
"""A diverged loss names rewards from this size on as its likely cause."""


def losses(policy: Policy, critic: Critic, batch: RolloutBuffer, clip_range: float) -> Losses:
    """The clipped surrogate, the squared error of the value, and the entropy; means over the steps with an action."""
    seen, privileged = policy.see(batch.observation[:-1]), batch.privileged[:-1]
    features = policy.features_of_sequence(seen, batch.memory, batch.not_done, batch.heading)
    log_prob, entropy = policy.head.evaluate_actions(features, batch.action)
    log_ratio = log_prob - batch.log_prob
    ratio = log_ratio.exp()
    clipped_ratio = ratio.clamp(1.0 - clip_range, 1.0 + clip_range)
    surrogate = torch.minimum(ratio * batch.advantage, clipped_ratio * batch.advantage)
    value_error = critic(seen, privileged) - batch.returns
    assert isinstance(policy.head, ActionHead), "`evaluate_actions` refuses others"
    imitation = policy.head.imitation_loss(features, batch.imitated) * batch.imitation_weight
    weight = batch.acted.to(ratio.dtype)
    total = weight.sum().clamp(min=1.0)

    def mean(values: Tensor) -> Tensor:
        return (values * weight).sum() / total

    return Losses(
        policy_gradient_loss=-mean(surrogate),
        value_loss=mean(value_error.square()),
        entropy=mean(entropy.expand_as(ratio)),
        approx_kl=mean((ratio - 1.0) - log_ratio).detach(),
        clip_fraction=mean(((ratio - 1.0).abs() > clip_range).to(ratio.dtype)).detach(),
        imitation_loss=mean(imitation),
    )


class NonFiniteLoss(GodojoError):
    """A loss or gradient is not finite; the weights are unchanged."""


def divergence_error(role: str, error: NonFiniteLoss, rewards: Tensor) -> GodojoError:
    """The error shown to the user: the role, and very large rewards as the likely cause."""
    largest = float(rewards.abs().max()) if len(rewards) else 0.0
    cause = "" if largest < LARGE_REWARD else f"; the largest reward is {largest:.2g}"
    return GodojoError(f"learning of {role} broke down: {error}{cause}")


class PpoGradient(Protocol):
    """Computes the gradient of one minibatch, given as columns (agents) of a buffer, and clips its norm.

    Writes it to `.grad` of the parameters and returns the values of `METRICS`.
    """

    def __call__(self, buffer: RolloutBuffer, columns: Tensor) -> list[float]: ...


class TorchPpoGradient:
    """The torch implementation, for any policy. `kernels/ppo.py` has a faster one for continuous actions."""

    def __init__(self, policy: Policy, critic: Critic, weights: nn.Parameter, settings: PpoSettings) -> None:
        self._policy, self._critic, self._weights, self._settings = policy, critic, weights, settings

    def __call__(self, buffer: RolloutBuffer, columns: Tensor) -> list[float]:
        settings = self._settings
        terms = losses(self._policy, self._critic, buffer.select(columns), settings.clip_range)
        loss = terms.policy_gradient_loss + settings.vf_coef * terms.value_loss - settings.ent_coef * terms.entropy
        loss = loss + terms.imitation_loss
        assert self._weights.grad is not None
        self._weights.grad.zero_()
        loss.backward()  # type: ignore[no-untyped-call]
        grad_norm = nn.utils.clip_grad_norm_([self._weights], settings.max_grad_norm)
        metrics: list[float] = torch.stack([*(term.detach() for term in terms), grad_norm]).tolist()
        return metrics


def minibatches(
    columns: int, count: int, n_epochs: int, train_steps: int, generator: torch.Generator
) -> Iterator[Tensor]:
    """The columns of each gradient step: `n_epochs` passes over all of them, or passes until `train_steps` are done."""
    passes = itertools.count() if train_steps else range(n_epochs)
    batches = (batch for _ in passes for batch in torch.randperm(columns, generator=generator).chunk(count))
    return itertools.islice(batches, train_steps or None)


def update(
    worker: RolloutWorker, gradient: PpoGradient, optimiser: torch.optim.Optimizer, settings: PpoSettings
) -> dict[str, float]:
    """Update policy and critic from a worker's buffer; returns the metrics by tag.

    Minibatches are split by sequence, not by step, since a recurrent policy is trained through time.
    """
    buffer = worker.buffer
    weight = buffer.acted.float()
    total = weight.sum().clamp(min=1.0)
    mean = (buffer.advantage * weight).sum() / total
    deviation = (((buffer.advantage - mean).square() * weight).sum() / total).sqrt() + 1e-8
    normalised = replace(buffer, advantage=(buffer.advantage - mean) / deviation)
    if len(worker.sequence_memory) > 1:
        normalised = normalised.split(worker.sequence_memory)
    count = settings.n_minibatches
    if settings.batch_size:
        count = -(-weight.numel() // settings.batch_size)
    history = []
    train_steps = settings.train_steps.get(worker.name, 0)
    for columns in minibatches(normalised.num_columns, count, settings.n_epochs, train_steps, worker.generator):
        values = gradient(normalised, columns)
        if worker.demonstrations is not None:
            values[IMITATION_LOSS] += worker.demonstrations.add_gradient(
                worker.policy, worker.generator, settings.max_grad_norm
            )
        for name, value in zip(METRICS, values, strict=True):
            if not math.isfinite(value):
                raise NonFiniteLoss(f"the {name} term is {value}")
        optimiser.step()
        history.append(values)
    means = dict(zip(METRICS, torch.tensor(history).mean(0).tolist(), strict=True))
    means["entropy_loss"] = -means.pop("entropy")
    if not settings.imitated_opponents and worker.demonstrations is None:
        del means["imitation_loss"]
    means["explained_variance"] = explained_variance(buffer.value[:-1], buffer.returns, weight)
    return {f"train/{name}": value for name, value in means.items()}


def explained_variance(value: Tensor, returns: Tensor, weight: Tensor) -> float:
    """Fraction of the returns' variance that the critic explains: 1 is perfect, 0 no better than the mean."""
    returns = returns[weight > 0]
    return 1.0 - float((returns - value[weight > 0]).var() / returns.var().clamp(min=1e-8))
