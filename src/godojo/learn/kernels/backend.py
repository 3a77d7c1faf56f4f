"""The kernels behind the interface of `learn/backend.py`; what they do not support is left to torch."""

import numpy as np
import torch
from torch import Tensor, nn

from godojo.learn.backend import Backend
from godojo.learn.critic_runner import CriticRunner
from godojo.learn.kernels import frames, gae, results
from godojo.learn.kernels.adam import KernelAdam
from godojo.learn.kernels.critic import KernelCriticRunner
from godojo.learn.kernels.memory import leaky_scan
from godojo.learn.kernels.policy import KernelPolicyRunner, KernelPreprocessing, has_kernels
from godojo.learn.kernels.ppo import KernelPpoGradient
from godojo.learn.memory import LeakyMemory
from godojo.learn.networks import Critic, Policy
from godojo.learn.policy_runner import PolicyRunner
from godojo.learn.ppo import PpoGradient
from godojo.learn.settings import PpoSettings


def relative_state(
    own: Tensor, other: Tensor, forward: np.ndarray, pairs: np.ndarray, columns: np.ndarray, out: Tensor
) -> None:
    frames.relative_state(own.numpy(), other.numpy(), forward, pairs, columns, out.numpy())


class KernelBackend(Backend):
    """Kernels for the CPU."""

    relative_state = staticmethod(relative_state)
    advantages = staticmethod(gae.advantages)
    store_results = staticmethod(results.store_results)
    reset_memory = staticmethod(results.reset_memory)

    def policy_runner(self, policy: Policy, rows: int) -> PolicyRunner:
        return KernelPolicyRunner(policy, rows) if has_kernels(policy) else KernelPreprocessing(policy, rows)

    def critic_runner(self, policy: Policy, critic: Critic) -> CriticRunner:
        return KernelCriticRunner(policy, critic) if has_kernels(policy) else super().critic_runner(policy, critic)

    def ppo_gradient(self, policy: Policy, critic: Critic, weights: nn.Parameter, settings: PpoSettings) -> PpoGradient:
        if has_kernels(policy):
            return KernelPpoGradient(policy, critic, weights, settings)
        self.prepare(policy)
        return super().ppo_gradient(policy, critic, weights, settings)

    def adam(self, weights: nn.Parameter, learning_rate: float) -> torch.optim.Adam:
        return KernelAdam(weights, learning_rate)

    def prepare(self, policy: Policy) -> None:
        if isinstance(policy.memory, LeakyMemory):
            policy.memory.scan = leaky_scan
