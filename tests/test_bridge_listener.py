"""Games that connect over real sockets: found, driven, lost and refused, always within a deadline."""

import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

from godojo.bridge.listener import Connection, Listener
from godojo.bridge.messages import Configure, ConnectionLost, GameRefused, Limits, PeerTimeout, Ready, WireError
from godojo.errors import GodojoError
from tests.dojo_client import DojoClient, Gone, PretendGame, play

CLIENT = Path(__file__).parent / "dojo_client.py"


@contextmanager
def game_process(listener: Listener, *words: str, token: str = "") -> Iterator["subprocess.Popen[bytes]"]:
    """A pretend game in a process of its own."""
    env = {**os.environ, "GODOJO_PORT": str(listener.port), "GODOJO_TOKEN": token}
    process = subprocess.Popen([sys.executable, str(CLIENT), *words], env=env)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[threading.Thread]:
    """Work that goes on beside the block, and must be over soon after it."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield thread
    thread.join(10)
    assert not thread.is_alive()


def pretend(port: int, game: PretendGame | None = None) -> None:
    with DojoClient(port) as client:
        client.hello()
        play(client, game)


def random_actions(ready: Ready, seed: int = 0) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [
        random.uniform(-1, 1, (ready.worlds, role.agents, role.action_size)).astype(np.float32) for role in ready.roles
    ]


def decide(connection: Connection, ready: Ready, times: int = 1) -> None:
    for number in range(times):
        connection.send_actions(random_actions(ready, number))
        connection.receive_step(10)


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener(port=0) as listener:
        yield listener


@contextmanager
def arrived(listener: Listener, name: str = "pretend") -> Iterator[tuple[DojoClient, Connection]]:
    """A game that has said hello and says nothing more by itself."""
    clients: list[DojoClient] = []

    def come() -> None:
        clients.append(DojoClient(listener.port))
        clients[0].hello(game=name)

    with beside(come):
        connection = listener.accept(10)
    with clients[0], connection:
        yield clients[0], connection


@contextmanager
def connected(
    listener: Listener, game: PretendGame | None = None, worlds: int = 4
) -> Iterator[tuple[Connection, Ready]]:
    with beside(lambda: pretend(listener.port, game)), listener.accept(10) as connection:
        yield connection, connection.configure(Configure(worlds), 10)


def test_a_game_is_played_step_by_step(listener: Listener) -> None:
    game = PretendGame(Configure(4))
    with connected(listener, game) as (connection, ready):
        assert connection.hello.game == "pretend"
        assert connection.peer.startswith("127.0.0.1:")
        for seed in (3, 4):
            first = connection.reset(seed, 10)
            np.testing.assert_array_equal(first.roles[0].observation[:, 0, 3], seed)
            for decision in range(1, 40):
                actions = random_actions(ready, decision)
                connection.send_actions(actions)
                step = connection.receive_step(10)
                assert step.sequence == decision
                for role, action in zip(step.roles, actions, strict=True):
                    np.testing.assert_array_equal(role.terms[..., 0], action.sum(axis=-1))
                    np.testing.assert_array_equal(role.observation[..., 0], decision)
                ended = set(step.ended[:, 0].tolist())
                assert ended == {world for world in range(4) if decision % (5 + world) == 0}
        connection.notice("thinking")


def test_big_messages_pass_each_other() -> None:
    """Larger than all buffers of the system, both ways at once: neither side waits for the other for ever."""
    game = PretendGame(Configure(64), agents=(8,), told=4000, done=4000)
    with Listener(port=0) as listener, connected(listener, game, worlds=64) as (connection, ready):
        connection.reset(1, 30)
        for decision in range(1, 4):
            connection.send_actions(random_actions(ready, decision))
            assert connection.receive_step(30).sequence == decision


def test_a_game_that_reads_late_does_not_lose_a_big_message(listener: Listener) -> None:
    game = PretendGame(Configure(64), agents=(8,), told=4, done=4000)

    def late() -> None:
        with DojoClient(listener.port) as client:
            client.hello()
            client.receive()
            client.send(game.ready)
            client.receive()
            client.send(game.layout.pack_step(game.reset(1)))
            time.sleep(0.3)
            play(client, game)

    with beside(late), listener.accept(10) as connection:
        ready = connection.configure(Configure(64), 10)
        connection.reset(1, 10)
        with pytest.raises(PeerTimeout, match="did not read"):
            connection.send_actions(random_actions(ready), timeout_s=0.05)
        assert connection.receive_step(10).sequence == 1


def test_a_silent_game_is_waited_for_no_longer_than_said(listener: Listener) -> None:
    with arrived(listener) as (_, connection), pytest.raises(PeerTimeout, match=r"within 0\.2 s"):
        connection.configure(Configure(1), 0.2)


def test_a_deadline_may_be_very_far_away(listener: Listener) -> None:
    with arrived(listener) as (client, connection):
        client.send(PretendGame(Configure(2)).ready)
        assert connection.configure(Configure(2), math.inf).worlds == 2


def test_a_step_that_comes_late_can_still_be_had(listener: Listener) -> None:
    with arrived(listener) as (client, connection):
        game = PretendGame(Configure(2))
        client.send(game.ready)
        connection.configure(Configure(2), 5)
        client.send(game.layout.pack_step(game.reset(1)))
        connection.reset(1, 5)
        actions = random_actions(game.ready)
        connection.send_actions(actions)
        with pytest.raises(PeerTimeout):
            connection.receive_step(0.05)
        with pytest.raises(GodojoError, match="expected to say a step"):
            connection.send_actions(actions)
        client.send(game.layout.pack_step(game.step(tuple(actions))))
        assert connection.receive_step(5).sequence == 1


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_game_that_is_killed_is_lost(listener: Listener, how: signal.Signals) -> None:
    with game_process(listener) as process, listener.accept(20) as connection:
        ready = connection.configure(Configure(2), 10)
        connection.reset(1, 10)
        process.send_signal(how)
        process.wait(10)
        with pytest.raises(ConnectionLost):
            decide(connection, ready, times=3)
        assert not connection.is_alive()
        with pytest.raises(ConnectionLost):  # and it stays lost
            connection.reset(1, 10)


def test_a_game_that_dies_while_it_is_waited_for_is_lost(listener: Listener) -> None:
    with game_process(listener, "--die-after", "3") as process, listener.accept(20) as connection:
        ready = connection.configure(Configure(2), 10)
        connection.reset(1, 10)
        decide(connection, ready, times=3)
        with pytest.raises(ConnectionLost):
            decide(connection, ready)
        assert process.wait(10) == 3


def test_a_game_that_babbles_is_sent_away(listener: Listener) -> None:
    with game_process(listener, "--babble-after", "2"), listener.accept(20) as connection:
        ready = connection.configure(Configure(2), 10)
        connection.reset(1, 10)
        decide(connection, ready, times=2)
        with pytest.raises(WireError, match="fewer than its header"):
            decide(connection, ready)


def test_a_game_that_refuses_is_quoted(listener: Listener) -> None:
    with (
        game_process(listener, "--refuse", "too many worlds: take 8"),
        listener.accept(20) as connection,
        pytest.raises(GameRefused, match="too many worlds: take 8"),
    ):
        connection.configure(Configure(9), 10)


def test_nobody_came(listener: Listener) -> None:
    with pytest.raises(PeerTimeout, match=rf"no game connected to 127\.0\.0\.1:{listener.port} within 0\.2 s$"):
        listener.accept(0.2)


def test_whoever_waits_may_stop_waiting(listener: Listener) -> None:
    class Died(Exception):
        pass

    def died() -> None:
        raise Died

    with pytest.raises(Died):
        listener.accept(10, until=died)


def test_several_games_connect_side_by_side(listener: Listener) -> None:
    with ExitStack() as all_of_them:
        pairs = [all_of_them.enter_context(arrived(listener, f"game{index}")) for index in range(5)]
        assert [connection.hello.game for _, connection in pairs] == [f"game{index}" for index in range(5)]
        assert len({connection.fileno() for _, connection in pairs}) == 5


def test_a_game_that_gave_up_waiting_is_not_handed_out(listener: Listener) -> None:
    def come_and_go() -> None:
        with DojoClient(listener.port) as client:
            client.hello(game="gone")

    with beside(come_and_go) as thread:
        while thread.is_alive():
            listener.poll(0.02)
    for _ in range(5):
        listener.poll(0.02)
    with arrived(listener, "here") as (_, connection):
        assert connection.hello.game == "here"


def test_a_port_in_use_is_named_with_the_cure(listener: Listener) -> None:
    with pytest.raises(GodojoError, match=rf"127\.0\.0\.1:{listener.port}.*another port"):
        Listener(port=listener.port)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"port": 70_000}, "0 to 65535"),
        ({"port": -1}, "0 to 65535"),
        ({"host": "no.such.host.invalid"}, "no address of this computer"),
        ({"host": "203.0.113.7", "token": "sesame"}, "cannot listen on 203.0.113.7"),
        ({"wire": "dojo/9"}, "godot_rl"),
        ({"wire": "any", "token": "sesame"}, "has no tokens"),
    ],
)
def test_what_cannot_be_listened_on_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(GodojoError, match=words):
        Listener(**{"port": 0, **options})  # type: ignore[arg-type]


def test_the_port_is_free_again_after_closing() -> None:
    with Listener(port=0) as listener:
        port = listener.port
    with Listener(port=port), pytest.raises(GodojoError, match="closed"):
        listener.poll()


def test_closing_leaves_no_socket_open() -> None:
    before = open_files()
    with Listener(port=0) as listener:
        half_open = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(5)]
        listener.poll(0.1)
        for _ in range(10):
            listener.poll()
    for sock in half_open:
        sock.close()
    assert open_files() == before


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0


def test_a_browser_gets_its_page_beside_a_game() -> None:
    lines: list[str] = []
    with (
        Listener(port=0, log=lines.append) as listener,
        socket.create_connection(("127.0.0.1", listener.port), timeout=10) as browser,
    ):
        browser.sendall(b"GET / HTTP/1.1\r\nHost: here\r\nConnection: keep-alive\r\n\r\n")
        with connected(listener) as (connection, _):
            connection.reset(1, 10)
        for _ in range(10):
            listener.poll(0.02)
        page = b""
        while data := browser.recv(65536):
            page += data
    assert page.startswith(b"HTTP/1.1 200 OK")
    assert page.endswith(b"</html>\n")
    assert b'rel="icon" href="data:,"' in page, "or a browser asks for an icon and is logged twice"
    (line,) = (line for line in lines if "browser" in line)
    assert line.startswith("a browser connected and got the page about this port (127.0.0.1:")
    assert line.count("\n") == 0


def other_wire(port: int) -> None:
    """A game of the other wire: it waits to be spoken to, answers one question, and stays until it is left."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        heard = b""
        while b"env_info" not in heard:
            heard += sock.recv(4096)
        info = {
            "type": "env_info",
            "n_agents": 1,
            "observation_space": {"obs": {"size": [3], "space": "box"}},
            "action_space": {"move": {"size": 2, "action_type": "continuous"}},
        }
        text = json.dumps(info).encode()
        sock.sendall(len(text).to_bytes(4, "little") + text)
        while sock.recv(4096):
            pass


