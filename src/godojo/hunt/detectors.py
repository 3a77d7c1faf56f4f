"""Detectors on Python's side: the log of the game and the end of its process."""

from collections.abc import Iterable, Iterator

import msgspec

from godojo.engines.godot.complaints import ComplaintReader
from godojo.hunt.events import Event, of_complaint


class DetectorSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What detectors look for. Each errs on the side of silence."""

    warnings: bool = False
    """Whether the engine's warnings are events."""
    exits: bool = False
    """Whether a game that ends by itself with exit status 0 is an event, as one that ends with another is."""


class LogDetector:
    """Errors and warnings in the log of a game."""

    def __init__(self, settings: DetectorSettings) -> None:
        self._settings = settings
        self._reader = ComplaintReader()

    def read(self, lines: Iterable[str], *, is_end: bool = False) -> Iterator[Event]:
        """The events of new lines; `is_end`: a complaint counts without a line after it."""
        found = [*self._reader.feed(lines), *(self._reader.close() if is_end else ())]
        for complaint in found:
            if not complaint.is_noise and (complaint.is_error or self._settings.warnings):
                yield of_complaint(complaint)
