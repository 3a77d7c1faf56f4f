"""Detectors on Python's side: the game's log, and whether anything still happens; and what all of them are set to."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from godojo.engines.godot.complaints import ComplaintReader
from godojo.games.parts import ActionPart
from godojo.hunt.events import Event, event, of_complaint

_CHANGES = 4
"""How often every number of an action must have changed, before nothing seems to help."""
_SAME_ACTION = 0.1
_PUSHED = 0.5
_MOST_CHOICES = 8
"""Choices that must all have been made; of more, some."""
_POINTING = ("pointer", "click")
"""Parts for which elements of the user interface count."""
_ROUND_SHARE, _LEAST_OF_ROUND = 0.3, 40
"""Of a round at whose end nothing has moved any more; in decisions, at least."""
_FLOOD_LINES = 5000
"""Of one decision; more are not read, since they say the same."""
_FRAME = re.compile(r"^\[\d+\] (\w+) \((res://[^:)]+):(\d+)\)")


_OURS = "res://addons/godojo/hunt/"
"""What counts branches is called by the game's scripts, and not to blame."""


class DetectorSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What detectors look for, and how patient they are. Each errs on the side of silence; 0 turns a budget off."""

    warnings: bool = False
    """Whether the engine's warnings are events."""
    exits: bool = False
    """Whether a game that ends by itself with exit status 0 is an event, as one that ends with another is."""
    nan: bool = True
    out_of_world: bool = True
    out_of_world_margin: float = 0.5
    """How far beyond the level's solids is still no matter: a share of the level's size, at least 5 m or 300 pixels."""
    out_of_world_decisions: int = 30
    """In a row."""
    inside_solid: bool = True
    inside_solid_decisions: int = 3
    invariants: bool = True
    dead_ui: bool = True
    dead_area: bool = True
    dropped_signal: bool = True
    economy: bool = True
    text: bool = True
    unreachable: bool = True
    pause: bool = True
    respawn: bool = True
    twin: bool = True
    """Whether a game that has an embedded twin is compared with it."""
    softlock_decisions: int = 200
    """In a row in which nothing at all changes, although actions vary."""
    stuck_decisions: int = 200
    """In a row in which what is played stays where it is, although actions vary and it has moved before."""
    frame_budget_ms: float = 100.0
    """How much longer than usual a decision may take, without what other programs take of the processor; six of ten
    decisions in a row may take a third of it."""
    hitch_ms: float = 60.0
    """How much longer than usual a single decision may take in which nothing is loaded."""
    memory_budget_mb: float = 512.0
    """Growth of the engine's own memory since the reset."""
    memory_limit_mb: float = 6144.0
    """Of the whole process, which is ended beyond it."""
    node_budget: int = 150
    """Growth of the least count of nodes in 100 decisions since the first 100, by half at least; half of that must have
    stayed for 300 ticks, and a tenth must have come in the last 100 decisions."""
    orphan_budget: int = 10
    """Growth of the count of nodes that are in no tree since the reset; half of it, if the count never falls."""


class LogDetector:
    """Errors and warnings in the log of a game."""

    def __init__(self, settings: DetectorSettings) -> None:
        self._settings = settings
        self._reader = ComplaintReader()

    def read(self, lines: Sequence[str], *, is_end: bool = False) -> Iterator[Event]:
        """The events of new lines; `is_end`: a complaint counts without a line after it."""
        found = list(self._reader.feed(lines[:_FLOOD_LINES]))
        if len(lines) > _FLOOD_LINES:
            self._reader = ComplaintReader()  # the last one is incomplete
        elif is_end:
            found += self._reader.close()
        for complaint in found:
            if not complaint.is_noise and (complaint.is_error or self._settings.warnings):
                yield of_complaint(complaint)


class ScriptFrame(NamedTuple):
    """A line of GDScript's backtrace, which the engine prints when it crashes."""

    function: str
    file: str
    line: str

    def __str__(self) -> str:
        return f"{self.function} ({self.file}:{self.line})"


def backtrace(lines: Iterable[str]) -> list[ScriptFrame]:
    """The scripts' last backtrace in a log, innermost first."""
    frames: list[ScriptFrame] = []
    for line in lines:
        if line.startswith("GDScript backtrace"):
            frames = []
        elif (match := _FRAME.match(line)) and not match[2].startswith(_OURS):
            frames.append(ScriptFrame(*match.groups()))
    return frames


def _wanted(parts: Sequence[ActionPart]) -> list[tuple[int, float, float]]:
    """What has to be done before nothing seems to move it: numbers of an action, from where to where. Every axis
    towards both ends, every choice."""
    wanted, start = [], 0
    for part in parts:
        for place in range(start, start + part.width):
            if part.name.rpartition(".")[2] in _POINTING:
                continue
            if part.kind == "continuous":
                wanted += [(place, -np.inf, -_PUSHED), (place, _PUSHED, np.inf)]
            elif part.size <= _MOST_CHOICES:
                wanted += [(place, choice - 0.5, choice + 0.5) for choice in range(part.size)]
        start += part.width
    return wanted


