"""Detectors on Python's side: the game's log, its resources, and whether anything still happens."""

import re
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from godojo.engines.godot.complaints import ComplaintReader
from godojo.hunt.events import Event, event, of_complaint

_WARM_UP = 30
"""Decisions after a reset in which a game may still be loading."""
_DISTINCT_ACTIONS = 10
_USUAL = 200
"""Decisions from which the usual time of one is taken."""
_SLOW = 6
_WINDOW = 100
_FLOOD_LINES = 5000
"""Of one decision; more are not read, since they say the same."""
_FRAME = re.compile(r"^\[\d+\] (\w+) \((res://[^:)]+):(\d+)\)")


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
    softlock_decisions: int = 200
    """In a row in which nothing at all changes, although actions vary."""
    stuck_decisions: int = 200
    """In a row in which what is played stays where it is, although actions vary and it has moved before."""
    frame_budget_ms: float = 100.0
    """How much longer than usual a decision may take, without what other programs take of the processor; six of ten
    decisions in a row may take a third of it."""
    memory_budget_mb: float = 512.0
    """Growth of the engine's own memory since the reset."""
    memory_limit_mb: float = 6144.0
    """Of the whole process, which is ended beyond it."""
    node_budget: int = 150
    """Growth of the least count of nodes in 100 decisions, since the first 100; it must grow by half as well."""
    orphan_budget: int = 10
    """Growth of the count of nodes that are in no tree since the reset."""


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
        elif match := _FRAME.match(line):
            frames.append(ScriptFrame(*match.groups()))
    return frames


class ProgressDetector:
    """Games in which nothing changes any more, whatever one does."""

    def __init__(self, settings: DetectorSettings) -> None:
        self._settings = settings
        self.begin()

    def begin(self) -> None:
        """The game begins anew."""
        self._sight: bytes = b""
        self._place: np.ndarray | None = None
        self._has_moved = False
        self._still = self._stays = 0
        self._actions: set[bytes] = set()
        self._actions_here: set[bytes] = set()

    def look(self, action: np.ndarray, sight: bytes, place: np.ndarray) -> Iterator[Event]:
        """`sight` is everything that is seen, `place` where the game is played."""
        key = np.round(action, 1).tobytes()
        if sight != self._sight:
            self._sight, self._still = sight, 0
            self._actions.clear()
        elif len(self._actions) < _DISTINCT_ACTIONS:
            self._actions.add(key)
        self._still += 1
        if self._place is None or np.abs(place - self._place).max() > 1e-3:
            self._has_moved = self._place is not None
            self._place, self._stays = place.copy(), 0
            self._actions_here.clear()
        elif len(self._actions_here) < _DISTINCT_ACTIONS:
            self._actions_here.add(key)
        self._stays += 1
        most, longest = self._settings.softlock_decisions, self._settings.stuck_decisions
        if most and self._still == most and len(self._actions) >= _DISTINCT_ACTIONS:
            yield event("softlock", f"nothing has changed for {most} decisions, whatever was done")
        if longest and self._stays == longest and self._has_moved and len(self._actions_here) >= _DISTINCT_ACTIONS:
            where = tuple(float(number) for number in place)
            yield event("stuck", f"it has not moved for {longest} decisions, whatever was done", position=where)


class BudgetDetector:
    """What a game takes since its reset: time, memory, nodes."""

    def __init__(self, settings: DetectorSettings) -> None:
        self._settings = settings
        self.begin()

    def begin(self) -> None:
        """The game begins anew."""
        self._decisions = 0
        self._usual: list[float] = []
        self._slow: deque[bool] = deque(maxlen=10)
        self._first: dict[str, float] = {}
        self._nodes: deque[float] = deque(maxlen=_WINDOW)
        self._least_nodes: float | None = None
        self._waited_ms = 0.0

    def look(
        self, metrics: dict[str, float], taken_ms: float, waited_ms: Callable[[], float] = float
    ) -> Iterator[Event]:
        """`metrics` are the probe's, with `nodes`; `taken_ms` is the time of the decision, and `waited_ms` how long the
        game has waited for a processor so far."""
        self._decisions += 1
        if self._decisions < _WARM_UP:
            return
        if self._decisions == _WARM_UP:
            self._first = metrics
        yield from self._look_at_time(taken_ms, waited_ms)
        grown = {name: metrics[name] - self._first[name] for name in metrics}
        if self._settings.memory_budget_mb and grown["memory_mb"] > self._settings.memory_budget_mb:
            yield event("memory_budget", f"memory has grown by {grown['memory_mb']:.0f} MB since the start")
        yield from self._look_at_nodes(metrics["nodes"])
        if self._settings.orphan_budget and grown["orphans"] > self._settings.orphan_budget:
            yield event("orphans", f"{grown['orphans']:.0f} more nodes outside of the tree than at the start")

    def _look_at_nodes(self, nodes: float) -> Iterator[Event]:
        """A game that makes nodes and frees them returns to few now and then; one that leaks does not."""
        self._nodes.append(nodes)
        if len(self._nodes) < _WINDOW:
            return
        least, budget = min(self._nodes), self._settings.node_budget
        self._least_nodes = least if self._least_nodes is None else self._least_nodes
        if budget and least - self._least_nodes > max(budget, self._least_nodes / 2):
            yield event("node_leak", f"{least - self._least_nodes:.0f} more nodes than at the start")

    def _look_at_time(self, taken_ms: float, waited_ms: Callable[[], float]) -> Iterator[Event]:
        """What a decision takes beyond the usual, as if it were one of its ticks."""
        budget_ms = self._settings.frame_budget_ms
        if len(self._usual) < _USUAL:
            insort(self._usual, taken_ms)
        late_ms = taken_ms - self._usual[len(self._usual) // 2]
        if late_ms > budget_ms / 3 or self._decisions % 10 == 0:  # it takes a moment to find out
            waited, self._waited_ms = self._waited_ms, waited_ms()
            late_ms -= self._waited_ms - waited
        self._slow.append(late_ms > budget_ms / 3)
        if budget_ms and self._decisions > 2 * _WARM_UP:
            if late_ms > budget_ms:
                yield event("frame_budget", f"a frame is {late_ms:.0f} ms late, and {budget_ms:g} are allowed")
            elif sum(self._slow) >= _SLOW:
                yield event("frame_budget", f"{_SLOW} of 10 decisions are more than {budget_ms / 3:.0f} ms late")
