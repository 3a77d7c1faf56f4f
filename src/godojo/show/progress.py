"""How work on films says how far it is, without knowing who listens."""

from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Told what is being done, how much of it is done (None where nobody knows), and perhaps a count."""

    def __call__(self, what: str, fraction: float | None, detail: str = "", /) -> None: ...


def frame_progress(progress: Progress, what: str, total: int, before: int = 0) -> Callable[[int], None]:
    """Takes the number of frames done; `before` of the total were done earlier."""

    def report(frames: int) -> None:
        done = min(before + frames, total)
        progress(what, done / max(total, 1), f"{done:,} of {total:,} frames")

    return report
