"""Chooses the implementation of the learner's hot loops: Numba kernels on the CPU, torch on other devices."""

import torch
from torch import nn

from godojo.learn.critic_runner import CriticRunner
from godojo.learn.gae import Advantages, advantages
from godojo.learn.networks import Critic, Policy
from godojo.learn.policy_runner import PolicyRunner
from godojo.learn.ppo import PpoGradient, TorchPpoGradient
from godojo.learn.privileged import RelativeState
from godojo.learn.rotation import relative_state
from godojo.learn.settings import PpoSettings
from godojo.learn.step_results import reset_memory, store_results

ADAM_EPS = 1e-5
"""Larger than torch's default, as in Stable-Baselines3."""


class Backend:
    """The torch implementation of everything that has kernels; `KernelBackend` overrides it, and tests compare both."""

    relative_state: RelativeState = staticmethod(relative_state)
    advantages: Advantages = staticmethod(advantages)
    store_results = staticmethod(store_results)
    reset_memory = staticmethod(reset_memory)

    def policy_runner(self, policy: Policy, rows: int) -> PolicyRunner:
        return PolicyRunner(policy, rows)

    def critic_runner(self, policy: Policy, critic: Critic) -> CriticRunner:
        return CriticRunner(policy, critic)

    def ppo_gradient(self, policy: Policy, critic: Critic, weights: nn.Parameter, settings: PpoSettings) -> PpoGradient:
        return TorchPpoGradient(policy, critic, weights, settings)

    def adam(self, weights: nn.Parameter, learning_rate: float) -> torch.optim.Adam:
        return torch.optim.Adam([weights], lr=learning_rate, eps=ADAM_EPS, fused=True)

    def prepare(self, policy: Policy) -> None:
        """Speed up the policy itself: kernels replace its memory's scan, torch needs nothing."""


def backend_for(device: torch.device | str) -> Backend:
    if torch.device(device).type != "cpu":
        return Backend()
    from godojo.learn.kernels.backend import KernelBackend  # Numba

    return KernelBackend()
