"""A game that calls a trainer and meets somebody else: it must hang up with a sentence, and never stumble."""

import base64
import hashlib
import json
import re
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from godojo.bridge.listener import Listener
from godojo.bridge.messages import Configure
from tests.addon_games import COUNTING, PATIENCE_S, no_actions, playing

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.usefixtures("engine"), pytest.mark.timeout(240)]

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONFIGURE = {"type": "configure", "worlds": 2, "ticks_per_decision": None, "options": {}}
RESET = {"type": "reset", "seed": 1}
ACTIONS = 2 * 2 + 2 * 2 * 2


def frame(kind: int, content: bytes, *, first: int = 0x80, mask: int = 0) -> bytes:
    size = len(content)
    short = size if size < 126 else 126 if size < 65536 else 127
    length = b"" if size < 126 else struct.pack(">H", size) if size < 65536 else struct.pack(">Q", size)
    return bytes([first | kind, mask | short]) + length + content


def text(*messages: Any) -> bytes:
    return b"".join(frame(1, m if isinstance(m, bytes) else json.dumps(m).encode()) for m in messages)


def actions(sequence: int = 1, numbers: int = ACTIONS, value: float = 0.0, kind: int = 1) -> bytes:
    return frame(2, struct.pack("<BBHI", kind, 0, 0, sequence) + struct.pack("<f", value) * numbers)


def configure(**changes: Any) -> bytes:
    return text({**CONFIGURE, **changes})


BEGIN = text(CONFIGURE, RESET)
# Sent instead of the answer to the call.
NO_TRAINERS = {
    "silence and a closed door": b"",
    "not HTTP": b"\x00\xff" * 50,
    "a web server": b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
    "a wrong proof": b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: bm8=\r\n\r\n",
    "an endless answer": b"HTTP/1.1 101 Switching Protocols\r\n" + b"X: y\r\n" * 20_000,
}
# Sent after a proper answer, and what the game makes of it.
BAD_TRAINERS = {
    "half a frame": (b"\x82", "left without a word"),
    "a masked frame": (frame(1, b"\0\0\0\0{}", mask=0x80), "does not speak WebSocket"),
    "reserved bits": (frame(1, b"{}", first=0xF0), "does not speak WebSocket"),
    "an unknown opcode": (frame(5, b"{}"), "does not speak WebSocket"),
    "a long ping": (frame(9, b"x" * 200), "does not speak WebSocket"),
    "a length beyond all bounds": (b"\x82\x7f" + b"\xff" * 8, "is longer than"),
    "a length of a terabyte": (b"\x82\x7f" + struct.pack(">Q", 1 << 40), "is longer than"),
    "endless pieces": (frame(1, b"x" * 60_000, first=0) + frame(0, b"x" * 60_000, first=0) * 300, "is longer than"),
    "pings without end": (frame(9, b"x" * 100) * 5_000, "left without a word"),
    "no UTF-8": (text(b'{"type":"notice","text":"\xff\xfe"}'), "no JSON object"),
    "the character 0": (text(b'{"type":"notice","text":"\\u0000"}'), "no JSON object"),
    "no JSON": (text(b"{"), "no JSON object"),
    "a huge number": (text(b'{"type":"reset","seed":1e999}'), "no JSON object"),
    "a list": (text([1]), "no JSON object"),
    "a deep nest": (text(b"[" * 100_000), "no JSON object"),
    "no type": (text({}), "unknown type"),
    "a number as type": (text({"type": 5}), "unknown type"),
    "an unknown type": (text({"type": "dance"}), "unknown type"),
    "a hello": (text({"type": "hello"}), "unknown type"),
    "no worlds": (configure(worlds=0), "number of worlds"),
    "too many worlds": (configure(worlds=1e9), "number of worlds"),
    "worlds in words": (configure(worlds="two"), "number of worlds"),
    "half a world": (configure(worlds=1.5), "number of worlds"),
    "no ticks": (configure(ticks_per_decision=0), "ticks_per_decision"),
    "options in a list": (configure(options=[]), "options must be"),
    "actions after another configure": (BEGIN + text(CONFIGURE) + actions(), "before a reset"),
    "an epoch without number": (BEGIN + text({"type": "epoch", "epoch": "last"}), "an epoch has no number"),
    "an epoch too early": (text({"type": "epoch", "epoch": 0}), "before the worlds were configured"),
    "a reset too early": (text(RESET), "before the worlds were configured"),
    "a reset without seed": (text(CONFIGURE, {"type": "reset"}), "has no seed"),
    "a seed below zero": (text(CONFIGURE, {"type": "reset", "seed": -1}), "has no seed"),
    "actions too early": (actions(), "before a reset"),
    "actions after configure only": (text(CONFIGURE) + actions(), "before a reset"),
    "too few actions": (BEGIN + actions(numbers=3), "bytes instead of"),
    "too many actions": (BEGIN + actions(numbers=100_000), "bytes instead of"),
    "nothing at all": (BEGIN + frame(2, b""), "bytes instead of"),
    "a step instead": (BEGIN + actions(kind=2), "no actions frame"),
    "the wrong number": (BEGIN + actions(2), "number 2 came instead of 1"),
    "NaN": (BEGIN + actions(value=float("nan")), "not a number"),
    "infinity": (BEGIN + actions(value=float("-inf")), "not a number"),
    "huge numbers, then gone": (BEGIN + actions(value=3e38), "left without a word"),
    "a refusal": (text({"type": "error", "message": "go home"}), "the trainer says: go home"),
    "goodbye": (frame(8, struct.pack(">H", 1000) + b"bye"), "hung up: bye"),
    "goodbye in no UTF-8": (frame(8, struct.pack(">H", 1000) + b"\xff"), "hung up"),
}


