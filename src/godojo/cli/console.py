"""Output of all verbs: lines, progress and JSON."""

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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

out = Console(highlight=False, soft_wrap=True, emoji=False)  # "a.gd:100: why" is no picture
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)

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


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class ProgressReport:
    """Shows the progress of a command: a live bar on a terminal; elsewhere a line per step and one every `BEAT_S`."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._what = "getting ready"
        self._task = bar.add_task(self._what, total=None, detail="")
        self._lock = threading.Lock()

    def say(self, sentence: str) -> None:
        err.print(escape(sentence))

    def step(self, what: str) -> None:
        self.progress(what, None)

    def progress(self, what: str, fraction: float | None, detail: str = "") -> None:
        """`detail` is a count such as `120 of 1,763 frames`."""
        with self._lock:
            if what != self._what:
                self._what = what
                self._bar.remove_task(self._task)
                self._task = self._bar.add_task(escape(what), total=None, detail="")
                if not err.is_terminal:
                    err.print(f"  {escape(what)}")
        if fraction is not None:
            self._bar.update(self._task, total=1.0, completed=fraction, detail=escape(detail))

    def beat(self) -> None:
        """Prints a line for a log, such as `drawing: 120 of 1,763 frames, 7 %, 2 min 10 s left`."""
        with self._lock:
            (task,) = self._bar.tasks
            parts = [task.fields["detail"]] if task.fields["detail"] else []
            parts += [f"{task.percentage:.0f} %"] if task.total is not None else []
            left_s = task.time_remaining
            parts.append(f"{_clock(left_s)} left" if left_s else f"{_clock(task.elapsed or 0.0)} so far")
            err.print(f"  {escape(self._what)}: {', '.join(parts)}")


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
