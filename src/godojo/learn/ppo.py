"""Proximal policy optimisation (Schulman et al. 2017): one role's update from one rollout."""

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
"""Such rewards may be why learning broke down."""
FIGURES = (*Losses._fields, "grad_norm")


class Minibatch(NamedTuple):
    """Some columns of a track, with all their decisions."""

    observation: Tensor
    others: Tensor
    action: Tensor
    log_probability: Tensor
    advantage: Tensor
    target: Tensor
    weight: Tensor
    """1 for a transition to learn from, 0 for none."""
    goes_on: Tensor
    ahead: Tensor
    memory: Tensor


def losses(policy: Policy, critic: Critic, batch: Minibatch, clip: float) -> Losses:
    """What the update minimises: clipped surrogate, squared error of the value, minus entropy."""
    features = policy.features_of_sequence(batch.observation, batch.memory, batch.goes_on, batch.ahead)
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
    """A loss that is no number; the weights are those before it."""


def broke_down(role: str, error: NonFiniteLoss, rewards: Tensor) -> GodojoError:
    """What to tell a person, with a likely cause where there is one."""
    largest = float(rewards.abs().max()) if len(rewards) else 0.0
    cause = "" if largest < LARGE_REWARD else f"; the largest reward is {largest:.2g}"
    return GodojoError(f"learning of {role} broke down: {error}{cause}")


class PpoGradient(Protocol):
    """Writes the gradient by some columns of a track, shortened where it is too long; returns `FIGURES`."""

    def __call__(self, track: RolloutBuffer, advantage: Tensor, target: Tensor, chosen: Tensor) -> list[float]: ...


class TorchPpoGradient:
    """By torch, for any policy. `lesson.py` has a quicker one for those whose actions are numbers."""

    def __init__(self, policy: Policy, critic: Critic, weights: nn.Parameter, settings: PpoSettings) -> None:
        self._policy, self._critic, self._weights, self._settings = policy, critic, weights, settings

    def __call__(self, track: RolloutBuffer, advantage: Tensor, target: Tensor, chosen: Tensor) -> list[float]:
        settings = self._settings
        batch = Minibatch(
            observation=track.observation[:-1].index_select(1, chosen),
            others=track.others[:-1].index_select(1, chosen),
            action=track.action.index_select(1, chosen),
            log_probability=track.log_probability.index_select(1, chosen),
            advantage=advantage.index_select(1, chosen),
            target=target.index_select(1, chosen),
            weight=track.acted.index_select(1, chosen).float(),
            goes_on=track.goes_on.index_select(1, chosen),
            ahead=track.ahead.index_select(1, chosen),
            memory=track.memory.index_select(0, chosen),
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
    seat: RolloutWorker, teacher: PpoGradient, optimiser: torch.optim.Optimizer, settings: PpoSettings
) -> dict[str, float]:
    """Learns from a seat's track; says how it went."""
    track = seat.track
    weight = track.acted.float()
    total = weight.sum().clamp(min=1.0)
    mean = (track.advantage * weight).sum() / total
    deviation = (((track.advantage - mean).square() * weight).sum() / total).sqrt() + 1e-8
    advantage = (track.advantage - mean) / deviation
    target = track.advantage + track.value[:-1]
    history = []
    for _ in range(settings.n_epochs):
        shuffled = torch.randperm(track.columns, generator=seat.generator)
        for chosen in shuffled.chunk(settings.n_minibatches):
            values = teacher(track, advantage, target, chosen)
            for name, value in zip(FIGURES, values, strict=True):
                if not math.isfinite(value):
                    raise NonFiniteLoss(f"the {name} term is {value}")
            optimiser.step()
            history.append(values)
    means = dict(zip(FIGURES, torch.tensor(history).mean(0).tolist(), strict=True))
    means["entropy_loss"] = -means.pop("entropy")
    means["explained_variance"] = explained_variance(track.value[:-1], target, weight)
    return {f"train/{name}": value for name, value in means.items()}


def explained_variance(value: Tensor, target: Tensor, weight: Tensor) -> float:
    """Share of the returns' variance that the critic foresaw: 1 is all of it, 0 is none."""
    told = target[weight > 0]
    return 1.0 - float((told - value[weight > 0]).var() / told.var().clamp(min=1e-8))
