"""Games with the HTTP API, started for tests and benchmarks."""

import secrets
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from godojo.bridge.http import TOKEN_VARIABLE
from godojo.engines.godot.find import find
from godojo.engines.godot.game_process import GameProcess
from godojo.engines.godot.http_game import http_words
from godojo.errors import GodojoError

_LOOK_AGAIN_S = 0.02


class HttpGame(NamedTuple):
    """A running game, its address and token."""

    url: str
    token: str
    process: GameProcess


class _Note(msgspec.Struct, frozen=True):
    """The file in which the game writes its address."""

    url: str


@contextmanager
def started_game(
    game: str = "navigation",
    *,
    port: int = 0,
    paced: bool = False,
    options: Sequence[str] = (),
    timeout_s: float = 60.0,
) -> Iterator[HttpGame]:
    """One of our games without a window, on a free port, until the block ends."""
    words = http_words(find(), game, port=port, paced=paced, options=options)
    with listening(words, timeout_s=timeout_s) as started:
        yield started


@contextmanager
def listening(words: Sequence[str | Path], *, timeout_s: float = 60.0) -> Iterator[HttpGame]:
    """Any game, started by this command, until the block ends."""
    token = secrets.token_urlsafe(24)
    with tempfile.TemporaryDirectory(prefix="godojo-http-") as folder:
        note = Path(folder) / "note.json"
        more = [] if "--" in words else ["--", "--http", "--http-port=0"]
        process = GameProcess([*words, *more, f"--http-note={note}"], {TOKEN_VARIABLE: token})
        try:
            yield HttpGame(_url_in(note, process, timeout_s), token, process)
        finally:
            process.end()


def _url_in(note: Path, process: GameProcess, timeout_s: float) -> str:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            return msgspec.json.decode(note.read_bytes(), type=_Note).url
        except (OSError, msgspec.DecodeError):
            time.sleep(_LOOK_AGAIN_S)
        if not process.alive():
            raise GodojoError(f"the game {process.how_it_ended()} before it listened: {process.quoted()}")
    raise GodojoError(f"the game did not listen within {timeout_s:g} s: {process.quoted()}")
