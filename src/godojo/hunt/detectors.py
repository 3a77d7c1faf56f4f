"""Detectors on Python's side: the game's log, its resources, and whether anything still happens."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from godojo.engines.godot.complaints import ComplaintReader
from godojo.hunt.events import Event, event, of_complaint

_WARM_UP = 30
"""Decisions after a reset in which a game may still be loading."""
_DISTINCT_ACTIONS = 10
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
    inside_solid_decisions: int = 15
    invariants: bool = True
    dead_ui: bool = True
    softlock_decisions: int = 300
    """In a row in which nothing at all changes, although actions vary."""
    stuck_decisions: int = 600
    """In a row in which what is played stays where it is, although actions vary and it has moved before."""
    frame_budget_ms: float = 100.0
    """Processor time of a physics tick; three of ten decisions must exceed it, or one by ten times."""
    memory_budget_mb: float = 512.0
    """Growth of the engine's own memory since the reset."""
    memory_limit_mb: float = 6144.0
    """Of the whole process, which is ended beyond it."""
    node_budget: int = 1000
    """Growth of the count of nodes since the reset; it must double as well."""
    orphan_budget: int = 100
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
    """What a game takes since its reset: processor time, memory, nodes."""

    def __init__(self, settings: DetectorSettings) -> None:
        self._settings = settings
        self.begin()

    def begin(self) -> None:
        self._decisions = 0
        self._slow: list[bool] = []
        self._first: dict[str, float] = {}
        self._last_cpu_ms: float | None = None

    def look(self, metrics: dict[str, float], cpu_ms: float | None, ticks: int) -> Iterator[Event]:
        """`metrics` are the probe's, with `nodes`; `cpu_ms` is the processor time of the game's main thread so far."""
        self._decisions += 1
        taken_ms = 0.0
        if cpu_ms is not None and self._last_cpu_ms is not None:
            taken_ms = (cpu_ms - self._last_cpu_ms) / max(ticks, 1)
        self._last_cpu_ms = cpu_ms
        if self._decisions < _WARM_UP:
            return
        if self._decisions == _WARM_UP:
            self._first = metrics
        budget_ms = self._settings.frame_budget_ms
        if budget_ms:
            self._slow = [*self._slow[-9:], taken_ms > budget_ms]
            if sum(self._slow) >= 3 or taken_ms > 10 * budget_ms:
                yield event("frame_budget", f"a tick takes {taken_ms:.0f} ms, and {budget_ms:g} are allowed")
        grown = {name: metrics[name] - self._first[name] for name in metrics}
        if self._settings.memory_budget_mb and grown["memory_mb"] > self._settings.memory_budget_mb:
            yield event("memory_budget", f"memory has grown by {grown['memory_mb']:.0f} MB since the start")
        nodes = self._settings.node_budget
        if nodes and grown["nodes"] > max(nodes, self._first["nodes"]):
            yield event("node_leak", f"{grown['nodes']:.0f} more nodes than at the start")
        if self._settings.orphan_budget and grown["orphans"] > self._settings.orphan_budget:
            yield event("orphans", f"{grown['orphans']:.0f} more nodes outside of the tree than at the start")
