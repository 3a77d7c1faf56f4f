"""Runs a critic on a whole rollout."""

from torch import Tensor

from godojo.learn.networks import Critic, Policy

VALUES_AT_ONCE = 1024
"""Rows that the critic takes at once: few agents are grouped over several steps."""


class CriticRunner:
    """Writes the values of T steps of C agents.

    This implementation runs any critic on any device. `kernels/critic.py` has a faster one for the CPU.
    """

    def __init__(self, policy: Policy, critic: Critic) -> None:
        self._policy, self._critic = policy, critic

    def values(self, observation: Tensor, privileged: Tensor, out: Tensor) -> None:
        """Fill `out` [T, C] from normalised observations, [T, C, size]."""
        together = max(VALUES_AT_ONCE // max(out.shape[1], 1), 1) if self._policy.cnn is None else 1
        for first in range(0, len(out), together):
            steps = slice(first, first + together)
            out[steps] = self._critic(self._policy.see(observation[steps]), privileged[steps])
