"""Starting other programs so that they do not outlive us and do not make us wait for ever."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_GRACE_S = 2.0
_PR_SET_PDEATHSIG = 1
# Loaded here, since a forked child of a program with threads must not load anything.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Finished(NamedTuple):
    """What a program left behind."""

    code: int
    output: str
    timed_out: bool


@contextmanager
def started(
    words: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> Iterator[subprocess.Popen[str]]:
    """A program in a session of its own, ended with all its children when the block is left, however it is left.

    On Linux the kernel ends the program (not its children) even when we are killed outright.
    """
    process = subprocess.Popen(
        [str(word) for word in words],
        env=None if env is None else dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        pass_fds=tuple(pass_fds),
        start_new_session=os.name == "posix",
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,
    )
    try:
        yield process
    finally:
        end(process)
        if process.stdout is not None:
            process.stdout.close()


def finish(words: Sequence[str | Path], *, timeout_s: float, env: Mapping[str, str] | None = None) -> Finished:
    """Runs a program to its end, or to its deadline, and keeps what it said."""
    with started(words, env=env) as process:
        try:
            output, _ = process.communicate(timeout=timeout_s)
            return Finished(process.returncode, output, timed_out=False)
        except subprocess.TimeoutExpired:
            end(process)
        try:
            output, _ = process.communicate(timeout=_GRACE_S)
        except subprocess.TimeoutExpired as error:  # a child that fled into a session of its own still holds the pipe
            said = error.output or b""
            output = said if isinstance(said, str) else said.decode("utf-8", "replace")
        return Finished(process.returncode, output, timed_out=True)


def end(process: "subprocess.Popen[str]") -> None:
    """Asks the program and its children to stop, then makes them."""
    with suppress(subprocess.TimeoutExpired):
        if process.poll() is None:
            _signal_all(process, signal.SIGTERM)
            process.wait(_GRACE_S)
    if os.name == "posix":
        _signal_all(process, signal.SIGKILL)  # also when it has ended: its children may not have
    elif process.poll() is None:
        process.kill()
    process.wait()


def _signal_all(process: "subprocess.Popen[str]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def _die_with_parent() -> None:
    assert _libc is not None
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
