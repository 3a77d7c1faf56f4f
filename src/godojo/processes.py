"""Child processes that end with us and never block forever."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

_GRACE_S = 2.0
_LAST_WAIT_S = 10.0
_PR_SET_PDEATHSIG = 1
_PR_SET_TIMERSLACK, _PR_GET_TIMERSLACK = 29, 30
_TIMER_SLACK_NS = 10_000
# Loaded here, since a forked child of a program with threads must not load anything.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Finished(NamedTuple):
    """The result of a program."""

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
    """A program in its own session, ended with all its children when the block ends.

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
        preexec_fn=die_with_parent if sys.platform == "linux" else None,
    )
    try:
        yield process
    finally:
        end(process)
        if process.stdout is not None:
            process.stdout.close()


def finish(words: Sequence[str | Path], *, timeout_s: float, env: Mapping[str, str] | None = None) -> Finished:
    """Runs a program to its end or deadline; returns its output."""
    with started(words, env=env) as process:
        try:
            output, _ = process.communicate(timeout=timeout_s)
            return Finished(process.returncode, output, timed_out=False)
        except subprocess.TimeoutExpired:
            end(process)
        try:
            output, _ = process.communicate(timeout=_GRACE_S)
        except subprocess.TimeoutExpired as error:  # a child in a session of its own still holds the pipe
            said = error.output or b""
            output = said if isinstance(said, str) else said.decode("utf-8", "replace")
        return Finished(process.returncode, output, timed_out=True)


def end(process: "subprocess.Popen[str]") -> None:
    """Terminates the program and its children, then kills them."""
    with suppress(subprocess.TimeoutExpired):
        if process.poll() is None:
            _signal_all(process, signal.SIGTERM)
            process.wait(_GRACE_S)
    if os.name == "posix":
        _signal_all(process, signal.SIGKILL)  # also when it has ended: its children may not have
    elif process.poll() is None:
        process.kill()
    process.wait()


@contextmanager
def _punctual_children() -> Iterator[None]:
    """Linux lets every sleep last 50 us longer than asked; programs started in this block sleep more exactly.

    godot_rl's plugin sleeps 10 us between two looks at its socket, once or more in every step.
    """
    if _libc is None:
        yield
        return
    before = _libc.prctl(_PR_GET_TIMERSLACK, 0, 0, 0, 0)
    _libc.prctl(_PR_SET_TIMERSLACK, _TIMER_SLACK_NS, 0, 0, 0)
    try:
        yield
    finally:
        _libc.prctl(_PR_SET_TIMERSLACK, max(before, 0), 0, 0, 0)


class GuardedProcess:
    """A long-running program: its output goes to a file, and it ends when we end, however that happens.

    On POSIX, a guard in the same process group waits until our end of a pipe closes, which the kernel does however we
    end, and kills the whole group, the program's children included. Unlike the kernel's parent-death signal, it does
    not react to the end of one of our threads.
    """

    # The guard starts before the program.
    _GUARD = (
        "exec 3<&0 </dev/null; "
        '(trap "" HUP INT TERM; exec /bin/sh -c "read _; kill -KILL 0" godojo-guard <&3 >/dev/null 2>&1) & '
        'exec 3<&-; exec "$@"'
    )

    def __init__(self, words: Sequence[str | Path], *, env: Mapping[str, str], output: "IO[bytes]") -> None:
        program = [str(word) for word in words]
        self._owner = os.getpid()
        self._lifeline: int | None = None
        if os.name != "posix":
            self._process: subprocess.Popen[bytes] = subprocess.Popen(
                program, env=dict(env), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
            return
        reading, writing = os.pipe()
        try:
            with _punctual_children():
                self._process = subprocess.Popen(
                    ["/bin/sh", "-c", self._GUARD, "guard", *program],
                    env=dict(env),
                    stdin=reading,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except BaseException:
            os.close(writing)
            raise
        finally:
            os.close(reading)
        self._lifeline = writing
        _lifelines.add(writing)

    @property
    def pid(self) -> int:
        return self._process.pid

    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def end(self, *, grace_s: float = _GRACE_S) -> None:
        """Ends the program and its children: terminates them, waits up to `grace_s`, then kills them."""
        if os.getpid() != self._owner:  # we are a forked child: it is the parent's program
            return
        if grace_s > 0 and self._process.poll() is None:
            _signal_all(self._process, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(grace_s)
        self._kill_all()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WAIT_S)
        if self._lifeline is not None:
            _lifelines.discard(self._lifeline)
            os.close(self._lifeline)
            self._lifeline = None

    def wait(self, timeout_s: float) -> bool:
        """Whether it ends by itself within that time."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
        return self._process.poll() is not None

    def _kill_all(self) -> None:
        if os.name == "posix":
            if self._lifeline is not None:  # until it closes, the guard keeps the group's number in use
                _signal_all(self._process, signal.SIGKILL)
        elif self._process.poll() is None:
            tree = ["taskkill", "/F", "/T", "/PID", str(self._process.pid)]
            subprocess.run(tree, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LAST_WAIT_S, check=False)


_lifelines: set[int] = set()


def _let_go() -> None:
    """In a forked child: games end with the parent, not with the child."""
    for lifeline in _lifelines:
        with suppress(OSError):
            os.close(lifeline)
    _lifelines.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _signal_all(process: "subprocess.Popen[Any]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def is_alive(pid: int) -> bool:
    """Whether a process of this machine is running; where that cannot be asked, False."""
    if os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def die_with_parent() -> None:
    """Has the kernel kill this process when the thread that started it ends; Linux only."""
    assert _libc is not None
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