def call(server: socket.socket) -> tuple[socket.socket, bytes]:
    """The next call of the game, and what it asks for."""
    visitor, _ = server.accept()
    visitor.settimeout(PATIENCE_S)
    request = b""
    while b"\r\n\r\n" not in request:
        request += visitor.recv(4096)
    return visitor, request


def answered(server: socket.socket) -> socket.socket:
    """The next call of the game, answered as it should be."""
    visitor, request = call(server)
    key = re.search(rb"Sec-WebSocket-Key: (\S+)", request)
    assert key is not None
    proof = base64.b64encode(hashlib.sha1(key[1] + GUID, usedforsecurity=False).digest())
    answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    visitor.sendall(answer + b"Sec-WebSocket-Accept: " + proof + b"\r\n\r\n")
    return visitor


def say(visitor: socket.socket, bad: bytes) -> None:
    """Says this to the game, and listens until it hangs up."""
    with visitor, suppress(OSError):
        visitor.sendall(bad)
        visitor.shutdown(socket.SHUT_WR)
        while visitor.recv(65536):
            pass


def test_whoever_pings_and_does_not_listen_is_left(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_S)
        with playing(tmp_path / "log", COUNTING, str(server.getsockname()[1])) as game:
            visitor = answered(server)
            with visitor, suppress(OSError):
                while "gone" not in game.output:
                    visitor.sendall(frame(9, b"x" * 100) * 1000)
            assert "it does not read what it is sent" in game.wait_for("gone")


def test_no_stranger_upsets_the_game(tmp_path: Path) -> None:
    """One game meets them all, one after the other; after them it plays with a good trainer as if nothing had been."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_S)
        port = server.getsockname()[1]
        with playing(tmp_path / "log", COUNTING, str(port)) as game:
            for bad in NO_TRAINERS.values():
                say(call(server)[0], bad)
            assert game.output.strip() == ""
            for name, (bad, want) in BAD_TRAINERS.items():
                said_before = len(game.output)
                say(answered(server), bad)
                lines = game.wait_for("the trainer is gone", said_before)
                assert want in lines, f"{name}: {lines}"
                assert lines.count("\n") == 2, f"{name}: {lines}"
            server.close()
            with Listener(port=port) as listener, listener.accept(PATIENCE_S) as connection:
                ready = connection.configure(Configure(2), PATIENCE_S)
                connection.reset(1, PATIENCE_S)
                connection.send_actions(no_actions(ready))
                assert connection.receive_step(PATIENCE_S).sequence == 1
