"""Runs a policy for many agents at once."""

from typing import NamedTuple

import torch
from torch import Tensor

from godojo.learn.networks import Normaliser, Policy


class PolicyInput(NamedTuple):
    """Inputs of a policy, one row per agent."""

    normalised: Tensor
    """The egocentric, normalised form of `observation`."""
    observation: Tensor
    memory: Tensor
    """Updated in place."""


class PolicyOutput(NamedTuple):
    """Tensors that a policy writes to, one row per agent."""

    action: Tensor
    """As sampled, relative to the heading where the game declares one."""
    log_prob: Tensor
    env_action: Tensor
    """As the game takes it; see `Policy.to_env_action`."""


class PolicyRunner:
    """Runs a policy for many agents at once and writes the results to given tensors.

    This implementation runs any policy on any device. `kernels/policy.py` has a faster one for the CPU.
    """

    def __init__(self, policy: Policy, _rows: int) -> None:
        self._policy = policy

    def refresh(self) -> None:
        """Call after the weights changed; kernels copy them, torch needs nothing."""

    def to_egocentric(self, observation: Tensor, out: Tensor) -> None:
        out.copy_(self._policy.to_egocentric(observation))

    def normalise(self, normaliser: Normaliser, rows: Tensor, out: Tensor) -> None:
        out.copy_(normaliser(rows))

    def from_env_action(self, action: Tensor, observation: Tensor, out: Tensor) -> None:
        out.copy_(self._policy.from_env_action(action, observation))

    def update_normaliser(self, normaliser: Normaliser, rows: Tensor, acted: Tensor) -> None:
        normaliser.update(rows, acted)

    @torch.no_grad()
    def act(self, inputs: PolicyInput, out: PolicyOutput, *, deterministic: bool, generator: torch.Generator) -> None:
        """Write actions and log-probabilities, and update the memory."""
        policy, heading = self._policy, self._policy.heading_of(inputs.observation)
        features, memory = policy.features(inputs.normalised, inputs.memory, heading)
        sampled = policy.head.sample(features, deterministic=deterministic, generator=generator)
        inputs.memory.copy_(memory)
        out.action.copy_(sampled.action)
        out.log_prob.copy_(sampled.log_prob)
        out.env_action.copy_(policy.to_env_action(sampled.action, inputs.observation))
