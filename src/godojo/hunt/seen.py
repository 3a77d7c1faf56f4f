"""What a hunt sees of a game after each decision, and what was clicked."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from godojo.hunt.actions import ActionSpace
from godojo.hunt.events import Event, event
from godojo.hunt.features import Feature

_NEAR = 0.02
"""How near to an element's middle a click is one on it, of a screen from -1 to 1."""
Element = tuple[str, float, float]
"""A path, and where it is on the screen."""
Place = tuple[str, float, float, float]


class Seen(NamedTuple):
    """What there is after a reset or a decision."""

    state: np.ndarray
    """float32: where moving bodies are, what the UI shows; see `HuntedGame.state_names`."""
    position: np.ndarray
    """float32 [3]: of what is played, for maps of the level."""
    ui: tuple[str, ...]
    """Visible, enabled elements of the UI, the focused one first."""
    events: tuple[Event, ...]
    """Each signature once from reset to reset."""
    reward: float
    ended: bool
    """Whether an episode ended; the game has started the next one, unless it `is_lost`."""
    observation: np.ndarray
    """float32: the observations of all agents, as `HuntedGame.ready` describes them."""
    features: tuple[Feature, ...] = ()
    """What the scripts have just done: branches that ran, variables that changed."""
    places: tuple[Place, ...] = ()
    """Where what is played may want to go: a path and a position."""
    aim: tuple[float, float] | None = None
    """Where the nearest other body is on the screen, as the action part `pointer` has it."""
    scenes: int = 0
    """Scenes that were loaded so far, the same one again or another."""


class Clicks:
    """Which elements a pointer was pressed on and released from."""

    def __init__(self, space: ActionSpace) -> None:
        self._pointer, self._click = space.find("pointer"), space.find("click")
        self.begin()

    def begin(self) -> None:
        """The game begins anew."""
        self._points: Sequence[Element] = ()
        self._pressed: set[str] = set()
        self._is_down = False

    def look(self, action: np.ndarray, shown: Sequence[Element]) -> tuple[list[str], list[str]]:
        """Elements that a pointer could click when it acted, and those that it has clicked; `shown` are those now."""
        if self._pointer is None or self._click is None:
            return [], []
        points, at, is_down = self._points, action[self._pointer], bool(action[self._click][0])
        near = {path for path, x, y in points if max(abs(x - at[0]), abs(y - at[1])) < _NEAR}
        hit = [] if is_down else sorted(self._pressed & near)
        if not is_down:
            self._pressed = set()
        elif not self._is_down:
            self._pressed = near
        self._is_down, self._points = is_down, shown
        return [path for path, x, y in points if max(abs(x), abs(y)) <= 1.0], hit


def event_of(said: dict[str, Any]) -> Event:
    """An event that the probe saw."""
    position = said.get("position") or ()
    return event(
        str(said.get("detector", "")),
        str(said.get("message", "")),
        pattern=said.get("pattern"),
        node=str(said.get("node", "")),
        position=tuple(float(number) for number in position),
    )
