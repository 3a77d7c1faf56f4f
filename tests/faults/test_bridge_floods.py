"""Half-open connections, oversized frames and floods: ended at the limit, while a good game plays on.

`benchmarks/bridge_floods.py` measures how much they slow it down.
"""

import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from websockets.frames import Frame, Opcode

from godojo.bridge.listener import Connection, Listener
from godojo.bridge.messages import Configure, Limits, PeerTimeout, Ready, WireError
from tests.dojo_client import DojoClient
from tests.faults.test_bridge_fuzz import REQUEST

CLIENT = Path(__file__).parent.parent / "dojo_client.py"
QUICK = Limits(handshake_s=0.6, crowded_s=0.3)


@contextmanager
def good_game(listener: Listener) -> Iterator[tuple[Connection, Ready]]:
    """A game in a process of its own, ready to be played."""
    env = {**os.environ, "GODOJO_PORT": str(listener.port)}
    process = subprocess.Popen([sys.executable, str(CLIENT)], env=env)
    try:
        with listener.accept(30) as connection:
            ready = connection.configure(Configure(64), 10)
            connection.reset(1, 10)
            yield connection, ready
    finally:
        process.kill()
        process.wait(10)


class Player:
    """Plays a good game, checks every frame, and looks after newcomers ten times a second, as a trainer does."""

    def __init__(self, listener: Listener, connection: Connection, ready: Ready) -> None:
        self.listener, self.connection = listener, connection
        self.actions = [np.zeros((64, role.agents, role.action_size), np.float32) for role in ready.roles]
        self.decision = 0
        self.polled = 0.0
        self.most_newcomers = 0

    def step(self) -> None:
        self.connection.send_actions(self.actions)
        step = self.connection.receive_step(10)
        self.decision += 1
        assert step.sequence == self.decision
        assert (step.roles[0].observation[..., 0] == self.decision).all()
        if time.monotonic() - self.polled > 0.1:
            self.listener.poll()
            self.most_newcomers = max(self.most_newcomers, len(self.listener._pending))
            self.polled = time.monotonic()


