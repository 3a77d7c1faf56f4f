"""Python's end of the probe: a socket on which the game reports what it sees, once a decision."""

import hmac
import re
import secrets
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np

from godojo.bridge.messages import ConnectionLost, PeerTimeout, WireError

_LENGTHS = struct.Struct("<II")
_MOST_BYTES = 4 * 1024 * 1024
METRICS = ("orphans", "memory_mb", "objects", "old_nodes", "has_player", "scenes", "aim_x", "aim_y")
STATE_HEAD = ("scene", "nodes", "bodies", "focus", "elements", "texts", "paused")
BODIES = 8
STATE_SIZE = len(STATE_HEAD) + 6 * BODIES
"""As `dojo_probe_state.gd` reads it."""
_UNNAMED = re.compile(r"@(\w*)@\d+")
_KEPT = ("scene", "autoloads", "restored", "is_restorable", "bodies", "ui", "variables", "places", "left")
"""What holds until the probe says something else."""
_POSITION = slice(len(METRICS), len(METRICS) + 3)


class Reported(msgspec.Struct):
    """What has changed since the last report, in words."""

    token: str | None = None
    scene: str | None = None
    autoloads: int | None = None
    restored: tuple[str, ...] | None = None
    is_restorable: bool | None = None
    bodies: tuple[str, ...] | None = None
    ui: tuple[tuple[str, float, float], ...] | None = None
    variables: tuple[str, ...] | None = None
    places: tuple[tuple[str, float, float, float], ...] | None = None
    left: str | None = None
    branches: tuple[int, ...] = ()
    events: tuple[dict[str, Any], ...] = ()


class Report(msgspec.Struct):
    """What the probe sees now."""

    scene: str = ""
    autoloads: int = -1
    """Nodes that outlive a scene; -1 if it is not known yet."""
    restored: tuple[str, ...] = ()
    """Names of those whose variables are restored when the scene is loaded anew."""
    is_restorable: bool = True
    bodies: tuple[str, ...] = ()
    """Paths of the bodies in `state`, in order."""
    ui: tuple[tuple[str, float, float], ...] = ()
    """Usable elements, and where they are on the screen."""
    variables: tuple[str, ...] = ()
    """Names of the scripts' variables, `PATH:NAME`."""
    places: tuple[tuple[str, float, float, float], ...] = ()
    """Where a player may want to go: a path and a position."""
    left: str = "{}"
    """Settings that were changed, as JSON for the probe of the next process."""
    branches: tuple[int, ...] = ()
    """Of scripts, that have just run for the 1st, 2nd, 4th, 8th or 16th time since the reset."""
    events: tuple[dict[str, Any], ...] = ()
    numbers: np.ndarray = np.zeros(len(METRICS) + 3, np.float32)

    @property
    def metrics(self) -> dict[str, float]:
        return dict(zip(METRICS, self.numbers.tolist(), strict=False))

    @property
    def position(self) -> np.ndarray:
        return self.numbers[_POSITION]

    @property
    def aim(self) -> tuple[float, float] | None:
        """Where on the screen the nearest other body is, if it is there."""
        x, y = self.numbers[len(METRICS) - 2 : len(METRICS)].round(1).tolist()
        return (x, y) if max(abs(x), abs(y)) <= 1.0 else None

    @property
    def state(self) -> np.ndarray:
        return self.numbers[_POSITION.stop : _POSITION.stop + STATE_SIZE]

    @property
    def values(self) -> np.ndarray:
        """Of the variables."""
        return self.numbers[_POSITION.stop + STATE_SIZE :]


def stable(elements: Sequence[tuple[str, float, float]]) -> tuple[tuple[str, float, float], ...]:
    """Elements with names that are the same in every process: `@Button@37` is the first, second, … without a name."""
    counts: dict[str, int] = {}
    found = []
    for path, x, y in elements:
        name = _UNNAMED.sub(r"@\1@", path)
        if name != path:
            counts[name] = counts.get(name, 0) + 1
            name = f"{name}#{counts[name]}" if counts[name] > 1 else name
        found.append((name, x, y))
    return tuple(found)


