"""Where games connect: the only listening socket, and the newcomers that have not said hello yet.

Everything happens inside `accept` and `poll`; there are no threads. Newcomers are few, small and short-lived by
`Limits`, so that nobody who only knocks can slow down those who play.
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
from godojo.errors import GodojoError

__all__ = ["DEFAULT_PORT", "Connection", "Listener", "Wire"]

DEFAULT_PORT = 8765
Wire = Literal["dojo/1", "godot_rl", "any"]
_WIRES = ("dojo/1", "godot_rl", "any")
_SILENT_S = 0.5  # on wire "any": a godot_rl game waits to be spoken to, and all others speak first
_LEAVING_S = 0.5
_CHECK_S = 0.1
_READ_BYTES = 1024  # of a newcomer, at a time: more than a request or a hello has, and little to be kept busy with
_BACKLOG = 64
_LINES, _LINES_S = 20, 10.0  # about strangers, in so many seconds: a flood is not to fill a disk with its log


class PendingConnection:
    """A connection that has not said hello yet, or is being shown the door."""

    def __init__(self, sock: socket.socket, peer: str, now: float) -> None:
        self.socket, self.peer, self.since = sock, peer, now
        self.session: Session | None = None
        self.unsent = b""
        self.received = 0
        self.leaves_at: float | None = None


class Listener:
    """Waits for games. `log` is given one line for each event worth knowing; a token is never in it."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        token: str | None = None,
        wire: Wire = "dojo/1",
        limits: Limits | None = None,
        log: Callable[[str], None] | None = None,
    ) -> None:
        if wire not in _WIRES:
            raise GodojoError(f"there is no wire {wire!r}; there is: {', '.join(_WIRES)}")
        if token and wire != PROTOCOL:
            raise GodojoError(f"the godot_rl wire knows no token: take wire={PROTOCOL!r}, or no token")
        self.host, self.wire = host, wire
        self._token, self._limits = token, limits or Limits()
        self._log = log or (lambda _line: None)
        self._socket = _listen(host, port, has_token=bool(token))
        self.port: int = self._socket.getsockname()[1]
        self._newcomers: set[PendingConnection] = set()
        self._arrived: deque[Connection] = deque()
        self._refused = ""
        self._lines, self._lines_since, self._untold = 0, 0.0, 0
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._is_open_to_more = True

    def accept(self, timeout_s: float, until: Callable[[], None] | None = None) -> Connection:
        """The next game that says hello as it should. Raises Silent when none came in time.

        `until` is called ten times a second and may raise, for example because the game that is waited for has died.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            while self._arrived:
                connection = self._arrived.popleft()
                self._watch_the_door()
                if connection.is_alive():  # it may have waited for long, and given up
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
        """Looks after newcomers for a moment, so that they need not wait for the next `accept`; ten times a second is
        enough. Games that say hello meanwhile wait for `accept`."""
        if self._socket.fileno() < 0:
            raise GodojoError("the listener has been closed")
        for key, _ in self._selector.select(self._patience_s(wait_s)):
            if key.data is None:
                self._let_in()
            elif key.data in self._newcomers:
                self._guard(key.data, self._hear)
        self._look_at_the_clock()

    def close(self) -> None:
        """Stops listening. Connections that were accepted live on."""
        for newcomer in list(self._newcomers):
            self._drop(newcomer)
        while self._arrived:
            self._arrived.popleft().close("the trainer is done")
        self._selector.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _patience_s(self, wait_s: float) -> float:
        """How long nothing can become due."""
        if wait_s <= 0 or self._arrived:
            return 0.0
        return min(wait_s, 0.02) if self._newcomers else wait_s

    def _let_in(self) -> None:
        """Takes one from the queue. Others get their turn: nobody can fill the house at once."""
        try:
            sock, address = self._socket.accept()
        except BlockingIOError:
            return
        except OSError as error:  # most likely there are too many open files, and the queue would wake us at once again
            self._tell(f"cannot let anybody in: {error.strerror}")
            time.sleep(_CHECK_S / 10)
            return
        sock.setblocking(False)
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        newcomer = PendingConnection(sock, f"{address[0]}:{address[1]}", time.monotonic())
        self._newcomers.add(newcomer)
        self._selector.register(sock, selectors.EVENT_READ, newcomer)
        self._watch_the_door()
        if self.wire != "any":
            self._guard(newcomer, self._greet)

    def _greet(self, newcomer: PendingConnection) -> None:
        speaks_first = self.wire == "godot_rl" or (self.wire == "any" and not newcomer.received)
        newcomer.session = _godot_rl_session(self._limits) if speaks_first else DojoSession(self._token, self._limits)
        newcomer.session.begin()
        self._send(newcomer)

    def _hear(self, newcomer: PendingConnection) -> None:
        data = newcomer.socket.recv(_READ_BYTES)
        if newcomer.leaves_at is not None:
            if not data:
                self._drop(newcomer)
            else:
                self._send(newcomer)
            return
        newcomer.received += len(data)
        if newcomer.session is None:
            if not data:
                self._drop(newcomer)
                return
            self._greet(newcomer)
        assert newcomer.session is not None
        if data:
            newcomer.session.feed(data)
        else:
            newcomer.session.feed_end()
        self._take_events(newcomer, newcomer.session)

    def _take_events(self, newcomer: PendingConnection, session: Session) -> None:
        while session.events and newcomer in self._newcomers:
            event = session.events.popleft()
            if isinstance(event, Hello):
                self._welcome(newcomer, session, event)
                return
            if isinstance(event, Visitor):
                self._tell(f"{event.what} ({newcomer.peer})")
                session.events.clear()
                self._show_out(newcomer)
            elif isinstance(event, Closed):
                self._refused = event.reason
                self._tell(f"refused {newcomer.peer}: {event.reason}")
                self._show_out(newcomer)
        if newcomer.leaves_at is None:
            self._send(newcomer)
            if newcomer.received > self._limits.hello_bytes:
                self._refused = f"it sent more than {self._limits.hello_bytes} bytes before its hello"
                self._tell(f"refused {newcomer.peer}: {self._refused}")
                session.close(self._refused)
                self._show_out(newcomer)

    def _welcome(self, newcomer: PendingConnection, session: Session, hello: Hello) -> None:
        self._newcomers.discard(newcomer)
        self._selector.unregister(newcomer.socket)
        game = shown(hello.game) or "a game"
        engine = f", Godot {shown(hello.godot)}" if hello.godot else ""
        self._log(f"{game} connected from {newcomer.peer} ({session.wire}{engine})")
        self._arrived.append(Connection(newcomer.socket, session, hello, newcomer.peer, newcomer.unsent))
        self._watch_the_door()

    def _show_out(self, newcomer: PendingConnection) -> None:
        """Sends the last words, and gives them a moment to arrive."""
        newcomer.leaves_at = time.monotonic() + _LEAVING_S
        self._send(newcomer)
        if not newcomer.unsent:
            newcomer.socket.shutdown(socket.SHUT_WR)

    def _send(self, newcomer: PendingConnection) -> None:
        if newcomer.session is not None:
            newcomer.unsent += newcomer.session.take_outgoing()
        with suppress(BlockingIOError):
            while newcomer.unsent:
                newcomer.unsent = newcomer.unsent[newcomer.socket.send(newcomer.unsent) :]

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        is_crowded = not self._is_open_to_more
        patience_s = self._limits.crowded_s if is_crowded else self._limits.handshake_s
        for newcomer in list(self._newcomers):
            if newcomer.leaves_at is not None:
                if now >= newcomer.leaves_at:
                    self._drop(newcomer)
            elif now - newcomer.since >= patience_s:
                self._refused = f"it did not say hello within {patience_s:g} s"
                self._tell(f"dropped {newcomer.peer}: {self._refused}")
                self._drop(newcomer)
            elif newcomer.session is None and now - newcomer.since >= _SILENT_S:
                self._guard(newcomer, self._greet)
            else:
                self._guard(newcomer, self._send)

    def _tell(self, line: str) -> None:
        """A line about a stranger, unless there have been many."""
        now = time.monotonic()
        if now - self._lines_since >= _LINES_S:
            if self._untold:
                self._log(f"{self._untold} more came and were sent away")
            self._lines, self._lines_since, self._untold = 0, now, 0
        if self._lines < _LINES:
            self._lines += 1
            self._log(line)
        else:
            self._untold += 1

    def _guard(self, newcomer: PendingConnection, act: Callable[[PendingConnection], None]) -> None:
        """A newcomer whose socket breaks is forgotten, and nobody else notices."""
        try:
            act(newcomer)
        except BlockingIOError:
            pass
        except OSError as error:
            self._tell(f"lost {newcomer.peer} before its hello: {error.strerror}")
            self._drop(newcomer)

    def _drop(self, newcomer: PendingConnection) -> None:
        if newcomer in self._newcomers:
            self._forget(newcomer)
            newcomer.socket.close()

    def _forget(self, newcomer: PendingConnection) -> None:
        self._newcomers.discard(newcomer)
        self._selector.unregister(newcomer.socket)
        self._watch_the_door()

    def _watch_the_door(self) -> None:
        """When the house is full, others wait outside, in the kernel's queue."""
        has_room = len(self._newcomers) + len(self._arrived) < self._limits.pending
        if has_room and not self._is_open_to_more:
            self._selector.register(self._socket, selectors.EVENT_READ)
        elif not has_room and self._is_open_to_more:
            self._selector.unregister(self._socket)
        self._is_open_to_more = has_room


