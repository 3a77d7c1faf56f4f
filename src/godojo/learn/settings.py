"""Hyperparameters of the built-in algorithms, under Stable-Baselines3's names where it has one."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from godojo.errors import GodojoError, known
from godojo.validation import converted

Activation = Literal["relu", "tanh", "silu"]
OF_A_ROLE = (
    *("net_arch", "activation_fn", "cnn_channels"),
    *("learning_rate", "final_learning_rate", "gamma", "ent_coef", "max_grad_norm"),
)
"""Settings that `roles` may hold, with every algorithm."""
PPO_OF_A_ROLE = (
    *OF_A_ROLE,
    *("log_std_init", "memory", "memory_size", "n_epochs", "n_minibatches", "batch_size", "sequence_length"),
    *("gae_lambda", "clip_range", "vf_coef", "normalize_reward"),
)
SAC_OF_A_ROLE = (*OF_A_ROLE, "batch_size", "buffer_size", "learning_starts", "gradient_steps", "tau", "target_entropy")
OPPONENT_FRACTIONS = ("past_opponent_fraction", "scripted_opponent_fraction", "exploiter_fraction")


class PpoSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """PPO with self-play."""

    num_worlds: int = 1024
    """Copies of the game that run in parallel."""
    n_steps: int = 32
    """Decision steps in each world between two updates."""
    n_epochs: int = 1
    """Passes over each rollout."""
    n_minibatches: int = 32
    """Gradient steps per epoch; each uses some of the sequences."""
    batch_size: int = 0
    """Samples of a role per gradient step, of which `n_minibatches` follows; 0: `n_minibatches` decides."""
    sequence_length: int = 0
    """Decision steps of a sequence, through which memory is trained; must divide `n_steps`, which 0 stands for."""
    normalize_reward: bool = False
    """Divide rewards by the running standard deviation of the discounted return, as SB3's `VecNormalize` does."""
    learning_rate: float = 2e-3
    final_learning_rate: float = 2e-4
    """The learning rate decays linearly to this value over the budget."""
    gamma: float = 0.995
    """Discount factor per decision step."""
    gae_lambda: float = 0.95
    """Bias-variance trade-off of generalised advantage estimation."""
    clip_range: float = 0.2
    """Limit on the probability ratio between the updated policy and the one that collected the rollout."""
    ent_coef: float = 0.01
    """Weight of the entropy bonus, which keeps the policy exploring."""
    vf_coef: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 1.0
    """Gradients are clipped to this norm."""
    net_arch: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers, for both policy and critic."""
    activation_fn: Activation = "relu"
    """After each of them; there are no kernels for `silu`, which is slower."""
    log_std_init: float = -0.5
    """Logarithm of the standard deviation that continuous actions start with; 0 explores more."""
    cnn_channels: tuple[int, ...] = (16, 32, 32)
    """Output channels of the convolutions that images go through, shared by policy and critic; [] for none."""
    memory: Literal["", "leaky", "gru"] = "leaky"
    """Recurrent memory of the policy: none, leaky cells or a gated recurrent unit."""
    memory_size: int = 32
    """Number of memory cells."""
    egocentric_memory_size: int = 16
    """How many of the leaky cells store directions: they come last, in pairs, and rotate with the agent's heading."""
    egocentric: bool = True
    """Express observations and actions relative to the agent's heading, where the game declares one."""
    past_opponent_fraction: float = 0.25
    """Fraction of worlds in which one role is played by a past checkpoint."""
    scripted_opponents: tuple[str, ...] = ()
    """Scripted opponents to train against; the game must offer them."""
    scripted_opponent_fraction: float = 0.0
    """Fraction of worlds in which one role is played by a scripted opponent."""
    pool_size: int = 24
    """Past checkpoints kept for each role."""
    snapshot_interval: int = 25
    """Updates between two checkpoints that join the opponent pool; a multiple of `opponent_resample_interval`."""
    opponent_resample_interval: int = 5
    """Updates between two draws of past opponents; leaves time to finish rounds."""
    imitated_opponents: dict[str, str] = {}
    """By role: a scripted opponent that its policy imitates at first."""
    imitation_coef: float = 1.0
    """Weight of the imitation loss at the start; it decays linearly."""
    imitation_fraction: float = 0.5
    """Fraction of worlds in which the scripted opponent is asked what it would do."""
    imitation_end: float = 0.8
    """Share of the budget after which imitation ends."""
    imitation_epochs: int = 20
    """Passes over demonstrations before training (behaviour cloning); 0 for none."""
    exploiter_fraction: float = 0.0
    """Fraction of worlds in which one role is played by an exploiter, which learns to beat the current policy."""
    exploiter_interval: int = 500
    """Updates after which an exploiter joins the opponent pool and starts again; a multiple of
    `opponent_resample_interval`."""
    checkpoint_steps: int = 0
    """Agent-steps between two checkpoints; 0: one every 30 seconds."""
    copy_interval: int = 1000
    """Updates between two numbered copies of each policy, `checkpoints/ROLE_UPDATE.pt`; 0: none."""
    train_steps: dict[str, int] = {}
    """By role: gradient steps per update, in place of `n_epochs` passes."""
    roles: dict[str, dict[str, Any]] = {}
    """By role: settings of its network and its updates that differ from the others'."""

    def for_role(self, role: str) -> "PpoSettings":
        """The settings of one role."""
        return for_role(self, role)

    def imitation_weight(self, progress: float) -> float:
        """The weight of the imitation loss at this share of the budget."""
        if progress >= self.imitation_end:
            return 0.0
        return self.imitation_coef * (1.0 - progress / self.imitation_end)

    def check(self) -> None:
        """Reject values that cannot be trained with."""
        check_counts(self, "num_worlds", "n_steps", "n_epochs", "n_minibatches")
        if self.sequence_length < 0 or (self.sequence_length and self.n_steps % self.sequence_length):
            raise GodojoError(f"sequence_length must divide n_steps ({self.n_steps}), not {self.sequence_length}")
        check_counts(self, "pool_size", "snapshot_interval", "opponent_resample_interval")
        check_counts(self, "exploiter_interval")
        check_fractions(self, "gamma", "gae_lambda", "imitation_fraction", "imitation_end", *OPPONENT_FRACTIONS)
        check_not_negative(self, "ent_coef", "vf_coef", "batch_size", "imitation_epochs")
        sequence = self.sequence_length or self.n_steps
        if self.batch_size and self.batch_size < sequence:
            raise GodojoError(f"batch_size must be at least a sequence, {sequence} steps, not {self.batch_size}")
        check_positive(self, "learning_rate", "final_learning_rate", "clip_range", "max_grad_norm", "imitation_coef")
        if abs(self.log_std_init) > 5.0:
            raise GodojoError(f"log_std_init must be from -5 to 5, not {self.log_std_init}")
        check_net_arch(self.net_arch)
        check_cnn_channels(self.cnn_channels)
        check_saving(self)
        check_train_steps(self.train_steps)
        if self.memory and self.memory_size < 1:
            raise GodojoError(f"memory_size must be 1 or more, not {self.memory_size}")
        cells = self.egocentric_memory_size
        if cells < 0 or cells % 2:
            raise GodojoError(f"egocentric_memory_size must be an even number of cells, 0 or more, not {cells}")
        if sum(getattr(self, name) for name in OPPONENT_FRACTIONS) > 1.0:
            raise GodojoError(f"{', '.join(OPPONENT_FRACTIONS)} must add up to at most 1")
        if self.exploiter_fraction and not self.past_opponent_fraction:
            raise GodojoError("exploiters need a pool to join: set past_opponent_fraction, or exploiter_fraction=0")
        for name in ("snapshot_interval", "exploiter_interval"):
            if getattr(self, name) % self.opponent_resample_interval:
                raise GodojoError(f"{name} must be a multiple of opponent_resample_interval")
        check_roles(self, PPO_OF_A_ROLE)

    def check_batches(self, agents: Mapping[str, int]) -> None:
        """Reject minibatches larger than the rollout of a role; `agents` are those that play at once."""
        for role, count in agents.items():
            batch, samples = self.for_role(role).batch_size, self.n_steps * count
            if batch > samples:
                raise GodojoError(
                    f"batch_size must be at most a rollout of the {role}, {samples:,} samples ({self.n_steps} steps of"
                    f" {count} agents), not {batch:,}"
                )


class SacSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """SAC with self-play, for continuous actions. Its policies have no memory.

    Replay buffers larger than 64 MiB in total are not saved; a resumed run refills them before it learns again.
    """

    num_worlds: int = 256
    """Copies of the game that run in parallel."""
    n_steps: int = 8
    """Decision steps in each world between two updates."""
    buffer_size: int = 262_144
    """Transitions kept for each role; in tag each takes about 1.3 kB."""
    learning_starts: int = 8192
    """Transitions to collect for a role before its first gradient step."""
    gradient_steps: int = 16
    """Gradient steps per update."""
    batch_size: int = 512
    """Transitions per gradient step."""
    learning_rate: float = 1e-3
    final_learning_rate: float = 3e-4
    """The learning rate decays linearly to this value over the budget."""
    gamma: float = 0.97
    """Discount factor per decision step."""
    tau: float = 0.05
    """How far the target critics move towards the critics with each gradient step (Polyak averaging)."""
    ent_coef: float = 0.002
    """Initial entropy coefficient; it is tuned automatically from then on."""
    target_entropy: float = -1.0
    """Entropy that the coefficient is tuned for, in nats per action dimension."""
    max_grad_norm: float = 10.0
    """Gradients are clipped to this norm."""
    net_arch: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers, for both policy and critics."""
    activation_fn: Activation = "relu"
    """After each of them."""
    cnn_channels: tuple[int, ...] = (16, 32, 32)
    """Output channels of the convolutions that images go through, each of policy and critics its own; [] for none."""
    egocentric: bool = True
    """Express observations and actions relative to the agent's heading, where the game declares one."""
    checkpoint_steps: int = 0
    """Agent-steps between two checkpoints; 0: one every 30 seconds."""
    copy_interval: int = 1000
    """Updates between two numbered copies of each policy, `checkpoints/ROLE_UPDATE.pt`; 0: none."""
    train_steps: dict[str, int] = {}
    """By role: gradient steps per update, in place of `gradient_steps`."""
    roles: dict[str, dict[str, Any]] = {}
    """By role: settings of its network and its updates that differ from the others'."""

    def for_role(self, role: str) -> "SacSettings":
        """The settings of one role."""
        return for_role(self, role)

    def check(self) -> None:
        """Reject values that cannot be trained with."""
        check_counts(self, "num_worlds", "n_steps", "buffer_size", "learning_starts", "gradient_steps", "batch_size")
        check_fractions(self, "gamma", "tau")
        check_positive(self, "learning_rate", "final_learning_rate", "ent_coef", "max_grad_norm")
        if not math.isfinite(self.target_entropy):
            raise GodojoError(f"target_entropy must be a number, not {self.target_entropy}")
        if self.learning_starts > self.buffer_size:
            raise GodojoError(
                f"learning_starts must be at most buffer_size ({self.buffer_size}), not {self.learning_starts}:"
                " learning would never start"
            )
        check_net_arch(self.net_arch)
        check_cnn_channels(self.cnn_channels)
        check_saving(self)
        check_train_steps(self.train_steps)
        check_roles(self, SAC_OF_A_ROLE)


