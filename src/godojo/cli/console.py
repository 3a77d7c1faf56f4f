"""Output of all verbs: lines, progress and JSON."""

import io
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

BEAT_S = 5.0
"""Between two lines of progress without a terminal."""


def configure_output() -> None:
    """Replaces characters that the terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(sentence: str) -> None:
    """Prints one line on stdout; no markup."""
    out.print(escape(" ".join(sentence.split())))


def note(sentence: str) -> None:
    """Prints one line on stderr; no markup."""
    err.print(escape(" ".join(sentence.split())))


def complain(sentence: str) -> None:
    """Prints an error as one line on stderr."""
    err.print(f"[bold red]godojo:[/] {escape(' '.join(sentence.split()))}")


@dataclass
class _Step:
    """A step of a command, and its progress."""

    what: str
    fraction: float | None = None
    detail: str = ""
    began_s: float = field(default_factory=time.monotonic)
    first: tuple[float, float] | None = None
    """The first fraction above 0 and its time: before that an engine may be starting."""
    heard_s: float = 0.0
    """The time of the latest fraction."""

    def update(self, fraction: float | None, detail: str) -> None:
        if fraction and fraction != self.fraction:
            self.heard_s = time.monotonic()
            self.first = self.first or (fraction, self.heard_s)
        self.fraction, self.detail = fraction, detail

    def left_s(self) -> float:
        """Estimated seconds; 0 if unknown."""
        if self.fraction is None or self.first is None or self.fraction <= self.first[0]:
            return 0.0
        seconds = (self.heard_s - self.first[1]) * (1.0 - self.fraction) / (self.fraction - self.first[0])
        return max(seconds - (time.monotonic() - self.heard_s), 0.0)

    def line(self) -> str:
        """`drawing: 120 of 1,763 frames, 7 %, 2 min 10 s left`"""
        parts = [self.detail] if self.detail else []
        parts += [f"{100 * self.fraction:.0f} %"] if self.fraction is not None else []
        left_s = self.left_s()
        parts.append(f"{_clock(left_s)} left" if left_s else f"{_clock(time.monotonic() - self.began_s)} so far")
        return f"{self.what}: {', '.join(parts)}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class ProgressReport:
    """Shows the progress of a command: a live bar on a terminal; elsewhere a line per step and one every `BEAT_S`."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._step = _Step("getting ready")
        self._task = bar.add_task(self._step.what, total=None, detail="")
        self._lock = threading.Lock()

    def say(self, sentence: str) -> None:
        err.print(escape(sentence))

    def step(self, what: str) -> None:
        self.progress(what, None)

    def progress(self, what: str, fraction: float | None, detail: str = "") -> None:
        """`detail` is a count such as `120 of 1,763 frames`."""
        with self._lock:
            if what != self._step.what:
                self._step = _Step(what)
                self._bar.remove_task(self._task)
                self._task = self._bar.add_task(escape(what), total=None, detail="")
                if not err.is_terminal:
                    err.print(f"  {escape(what)}")
            self._step.update(fraction, detail)
        if fraction is not None:
            self._bar.update(self._task, total=1.0, completed=fraction, detail=escape(detail))

    def beat(self) -> None:
        """Prints a line for a log."""
        with self._lock:
            err.print(f"  {escape(self._step.line())}")


@contextmanager
def progress_report() -> Iterator[ProgressReport]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        report = ProgressReport(bar)
        if err.is_terminal:
            yield report
            return
        over = threading.Event()

        def beat() -> None:
            while not over.wait(BEAT_S):
                report.beat()

        threading.Thread(target=beat, name="progress", daemon=True).start()
        try:
            yield report
        finally:
            over.set()


def print_json(value: Any) -> None:
    """Prints a value, or JSON that is bytes already, for programs to read."""
    text = value if isinstance(value, bytes) else msgspec.json.format(msgspec.json.encode(value), indent=2)
    sys.stdout.write(text.decode() + "\n")
