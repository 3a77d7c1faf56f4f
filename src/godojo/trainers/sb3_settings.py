"""Hyperparameters of training with Stable-Baselines3, readable without it being installed."""

from typing import Literal

import msgspec

from godojo.errors import GodojoError
from godojo.learn.settings import check_counts, check_fractions, check_net_arch, check_positive

MAX_BATCH = 1_000_000


class Sb3Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stable-Baselines3's PPO with an MlpPolicy, under its own parameter names."""

    num_envs: int = 16
    """Copies of the game that run in parallel."""
    n_steps: int = 256
    """Steps in each copy between two updates."""
    batch_size: int = 64
    """Steps of a gradient step; at most a whole rollout, `num_envs * n_steps`."""
    n_epochs: int = 10
    learning_rate: float = 3e-4
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    net_arch: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers of policy and value function."""
    activation_fn: Literal["relu", "tanh"] = "relu"
    """After each of them."""
    norm_obs: bool = True
    """VecNormalize normalises observations."""
    norm_reward: bool = True
    """The same for rewards."""
    clip_obs: float = 5.0
    """Limit of normalised observations."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """`auto`: a GPU if there is one."""
    checkpoint_steps: int = 50_000
    """Agent-steps between two checkpoints; each also evaluates the policy for the best model."""
    best_rounds: int = 50
    """Rounds of each evaluation; 0 for none."""

    def check(self) -> None:
        """Reject values that cannot be trained with."""
        check_counts(self, "num_envs", "n_steps", "n_epochs", "checkpoint_steps")
        check_fractions(self, "gamma", "gae_lambda")
        check_positive(self, "learning_rate", "clip_range", "max_grad_norm", "clip_obs")
        check_net_arch(self.net_arch)
        if not 2 <= self.batch_size <= MAX_BATCH:
            raise GodojoError(f"batch_size must be from 2 to {MAX_BATCH}, not {self.batch_size}")
        for name in ("ent_coef", "vf_coef", "best_rounds"):
            if not 0 <= getattr(self, name) < 1e6:
                raise GodojoError(f"{name} must be 0 or more, not {getattr(self, name)}")
