"""The one place that decides how the learner computes: by kernels on the CPU, by torch on other devices."""

import torch
from torch import nn

from godojo.learn.networks import Critic, Policy
from godojo.learn.ppo import PpoGradient, TorchPpoGradient
from godojo.learn.rollout import PolicyRunner, RelativeState
from godojo.learn.rotation import relative_state
from godojo.learn.settings import PpoSettings


class Backend:
    """Everything that is computed in two ways, here in torch; `kernels/backend.py` overrides it, and tests compare."""

    relative_state: RelativeState = staticmethod(relative_state)

    def policy_runner(self, policy: Policy, rows: int) -> PolicyRunner:
        return PolicyRunner(policy, rows)

    def ppo_gradient(self, policy: Policy, critic: Critic, weights: nn.Parameter, settings: PpoSettings) -> PpoGradient:
        return TorchPpoGradient(policy, critic, weights, settings)

    def prepare(self, policy: Policy) -> None:
        """Replace operations of the policy itself by faster ones, where there are any."""


def backend_for(device: torch.device | str) -> Backend:
    if torch.device(device).type != "cpu":
        return Backend()
    from godojo.learn.kernels.backend import KernelBackend  # Numba

    return KernelBackend()
