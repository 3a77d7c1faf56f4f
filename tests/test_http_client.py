"""The HTTP client against peers that answer wrongly, slowly or not at all."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from godojo.bridge.http import GameClient, HttpRefused
from godojo.bridge.messages import ConnectionLost, PeerTimeout, WireError
from godojo.errors import GodojoError

HEALTH = b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"status":"ok"}'
STATUS = b'{"game":"g","godot":"4","scene":null,"scenes":[],"driven":false,"uptime_s":1,"requests":1,"reloads":0}'


@contextmanager
def peer(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a peer that treats every connection like this."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                with line, suppress(OSError):
                    answer(line)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def saying(*answers: bytes) -> Callable[[socket.socket], None]:
    """One answer to each request, then the connection is closed."""

    def answer(line: socket.socket) -> None:
        for each in answers:
            if not line.recv(65536):
                return
            line.sendall(each)

    return answer


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (b"hello\r\n\r\n", WireError, "does not answer like a game"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", WireError, "SSH"),
        (b"HTTP/1.1 200 OK\r\n\r\n", WireError, "does not answer like a game"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", WireError, "does not answer like a game"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", WireError, "does not answer like a game"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", WireError, "99999999999 bytes"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 5000, WireError, "headers of more than"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}{}", WireError, "more bytes than it announces"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", WireError, "/status of .* cannot be read"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xff", WireError, "cannot be read"),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops", WireError, "cannot be read"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", ConnectionLost, "before its answer was whole"),
        (b"", ConnectionLost, "before its answer was whole"),
        (b'HTTP/1.1 404 No\r\nContent-Length: 29\r\n\r\n{"code":"a","message":"b\\nc"}', HttpRefused, r"404 a\): b\?c"),
    ],
)
def test_wrong_answers_are_one_line(answer: bytes, error: type[GodojoError], said: str) -> None:
    with peer(saying(answer)) as url, GameClient(url, timeout_s=5.0) as client:
        with pytest.raises(error, match=said) as raised:
            client.get_status()
        assert "\n" not in str(raised.value)


def test_a_slow_answer_has_a_deadline() -> None:
    """A byte now and then does not prolong it."""

    def drip(line: socket.socket) -> None:
        line.recv(65536)
        for byte in HEALTH:
            line.sendall(bytes([byte]))
            time.sleep(0.05)

    with peer(drip) as url, GameClient(url, timeout_s=0.3) as client:
        began = time.monotonic()
        with pytest.raises(PeerTimeout, match=r"within 0\.3 s"):
            client.get_status()
        assert time.monotonic() - began < 2.0
        assert not client.health_check()


def test_it_connects_again() -> None:
    """After an idle connection was closed, and after an answer that says so."""
    closing = HEALTH.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n")
    for answers in ((HEALTH,), (closing, b"never sent")):
        with peer(saying(*answers)) as url, GameClient(url, timeout_s=5.0) as client:
            for _ in range(3):
                assert client.health_check()
                time.sleep(0.05)  # the peer closes


def test_a_late_answer_is_not_taken_for_the_next_one() -> None:
    status = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(STATUS), STATUS)
    seen: list[bytes] = []

    def answer(line: socket.socket) -> None:
        seen.append(line.recv(65536))
        if len(seen) == 1:
            time.sleep(0.4)
        line.sendall(status if b"/status" in seen[-1] else HEALTH)

    with peer(answer) as url, GameClient(url, timeout_s=0.2) as client:
        assert not client.health_check()
        time.sleep(0.4)
        assert client.get_status().game == "g"


def test_one_request_at_a_time() -> None:
    with peer(saying(HEALTH)) as url, GameClient(url, timeout_s=1.0) as client:
        with pytest.raises(GodojoError, match="was not asked for anything"):
            client.finish_step()
        client.start_step([[0.0]])
        with pytest.raises(GodojoError, match="still owes an answer"):
            client.get_status()


def test_the_request_on_the_wire() -> None:
    seen: list[bytes] = []

    def answer(line: socket.socket) -> None:
        while received := line.recv(65536):
            seen.append(received)
            line.sendall(HEALTH)

    with peer(answer) as url, GameClient(f"{url}/games/1/", "secret", timeout_s=5.0) as client:
        client.health_check()
        with pytest.raises(WireError):
            client.load_scene("res://a.tscn")
        assert client.url == f"{url}/games/1"
    host = url.removeprefix("http://").encode()
    assert seen[0] == b"GET /games/1/health HTTP/1.1\r\nHost: " + host + b"\r\nAuthorization: Bearer secret\r\n\r\n"
    assert seen[1].endswith(b'\r\nContent-Length: 29\r\n\r\n{"scene_path":"res://a.tscn"}')


@pytest.mark.parametrize("token", ["a\r\nX: 1", "ü"])
def test_a_token_cannot_become_a_header(token: str) -> None:
    with pytest.raises(GodojoError, match="printable ASCII"):
        GameClient("http://127.0.0.1:1", token)


@pytest.mark.parametrize(
    "url", ["http://a b:1", "http://a:1/\r\nX: 1", "http://a:x", "http://[::1", "ftp://a", "http://a:0"]
)
def test_no_addresses(url: str) -> None:
    with pytest.raises(GodojoError, match="is no address"):
        GameClient(url)
