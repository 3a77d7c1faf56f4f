"""Logs of games: one small file for each launched game."""

import itertools
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import platformdirs

from godojo.engines.godot.paths import data_folder
from godojo.errors import GodojoError
from godojo.processes import is_alive

KEPT = 50
"""Logs of games that have ended; older ones are removed when a game starts."""
MOST_BYTES = 4 * 1024 * 1024
"""A longer log is cut back to its beginning, where the first errors are."""
_KEPT_BYTES = 64 * 1024
_MOST_NEW_BYTES = 1024 * 1024
_READ_BYTES = 16 * 1024
_NAME = re.compile(r"\A\d{8}-\d{6}-(\d+)-\d+\.log\Z")
_UNPRINTABLE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_numbers = itertools.count()
_in_use: set[Path] = set()


def logs_folder() -> Path:
    """The per-user folder of logs; below GODOJO_HOME if that is set."""
    if os.environ.get("GODOJO_HOME"):
        return data_folder() / "logs"
    return platformdirs.user_log_path("godojo", appauthor=False)


class GameLog:
    """The log of one game."""

    def __init__(self) -> None:
        folder = logs_folder()
        self.path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{next(_numbers):06}.log"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.path.touch(mode=0o600, exist_ok=False)
        except OSError as error:
            raise GodojoError(
                f"cannot write a game's log to {folder} ({error.strerror}); set GODOJO_HOME to a folder that you own"
            ) from None
        self._read_to = 0
        self._broken = b""
        _in_use.add(self.path)
        _sweep(folder)

    def opened(self) -> BinaryIO:
        """Opens it for the game, in append mode, so that it can be truncated meanwhile."""
        return self.path.open("ab")

    def first_lines(self) -> list[str]:
        """The first lines, where errors in scripts are."""
        return self._lines(from_end=False)

    def last_lines(self, count: int) -> list[str]:
        return self._lines(from_end=True)[-count:]

    def new_lines(self) -> list[str]:
        """The lines that were written since the last call; of a flood, the first ones."""
        try:
            size = self.path.stat().st_size
            if size <= self._read_to:
                return []
            with self.path.open("rb") as file:
                file.seek(self._read_to)
                content = file.read(_MOST_NEW_BYTES)
        except OSError:
            return []
        self._read_to = max(self._read_to + len(content), size)
        *lines, self._broken = (self._broken + content).split(b"\n")
        self._broken = self._broken[-_READ_BYTES:]
        return _clean(lines)

    def _lines(self, *, from_end: bool) -> list[str]:
        try:
            with self.path.open("rb") as file:
                length = file.seek(0, os.SEEK_END)
                file.seek(max(length - _READ_BYTES, 0) if from_end else 0)
                lines = file.read(_READ_BYTES).splitlines()
        except OSError:
            return []
        return [line for line in _clean(lines) if line]

    def keep_small(self) -> None:
        """Cuts the log back if it is too large; called now and then."""
        try:
            if self.path.stat().st_size > MOST_BYTES:
                self._read_to, self._broken = min(_KEPT_BYTES, MOST_BYTES), b""
                os.truncate(self.path, self._read_to)
        except OSError:
            pass  # no reason to stop

    def let_go(self) -> None:
        """The game has ended: an old log may be removed."""
        _in_use.discard(self.path)


def _clean(lines: Iterable[bytes]) -> list[str]:
    """Lines without colours and unprintable characters."""
    texts = (_UNPRINTABLE.sub("", line.decode("utf-8", "replace")).strip() for line in lines)
    return [text[:300] for text in texts]


def _sweep(folder: Path) -> None:
    """Removes old logs of games that have ended."""
    ours = str(os.getpid())
    names = sorted((path for path in folder.glob("*.log") if _NAME.match(path.name)), reverse=True)
    for path in names[KEPT:]:
        match = _NAME.match(path.name)
        owner = match[1] if match else ours
        if path not in _in_use and (owner == ours or not is_alive(int(owner))):
            path.unlink(missing_ok=True)
