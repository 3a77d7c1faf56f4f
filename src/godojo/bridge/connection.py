"""A connected game: the blocking shell around a session. Every wait has a deadline."""

import copy
import select
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Self, TypeVar

import numpy as np

from godojo.bridge.codec import StepFrame
from godojo.bridge.messages import Configure, ConnectionLost, Hello, PeerTimeout, Plan, Ready, Status
from godojo.bridge.session import Closed, Session
from godojo.errors import GodojoError

_CHUNK = 256 * 1024
_SEND_S = 30.0
_LONGEST_S = 3600.0  # of one call to the system, which knows no endless numbers; the deadline itself may be later
_FAREWELL_S = 0.25
_Answer = TypeVar("_Answer", Ready, Plan, StepFrame)


class Connection:
    """A game that has said hello. Not thread-safe.

    Methods that send or receive raise ConnectionLost (GameRefused if the game said why), PeerTimeout (`receive_step`
    may be retried) or WireError (the game violated the protocol and was disconnected).
    """

    def __init__(self, sock: socket.socket, session: Session, hello: Hello, peer: str, unsent: bytes = b"") -> None:
        self.hello = hello
        """Without its token."""
        self.peer = peer
        """Address and port of the other end."""
        self.wire = session.wire
        self._socket, self._session = sock, session
        with suppress(OSError):  # Windows cannot
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, session.least_bytes)
        self._buffer = memoryview(bytearray(_CHUNK))
        self._unsent = memoryview(unsent)
        self._end: GodojoError | None = None

    def configure(self, request: Configure, timeout_s: float) -> Ready:
        """Configures the game, and waits for its description."""
        self._check_open()
        self._session.configure(request)
        return self._answer(Ready, timeout_s)

    def reset(self, seed: int, timeout_s: float) -> StepFrame:
        """Starts new rounds in all worlds; returns the first observations."""
        self._check_open()
        self._session.reset(seed)
        return self._answer(StepFrame, timeout_s)

    def send_actions(self, actions: Sequence[np.ndarray], timeout_s: float = _SEND_S) -> None:
        """Sends one decision for all worlds; `receive_step` waits for the answer."""
        self._check_open()
        self._session.act(actions)
        self._flush(timeout_s)

    def receive_step(self, timeout_s: float) -> StepFrame:
        """The answer to `send_actions`."""
        return self._answer(StepFrame, timeout_s)

    def ask_plan(self, epoch: int) -> None:
        """Asks a scene that drives the training for its plan of an epoch; `receive_plan` waits for the answer."""
        self._check_open()
        self._session.plan(epoch)
        self._flush(_SEND_S)

    def receive_plan(self, timeout_s: float) -> Plan:
        """The answer to `ask_plan`."""
        return self._answer(Plan, timeout_s)

    def notice(self, text: str, status: Status | None = None) -> None:
        """Shows a text, and how the training goes, to people who watch the game."""
        self._check_open()
        self._session.notice(text, status)
        self._flush(_SEND_S)

    def fileno(self) -> int:
        """For `select`: readable when the game has sent something, or is gone."""
        return self._socket.fileno()

    def is_alive(self) -> bool:
        """Whether the game is still connected, as far as is known without waiting."""
        if self._end is not None:
            return False
        try:
            self._socket.settimeout(0)
            return bool(self._socket.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self, reason: str = "the trainer is done") -> None:
        """Says goodbye and closes the socket. May be called twice; raises nothing."""
        if self._end is None:
            self._session.close(reason)
            self._let_go(ConnectionLost(f"the connection was closed: {reason}"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, kind: type[_Answer], timeout_s: float) -> _Answer:
        deadline = time.monotonic() + timeout_s
        while True:
            while self._session.events:
                event = self._session.events.popleft()
                if isinstance(event, kind):
                    return event
                if isinstance(event, Closed):
                    self._let_go(event.error)
            self._check_open()
            self._move(deadline, "the game did not answer", timeout_s)

    def _flush(self, timeout_s: float) -> None:
        """Sends everything. Reads meanwhile, so that two big messages do not block each other."""
        deadline = time.monotonic() + timeout_s
        self._send()
        while self._unsent and not self._session.closed:
            self._move(deadline, "the game did not read what was sent to it", timeout_s)

    def _move(self, deadline: float, complaint: str, timeout_s: float) -> None:
        """Waits until bytes can be sent or received, and moves them."""
        self._send()
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise PeerTimeout(f"{complaint} within {timeout_s:g} s")
        left_s = min(left_s, _LONGEST_S)
        if self._unsent:
            can_read, _ = wait_for(self._socket, left_s)
            if not can_read:
                return
        try:
            self._socket.settimeout(left_s)
            count = self._socket.recv_into(self._buffer)
        except TimeoutError:
            return
        except OSError as error:
            self._broke(error)
            return
        if count:
            self._session.feed(self._buffer[:count])
        else:
            self._session.feed_end()

    def _send(self) -> None:
        if not self._unsent:
            self._unsent = memoryview(self._session.take_outgoing())
            if not self._unsent:
                return
        try:
            self._socket.settimeout(0)
            while self._unsent:
                self._unsent = self._unsent[self._socket.send(self._unsent) :]
                if not self._unsent:
                    self._unsent = memoryview(self._session.take_outgoing())
        except BlockingIOError:
            pass
        except OSError as error:
            self._broke(error)

    def _broke(self, error: OSError) -> None:
        """The game is gone; reads why, if it said so."""
        self._unsent = memoryview(b"")
        with suppress(OSError):
            self._socket.settimeout(0)
            while not self._session.closed and (count := self._socket.recv_into(self._buffer)):
                self._session.feed(self._buffer[:count])
        if not self._session.closed:
            self._session.events.append(Closed(ConnectionLost(f"the connection to the game broke: {error.strerror}")))
            self._session.close("the connection broke")

    def _let_go(self, error: GodojoError) -> None:
        self._end = error
        send_close(self._socket, bytes(self._unsent) + self._session.take_outgoing())

    def _check_open(self) -> None:
        if self._end is not None:
            raise copy.copy(self._end)


def wait_for(sock: socket.socket, timeout_s: float) -> tuple[bool, bool]:
    """Waits until the socket can be read or written; returns both."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(sock, select.POLLIN | select.POLLOUT)
        found = poll.poll(max(timeout_s, 0) * 1000)
        events = found[0][1] if found else 0
        return bool(events & ~select.POLLOUT), bool(events & select.POLLOUT)
    readable, writable, _ = select.select([sock], [sock], [], max(timeout_s, 0))
    return bool(readable), bool(writable)


def send_close(sock: socket.socket, last_words: bytes) -> None:
    """Sends the last words and closes. Reads for a moment first: closing a socket with unread bytes resets the
    connection, and the last words are lost."""
    with suppress(OSError):
        sock.settimeout(_FAREWELL_S)
        if last_words:
            sock.sendall(last_words)
        sock.shutdown(socket.SHUT_WR)
        deadline = time.monotonic() + _FAREWELL_S
        while (left_s := deadline - time.monotonic()) > 0:
            sock.settimeout(left_s)
            if not sock.recv(_CHUNK):
                break
    sock.close()
