"""A game that runs as a child process, with its log."""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from godojo.engines.godot.complaints import Complaint, ScriptErrors, complaints_in
from godojo.engines.godot.logs import GameLog
from godojo.errors import GodojoError
from godojo.processes import GuardedProcess

_QUOTED_LINES = 6
_QUOTED_COMPLAINTS = 3
_LAST_LINES = 60
_CANNOT_START = 127
"""The exit status by which shells and loaders say so."""


class GameProcess:
    """A running game. Its output goes to `log`; it ends with us."""

    def __init__(self, words: Sequence[str | Path], env: Mapping[str, str]) -> None:
        """`env` is added to our environment: secrets go there, never on the command line."""
        self._log = GameLog()
        self.script_errors = ScriptErrors()
        try:
            with self._log.opened() as output:
                self._guarded = GuardedProcess(words, env={**os.environ, **env}, output=output)
        except OSError as error:
            self._log.let_go()
            raise GodojoError(f"{words[0]} cannot be started ({error.strerror})") from None

    @property
    def log(self) -> Path:
        return self._log.path

    @property
    def pid(self) -> int:
        return self._guarded.pid

    def alive(self) -> bool:
        return self._guarded.status() is None

    def wait(self, timeout_s: float) -> bool:
        """Whether it ends by itself within that time."""
        return self._guarded.wait(timeout_s)

    def end(self, *, grace_s: float = 0.0) -> None:
        """Ends it with all its children, after it had `grace_s` to end by itself."""
        if grace_s > 0:
            self._guarded.wait(grace_s)
        self._guarded.end(grace_s=0.0)
        self.script_errors.feed(self._log.new_lines(), is_end=True)
        self._log.let_go()

    def read_log(self, *, is_end: bool = False) -> None:
        """Counts new script errors, and keeps the log small. `is_end`: an error counts without a line after it."""
        self.script_errors.feed(self._log.new_lines(), is_end=is_end)
        self._log.keep_small()

    def new_lines(self) -> list[str]:
        """The lines since the last call, for a caller that reads the log itself; keeps the log small."""
        lines = self._log.new_lines()
        self._log.keep_small()
        return lines

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._guarded.status()

    def last_lines(self, count: int = _QUOTED_LINES) -> list[str]:
        return self._log.last_lines(count)

    def complaints(self) -> list[Complaint]:
        """The engine's first errors and its last ones, then its warnings; each once, without noise."""
        found = [*complaints_in(self._log.first_lines()), *complaints_in(self._log.last_lines(_LAST_LINES))]
        distinct = dict.fromkeys(one for one in found if not one.is_noise)
        return sorted(distinct, key=lambda one: not one.is_error)

    def could_not_start(self) -> bool:
        """Whether the system's loader failed: a library or a loader is missing."""
        return self._guarded.status() == _CANNOT_START

    def how_it_ended(self) -> str:
        """Its exit status in words."""
        status = self._guarded.status()
        if status is None:
            return "still runs"
        if status < 0:
            try:
                return f"was killed by {signal.Signals(-status).name}"
            except ValueError:
                return f"was killed by signal {-status}"
        return f"ended by itself with exit status {status}"

    def quoted(self) -> str:
        """Its last output and its log, for the end of an error."""
        complaints = self.complaints()
        if complaints:
            return f"it reported: {' | '.join(map(str, complaints[:_QUOTED_COMPLAINTS]))} (log: {self.log})"
        lines = self.last_lines()
        said = f"it last printed: {' | '.join(lines)}" if lines else "it printed nothing"
        return f"{said} (log: {self.log})"
