"""Every number of the learner, typed, with a sentence each."""

import math
from typing import Literal

import msgspec

from godojo.errors import GodojoError


class PpoSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """PPO with self-play."""

    worlds: int = 1024
    """Copies of the game that are played at once."""
    steps: int = 32
    """Decisions in each world between two updates."""
    epochs: int = 1
    """Times each rollout is learnt from."""
    minibatches: int = 32
    """Gradient steps an epoch; each takes a part of the worlds with all their decisions."""
    learning_rate: float = 2e-3
    final_learning_rate: float = 2e-4
    """Reached at the budget's end, in a straight line."""
    gamma: float = 0.995
    """What a reward is worth a decision later."""
    gae_lambda: float = 0.95
    clip: float = 0.2
    """How far a policy may move away from the one that played, in probability ratio."""
    entropy_weight: float = 0.01
    """What chance in a policy's decisions is worth, so that it goes on trying."""
    value_weight: float = 0.5
    max_gradient: float = 1.0
    """Longer gradients are shortened to this."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the policy's layers; the critic has the same."""
    memory: Literal["", "leaky", "gru"] = "leaky"
    """What a policy remembers with; nothing, leaky cells or a gated recurrent unit."""
    memory_size: int = 32
    """Numbers it remembers."""
    turning: int = 16
    """So many of them, the last ones, are for places: two by two they turn with the agent, if they are leaky cells."""
    own_frame: bool = True
    """Policies think in their agent's own frame where the game tells the heading, instead of along the world's axes."""
    past_share: float = 0.25
    """Share of worlds in which one side is played by a past self."""
    sparring: tuple[str, ...] = ()
    """Scripted opponents that play against those who learn; the game must have them."""
    sparring_share: float = 0.0
    """Share of worlds in which one side is played by one of them."""
    past_selves: int = 24
    """Past selves that are kept of each role."""
    snapshot_updates: int = 25
    """Updates between two snapshots that join the past selves; a multiple of `redraw_updates`."""
    redraw_updates: int = 5
    """Updates between two drawings of past selves: time for rounds to be played out."""

    def check(self) -> None:
        """Refuses what could not be learnt with, by name."""
        for name in ("worlds", "steps", "epochs", "minibatches", "past_selves", "snapshot_updates", "redraw_updates"):
            if getattr(self, name) < 1:
                raise GodojoError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in ("gamma", "gae_lambda", "past_share", "sparring_share"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise GodojoError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        for name in ("learning_rate", "final_learning_rate", "clip", "max_gradient"):
            if not 0.0 < getattr(self, name) < 1e6:
                raise GodojoError(f"{name} must be above 0, not {getattr(self, name)}")
        if not self.hidden or min(self.hidden) < 1:
            raise GodojoError(f"hidden must be the widths of one layer or more, not {list(self.hidden)}")
        if self.memory and self.memory_size < 1:
            raise GodojoError(f"memory_size must be 1 or more, not {self.memory_size}")
        if not self.turning >= 0 or self.turning % 2:
            raise GodojoError(f"turning must be an even number of cells, 0 or more, not {self.turning}")
        if self.past_share + self.sparring_share > 1.0:
            raise GodojoError("past_share and sparring_share are shares of the same worlds: together at most 1")
        if self.snapshot_updates % self.redraw_updates:
            raise GodojoError("snapshot_updates must be a multiple of redraw_updates")


class SacSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """SAC with self-play, for actions that are numbers. Its policies have no memory.

    A replay of more than 64 MiB is not saved; a resumed run fills it anew before it goes on learning.
    """

    worlds: int = 256
    """Copies of the game that are played at once."""
    steps: int = 8
    """Decisions in each world between two updates."""
    replay: int = 262_144
    """Transitions of each role that are kept to learn from; in tag each takes about 1.3 kB."""
    warm_up: int = 8192
    """Transitions of a role before it begins to learn."""
    gradient_steps: int = 16
    """Gradient steps an update."""
    batch: int = 512
    """Transitions a gradient step learns from."""
    learning_rate: float = 1e-3
    final_learning_rate: float = 3e-4
    """Reached at the budget's end, in a straight line."""
    gamma: float = 0.97
    """What a reward is worth a decision later."""
    target_share: float = 0.05
    """How far the critics that targets come from follow the others with each gradient step."""
    temperature: float = 0.002
    """What a nat of entropy is worth at first; adjusted from then on."""
    entropy_target: float = -1.0
    """Entropy that the temperature is adjusted for, in nats for each number of an action."""
    max_gradient: float = 10.0
    """Longer gradients are shortened to this."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the policy's layers; the critics have the same."""
    own_frame: bool = True
    """Policies think in their agent's own frame where the game tells the heading, instead of along the world's axes."""

    def check(self) -> None:
        """Refuses what could not be learnt with, by name."""
        for name in ("worlds", "steps", "replay", "warm_up", "gradient_steps", "batch"):
            if getattr(self, name) < 1:
                raise GodojoError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in ("gamma", "target_share"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise GodojoError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        for name in ("learning_rate", "final_learning_rate", "temperature", "max_gradient"):
            if not 0.0 < getattr(self, name) < 1e6:
                raise GodojoError(f"{name} must be above 0, not {getattr(self, name)}")
        if not math.isfinite(self.entropy_target):
            raise GodojoError(f"entropy_target must be a number, not {self.entropy_target}")
        if self.warm_up > self.replay:
            raise GodojoError(f"warm_up must be at most replay ({self.replay}), not {self.warm_up}: it would never end")
        if not self.hidden or min(self.hidden) < 1:
            raise GodojoError(f"hidden must be the widths of one layer or more, not {list(self.hidden)}")


Settings = PpoSettings | SacSettings
ALGORITHMS: dict[str, type[PpoSettings] | type[SacSettings]] = {"ppo": PpoSettings, "sac": SacSettings}
"""The settings of each algorithm, by its name."""
