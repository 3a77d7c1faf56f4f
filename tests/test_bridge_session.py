"""The conversation without sockets: whose turn it is, who is let in, and what ends it."""

import logging

import msgspec
import numpy as np
import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from godojo.bridge.codec import StepFrame
from godojo.bridge.messages import (
    MIB,
    Close,
    Configure,
    ConnectionLost,
    Control,
    GameRefused,
    HandshakeRejected,
    Hello,
    Limits,
    Notice,
    Ready,
    Reset,
    WireError,
    decode_control,
    encode_control,
)
from godojo.bridge.session import Closed, DojoSession, Visitor
from godojo.errors import GodojoError
from godojo.games.parts import ObservationPart
from tests.dojo_client import PretendGame

HELLO = Hello("dojo/1", "", "pretend", "4.6.3", "0.1.0")


class Pair:
    """A session and a game, joined by their hands."""

    def __init__(self, token: str | None = None, limits: Limits | None = None) -> None:
        self.session = DojoSession(token, limits)
        self.client = ClientProtocol(parse_uri("ws://127.0.0.1:8765/"), max_size=None)
        self.close_code: int | None = None

    def connect(self) -> None:
        self.client.send_request(self.client.connect())
        self.exchange()

    def exchange(self) -> list[Control | bytes]:
        """Moves all bytes there are, both ways; what the trainer said."""
        for data in self.client.data_to_send():
            self.session.feed(data)
        self.client.receive_data(self.session.take_outgoing())
        said: list[Control | bytes] = []
        for event in self.client.events_received():
            if isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                said.append(decode_control(bytes(event.data)))
            elif isinstance(event, Frame) and event.opcode is Opcode.BINARY:
                said.append(bytes(event.data))
        if self.client.close_rcvd is not None:
            self.close_code = self.client.close_rcvd.code
        return said

    def say(self, message: Control | bytes) -> list[Control | bytes]:
        if isinstance(message, bytes):
            self.client.send_binary(message)
        else:
            self.client.send_text(encode_control(message))
        return self.exchange()

    def event(self) -> object:
        assert self.session.events
        return self.session.events.popleft()

    def error(self) -> GodojoError:
        """What the conversation ended with."""
        event = self.event()
        assert isinstance(event, Closed), event
        assert not self.session.events
        assert self.session.closed
        return event.error

    def begin(self, worlds: int = 3) -> PretendGame:
        """Up to the point where the game has been described."""
        self.connect()
        self.say(HELLO)
        assert self.event() == HELLO
        self.session.configure(Configure(worlds))
        game = PretendGame(Configure(worlds))
        assert self.exchange() == [Configure(worlds)]
        self.say(game.ready)
        assert self.event() == game.ready
        return game

    def reset(self, game: PretendGame, seed: int = 7) -> None:
        self.session.reset(seed)
        assert self.exchange() == [Reset(seed)]
        self.say(game.layout.pack_step(game.reset(seed)))
        step = self.event()
        assert isinstance(step, StepFrame)
        assert step.sequence == 0


@pytest.fixture
def pair() -> Pair:
    return Pair()


def zeros(game: PretendGame) -> list[np.ndarray]:
    return [np.zeros((game.worlds, role.agents, role.action_size), np.float32) for role in game.layout.roles]


def test_a_whole_conversation(pair: Pair) -> None:
    game = pair.begin()
    for seed in (7, 8):
        pair.reset(game, seed)
        for decision in range(1, 30):
            pair.session.act(zeros(game))
            (data,) = pair.exchange()
            assert isinstance(data, bytes)
            number, actions = game.layout.unpack_actions(data)
            assert number == decision
            pair.say(game.layout.pack_step(game.step(actions)))
            step = pair.event()
            assert isinstance(step, StepFrame)
            assert step.sequence == decision
            np.testing.assert_array_equal(step.roles[1].observation, game.told(1, decision))
    pair.session.notice("learning")
    assert pair.exchange() == [Notice("learning")]
    pair.session.close("done")
    assert pair.exchange() == [Close("done")]
    assert pair.close_code == 1000
    assert isinstance(pair.error(), ConnectionLost)


def test_bytes_may_come_one_by_one(pair: Pair) -> None:
    pair.client.send_request(pair.client.connect())
    for data in pair.client.data_to_send():
        for number in data:
            pair.session.feed(bytes([number]))
    pair.exchange()
    pair.client.send_text(encode_control(HELLO))
    for data in pair.client.data_to_send():
        for number in data:
            pair.session.feed(memoryview(bytes([number])))
    assert pair.event() == HELLO


def test_a_message_may_come_in_pieces(pair: Pair) -> None:
    pair.connect()
    text = encode_control(HELLO)
    pair.client.send_text(text[:5], fin=False)
    pair.client.send_continuation(text[5:9], fin=False)
    pair.client.send_continuation(text[9:], fin=True)
    pair.exchange()
    assert pair.event() == HELLO


