"""Ctrl-C during training or a hunt: the first one stops and saves, the second one stops at once."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

SAME_PRESS_S = 0.3
"""Programs such as `timeout` forward a Ctrl-C that has reached us already; within this time it counts once."""


class Stoppable(Protocol):
    """A training or a hunt that can stop soon."""

    def stop(self) -> None: ...


@contextmanager
def stopping(
    running: Stoppable, say: Callable[[str], None], sentence: str = "stopping after this update"
) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) stops soon, as `sentence` says; the second one stops at once."""
    asked_at: float | None = None

    def stop(_number: int, _frame: object) -> None:
        nonlocal asked_at
        now = time.monotonic()
        if asked_at is not None:
            if now - asked_at > SAME_PRESS_S:
                raise KeyboardInterrupt
            return
        asked_at = now
        running.stop()
        say(f"{sentence}; press Ctrl-C again to stop at once, without saving")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        if asked_at is not None:  # a forwarded press must not arrive at the restored handler
            time.sleep(max(asked_at + SAME_PRESS_S - time.monotonic(), 0.0))
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """SIGTERM ends the program as Ctrl-C does, so that nothing is left behind."""

    def end(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
