"""What a hunted game shows after each decision, and what detectors saw in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import msgspec
import numpy as np

from godojo.engines.base import RoleArrays
from godojo.errors import GodojoError
from godojo.games.parts import ActionPart

Severity = Literal["critical", "major", "minor"]
SEVERITIES: tuple[Severity, ...] = ("critical", "major", "minor")
"""The worst first."""


@dataclass(frozen=True)
class Target:
    """What is hunted: exactly one of `game`, `project` and `binary`."""

    game: str | None = None
    project: Path | None = None
    binary: Path | None = None
    scene: str | None = None
    input_map: bool = False
    """Play the project's own input actions instead of its agents."""
    options: Mapping[str, str] = field(default_factory=dict)
    invariants: tuple[str, ...] = ()
    """`file.py:function` each."""

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.game, self.project, self.binary)) != 1:
            raise GodojoError("name one of a game, a project and a binary to hunt in")

    @property
    def name(self) -> str:
        """For people and reports."""
        place = self.project or self.binary
        return self.game or (place.name if place is not None else "")


class Event(msgspec.Struct, frozen=True):
    """Something a detector saw."""

    detector: str
    signature: str
    """Stable between runs: detector, script and line or node path with numbers stripped, pattern of the message."""
    severity: Severity
    message: str
    """One line for people."""
    node: str = ""
    position: tuple[float, ...] = ()


class Seen(NamedTuple):
    """What the game shows after a reset or a decision."""

    state: np.ndarray
    """float32: a small vector of what moves and changes."""
    position: np.ndarray
    """float32 [3]: of the agent, the camera or the focus."""
    ui: tuple[str, ...] = ()
    """Paths of visible, enabled elements of the user interface, the focused one first."""
    points: tuple[tuple[float, float], ...] = ()
    """Their centres as the action's part `pointer` takes them; empty without a pointer."""
    events: tuple[Event, ...] = ()
    reward: float = 0.0
    ended: bool = False


class HuntedGame(Protocol):
    """A game in a process of its own; `game.open_game` starts one."""

    log: list[str]
    """The last lines that the game printed."""

    @property
    def action_parts(self) -> tuple[ActionPart, ...]:
        """Of all agents, role by role."""
        ...

    @property
    def roles(self) -> Mapping[str, RoleArrays]: ...

    def reset(self, seed: int) -> Seen:
        """Starts afresh: the same seed and the same actions play the same game, whatever was played before."""
        ...

    def step(self, action: np.ndarray) -> Seen:
        """Plays one decision. A crash, a freeze or an exit is an event; the next `reset` starts the game anew."""
        ...

    def screenshot(self, path: Path) -> None: ...

    def close(self) -> None: ...