def test_nobody_pings_before_hello(pair: Pair) -> None:
    pair.connect()
    pair.client.send_ping(b"")
    pair.exchange()
    assert "before it said hello" in str(pair.error())


def test_too_many_pieces_are_refused() -> None:
    pair = Pair(limits=Limits(frames_per_message=10))
    pair.connect()
    pair.client.send_text(b"", fin=False)
    for _ in range(20):
        pair.client.send_continuation(b"", fin=False)
    pair.exchange()
    assert "pieces" in str(pair.error())


def test_pings_are_answered_and_a_flood_of_them_ends(pair: Pair) -> None:
    pair.begin()
    pair.session.feed(Frame(Opcode.PING, b"there?").serialize(mask=True))
    assert pair.session.take_outgoing() == Frame(Opcode.PONG, b"there?").serialize(mask=False)
    frame = Frame(Opcode.PING, b"").serialize(mask=True)
    for _ in range(70):
        pair.session.feed(frame * 1000)
        pair.session.take_outgoing()
    assert "pinged" in str(pair.error())


@pytest.mark.parametrize("protocol", ["dojo/2", "dojo", ""])
def test_another_protocol_is_refused_with_the_cure(pair: Pair, protocol: str) -> None:
    pair.connect()
    (said,) = pair.say(Hello(protocol))
    assert isinstance(said, HandshakeRejected)
    assert repr(protocol) in said.message
    assert "'dojo/1'" in said.message
    assert "addon" in said.message
    assert pair.close_code == 1008
    assert str(pair.error()) == said.message


@pytest.mark.parametrize("given", ["", "wrong", "Sesame", "sesame "])
def test_a_token_must_be_right(given: str) -> None:
    pair = Pair(token="sesame")
    pair.connect()
    (said,) = pair.say(Hello("dojo/1", given))
    assert isinstance(said, HandshakeRejected)
    assert "GODOJO_TOKEN" in said.message
    assert "sesame" not in said.message
    assert pair.close_code == 1008
    assert isinstance(pair.error(), WireError)


def test_the_right_token_is_believed_and_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    pair = Pair(token="sesame")
    pair.connect()
    pair.client.logger = logging.Logger("silent")
    pair.client.debug = False
    pair.say(Hello("dojo/1", "sesame", "tag"))
    hello = pair.event()
    assert hello == Hello("dojo/1", "", "tag")
    assert "sesame" not in caplog.text
    # The library cuts long frames in its log, so that a token may be missing there by luck: nothing is logged at all.
    assert not [record for record in caplog.records if record.name == "websockets.server"]


