"""How an installation tells what it is doing, without knowing who listens."""

from typing import Protocol


class Report(Protocol):
    """Somebody who wants to know."""

    def say(self, sentence: str) -> None:
        """Something worth keeping on screen."""

    def step(self, what: str) -> None:
        """A new step of unknown length begins."""

    def progress(self, what: str, fraction: float | None) -> None:
        """A step of known length (or None) has come this far."""


class Silent:
    """Nobody listens."""

    def say(self, sentence: str) -> None: ...

    def step(self, what: str) -> None: ...

    def progress(self, what: str, fraction: float | None) -> None: ...
