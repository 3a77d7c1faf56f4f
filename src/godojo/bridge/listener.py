"""Where games connect: the listening socket, and connections that have not said hello yet.

Everything happens inside `accept` and `poll`; there are no threads. `Limits` keeps pending connections few, small and
short-lived, so that strangers cannot slow down connected games.
"""

import errno
import ipaddress
import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, Self

from godojo.bridge.connection import Connection
from godojo.bridge.messages import PROTOCOL, Hello, Limits, PeerTimeout, shown
from godojo.bridge.session import Closed, DojoSession, Session, Visitor
from godojo.errors import GodojoError, unknown

__all__ = ["DEFAULT_PORT", "Connection", "Listener", "Wire"]

DEFAULT_PORT = 8765
Wire = Literal["dojo/1", "godot_rl", "any"]
WIRES: tuple[Wire, ...] = ("dojo/1", "godot_rl", "any")
_SILENT_S = 0.5  # on wire "any": a godot_rl game waits for our first message; all others send first
_LEAVING_S = 0.5
_CHECK_S = 0.1
_READ_BYTES = 1024  # at a time, before the hello: more than a request or a hello has
_BACKLOG = 64
_LINES, _LINES_S = 20, 10.0  # about strangers, per interval: a flood must not fill the disk with its log


class PendingConnection:
    """A connection that has not said hello yet, or is being closed."""

    def __init__(self, sock: socket.socket, peer: str, now: float) -> None:
        self.socket, self.peer, self.since = sock, peer, now
        self.session: Session | None = None
        self.unsent = b""
        self.received = 0
        self.leaves_at: float | None = None


