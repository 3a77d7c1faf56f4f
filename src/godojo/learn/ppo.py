"""Proximal policy optimisation (Schulman et al. 2017): the update of one role from one rollout."""

import math
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from godojo.errors import GodojoError
from godojo.learn.networks import Critic, Policy
from godojo.learn.rollout import RolloutBuffer, RolloutWorker
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


LARGE_REWARD = 1e6
"""Rewards above this are named as a likely cause of a diverged loss."""
FIGURES = (*Losses._fields, "grad_norm")


class Minibatch(NamedTuple):
    """Some columns of a rollout buffer, with all their steps."""

    observation: Tensor
    others: Tensor
    action: Tensor
    log_probability: Tensor
    advantage: Tensor
    target: Tensor
    weight: Tensor
    """1 where the agent acted, else 0."""
    not_done: Tensor
    ahead: Tensor
    memory: Tensor


def losses(policy: Policy, critic: Critic, batch: Minibatch, clip: float) -> Losses:
    """Clipped surrogate, squared error of the value, and entropy."""
    features = policy.features_of_sequence(batch.observation, batch.memory, batch.not_done, batch.ahead)
    log_probability, entropy = policy.head.judge(features, batch.action)
    log_ratio = log_probability - batch.log_probability
    ratio = log_ratio.exp()
    surrogate = torch.minimum(ratio * batch.advantage, ratio.clamp(1.0 - clip, 1.0 + clip) * batch.advantage)
    error = critic(batch.observation, batch.others) - batch.target
    total = batch.weight.sum().clamp(min=1.0)

    def mean(values: Tensor) -> Tensor:
        return (values * batch.weight).sum() / total

    return Losses(
        policy_gradient_loss=-mean(surrogate),
        value_loss=mean(error.square()),
        entropy=mean(entropy.expand_as(ratio)),
        approx_kl=mean((ratio - 1.0) - log_ratio).detach(),
        clip_fraction=mean(((ratio - 1.0).abs() > clip).float()).detach(),
    )


class NonFiniteLoss(GodojoError):
    """A loss or gradient is not finite; the weights are unchanged."""


def broke_down(role: str, error: NonFiniteLoss, rewards: Tensor) -> GodojoError:
    """The error for the user, with a likely cause where there is one."""
    largest = float(rewards.abs().max()) if len(rewards) else 0.0
    cause = "" if largest < LARGE_REWARD else f"; the largest reward is {largest:.2g}"
    return GodojoError(f"learning of {role} broke down: {error}{cause}")


class PpoGradient(Protocol):
    """Writes the clipped gradient for some columns of a buffer; returns `FIGURES`."""

    def __call__(self, buffer: RolloutBuffer, advantage: Tensor, target: Tensor, chosen: Tensor) -> list[float]: ...


class TorchPpoGradient:
    """The torch implementation, for any policy. `kernels/ppo.py` has a faster one for continuous actions."""

    def __init__(self, policy: Policy, critic: Critic, weights: nn.Parameter, settings: PpoSettings) -> None:
        self._policy, self._critic, self._weights, self._settings = policy, critic, weights, settings

    def __call__(self, buffer: RolloutBuffer, advantage: Tensor, target: Tensor, chosen: Tensor) -> list[float]:
        settings = self._settings
        batch = Minibatch(
            observation=buffer.observation[:-1].index_select(1, chosen),
            others=buffer.others[:-1].index_select(1, chosen),
            action=buffer.action.index_select(1, chosen),
            log_probability=buffer.log_probability.index_select(1, chosen),
            advantage=advantage.index_select(1, chosen),
            target=target.index_select(1, chosen),
            weight=buffer.acted.index_select(1, chosen).float(),
            not_done=buffer.not_done.index_select(1, chosen),
            ahead=buffer.ahead.index_select(1, chosen),
            memory=buffer.memory.index_select(0, chosen),
        )
        found = losses(self._policy, self._critic, batch, settings.clip_range)
        loss = found.policy_gradient_loss + settings.vf_coef * found.value_loss - settings.ent_coef * found.entropy
        assert self._weights.grad is not None
        self._weights.grad.zero_()
        loss.backward()  # type: ignore[no-untyped-call]
        length = nn.utils.clip_grad_norm_([self._weights], settings.max_grad_norm)
        figures: list[float] = torch.stack([*(each.detach() for each in found), length]).tolist()
        return figures


def update(
    worker: RolloutWorker, gradient: PpoGradient, optimiser: torch.optim.Optimizer, settings: PpoSettings
) -> dict[str, float]:
    """Update policy and critic from a worker's buffer; returns the metrics by tag."""
    buffer = worker.buffer
    weight = buffer.acted.float()
    total = weight.sum().clamp(min=1.0)
    mean = (buffer.advantage * weight).sum() / total
    deviation = (((buffer.advantage - mean).square() * weight).sum() / total).sqrt() + 1e-8
    advantage = (buffer.advantage - mean) / deviation
    target = buffer.advantage + buffer.value[:-1]
    history = []
    for _ in range(settings.n_epochs):
        shuffled = torch.randperm(buffer.columns, generator=worker.generator)
        for chosen in shuffled.chunk(settings.n_minibatches):
            values = gradient(buffer, advantage, target, chosen)
            for name, value in zip(FIGURES, values, strict=True):
                if not math.isfinite(value):
                    raise NonFiniteLoss(f"the {name} term is {value}")
            optimiser.step()
            history.append(values)
    means = dict(zip(FIGURES, torch.tensor(history).mean(0).tolist(), strict=True))
    means["entropy_loss"] = -means.pop("entropy")
    means["explained_variance"] = explained_variance(buffer.value[:-1], target, weight)
    return {f"train/{name}": value for name, value in means.items()}


def explained_variance(value: Tensor, target: Tensor, weight: Tensor) -> float:
    """Fraction of the returns' variance that the critic explains: 1 is perfect, 0 no better than the mean."""
    returns = target[weight > 0]
    return 1.0 - float((returns - value[weight > 0]).var() / returns.var().clamp(min=1e-8))