class Variety:
    """Whether enough was tried: every number of an action changed a few times and was where it is wanted, and every
    element was clicked."""

    def __init__(self, wanted: Sequence[tuple[int, float, float]] = ()) -> None:
        self._places = np.array([place for place, _, _ in wanted], int)
        self._low, self._high = (np.array([one[side] for one in wanted]) for side in (1, 2))
        self._done = np.zeros(len(wanted), int)
        self._last: np.ndarray | None = None
        self._changes: np.ndarray | None = None
        self._clicked: set[str] = set()

    def clear(self) -> None:
        """Counts anew."""
        if self._changes is not None:
            self._changes[:] = 0
        self._done[:] = 0
        self._clicked.clear()

    def note(self, action: np.ndarray, clicked: Iterable[str]) -> None:
        if self._last is None or self._changes is None:
            self._changes = np.zeros(len(action), int)
        else:
            self._changes += np.abs(action - self._last) > _SAME_ACTION
        self._last = action.copy()
        if len(self._done):
            numbers = action[self._places]
            self._done += (numbers >= self._low) & (numbers <= self._high)
        self._clicked.update(clicked)

    def is_enough(self, elements: Iterable[str]) -> bool:
        """`elements` are those that can be clicked now."""
        has_changed = self._changes is not None and bool((self._changes >= _CHANGES).all())
        return has_changed and bool((self._done >= _CHANGES).all()) and self._clicked.issuperset(elements)


class ProgressDetector:
    """Games in which nothing changes any more, whatever one does."""

    def __init__(self, settings: DetectorSettings) -> None:
        self._settings = settings
        self.parts: Sequence[ActionPart] = ()
        """Of an action, once they are known."""
        self.begin()

    def begin(self) -> None:
        """The game begins anew."""
        self._sight: bytes = b""
        self._place: np.ndarray | None = None
        self._has_moved = False
        self._still = self._stays = self._round = 0
        self._is_locked = self._is_stuck = False
        self._tried, self._tried_here = Variety(), Variety(_wanted(self.parts))

    def look(
        self,
        action: np.ndarray,
        sight: bytes,
        place: np.ndarray,
        elements: Iterable[str] = (),
        clicked: Iterable[str] = (),
        *,
        has_player: bool = True,
        ended: bool = False,
    ) -> Iterator[Event]:
        """`sight` is everything that is seen, `place` where the game is played; `elements` of the user interface can be
        clicked, and `clicked` were; without a player, `place` is that of anything."""
        elements, clicked = tuple(elements), tuple(clicked)
        self._round += 1
        if ended:  # the place is that of the next round
            yield from self._look_at_end(elements, has_player=has_player)
            self._place, self._has_moved, self._round = None, False, 0
        if sight != self._sight:
            self._sight, self._still, self._is_locked = sight, 0, False
            self._tried.clear()
        if self._place is None or np.abs(place - self._place).max() > 1e-3:
            self._has_moved = self._place is not None
            self._place, self._stays, self._is_stuck = place.copy(), 0, False
            self._tried_here.clear()
        self._tried.note(action, clicked)
        self._tried_here.note(action, clicked)
        self._still += 1
        self._stays += 1
        most, longest = self._settings.softlock_decisions, self._settings.stuck_decisions
        if most and self._still >= most and not self._is_locked and self._tried.is_enough(elements):
            self._is_locked = True
            yield event("softlock", f"nothing has changed for {most} decisions, whatever was done")
        has_stayed = self._has_moved and self._stays >= longest and not self._is_stuck
        if longest and has_stayed and has_player and self._tried_here.is_enough(elements):
            yield self._stuck(f"it has not moved for {longest} decisions, whatever was done")

    def _look_at_end(self, elements: Iterable[str], *, has_player: bool) -> Iterator[Event]:
        """A round that ends before `stuck_decisions` tells, too, if its last part was spent in one place."""
        least = max(_LEAST_OF_ROUND, _ROUND_SHARE * self._round)
        has_stayed = self._has_moved and self._stays >= least and not self._is_stuck
        if self._settings.stuck_decisions and has_stayed and has_player and self._tried_here.is_enough(elements):
            yield self._stuck(f"it has not moved for the last {self._stays} decisions of a round, whatever was done")

    def _stuck(self, message: str) -> Event:
        assert self._place is not None
        self._is_stuck = True
        where = tuple(float(number) for number in self._place)
        return event("stuck", message, pattern="it has not moved, whatever was done", position=where)
