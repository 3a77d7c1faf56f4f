"""What a long command shows while it works: a live line on a terminal, plain lines elsewhere."""

import io
import time

import pytest
from rich.console import Console

from godojo.cli import console
from godojo.cli.console import progress_report

DEADLINE_S = 20.0


def shown_in(screen: io.StringIO, wanted: str) -> bool:
    """Whether a text appears in time."""
    deadline = time.monotonic() + DEADLINE_S
    while wanted not in screen.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    return wanted in screen.getvalue()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    screen = io.StringIO()
    monkeypatch.setattr(console, "err", Console(file=screen, width=100))
    monkeypatch.setattr(console, "BEAT_S", 0.02)
    return screen


def test_a_log_gets_counts_percentages_and_the_time_left(log: io.StringIO) -> None:
    with progress_report() as shown:
        shown.progress("drawing", 0.0, "0 of 40 frames")
        assert shown_in(log, "drawing: 0 of 40 frames, 0 %, 0 s so far\n")
        shown.progress("drawing", 0.25, "10 of 40 frames")
        time.sleep(0.5)
        shown.progress("drawing", 0.5, "20 of 40 frames")
        assert shown_in(log, "drawing: 20 of 40 frames, 50 %,")
        assert shown_in(log, " left\n")
        shown.step("encoding")
        assert shown_in(log, "encoding: 0 s so far\n")
    lines = log.getvalue().splitlines()
    assert lines.count("  drawing") == lines.count("  encoding") == 1, "a step is announced once"


def test_a_log_hears_of_a_command_before_its_first_step(log: io.StringIO) -> None:
    with progress_report():
        assert shown_in(log, "getting ready: 0 s so far\n")


def test_nothing_is_said_after_the_end(log: io.StringIO) -> None:
    with progress_report() as shown:
        shown.step("drawing")
    before = log.getvalue()
    time.sleep(0.2)
    assert log.getvalue() == before


def test_a_terminal_gets_one_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(console, "err", Console(file=screen, force_terminal=True, width=100))
    with progress_report() as shown:
        shown.progress("drawing", 0.25, "10 of 40 frames")
        assert shown_in(screen, "10 of 40 frames")
        assert shown_in(screen, "25%")


@pytest.mark.parametrize(("seconds", "text"), [(3.4, "3 s"), (130.0, "2 min 10 s"), (3900.0, "1 h 5 min")])
def test_times_are_told_in_words(seconds: float, text: str) -> None:
    assert console._clock(seconds) == text
