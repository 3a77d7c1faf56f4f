"""Hyperparameters of training with Stable-Baselines3."""

import msgspec

from godojo.errors import GodojoError

SB3 = "sb3"
"""Name of the trainer, and of a run's learner."""


class Sb3Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stable-Baselines3's PPO with an MlpPolicy, under its own parameter names."""

    num_envs: int = 16
    """Copies of the game that run in parallel."""
    n_steps: int = 256
    """Steps in each copy between two updates."""
    batch_size: int = 64
    n_epochs: int = 10
    learning_rate: float = 3e-4
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    net_arch: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers of policy and value function; ReLU, which every export supports."""
    checkpoint_steps: int = 50_000
    """Agent-steps between two checkpoints; each also evaluates the policy for the best model."""
    best_rounds: int = 50
    """Rounds that judge a policy for the best model; 0 for none."""

    def check(self) -> None:
        """Refuses what could not be learnt with, by name."""
        for name in ("num_envs", "n_steps", "n_epochs", "checkpoint_steps"):
            if getattr(self, name) < 1:
                raise GodojoError(f"{name} must be 1 or more, not {getattr(self, name)}")
        if not 2 <= self.batch_size <= self.num_envs * self.n_steps:
            most = self.num_envs * self.n_steps
            raise GodojoError(f"batch_size must be from 2 to num_envs * n_steps ({most}), not {self.batch_size}")
        for name in ("gamma", "gae_lambda"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise GodojoError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        for name in ("learning_rate", "clip_range", "max_grad_norm"):
            if not 0.0 < getattr(self, name) < 1e6:
                raise GodojoError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("ent_coef", "vf_coef", "best_rounds"):
            if not 0 <= getattr(self, name) < 1e6:
                raise GodojoError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if not self.net_arch or min(self.net_arch) < 1:
            raise GodojoError(f"net_arch must be the widths of one layer or more, not {list(self.net_arch)}")