class Listener:
    """Waits for games. `log` gets a line about each event, never with a token."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        token: str | None = None,
        wire: Wire = "dojo/1",
        limits: Limits | None = None,
        log: Callable[[str], None] | None = None,
    ) -> None:
        if wire not in WIRES:
            raise unknown("wire", wire, WIRES)
        if token and wire != PROTOCOL:
            raise GodojoError(f"godot_rl has no tokens: use wire={PROTOCOL!r}, or no token")
        self.host, self.wire = host, wire
        self._token, self._limits = token, limits or Limits()
        self._log = log or (lambda _line: None)
        self._socket = _listen(host, port, has_token=bool(token))
        self.port: int = self._socket.getsockname()[1]
        self._pending: set[PendingConnection] = set()
        self._arrived: deque[Connection] = deque()
        self._refused = ""
        self._lines, self._lines_since, self._untold = 0, 0.0, 0
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._is_accepting = True

    def accept(self, timeout_s: float, until: Callable[[], None] | None = None) -> Connection:
        """The next game that says hello. Raises PeerTimeout if none does in time.

        `until` is called ten times a second and may raise, for example because the expected game has died.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            while self._arrived:
                connection = self._arrived.popleft()
                self._limit_pending()
                if connection.is_alive():  # it may have given up
                    self._refused = ""
                    return connection
                connection.close()
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                tried = f"; the last one that tried was refused: {self._refused}" if self._refused else ""
                raise PeerTimeout(f"no game connected to {self.host}:{self.port} within {timeout_s:g} s{tried}")
            if until is not None:
                until()
            self.poll(min(left_s, _CHECK_S))

    def poll(self, wait_s: float = 0.0) -> None:
        """Serves pending connections between two calls of `accept`; ten times a second is enough. Games that say hello
        wait for `accept`."""
        if self._socket.fileno() < 0:
            raise GodojoError("the listener has been closed")
        for key, _ in self._selector.select(self._patience_s(wait_s)):
            if key.data is None:
                self._accept_one()
            elif key.data in self._pending:
                self._guard(key.data, self._hear)
        self._check_timeouts()

    def close(self) -> None:
        """Stops listening. Accepted connections stay open."""
        for pending in list(self._pending):
            self._drop(pending)
        while self._arrived:
            self._arrived.popleft().close("the trainer is done")
        self._selector.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _patience_s(self, wait_s: float) -> float:
        """How long nothing can time out."""
        if wait_s <= 0 or self._arrived:
            return 0.0
        return min(wait_s, 0.02) if self._pending else wait_s

    def _accept_one(self) -> None:
        """Accepts one connection; the others wait for their turn."""
        try:
            sock, address = self._socket.accept()
        except BlockingIOError:
            return
        except OSError as error:  # most likely too many open files; the queue would wake us again at once
            self._tell(f"cannot accept connections: {error.strerror}")
            time.sleep(_CHECK_S / 10)
            return
        sock.setblocking(False)
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pending = PendingConnection(sock, f"{address[0]}:{address[1]}", time.monotonic())
        self._pending.add(pending)
        self._selector.register(sock, selectors.EVENT_READ, pending)
        self._limit_pending()
        if self.wire != "any":
            self._guard(pending, self._greet)

    def _greet(self, pending: PendingConnection) -> None:
        speaks_first = self.wire == "godot_rl" or (self.wire == "any" and not pending.received)
        pending.session = _godot_rl_session(self._limits) if speaks_first else DojoSession(self._token, self._limits)
        pending.session.begin()
        self._send(pending)

    def _hear(self, pending: PendingConnection) -> None:
        data = pending.socket.recv(_READ_BYTES)
        if pending.leaves_at is not None:
            if not data:
                self._drop(pending)
            else:
                self._send(pending)
            return
        pending.received += len(data)
        if pending.session is None:
            if not data:
                self._drop(pending)
                return
            self._greet(pending)
        assert pending.session is not None
        if data:
            pending.session.feed(data)
        else:
            pending.session.feed_end()
        self._take_events(pending, pending.session)

    def _take_events(self, pending: PendingConnection, session: Session) -> None:
        while session.events and pending in self._pending:
            event = session.events.popleft()
            if isinstance(event, Hello):
                self._welcome(pending, session, event)
                return
            if isinstance(event, Visitor):
                self._tell(f"{event.what} ({pending.peer})")
                session.events.clear()
                self._dismiss(pending)
            elif isinstance(event, Closed):
                self._refused = event.reason
                self._tell(f"refused {pending.peer}: {event.reason}")
                self._dismiss(pending)
        if pending.leaves_at is None:
            self._send(pending)
            if pending.received > self._limits.hello_bytes:
                self._refused = f"it sent more than {self._limits.hello_bytes} bytes before its hello"
                self._tell(f"refused {pending.peer}: {self._refused}")
                session.close(self._refused)
                self._dismiss(pending)

    def _welcome(self, pending: PendingConnection, session: Session, hello: Hello) -> None:
        self._forget(pending)
        game = shown(hello.game) or "a game"
        engine = f", Godot {shown(hello.godot)}" if hello.godot else ""
        self._log(f"{game} connected from {pending.peer} ({session.wire}{engine})")
        self._arrived.append(Connection(pending.socket, session, hello, pending.peer, pending.unsent))
        self._limit_pending()

    def _dismiss(self, pending: PendingConnection) -> None:
        """Sends the last message, and gives it a moment to arrive."""
        pending.leaves_at = time.monotonic() + _LEAVING_S
        self._send(pending)
        if not pending.unsent:
            pending.socket.shutdown(socket.SHUT_WR)

    def _send(self, pending: PendingConnection) -> None:
        if pending.session is not None:
            pending.unsent += pending.session.take_outgoing()
        with suppress(BlockingIOError):
            while pending.unsent:
                pending.unsent = pending.unsent[pending.socket.send(pending.unsent) :]

    def _check_timeouts(self) -> None:
        now = time.monotonic()
        is_crowded = not self._is_accepting
        patience_s = self._limits.crowded_s if is_crowded else self._limits.handshake_s
        for pending in list(self._pending):
            if pending.leaves_at is not None:
                if now >= pending.leaves_at:
                    self._drop(pending)
            elif now - pending.since >= patience_s:
                self._refused = f"it did not say hello within {patience_s:g} s"
                self._tell(f"dropped {pending.peer}: {self._refused}")
                self._drop(pending)
            elif pending.session is None and now - pending.since >= _SILENT_S:
                self._guard(pending, self._greet)
            else:
                self._guard(pending, self._send)

    def _tell(self, line: str) -> None:
        """Logs a line about a stranger, unless there have been many."""
        now = time.monotonic()
        if now - self._lines_since >= _LINES_S:
            if self._untold:
                self._log(f"{self._untold} more were refused")
            self._lines, self._lines_since, self._untold = 0, now, 0
        if self._lines < _LINES:
            self._lines += 1
            self._log(line)
        else:
            self._untold += 1

    def _guard(self, pending: PendingConnection, act: Callable[[PendingConnection], None]) -> None:
        """Drops a pending connection whose socket fails."""
        try:
            act(pending)
        except BlockingIOError:
            pass
        except OSError as error:
            self._tell(f"lost {pending.peer} before its hello: {error.strerror}")
            self._drop(pending)

    def _drop(self, pending: PendingConnection) -> None:
        if pending in self._pending:
            self._forget(pending)
            pending.socket.close()

    def _forget(self, pending: PendingConnection) -> None:
        self._pending.discard(pending)
        self._selector.unregister(pending.socket)
        self._limit_pending()

    def _limit_pending(self) -> None:
        """Stops accepting while there are too many; others wait in the kernel's queue."""
        has_room = len(self._pending) + len(self._arrived) < self._limits.pending
        if has_room and not self._is_accepting:
            self._selector.register(self._socket, selectors.EVENT_READ)
        elif not has_room and self._is_accepting:
            self._selector.unregister(self._socket)
        self._is_accepting = has_room


def _godot_rl_session(limits: Limits) -> Session:
    from godojo.bridge.godot_rl import GodotRlSession  # loaded only if it is used

    return GodotRlSession(limits)


def _listen(host: str, port: int, *, has_token: bool) -> socket.socket:
    if not 0 <= port <= 65535:
        raise GodojoError(f"a port is a number from 0 to 65535, not {port}")
    try:
        family, _, _, _, address = socket.getaddrinfo(host or "0.0.0.0", port, type=socket.SOCK_STREAM)[0]  # noqa: S104
    except (OSError, UnicodeError) as error:
        raise GodojoError(f"{host!r} is no address of this computer ({error}); use 127.0.0.1") from None
    is_loopback = ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
    if not is_loopback and not has_token:
        raise GodojoError(
            f"listening on {host}:{port} needs a token, since other machines can connect; games get it in "
            "GODOJO_TOKEN; or listen on 127.0.0.1"
        )
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
        sock.setblocking(False)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            cause = "another program listens there; end it, or use another port (0 for any free one)"
        elif error.errno == errno.EACCES:
            cause = "the system does not allow it; use a port from 1024 on"
        else:
            cause = f"{error.strerror}; use 127.0.0.1"
        raise GodojoError(f"cannot listen on {host}:{port}: {cause}") from None
    return sock
