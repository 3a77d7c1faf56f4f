"""One kept-alive HTTP/1.1 connection with deadlines, for small requests without pause.

A general client spends half a millisecond of processor time on each request, more than a game on its answer.
"""

import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from godojo.bridge.messages import MIB, ConnectionLost, PeerTimeout, WireError, shown
from godojo.errors import GodojoError

_MAX_HEAD = 16 * 1024
_MAX_BODY = 16 * MIB
_READ = 64 * 1024
_PORTS = {"http": 80, "https": 443}
_IDLE_S = 0.02
"""A connection that was silent for longer may have been closed meanwhile."""


class HttpConnection:
    """Connects at the first request, and again when the connection was closed in between.

    Sending a request and receiving its answer each take at most `timeout_s`. Failures raise ConnectionLost,
    PeerTimeout or WireError.
    """

    def __init__(self, url: str, headers: Mapping[str, str], *, timeout_s: float) -> None:
        try:
            place = urlsplit(url)
            self._host, port = place.hostname or "", place.port
        except (ValueError, TypeError, AttributeError) as error:
            raise GodojoError(f"{shown(str(url), 200)!r} is no address ({error})") from None
        is_plain = url.isascii() and url.isprintable() and " " not in url
        if place.scheme not in _PORTS or not self._host or port == 0 or not is_plain:
            raise GodojoError(f"{shown(str(url), 200)!r} is no address; one is like http://127.0.0.1:8080")
        self.url = f"{place.scheme}://{place.netloc.rpartition('@')[2]}{place.path}".rstrip("/")
        self._port = port or _PORTS[place.scheme]
        self._is_secure = place.scheme == "https"
        self._timeout_s = timeout_s
        self._path = place.path.rstrip("/")
        lines = {"Host": place.netloc.rpartition("@")[2], **headers}
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._socket: socket.socket | None = None
        self._deadline = self._used_at = 0.0
        self._is_waiting = False

    def send(self, method: str, path: str, body: bytes | None = None) -> None:
        """Sends a request; `receive` must follow."""
        if self._is_waiting:
            raise GodojoError(f"{self.url} still owes an answer: receive it before the next request")
        with self._closed_on_error():
            self._connected().sendall(self._request(method, path, body))
        self._is_waiting = True

    def receive(self) -> tuple[int, bytes]:
        """Status and body of the answer to the last request."""
        if not self._is_waiting:
            raise GodojoError(f"{self.url} was not asked for anything")
        self._is_waiting = False
        self._deadline = time.monotonic() + self._timeout_s
        with self._closed_on_error():
            status, answer, keeps_alive = self._answer()
        self._used_at = time.monotonic()
        if not keeps_alive:
            self.close()
        return status, answer

    def close(self) -> None:
        self._is_waiting = False
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        """What is still to come of a request that failed must not answer the next one."""
        try:
            yield
        except BaseException as error:
            self.close()
            if isinstance(error, TimeoutError):
                raise PeerTimeout(f"the game at {self.url} did not answer within {self._timeout_s:g} s") from None
            if isinstance(error, OSError):
                reason = error.strerror or error
                raise ConnectionLost(f"the game at {self.url} cannot be reached ({reason})") from None
            raise

    def _connected(self) -> socket.socket:
        if self._socket is not None and time.monotonic() - self._used_at > _IDLE_S and _has_ended(self._socket):
            self.close()
        if self._socket is None:
            self._socket = socket.create_connection((self._host, self._port), self._timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._is_secure:
                self._socket = ssl.create_default_context().wrap_socket(self._socket, server_hostname=self._host)
        return self._socket

    def _request(self, method: str, path: str, body: bytes | None) -> bytes:
        head = f"{method} {self._path}{path} HTTP/1.1\r\n{self._headers}"
        if body is None:
            return f"{head}\r\n".encode("ascii")
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode("ascii") + body

    def _answer(self) -> tuple[int, bytes, bool]:
        received = self._receive()
        while (end := received.find(b"\r\n\r\n")) < 0:
            if len(received) > _MAX_HEAD:
                raise WireError(f"{self.url} answers with headers of more than {_MAX_HEAD} bytes")
            received += self._receive_more()
        status, length, keeps_alive = self._head(received[:end])
        pieces = [received[end + 4 :]]
        missing = length - len(pieces[0])
        while missing > 0:
            pieces.append(self._receive_more())
            missing -= len(pieces[-1])
        if missing < 0:
            raise WireError(f"{self.url} answers with more bytes than it announces")
        return status, b"".join(pieces), keeps_alive

    def _head(self, head: bytes) -> tuple[int, int, bool]:
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = headers.get("content-length", "")
        if len(words) < 2 or not words[0].startswith("HTTP/1.") or not _is_count(words[1]) or not _is_count(length):
            raise WireError(f"{self.url} does not answer like a game with the HTTP API: {shown(first, 80)!r}")
        if int(length) > _MAX_BODY:
            raise WireError(f"{self.url} answers with {length} bytes, more than {_MAX_BODY}")
        return int(words[1]), int(length), words[0] == "HTTP/1.1" and headers.get("connection", "").lower() != "close"

    def _receive(self) -> bytes:
        assert self._socket is not None
        received = self._socket.recv(_READ)
        if not received:
            raise ConnectionLost(f"the game at {self.url} closed the connection before its answer was whole")
        return received

    def _receive_more(self) -> bytes:
        """Most answers come at once and need no more than the socket's own timeout; pieces share what is left of it."""
        assert self._socket is not None
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
        try:
            return self._receive()
        finally:
            self._socket.settimeout(self._timeout_s)


def _has_ended(line: socket.socket) -> bool:
    """Whether the peer closed the connection, or sent what nobody asked for."""
    timeout_s = line.gettimeout()
    line.settimeout(0)
    try:
        line.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        line.settimeout(timeout_s)
        return False
    except OSError:
        pass
    return True


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 15