AnySettings = TypeVar("AnySettings", PpoSettings, SacSettings)


def for_role(settings: AnySettings, role: str) -> AnySettings:
    """The settings with those that `roles` holds for this role in place of the others'."""
    own = settings.roles.get(role, {})
    if not own:
        return msgspec.structs.replace(settings, roles={})
    return converted(msgspec.to_builtins(settings) | own | {"roles": {}}, type(settings))


def check_roles(settings: PpoSettings | SacSettings, names: Sequence[str]) -> None:
    """Reject settings in `roles` that all roles share, and wrong values."""
    for role, own in settings.roles.items():
        for name in own:
            if name not in names:
                raise GodojoError(f"roles.{role}: {name!r} cannot differ between roles; {known(name, names)}")
        try:
            settings.for_role(role).check()
        except GodojoError as error:
            raise GodojoError(f"roles.{role}: {error}") from None


def check_role_names(settings: PpoSettings | SacSettings, roles: Sequence[str]) -> None:
    """Reject settings for roles that the game does not have."""
    for name in settings.roles:
        if name not in roles:
            raise GodojoError(f"roles: there is no role {name!r}; {known(name, roles)}")


def check_counts(settings: msgspec.Struct, *names: str) -> None:
    for name in names:
        if getattr(settings, name) < 1:
            raise GodojoError(f"{name} must be 1 or more, not {getattr(settings, name)}")


def check_fractions(settings: msgspec.Struct, *names: str) -> None:
    for name in names:
        if not 0.0 <= getattr(settings, name) <= 1.0:
            raise GodojoError(f"{name} must be from 0 to 1, not {getattr(settings, name)}")


def check_positive(settings: msgspec.Struct, *names: str) -> None:
    for name in names:
        if not 0.0 < getattr(settings, name) < 1e6:
            raise GodojoError(f"{name} must be above 0, not {getattr(settings, name)}")


def check_not_negative(settings: msgspec.Struct, *names: str) -> None:
    for name in names:
        if not 0.0 <= getattr(settings, name) < 1e6:
            raise GodojoError(f"{name} must be 0 or more, not {getattr(settings, name)}")


def check_net_arch(net_arch: tuple[int, ...]) -> None:
    if not net_arch or min(net_arch) < 1:
        raise GodojoError(f"net_arch must be the widths of one layer or more, not {list(net_arch)}")


def check_saving(settings: PpoSettings | SacSettings) -> None:
    for name in ("checkpoint_steps", "copy_interval"):
        if getattr(settings, name) < 0:
            raise GodojoError(f"{name} must be 0 or more, not {getattr(settings, name)}")


def check_train_steps(train_steps: dict[str, int]) -> None:
    for role, steps in train_steps.items():
        if steps < 1:
            raise GodojoError(f"train_steps of {role} must be 1 or more, not {steps}")


def check_cnn_channels(channels: tuple[int, ...]) -> None:
    if len(channels) > 8 or any(not 1 <= count <= 512 for count in channels):
        raise GodojoError(f"cnn_channels must be up to 8 numbers of channels, 512 at most each, not {list(channels)}")
