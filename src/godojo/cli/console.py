"""What all verbs share when they talk to a person."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def speak_plainly() -> None:
    """Makes output survive a terminal or pipe that does not know all our signs."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(sentence: str) -> None:
    """One line on stdout, whatever the sentence holds."""
    out.print(escape(" ".join(sentence.split())))


def complain(sentence: str) -> None:
    """One line on stderr, whatever the sentence holds."""
    err.print(f"[bold red]godojo:[/] {escape(' '.join(sentence.split()))}")


class ProgressReport:
    """Shows an installation's steps: a bar on a terminal, a line a step elsewhere."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None)
        self._shown = ""

    def say(self, sentence: str) -> None:
        err.print(escape(sentence))

    def step(self, what: str) -> None:
        self.progress(what, None)

    def progress(self, what: str, fraction: float | None) -> None:
        if what != self._shown:
            self._shown = what
            self._bar.reset(self._task, total=None, description=what)
            if not err.is_terminal:
                err.print(f"  {what}")
        if fraction is not None:
            self._bar.update(self._task, total=1.0, completed=fraction)


@contextmanager
def progress_report() -> Iterator[ProgressReport]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        yield ProgressReport(bar)


def print_json(text: bytes) -> None:
    sys.stdout.write(text.decode() + "\n")