def half_open(port: int) -> None:
    """Connects, says nothing or half of something, and stays."""
    sock = socket.create_connection(("127.0.0.1", port), timeout=5)
    sock.sendall(REQUEST[: len(REQUEST) // 2])
    _kept.append(sock)
    if len(_kept) > 50:
        _kept.pop(0).close()


def oversized(port: int) -> None:
    """Announces a frame of four exabytes, and sends what it can."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        sock.sendall(REQUEST + b"\x82\xff" + (2**62).to_bytes(8, "big") + b"mask")
        with suppress(OSError):
            sock.sendall(b"x" * 100_000)


def flood(port: int) -> None:
    """Tiny frames and garbage without end."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock, suppress(OSError):
        sock.sendall(REQUEST + Frame(Opcode.PING, b"").serialize(mask=True) * 10_000)


_kept: list[socket.socket] = []
ATTACKS: dict[str, Callable[[int], None]] = {"half_open": half_open, "oversized": oversized, "flood": flood}


def attack(name: str, port: int, per_second: float) -> None:
    """Goes on until it is ended. Its pace is bounded: it is to cost us something, not to take the processor away."""
    while True:
        begun = time.monotonic()
        with suppress(OSError):
            ATTACKS[name](port)
        time.sleep(max(0.0, 1 / per_second - (time.monotonic() - begun)))


@contextmanager
def attacker(name: str, port: int) -> Iterator[int]:
    """A process that attacks; its number, to pause it and let it go on."""
    process = multiprocessing.get_context("spawn").Process(target=attack, args=(name, port, 50.0), daemon=True)
    process.start()
    try:
        assert process.pid is not None
        yield process.pid
    finally:
        process.kill()
        process.join(10)


@pytest.mark.parametrize("name", ATTACKS)
def test_a_good_game_plays_on(name: str) -> None:
    refused: list[str] = []
    with Listener(port=0, log=refused.append) as listener, good_game(listener) as (connection, ready):
        player = Player(listener, connection, ready)
        with attacker(name, listener.port):
            while not refused and not player.most_newcomers:  # until the attack has begun
                player.step()
            for _ in range(500):
                player.step()
        assert player.most_newcomers <= Limits().pending


def test_half_open_connections_are_dropped_at_the_limit() -> None:
    lines: list[str] = []
    with Listener(port=0, limits=QUICK, log=lines.append) as listener:
        socks = [socket.create_connection(("127.0.0.1", listener.port), timeout=10) for _ in range(40)]
        with pytest.raises(PeerTimeout, match="did not say hello"):
            listener.accept(2.0)
        assert len(listener._pending) == 0
        assert 1 <= sum("did not say hello" in line for line in lines) <= 20  # the log is not flooded either
        for sock in socks:
            assert sock.recv(100) == b""
            sock.close()


def test_a_good_game_gets_in_between_half_open_ones() -> None:
    with Listener(port=0, limits=QUICK) as listener:
        socks = [socket.create_connection(("127.0.0.1", listener.port), timeout=10) for _ in range(40)]
        with good_game(listener) as (connection, ready):
            assert ready.worlds == 64
            assert connection.is_alive()
        for sock in socks:
            sock.close()


def test_slow_drops_of_a_request_do_not_extend_the_limit() -> None:
    """A byte now and then is not a hello."""
    with Listener(port=0, limits=QUICK) as listener:
        sock = socket.create_connection(("127.0.0.1", listener.port), timeout=10)

        def drip() -> None:
            with suppress(OSError):
                for number in REQUEST:
                    sock.sendall(bytes([number]))
                    time.sleep(0.02)

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        begun = time.monotonic()
        while time.monotonic() - begun < 1.2:
            listener.poll(0.05)
        assert not listener._pending
        thread.join(20)
        sock.close()


@pytest.mark.parametrize("how", [oversized, flood])
def test_what_is_too_much_is_closed_at_once(how: Callable[[int], None]) -> None:
    lines: list[str] = []
    with Listener(port=0, log=lines.append) as listener:
        thread = threading.Thread(target=how, args=(listener.port,), daemon=True)
        thread.start()
        with pytest.raises(PeerTimeout):
            listener.accept(1.5)
        thread.join(10)
        assert not listener._pending
    assert any("refused" in line for line in lines), lines


def test_a_hello_that_never_ends_is_closed() -> None:
    """Many small messages or one large: what comes before the hello is counted altogether."""
    lines: list[str] = []
    with Listener(port=0, log=lines.append) as listener:
        sock = socket.create_connection(("127.0.0.1", listener.port), timeout=10)
        header = b"X-Filler: " + b"x" * 1000 + b"\r\n"

        def fill() -> None:
            with suppress(OSError):
                sock.sendall(REQUEST[:-2] + header * 60)

        thread = threading.Thread(target=fill, daemon=True)
        thread.start()
        with pytest.raises(PeerTimeout, match="16384 bytes before its hello"):
            listener.accept(1.5)
        thread.join(10)
        sock.close()


def test_a_game_that_floods_after_its_hello_is_sent_away() -> None:
    """It is known by then, and still believed only what it was asked for."""
    with Listener(port=0) as listener:

        def babble() -> None:
            with DojoClient(listener.port) as client:
                client.hello()
                data = Frame(Opcode.BINARY, b"x" * 1000).serialize(mask=True) * 1000
                with suppress(OSError):
                    for _ in range(50):
                        client.socket.sendall(data)

        thread = threading.Thread(target=babble, daemon=True)
        thread.start()
        with listener.accept(10) as connection, pytest.raises(WireError, match="expected to say"):
            connection.configure(Configure(1), 10)
        thread.join(10)
        assert not thread.is_alive()
