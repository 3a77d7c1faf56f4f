"""Errors and warnings in the output of Godot, and a count of those that a game's own scripts cause."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_HEAD = re.compile(r"^(USER SCRIPT ERROR|SCRIPT ERROR|USER ERROR|ERROR|USER WARNING|WARNING|Parse Error)\b:?\s*(.*)")
_PLACE = re.compile(r"res://[^\s:()]+:\d+")
_DETAIL = re.compile(r"^(at: |GDScript backtrace|\[\d+\] )")
_NOISE = re.compile(
    r"invalid UID|ObjectDB instances? (was |were )?leaked|resources? still in use at exit"
    r"|RIDs?( allocations)? of type .* leaked|Pages in use exist at exit|Jolt Physics job system exceeded",
    re.IGNORECASE,
)
"""Lines that say nothing about why a game fails."""


class Complaint(NamedTuple):
    """An error or a warning of the engine."""

    kind: str
    message: str
    place: str
    """`res://FILE:LINE` where a script caused it, or else the engine's own place."""

    @property
    def is_error(self) -> bool:
        return "WARNING" not in self.kind

    @property
    def is_of_script(self) -> bool:
        """Whether a script of the game caused it."""
        return self.is_error and (self.kind.endswith("SCRIPT ERROR") or self.place.startswith("res://"))

    @property
    def is_parse_error(self) -> bool:
        """Whether a script or a scene cannot be read."""
        return "Parse Error" in self.kind or "Parse Error" in self.message

    @property
    def is_noise(self) -> bool:
        return bool(_NOISE.search(self.message))

    def __str__(self) -> str:
        if self.is_of_script and self.place:
            return f"{self.place}: {self.message}"
        return f"{self.kind}: {self.message}" + (f" ({self.place})" if self.place else "")


class ComplaintReader:
    """Reads complaints line by line; a complaint ends with the first line that is no detail of it."""

    def __init__(self) -> None:
        self._open: Complaint | None = None

    def feed(self, lines: Iterable[str]) -> Iterator[Complaint]:
        for line in lines:
            text = line.strip()
            head = _HEAD.match(text)
            if head is not None:
                yield from self.close()
                self._open = Complaint(head[1], head[2], "")
            elif self._open is not None and _DETAIL.match(text):
                self._open = self._open._replace(place=_place(self._open.place, text))
            elif text:
                yield from self.close()

    def close(self) -> Iterator[Complaint]:
        """The complaint that is being read, if any."""
        if self._open is not None:
            yield self._open
        self._open = None


def complaints_in(lines: Iterable[str]) -> list[Complaint]:
    reader = ComplaintReader()
    return [*reader.feed(lines), *reader.close()]


class ScriptErrors:
    """Counts the errors of a game's scripts while its log grows."""

    def __init__(self) -> None:
        self.count = 0
        self.first = ""
        """File, line and message."""
        self._reader = ComplaintReader()

    def feed(self, lines: Iterable[str], *, is_end: bool = False) -> None:
        found = [*self._reader.feed(lines), *(self._reader.close() if is_end else ())]
        for complaint in found:
            if complaint.is_of_script and not complaint.is_noise:
                self.count += 1
                self.first = self.first or str(complaint)


def _place(known: str, detail: str) -> str:
    """The place that a detail names: the first in a script, or else the engine's."""
    if known.startswith("res://"):
        return known
    script = _PLACE.search(detail)
    if script is not None:
        return script[0]
    return known or detail.removeprefix("at: ")
