"""Proximal policy optimisation (Schulman et al. 2017): one role's update from one rollout."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from godojo.errors import GodojoError
from godojo.learn.networks import Critic, Policy
from godojo.learn.rollout import Seat
from godojo.learn.settings import PpoSettings


class Losses(NamedTuple):
    """The parts of what is minimised, and what tells how the update goes."""

    policy: Tensor
    value: Tensor
    entropy: Tensor
    divergence: Tensor
    """Approximate KL divergence from the policy that played."""
    clipped: Tensor
    """Share of decisions whose ratio was beyond the clip."""


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
    memory: Tensor


def losses(policy: Policy, critic: Critic, batch: Minibatch, clip: float) -> Losses:
    """What the update minimises: clipped surrogate, squared error of the value, minus entropy."""
    features = policy.features_of_sequence(batch.observation, batch.memory, batch.goes_on)
    log_probability, entropy = policy.head.judge(features, batch.action)
    log_ratio = log_probability - batch.log_probability
    ratio = log_ratio.exp()
    surrogate = torch.minimum(ratio * batch.advantage, ratio.clamp(1.0 - clip, 1.0 + clip) * batch.advantage)
    error = critic(batch.observation, batch.others) - batch.target
    total = batch.weight.sum().clamp(min=1.0)

    def mean(values: Tensor) -> Tensor:
        return (values * batch.weight).sum() / total

    return Losses(
        policy=-mean(surrogate),
        value=mean(error.square()),
        entropy=mean(entropy.expand_as(ratio)),
        divergence=mean((ratio - 1.0) - log_ratio).detach(),
        clipped=mean(((ratio - 1.0).abs() > clip).float()).detach(),
    )


class NotFinite(GodojoError):
    """A loss that is no number; the weights are those before it."""


def update(seat: Seat, optimiser: torch.optim.Optimizer, settings: PpoSettings) -> dict[str, float]:
    """Learns from a seat's track; says how it went."""
    policy, critic, track = seat.policy, seat.critic, seat.track
    parameters = [*policy.parameters(), *critic.parameters()]
    weight = track.acted.float()
    total = weight.sum().clamp(min=1.0)
    mean = (track.advantage * weight).sum() / total
    deviation = (((track.advantage - mean).square() * weight).sum() / total).sqrt() + 1e-8
    target = track.advantage + track.value[:-1]
    history = []
    for _ in range(settings.epochs):
        shuffled = torch.randperm(track.columns, generator=seat.generator)
        for chosen in shuffled.chunk(settings.minibatches):
            batch = Minibatch(
                observation=track.observation[:-1].index_select(1, chosen),
                others=track.others[:-1].index_select(1, chosen),
                action=track.action.index_select(1, chosen),
                log_probability=track.log_probability.index_select(1, chosen),
                advantage=(track.advantage.index_select(1, chosen) - mean) / deviation,
                target=target.index_select(1, chosen),
                weight=weight.index_select(1, chosen),
                goes_on=track.goes_on.index_select(1, chosen),
                memory=track.memory.index_select(0, chosen),
            )
            found = losses(policy, critic, batch, settings.clip)
            loss = found.policy + settings.value_weight * found.value - settings.entropy_weight * found.entropy
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            length = nn.utils.clip_grad_norm_(parameters, settings.max_gradient)
            values = {name: value.item() for name, value in found._asdict().items()} | {"gradient": length.item()}
            for name, value in values.items():
                if not math.isfinite(value):
                    raise NotFinite(f"the {name} term is {value}")
            optimiser.step()
            history.append(values)
    figures = {name: sum(values[name] for values in history) / len(history) for name in history[0]}
    figures["explained"] = explained_share(track.value[:-1], target, weight)
    return figures


def explained_share(value: Tensor, target: Tensor, weight: Tensor) -> float:
    """Share of the returns' variance that the critic foresaw: 1 is all of it, 0 is none."""
    told = target[weight > 0]
    return 1.0 - float((told - value[weight > 0]).var() / told.var().clamp(min=1e-8))
