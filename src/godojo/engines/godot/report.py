"""Progress reports of an installation."""

from typing import Protocol


class Report(Protocol):
    """Receives progress."""

    def say(self, sentence: str) -> None:
        """A line to keep on screen."""

    def step(self, what: str) -> None:
        """A step of unknown length starts."""

    def progress(self, what: str, fraction: float | None) -> None:
        """The progress of a step, or None."""


class Silent:
    """Ignores all reports."""

    def say(self, sentence: str) -> None: ...

    def step(self, what: str) -> None: ...

    def progress(self, what: str, fraction: float | None) -> None: ...