def _godot_rl_session(limits: Limits) -> Session:
    from godojo.bridge.godot_rl import GodotRlSession  # the second wire is loaded by those who use it

    return GodotRlSession(limits)


def _listen(host: str, port: int, *, has_token: bool) -> socket.socket:
    if not 0 <= port <= 65535:
        raise GodojoError(f"a port is a number from 0 to 65535, not {port}")
    try:
        family, _, _, _, address = socket.getaddrinfo(host or "0.0.0.0", port, type=socket.SOCK_STREAM)[0]  # noqa: S104
    except (OSError, UnicodeError) as error:
        raise GodojoError(f"{host!r} is no address of this computer ({error}); take 127.0.0.1") from None
    is_loopback = ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
    if not is_loopback and not has_token:
        raise GodojoError(
            f"whoever reaches {host}:{port} could play along: listening beyond this computer needs a token "
            "(the game gets the same one in GODOJO_TOKEN); or listen on 127.0.0.1"
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
            cause = "another program listens there; end it, or take another port (0 takes a free one)"
        elif error.errno == errno.EACCES:
            cause = "the system does not allow it; take a port from 1024 on"
        else:
            cause = f"{error.strerror}; take 127.0.0.1"
        raise GodojoError(f"cannot listen on {host}:{port}: {cause}") from None
    return sock
