"""What explorers, replays and shrinking need of a game; `game.HuntedGame` is one, and tests have smaller ones."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from godojo.games.parts import ActionPart
from godojo.hunt.events import Severity
from godojo.hunt.game import Seen

SEVERITIES: tuple[Severity, ...] = ("critical", "major", "minor")
"""The worst first."""


class Playable(Protocol):
    """A game that is played by decision."""

    is_quick: bool
    """Whether `reset` may be quick rather than exact."""
    is_hurried: bool
    """Whether a freeze is noticed sooner, where that is possible."""

    @property
    def action_parts(self) -> Sequence[ActionPart]:
        """Of all agents, role by role."""
        ...

    @property
    def is_lost(self) -> bool:
        """Whether the game is gone; `reset` starts another."""
        ...

    @property
    def starts(self) -> int:
        """Processes that were started so far."""
        ...

    @property
    def log(self) -> Sequence[str]:
        """The last lines that it printed."""
        ...

    @property
    def ui_points(self) -> Mapping[str, tuple[float, float]]:
        """Where each element of the user interface is, as the action's part `pointer` takes it."""
        ...

    def reset(self, seed: int) -> Seen:
        """Starts anew: the same seed and the same actions play the same game, whatever was played before."""
        ...

    def restart(self, seed: int) -> Seen:
        """Starts anew as a new process, which finds the data of the one before."""
        ...

    @property
    def settings_left(self) -> frozenset[str]:
        """Settings that were changed, and whose screens were left."""
        ...

    def step(self, action: np.ndarray) -> Seen: ...

    def close(self) -> None: ...
