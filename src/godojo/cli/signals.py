"""Ctrl-C during learning: the first one ends it in good order, the second one at once."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

SAME_PRESS_S = 0.3
"""Programs such as `timeout` hand a Ctrl-C on that has reached us already; so soon after the first it is the same."""


class Stoppable(Protocol):
    """Something that ends after the update under way when it is told to."""

    def stop(self) -> None: ...


@contextmanager
def stopping(learning: Stoppable, say: Callable[[str], None]) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) ends the learning after the update under way; the second one ends it at once."""
    asked_at: float | None = None

    def stop(_number: int, _frame: object) -> None:
        nonlocal asked_at
        now = time.monotonic()
        if asked_at is not None:
            if now - asked_at > SAME_PRESS_S:
                raise KeyboardInterrupt
            return
        asked_at = now
        learning.stop()
        say("stopping after this update; once more stops at once, without saving")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        if asked_at is not None:  # a press that is still being handed on must not meet a program that is about to end
            time.sleep(max(asked_at + SAME_PRESS_S - time.monotonic(), 0.0))
        for number, handler in before.items():
            signal.signal(number, handler)