def test_a_browser_is_given_a_page(pair: Pair) -> None:
    pair.session.feed(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8765\r\nUser-Agent: Mozilla\r\n\r\n")
    answer = pair.session.take_outgoing().decode()
    assert answer.startswith("HTTP/1.1 200 OK\r\n")
    assert "DojoSync" in answer
    assert isinstance(pair.event(), Visitor)
    assert isinstance(pair.error(), ConnectionLost)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:8765"])
def test_a_web_page_is_refused(pair: Pair, origin: str) -> None:
    request = pair.client.connect()
    request.headers["Origin"] = origin
    pair.client.send_request(request)
    for data in pair.client.data_to_send():
        pair.session.feed(data)
    answer = pair.session.take_outgoing().decode()
    assert answer.startswith("HTTP/1.1 403 ")
    assert "web page" in answer
    assert "Origin" in str(pair.error())


@pytest.mark.parametrize(
    "data", [b"\x16\x03\x01\x02\x00\x01\r\n", b"POST / HTTP/1.1\r\n\r\n", b"GET /\r\n\r\n", b"x" * 9000 + b"\r\n"]
)
def test_what_is_not_a_request_is_told_so(pair: Pair, data: bytes) -> None:
    pair.session.feed(data)
    assert pair.session.take_outgoing().startswith(b"HTTP/1.1 400 ")
    assert isinstance(pair.error(), WireError)


def test_a_bad_websocket_request_is_refused(pair: Pair) -> None:
    pair.session.feed(b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
    assert pair.session.take_outgoing().startswith(b"HTTP/1.1 400 ")
    assert isinstance(pair.error(), WireError)


@pytest.mark.parametrize("message", [Ready(1, 4, ()), Reset(1), Configure(1), b"\x02\x00", Close("x")])
def test_nobody_plays_before_hello(pair: Pair, message: Control | bytes) -> None:
    pair.connect()
    said = pair.say(message)
    assert isinstance(said[-1], HandshakeRejected)
    assert isinstance(pair.error(), WireError)


def test_a_step_out_of_turn_is_refused(pair: Pair) -> None:
    game = pair.begin()
    pair.reset(game)
    pair.say(game.layout.pack_step(game.step(tuple(zeros(game)))))
    assert "expected to say nothing" in str(pair.error())
    with pytest.raises(ConnectionLost):
        pair.session.act(zeros(game))


def test_a_step_with_the_wrong_number_is_refused(pair: Pair) -> None:
    game = pair.begin()
    pair.reset(game)
    game.step(tuple(zeros(game)))
    pair.session.act(zeros(game))
    pair.say(game.layout.pack_step(game.step(tuple(zeros(game)))))
    assert "number 2" in str(pair.error())


def test_hello_twice_is_refused(pair: Pair) -> None:
    pair.connect()
    pair.say(HELLO)
    assert pair.event() == HELLO
    pair.say(HELLO)
    assert "'hello'" in str(pair.error())


def test_other_worlds_than_were_asked_for_are_refused(pair: Pair) -> None:
    pair.connect()
    pair.say(HELLO)
    pair.event()
    pair.session.configure(Configure(3))
    pair.say(PretendGame(Configure(4)).ready)
    assert "4 worlds, and 3 were requested" in str(pair.error())


def test_the_truth_is_refused_unless_it_was_asked_for(pair: Pair) -> None:
    pair.connect()
    pair.say(HELLO)
    pair.event()
    pair.session.configure(Configure(3))
    ready = PretendGame(Configure(3)).ready
    pair.say(msgspec.structs.replace(ready, truth=(ObservationPart("state", (2,)),)))
    assert "was not requested" in str(pair.error())


def test_the_games_own_words_are_told(pair: Pair) -> None:
    pair.connect()
    pair.say(HELLO)
    pair.event()
    pair.session.configure(Configure(3))
    pair.exchange()
    pair.say(HandshakeRejected("the scene has no agents\n: add one"))
    error = pair.error()
    assert isinstance(error, GameRefused)
    assert str(error) == "the game says: the scene has no agents?: add one"


def test_speaking_out_of_turn_is_our_own_mistake(pair: Pair) -> None:
    with pytest.raises(GodojoError, match="expected to say"):
        pair.session.configure(Configure(1))
    with pytest.raises(GodojoError, match="expected to say"):
        pair.session.reset(1)
    with pytest.raises(GodojoError, match="expected to say"):
        pair.session.act([])
    pair.connect()
    pair.say(HELLO)
    pair.event()
    with pytest.raises(GodojoError, match="configured first"):
        pair.session.reset(1)
    pair.session.configure(Configure(1))
    with pytest.raises(GodojoError, match="expected to say ready"):
        pair.session.reset(1)


@pytest.mark.parametrize("seed", [-1, 2**53])
def test_a_seed_fits_a_double(pair: Pair, seed: int) -> None:
    pair.begin()
    with pytest.raises(GodojoError, match="seed"):
        pair.session.reset(seed)


def test_before_hello_little_is_read(pair: Pair) -> None:
    pair.connect()
    pair.client.send_text(b'{"type":"hello","protocol":"' + b"x" * 20_000 + b'"}')
    pair.exchange()
    assert pair.close_code == 1009
    assert "16384 bytes" in str(pair.error())


def test_a_huge_frame_is_refused_by_its_header_alone(pair: Pair) -> None:
    pair.begin()
    pair.session.reset(1)
    pair.session.feed(b"\x82\xff" + (2**62).to_bytes(8, "big") + b"mask")
    assert f"{4 * MIB} bytes" in str(pair.error())


def test_the_end_of_the_stream_is_told(pair: Pair) -> None:
    pair.begin()
    pair.session.feed_end()
    assert isinstance(pair.error(), ConnectionLost)
    pair.session.feed_end()
    pair.session.feed(b"more")
    assert not pair.session.events


def test_a_close_frame_is_told_with_its_reason(pair: Pair) -> None:
    pair.begin()
    pair.client.send_close(1001, "the window was closed")
    pair.exchange()
    assert "the window was closed" in str(pair.error())


def test_a_long_reason_is_cut_to_fit_a_close_frame(pair: Pair) -> None:
    pair.begin()
    pair.session.close("ö" * 500)
    pair.exchange()
    assert pair.client.close_rcvd is not None
    assert pair.client.close_rcvd.reason == "ö" * 61


def test_numbers_go_round_without_meeting_a_reset(pair: Pair) -> None:
    game = pair.begin()
    pair.reset(game)
    pair.session._sequence = 2**32 - 2
    for wanted in (2**32 - 1, 1):
        pair.session.act(zeros(game))
        (data,) = pair.exchange()
        assert isinstance(data, bytes)
        assert game.layout.unpack_actions(data)[0] == wanted
        game.decision = wanted - 1
        pair.say(game.layout.pack_step(game.step(tuple(zeros(game)))))
        assert isinstance(pair.event(), StepFrame)
