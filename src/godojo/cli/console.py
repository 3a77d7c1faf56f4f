"""What all verbs share when they talk to a person."""

import io
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

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
from rich.table import Table

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

BEAT_S = 5.0
"""Between two lines of progress where there is no terminal."""


def configure_output() -> None:
    """Makes output survive a terminal or pipe that does not know all our signs."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def plain_table(names: Sequence[str], numbers: Sequence[str] = (), **how: Any) -> Table:
    """A table without lines: columns of names, then columns of numbers."""
    table = Table(box=None, pad_edge=False, header_style="dim", **how)
    for name in names:
        table.add_column(name, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def say(sentence: str) -> None:
    """One line on stdout, whatever the sentence holds."""
    out.print(escape(" ".join(sentence.split())))


def note(sentence: str) -> None:
    """One line on stderr, for a person; what programs read from stdout stays as it is."""
    err.print(escape(" ".join(sentence.split())))


def complain(sentence: str) -> None:
    """One line on stderr, whatever the sentence holds."""
    err.print(f"[bold red]godojo:[/] {escape(' '.join(sentence.split()))}")


@dataclass
class _Step:
    """What is being done, and how far it is."""

    what: str
    fraction: float | None = None
    detail: str = ""
    began_s: float = field(default_factory=time.monotonic)
    first: tuple[float, float] | None = None
    """The first fraction above 0 and when it was heard: what comes before may be an engine that starts."""
    heard_s: float = 0.0
    """When the latest fraction was heard."""

    def update(self, fraction: float | None, detail: str) -> None:
        if fraction and fraction != self.fraction:
            self.heard_s = time.monotonic()
            self.first = self.first or (fraction, self.heard_s)
        self.fraction, self.detail = fraction, detail

    def left_s(self) -> float:
        """Seconds, as far as the pace so far allows to say; 0 where it does not."""
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
    """Shows how far a command is: a live bar on a terminal; elsewhere a line for each step and one every `BEAT_S`."""

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
        """A line for whoever reads a log."""
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


def print_json(text: bytes) -> None:
    sys.stdout.write(text.decode() + "\n")
