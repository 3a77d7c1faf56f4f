"""Who is not let in: no token, the wrong one, web pages, and a whole network; and the token is in no log."""

import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from godojo.bridge.listener import Listener
from godojo.bridge.messages import Configure, HandshakeRejected, PeerTimeout
from godojo.errors import GodojoError
from tests.dojo_client import DojoClient, Gone

CLIENT = Path(__file__).parent.parent / "dojo_client.py"
TOKEN = "correct-horse-battery-staple"


@contextmanager
def serving(lines: list[str], token: str | None = TOKEN) -> Iterator[Listener]:
    """A listener that looks after its newcomers beside the block, and must not have let in anybody."""
    done = threading.Event()
    with Listener(port=0, token=token, log=lines.append) as listener:
        found: list[object] = []

        def serve() -> None:
            while not done.is_set():
                try:
                    found.append(listener.accept(0.05))
                except PeerTimeout:
                    continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listener
        finally:
            done.set()
            thread.join(10)
        assert not found


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "\u0000", "é"])
def test_without_the_token_nobody_is_let_in(token: str) -> None:
    lines: list[str] = []
    with serving(lines) as listener, DojoClient(listener.port) as client:
        client.hello(token)
        said = client.receive()
        assert isinstance(said, HandshakeRejected)
        assert "GODOJO_TOKEN" in said.message
        with pytest.raises(Gone):
            client.receive()
    assert any("refused" in line and "token" in line for line in lines)
    assert TOKEN not in "\n".join([*lines, said.message])


@pytest.mark.parametrize("origin", ["https://example.org", "null", "http://localhost:8765", ""])
@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_web_page_is_not_let_in_even_without_a_token(origin: str, token: str | None) -> None:
    lines: list[str] = []
    with serving(lines, token) as listener, pytest.raises(Gone, match="403"):
        DojoClient(listener.port, origin=origin)
    assert any("web page" in line for line in lines)


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::"])
def test_the_network_is_not_let_in_without_a_token(host: str) -> None:
    with pytest.raises(GodojoError, match="needs a token"):
        Listener(host=host, port=0)
    with pytest.raises(GodojoError, match="needs a token"):
        Listener(host=host, port=0, token="")
    with pytest.raises(GodojoError, match="needs a token"):
        Listener(host=host, port=0, wire="godot_rl")


def test_the_network_is_let_in_with_a_token() -> None:
    with Listener(host="0.0.0.0", port=0, token=TOKEN) as listener:
        process = start_game(listener.port, TOKEN)
        try:
            with listener.accept(20) as connection:
                assert connection.configure(Configure(1), 10).worlds == 1
        finally:
            process.kill()
            process.wait(10)


def test_names_of_this_computer_are_no_network() -> None:
    for host in ("127.0.0.1", "localhost", "127.0.0.2"):
        with Listener(host=host, port=0):
            pass


def test_the_token_is_in_no_log_and_on_no_command_line(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    lines: list[str] = []
    with Listener(port=0, token=TOKEN, log=lines.append) as listener:
        process = start_game(listener.port, TOKEN)
        try:
            with listener.accept(20) as connection:
                words = Path(f"/proc/{process.pid}/cmdline")
                if words.exists():
                    assert TOKEN.encode() not in words.read_bytes()
                connection.configure(Configure(1), 10)
                connection.reset(1, 10)
                told = [repr(connection.hello), repr(connection), repr(vars(connection)), repr(listener)]
        finally:
            process.kill()
            process.wait(10)
    with pytest.raises(PeerTimeout) as silence, Listener(port=0, token=TOKEN, log=lines.append) as listener:
        knock_with_wrong_token(listener)
    assert len(lines) >= 2
    out, err = capfd.readouterr()
    everything = "\n".join([*lines, *told, str(silence.value), caplog.text, out, err])
    assert TOKEN not in everything
    assert not [record for record in caplog.records if record.name == "websockets.server"]


def knock_with_wrong_token(listener: Listener) -> None:
    def knock() -> None:
        with DojoClient(listener.port) as client:
            client.hello("wrong")
            client.receive()

    thread = threading.Thread(target=knock, daemon=True)
    thread.start()
    try:
        listener.accept(0.5)
    finally:
        thread.join(10)


def test_a_token_that_is_nearly_right_is_answered_like_any_other() -> None:
    lines: list[str] = []
    answers = set()
    with serving(lines) as listener:
        for token in ("x" * len(TOKEN), TOKEN[:-1] + "x"):
            with DojoClient(listener.port) as client:
                client.hello(token)
                answers.add(client.receive())
    assert len(answers) == 1


def start_game(port: int, token: str) -> "subprocess.Popen[bytes]":
    env = {**os.environ, "GODOJO_PORT": str(port), "GODOJO_TOKEN": token}
    return subprocess.Popen([sys.executable, str(CLIENT)], env=env)


def test_a_plain_socket_that_says_nothing_useful_is_not_let_in() -> None:
    lines: list[str] = []
    with serving(lines) as listener:
        for words in (b"hello\r\n\r\n", b"\x00\x00\x00\x00", b"SSH-2.0-OpenSSH_9.0\r\n"):
            with socket.create_connection(("127.0.0.1", listener.port), timeout=10) as sock:
                sock.sendall(words)
                sock.shutdown(socket.SHUT_WR)
                answer = b""
                while data := sock.recv(4096):
                    answer += data
                assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert len(lines) == 3
