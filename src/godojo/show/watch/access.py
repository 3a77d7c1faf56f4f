"""Access control for the page: tokens, origins, a limit of viewers, and timeouts for those who stall.

viser has none of these, and listens on loopback behind this proxy. No dependency can do it either: a WebSocket library
would decode and encode every frame for every viewer, while here bytes are forwarded as they are. Each connection
carries one request (the document, or the WebSocket), so checking its head is enough.
"""

import asyncio
import hmac
import ipaddress
import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from godojo.errors import GodojoError, option

MOST_VIEWERS = 64
HEAD_TIMEOUT_S = 10.0
STALL_TIMEOUT_S = 10.0
"""A viewer that reads nothing for so long is dropped; its page reconnects when it wakes."""
MAX_HEAD_BYTES = 16384
CHUNK = 65536
BUFFER_BYTES = 262144
"""Buffered for one slow viewer; beyond that the server skips outdated frames."""
COOKIE = "godojo_token"


def is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


class AccessProxy:
    """Listens on `host`:`port` and forwards to the server on loopback."""

    def __init__(self, host: str, port: int, inner_port: int, document: bytes, token: str = "") -> None:
        self.host, self.port, self.token = host, port, token
        self._document = document
        self.viewers = 0
        self.dropped = 0
        """Viewers that stalled and were dropped."""
        self._inner_port = inner_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gate", daemon=True)
        self._thread.start()
        try:
            listening = asyncio.run_coroutine_threadsafe(
                asyncio.start_server(self._meet, host, port, limit=MAX_HEAD_BYTES), self._loop
            )
            self._server = listening.result(HEAD_TIMEOUT_S)
        except (OSError, OverflowError) as error:
            self._end_loop()
            number = getattr(error, "errno", None)
            reason = os.strerror(number) if number else str(error)
            raise GodojoError(
                f"port {port} of {host} cannot be used ({reason}); choose another {option('port')}, or 0 for any free"
            ) from None
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        """The address for a browser."""
        host = {"0.0.0.0": "localhost", "::": "localhost"}.get(self.host, self.host)  # noqa: S104 - not bound here
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def close(self) -> None:
        async def end() -> None:
            self._server.close()
            for task in asyncio.all_tasks():
                if task is not asyncio.current_task():
                    task.cancel()

        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(end(), self._loop).result(HEAD_TIMEOUT_S)
        self._end_loop()

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(HEAD_TIMEOUT_S)
        if not self._thread.is_alive():
            self._loop.close()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection."""
        is_done = False
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_TIMEOUT_S)
            target, headers = _parsed(head)
            answer = self._answer(target, headers)
            if answer is not None:
                writer.write(answer)
                await asyncio.wait_for(writer.drain(), STALL_TIMEOUT_S)
            else:
                await self._forward(head, reader, writer)
            writer.close()
            await asyncio.wait_for(writer.wait_closed(), STALL_TIMEOUT_S)  # the rest is still being sent
            is_done = True
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # no HTTP, or the viewer has gone
        except asyncio.CancelledError:
            pass  # the proxy is being closed
        finally:
            if not is_done:
                writer.transport.abort()

    def _answer(self, target: str, headers: Mapping[str, str]) -> bytes | None:
        """The document, or why there is none; None for a viewer's websocket."""
        host, origin = headers.get("host", ""), headers.get("origin", "")
        # Another site's page in the same browser must not be able to look or to press buttons here.
        if origin and urlsplit(origin).netloc != host:
            return _said(HTTPStatus.FORBIDDEN, "this page answers to its own address only")
        if not self.token:
            name = urlsplit(f"//{host}").hostname or ""
            if not is_loopback(name):
                return _said(HTTPStatus.FORBIDDEN, "open this page as localhost")
        elif not hmac.compare_digest(_cookie(headers).encode(), self.token.encode()):
            given = parse_qs(urlsplit(target).query).get("token", [""])[0]
            if not hmac.compare_digest(given.encode(), self.token.encode()):
                return _said(HTTPStatus.UNAUTHORIZED, "open the page with the address that `godojo watch` printed")
            cookie = f"Set-Cookie: {COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/\r\nLocation: /\r\n"
            return _said(HTTPStatus.SEE_OTHER, "come in", cookie)
        if headers.get("upgrade", "").lower() != "websocket":
            if urlsplit(target).path != "/":
                return _said(HTTPStatus.NOT_FOUND, "there is only one page here, /")
            return _response(HTTPStatus.OK, "text/html", self._document)
        if self.viewers >= MOST_VIEWERS:
            return _said(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_VIEWERS} are watching already; try again later")
        return None

    async def _forward(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._inner_port)
        writer.transport.set_write_buffer_limits(high=BUFFER_BYTES)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
        self.viewers += 1
        ways = [
            asyncio.ensure_future(self._pump(reader, inner_writer)),
            asyncio.ensure_future(self._pump(inner_reader, writer)),
        ]
        try:
            inner_writer.write(head)
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in done:
                way.result()
        finally:
            self.viewers -= 1
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            inner_writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK):
            writer.write(data)
            try:
                await asyncio.wait_for(writer.drain(), STALL_TIMEOUT_S)
            except TimeoutError:
                self.dropped += 1
                raise


def _parsed(head: bytes) -> tuple[str, dict[str, str]]:
    """Target and headers; ValueError where it is no request."""
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, version = first.split(" ")
    if method != "GET" or not version.startswith("HTTP/1."):
        raise ValueError(first)
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return target, headers


def _cookie(headers: Mapping[str, str]) -> str:
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return ""


def _said(status: HTTPStatus, sentence: str, more: str = "") -> bytes:
    return _response(status, "text/plain", f"{sentence}\n".encode(), more)


def _response(status: HTTPStatus, kind: str, body: bytes, more: str = "") -> bytes:
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {kind}; charset=utf-8\r\n{more}"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
