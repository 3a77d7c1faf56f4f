"""Hyperparameters of training with Stable-Baselines3, readable without it being installed."""

import math
from typing import ClassVar, Literal

import msgspec

from godojo.errors import GodojoError
from godojo.learn.settings import check_counts, check_fractions, check_net_arch, check_not_negative, check_positive

MAX_BATCH = 1_000_000


class _Sb3Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all algorithms of Stable-Baselines3 share, under its own parameter names."""

    algorithm: ClassVar[str]
    """The name of its class in lower case."""
    role: str = ""
    """The role that learns; by default the game's first."""
    opponent: str = ""
    """Plays all other agents: a scripted opponent, `file.py:Class`, `RUN`, `RUN@SNAPSHOT` or a policy file. By default
    the game's first scripted opponent; in games without any, random actions."""
    num_envs: int = 16
    """Copies of the game that run in parallel."""
    gamma: float = 0.99
    net_arch: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers of actor and critic."""
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
        check_counts(self, "num_envs", "checkpoint_steps")
        check_fractions(self, "gamma")
        check_positive(self, "learning_rate", "clip_obs")
        check_net_arch(self.net_arch)
        batch_size = int(getattr(self, "batch_size", 2))
        if not 2 <= batch_size <= MAX_BATCH:
            raise GodojoError(f"batch_size must be from 2 to {MAX_BATCH}, not {batch_size}")
        check_not_negative(self, "best_rounds")


class Sb3Settings(_Sb3Settings, frozen=True, kw_only=True):
    """Stable-Baselines3's PPO with an MlpPolicy."""

    algorithm: ClassVar[str] = "ppo"
    n_steps: int = 256
    """Steps in each copy between two updates."""
    batch_size: int = 64
    """Steps of a gradient step; at most a whole rollout, `num_envs * n_steps`."""
    n_epochs: int = 10
    learning_rate: float = 3e-4
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5

    def check(self) -> None:
        super().check()
        check_counts(self, "n_steps", "n_epochs")
        check_fractions(self, "gae_lambda")
        check_positive(self, "clip_range", "max_grad_norm")
        check_not_negative(self, "ent_coef", "vf_coef")


class OffPolicySettings(_Sb3Settings, frozen=True, kw_only=True):
    """What SAC, TD3 and DQN share. The replay buffer is not saved: a resumed run fills it before it learns again."""

    buffer_size: int = 300_000
    """Transitions kept; each takes 8 bytes for every number of an observation."""
    learning_starts: int = 1_000
    """Transitions to collect before the first gradient step; a new run collects them with random actions."""
    batch_size: int = 256
    learning_rate: float = 3e-4
    tau: float = 0.005
    train_freq: int = 1
    """Steps in each copy between two updates."""
    gradient_steps: int = -1
    """Gradient steps of an update; -1 for as many as transitions were collected since the last one."""
    n_steps: int = 1
    """Rewards of a transition that are summed up before the critic's estimate (n-step returns)."""

    def check(self) -> None:
        super().check()
        check_counts(self, "buffer_size", "learning_starts", "train_freq", "n_steps")
        check_fractions(self, "tau")
        if self.gradient_steps != -1:
            check_counts(self, "gradient_steps")
        if self.learning_starts > self.buffer_size:
            raise GodojoError(f"learning_starts must be at most buffer_size ({self.buffer_size})")


class Sb3SacSettings(OffPolicySettings, frozen=True, kw_only=True):
    """Stable-Baselines3's SAC with an MlpPolicy, for continuous actions."""

    algorithm: ClassVar[str] = "sac"
    ent_coef: float | str = "auto"
    """Entropy coefficient: a number, or `auto` to tune it (`auto_0.1`: from this value on)."""

    def check(self) -> None:
        super().check()
        if isinstance(self.ent_coef, str):
            begin = self.ent_coef.removeprefix("auto").removeprefix("_") or "1"
            if not self.ent_coef.startswith("auto") or not _is_positive(begin):
                raise GodojoError(f"ent_coef must be a number, auto or auto_0.1, not {self.ent_coef!r}")
        else:
            check_not_negative(self, "ent_coef")


class Sb3Td3Settings(OffPolicySettings, frozen=True, kw_only=True):
    """Stable-Baselines3's TD3 with an MlpPolicy, for continuous actions."""

    algorithm: ClassVar[str] = "td3"
    learning_rate: float = 1e-3
    policy_delay: int = 2
    target_policy_noise: float = 0.2
    target_noise_clip: float = 0.5
    action_noise: float = 0.1
    """Standard deviation of the noise on actions while exploring."""

    def check(self) -> None:
        super().check()
        check_counts(self, "policy_delay")
        check_not_negative(self, "target_policy_noise", "target_noise_clip", "action_noise")


class Sb3DqnSettings(OffPolicySettings, frozen=True, kw_only=True):
    """Stable-Baselines3's DQN with an MlpPolicy, for one discrete action."""

    algorithm: ClassVar[str] = "dqn"
    batch_size: int = 128
    tau: float = 1.0
    target_update_interval: int = 2_000
    """Agent-steps between two updates of the target network."""
    exploration_fraction: float = 0.2
    """Fraction of the budget over which the exploration rate falls."""
    exploration_initial_eps: float = 1.0
    exploration_final_eps: float = 0.05
    max_grad_norm: float = 10.0

    def check(self) -> None:
        super().check()
        check_counts(self, "target_update_interval")
        check_fractions(self, "exploration_fraction", "exploration_initial_eps", "exploration_final_eps")
        check_positive(self, "max_grad_norm")


def _is_positive(text: str) -> bool:
    try:
        return 0.0 < float(text) < math.inf
    except ValueError:
        return False