def test_either_wire_is_recognised_by_who_speaks_first() -> None:
    with Listener(port=0, wire="any") as listener:
        with beside(lambda: other_wire(listener.port)), listener.accept(10) as connection:
            assert connection.wire == "godot_rl"
            ready = connection.configure(Configure(1), 10)
            assert ready.roles[0].observation_size == 3
        with connected(listener) as (connection, _):
            assert connection.wire == "dojo/1"
            assert connection.reset(1, 10).sequence == 0


def test_each_wire_alone() -> None:
    with (
        Listener(port=0, wire="godot_rl") as listener,
        beside(lambda: other_wire(listener.port)),
        listener.accept(10) as connection,
    ):
        assert connection.wire == "godot_rl"


def test_limits_can_be_set() -> None:
    game = PretendGame(Configure(64), told=1000)
    with (
        Listener(port=0, limits=Limits(message_bytes=100_000)) as listener,
        beside(lambda: pretend(listener.port, game)),
        listener.accept(10) as connection,
        pytest.raises(WireError, match="at most 100000"),
    ):
        connection.configure(Configure(64), 10)


def test_who_is_refused_is_told_why_and_named_when_nobody_comes() -> None:
    def knock(port: int, said: list[object]) -> None:
        with DojoClient(port) as client:
            client.hello("wrong")
            try:
                said.append(client.receive())
                client.receive()
            except Gone as error:
                said.append(error)

    said: list[object] = []
    with (
        Listener(port=0, token="sesame") as listener,
        beside(lambda: knock(listener.port, said)),
        pytest.raises(PeerTimeout, match=r"refused: the game's token is wrong.*GODOJO_TOKEN"),
    ):
        listener.accept(1)
    assert "token is wrong" in str(said[0])
    assert isinstance(said[1], Gone)
