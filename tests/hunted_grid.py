"""A small game to hunt in: a token on a grid, with planted failures. Deterministic, and as quick as Python is."""

from collections.abc import Sequence

import numpy as np

from godojo.games.parts import ActionPart
from godojo.hunt.events import Event
from godojo.hunt.game import Seen

TRAP = Event("script_error", "script_error|res://trap.gd:7|Nil", "major", "Nil at the trap", position=(9.0, 0.0, 6.0))
CRASH = Event("crash", "crash|signal", "critical", "the game crashed")
FLAKY = Event("engine_error", "engine_error|flaky", "minor", "now and then")
MENU = Event("dead_ui", "dead_ui|Menu/Save", "minor", "Save does nothing")


class Grid:
    """Moves of one cell; the trap is far from the start, the crash behind a button that is held for three decisions."""

    SIZE = 12

    def __init__(self, events: Sequence[Event] = (TRAP, CRASH), *, flaky: float = 0.0) -> None:
        self.action_parts = (ActionPart("move", "discrete", 5), ActionPart("button", "discrete", 2))
        self.log: list[str] = []
        self.is_lost = False
        self.is_quick = self.is_hurried = False
        self.ui_points: dict[str, tuple[float, float]] = {}
        self.opened = True
        self.starts = 1
        self.resets = self.steps = 0
        self._events = {event.signature for event in events}
        self._flaky, self._luck = flaky, np.random.default_rng(5)

    def reset(self, seed: int) -> Seen:
        assert self.opened
        self.resets += 1
        self.is_lost = False
        self._place = np.array([1 + seed % 2, 1])
        self._held = 0
        self._told: set[str] = set()
        return self._seen()

    def restart(self, seed: int) -> Seen:
        return self.reset(seed)

    @property
    def settings_left(self) -> frozenset[str]:
        return frozenset()

    def step(self, action: np.ndarray) -> Seen:
        assert self.opened
        assert not self.is_lost
        assert action.shape == (2,)
        self.steps += 1
        moves = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
        self._place = np.clip(self._place + moves[int(action[0])], 0, self.SIZE - 1)
        self._held = self._held + 1 if action[1] > 0.5 else 0
        return self._seen()

    def close(self) -> None:
        self.opened = False

    def __enter__(self) -> "Grid":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _seen(self) -> Seen:
        events = []
        if tuple(self._place) == (9, 6):
            self.log.append("SCRIPT ERROR: Nil")
            events.append(TRAP)
        if self._held >= 3 and self._place[0] >= 4 and CRASH.signature in self._events:
            events.append(CRASH)
            self.is_lost = True
        if self._held == 1 and self._luck.random() < self._flaky:
            events.append(FLAKY)
        fresh = [event for event in events if event.signature in self._events and event.signature not in self._told]
        self._told.update(event.signature for event in fresh)
        where = np.array([self._place[0], 0.0, self._place[1]], np.float32)
        state = np.array([*self._place, self._held], np.float32)
        return Seen(state=state, position=where, ui=(), events=tuple(fresh), reward=0.0, ended=False, observation=state)
