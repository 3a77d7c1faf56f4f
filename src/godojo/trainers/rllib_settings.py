"""Hyperparameters of training with RLlib, readable without it being installed."""

from typing import Literal

import msgspec

from godojo.errors import GodojoError
from godojo.learn.settings import check_counts, check_fractions, check_net_arch, check_not_negative, check_positive


class RllibSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """RLlib's PPO with one policy for each role, under the names that all trainers share."""

    role: str = ""
    """The only role that learns; by default all do."""
    opponent: str = ""
    """With `role`, plays all other roles: a scripted opponent, `file.py:Class`, `RUN`, `RUN@SNAPSHOT` or a policy file.
    By default the game's first scripted opponent; in games without any, random actions."""
    num_env_runners: int = 0
    """Ray workers that play, each with its share of the copies; 0 to play in the trainer's own process."""
    num_envs: int = 64
    """Copies of the game that run in parallel, in all."""
    n_steps: int = 64
    """Decision steps in each copy between two updates."""
    batch_size: int = 512
    """Transitions of each role in a gradient step (RLlib's `minibatch_size`); at most a rollout."""
    n_epochs: int = 6
    """Passes over each rollout (`num_epochs`)."""
    learning_rate: float = 3e-4
    """`lr`"""
    gamma: float = 0.99
    """Discount factor per decision step."""
    gae_lambda: float = 0.95
    """`lambda_`"""
    clip_range: float = 0.2
    """`clip_param`"""
    ent_coef: float = 0.0
    """`entropy_coeff`"""
    vf_coef: float = 0.5
    """`vf_loss_coeff`"""
    max_grad_norm: float = 0.5
    """`grad_clip`, by the norm of all gradients"""
    vf_clip_param: float = 10.0
    """The value loss of a transition is clipped to this, which suits normalised rewards."""
    kl_coeff: float = 0.0
    """Initial weight of the KL loss, adapted towards `kl_target`; 0 for none."""
    kl_target: float = 0.01
    net_arch: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers of actor and critic (`fcnet_hiddens`)."""
    activation_fn: Literal["relu", "tanh"] = "relu"
    """After each of them (`fcnet_activation`)."""
    norm_obs: bool = True
    """Normalise observations by their running mean and standard deviation."""
    norm_reward: bool = True
    """Divide rewards by the running standard deviation of the discounted return."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """`auto`: a GPU if there is one."""

    def check(self) -> None:
        """Reject values that cannot be trained with."""
        check_counts(self, "num_envs", "n_steps", "n_epochs")
        check_fractions(self, "gamma", "gae_lambda")
        check_positive(self, "learning_rate", "clip_range", "max_grad_norm", "vf_clip_param", "kl_target")
        check_not_negative(self, "num_env_runners", "ent_coef", "vf_coef", "kl_coeff")
        check_net_arch(self.net_arch)
        if self.batch_size < 2:
            raise GodojoError(f"batch_size must be 2 or more, not {self.batch_size}")
        if self.num_env_runners > self.num_envs:
            raise GodojoError(f"num_env_runners must be at most num_envs ({self.num_envs}), not {self.num_env_runners}")
        if self.opponent and not self.role:
            raise GodojoError("an opponent plays the roles that do not learn; set role as well")