class ProbeServer:
    """Waits for the probe of one process at a time, and reads its reports."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self.report = Report()
        self._socket: socket.socket | None = None
        self._buffer = bytearray()
        self._decoder = msgspec.json.Decoder(Reported)

    @property
    def env(self) -> dict[str, str]:
        return {"GODOJO_PROBE_PORT": str(self.port), "GODOJO_PROBE_TOKEN": self.token}

    def begin(self) -> None:
        """Another process is about to be started."""
        self._drop()
        self.token = secrets.token_urlsafe(24)  # the process before may have called and never been heard
        self.report = Report()

    def read(self, timeout_s: float) -> Report:
        """The newest report; waits for one if none has come since the last call. Raises PeerTimeout, ConnectionLost
        or WireError."""
        deadline = time.monotonic() + timeout_s
        events: list[dict[str, Any]] = []
        branches: list[int] = []
        has_report = False
        while True:
            while (said := self._next()) is not None:
                has_report = True
                events += said.events
                branches += said.branches
            if has_report:
                self.report.events, self.report.branches = tuple(events), tuple(branches)
                return self.report
            self._receive(deadline)

    def close(self) -> None:
        self._drop()
        self._listening.close()

    def _next(self) -> Reported | None:
        """Takes a whole report from what has come."""
        if len(self._buffer) < _LENGTHS.size:
            return None
        text_bytes, number_bytes = _LENGTHS.unpack_from(self._buffer)
        whole = _LENGTHS.size + text_bytes + number_bytes
        if whole > _MOST_BYTES or number_bytes % 4:
            raise WireError(f"the probe reports {whole} bytes, and at most {_MOST_BYTES} are allowed")
        if len(self._buffer) < whole:
            return None
        content = bytes(self._buffer[_LENGTHS.size : whole])
        del self._buffer[:whole]
        if text_bytes:
            try:
                said = self._decoder.decode(content[:text_bytes])
            except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
                raise WireError(f"the probe's report cannot be read: {error}") from None
            for name in _KEPT:
                if (value := getattr(said, name)) is not None:
                    setattr(self.report, name, stable(value) if name == "ui" else value)
        else:
            said = Reported()
        if number_bytes:
            self.report.numbers = np.frombuffer(content[text_bytes:], "<f4").astype(np.float32)
        return said

    def _receive(self, deadline: float) -> None:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise PeerTimeout("the probe in the game does not report")
        if self._socket is None:
            self._accept(left_s)
            return
        try:
            self._socket.settimeout(left_s)
            content = self._socket.recv(65536)
        except TimeoutError:
            return
        except OSError as error:
            raise ConnectionLost(f"the connection to the probe broke: {error.strerror}") from None
        if not content:
            raise ConnectionLost("the probe left")
        self._buffer += content

    def _accept(self, timeout_s: float) -> None:
        """A probe shows the token first; strangers are dropped."""
        try:
            self._listening.settimeout(timeout_s)
            stranger, _ = self._listening.accept()
        except TimeoutError:
            return
        stranger.settimeout(timeout_s)
        try:
            header = stranger.recv(_LENGTHS.size, socket.MSG_WAITALL)
            text_bytes, number_bytes = _LENGTHS.unpack(header)
            if number_bytes or text_bytes > len(self.token) + 64:
                raise WireError("a stranger")
            said = self._decoder.decode(stranger.recv(text_bytes, socket.MSG_WAITALL))
            if not hmac.compare_digest((said.token or "").encode(), self.token.encode()):
                raise WireError("a stranger")
        except (OSError, struct.error, msgspec.MsgspecError, WireError):
            stranger.close()
            return
        self._socket = stranger

    def _drop(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.close()
        self._socket = None
        self._buffer.clear()
