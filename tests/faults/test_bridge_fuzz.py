"""Generated inputs: whatever a game sends, only the documented errors follow, and others lose nothing."""

import struct
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from websockets.frames import Frame, Opcode

from godojo.bridge.codec import StepFrame, StepLayout
from godojo.bridge.messages import (
    Configure,
    ConnectionLost,
    GameRefused,
    HandshakeRejected,
    Hello,
    Ready,
    Reset,
    WireError,
    decode_control,
    encode_control,
)
from godojo.bridge.session import Closed, DojoSession, Visitor
from tests.dojo_client import PretendGame
from tests.nightly import repeats

REQUEST = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8765\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
STEPS, CONTROLS = repeats(4_000, nightly=40_000), repeats(3_000, nightly=30_000)
ACTIONS, STREAMS = repeats(1_000, nightly=10_000), repeats(2_000, nightly=20_000)

Random = np.random.Generator
_SPECIAL_U32 = (0, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 3, 255)
_SPECIAL_VALUES: tuple[object, ...] = (
    None, True, -1, 0, 0.5, 1e308, 2**63, 10**30, "", "x" * 65, "\x00", "💥", [], {}, [[]], {"a": {}}, [None] * 100
)  # fmt: skip


def spoil(random: Random, data: bytes) -> bytes:
    """The same bytes after something went wrong with them."""
    spoilt = bytearray(data)
    for _ in range(random.integers(1, 4)):
        place = int(random.integers(0, len(spoilt) + 1))
        match int(random.integers(0, 6)):
            case 0:
                del spoilt[place:]
            case 1:
                spoilt[place:place] = random.bytes(int(random.integers(1, 20)))
            case 2 if place < len(spoilt):
                spoilt[place] ^= 1 << int(random.integers(0, 8))
            case 3 if len(spoilt) >= 4:  # a word: a length that lies, a NaN, a row that is not there
                aligned = min(place // 4 * 4, len(spoilt) - 4)
                struct.pack_into("<I", spoilt, aligned, random.choice(_SPECIAL_U32))
            case 4:
                del spoilt[place : place + int(random.integers(1, 9))]
            case 5 if len(spoilt) >= 24:  # the counts in the header of a step
                struct.pack_into("<I", spoilt, int(random.choice([4, 12, 16, 20])), random.choice(_SPECIAL_U32))
    return bytes(spoilt)


def spoil_message(random: Random, message: object) -> bytes:
    """A message with another value somewhere in it, or with broken text."""
    tree = msgspec.json.decode(msgspec.json.encode(message))
    match int(random.integers(0, 4)):
        case 0:
            return spoil(random, msgspec.json.encode(tree))
        case 1:
            depth = int(random.integers(1, 3000))
            return b'{"type":"configure","worlds":1,"options":{"deep":' + b"[" * depth + b"]" * depth + b"}}"
        case _:
            holder, key = pick(random, tree)
            holder[key] = _SPECIAL_VALUES[random.integers(0, len(_SPECIAL_VALUES))]
            return msgspec.json.encode(tree)


def pick(random: Random, tree: object) -> tuple[Any, Any]:
    """A place in a tree of lists and dictionaries."""
    places: list[tuple[Any, Any]] = []

    def walk(node: object) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                places.append((node, key))
                walk(value)
        elif isinstance(node, list):
            for index, value in enumerate(node):
                places.append((node, index))
                walk(value)

    walk(tree)
    return places[random.integers(0, len(places))]


class GoodGame:
    """A conversation beside all this, which must go on as if nothing had happened."""

    def __init__(self) -> None:
        self.session, self.game = DojoSession(), PretendGame(Configure(2))
        self.session.feed(REQUEST)
        self._say(Opcode.TEXT, encode_control(Hello("dojo/1")))
        self.session.configure(Configure(2))
        self._say(Opcode.TEXT, encode_control(self.game.ready))
        self.session.reset(5)
        self._say(Opcode.BINARY, self.game.layout.pack_step(self.game.reset(5)))
        self.session.events.clear()
        self.steps = 0

    def step(self) -> None:
        self.session.take_outgoing()
        roles = self.game.layout.roles
        actions = tuple(np.full((2, role.agents, role.action_size), self.steps, np.float32) for role in roles)
        self.session.act(actions)
        self._say(Opcode.BINARY, self.game.layout.pack_step(self.game.step(actions)))
        self.steps += 1
        (step,) = self.session.events
        self.session.events.clear()
        assert isinstance(step, StepFrame)
        assert step.sequence == self.steps
        np.testing.assert_array_equal(step.roles[1].terms[..., 0], 3 * (self.steps - 1))

    def _say(self, opcode: Opcode, data: bytes) -> None:
        self.session.feed(Frame(opcode, data).serialize(mask=True))


@pytest.fixture
def beside() -> Iterator[Callable[[int], None]]:
    """Called with the number of each input; plays on now and then, and counts at the end."""
    good = GoodGame()
    asked = 0

    def play_on(number: int) -> None:
        nonlocal asked
        if number % 50 == 0:
            good.step()
            asked += 1

    yield play_on
    assert good.steps == asked > 10


def played_step(game: PretendGame, random: Random) -> StepFrame:
    """A step of the game, often one in which worlds ended."""
    game.reset(1)
    actions = tuple(np.zeros((game.worlds, role.agents, role.action_size), np.float32) for role in game.layout.roles)
    step = game.step(actions)
    for _ in range(int(random.integers(0, 8))):
        step = game.step(actions)
    return step


def test_steps(beside: Callable[[int], None]) -> None:
    random = np.random.default_rng(10)
    game = PretendGame(Configure(3), told=4)
    steps = [played_step(game, random) for _ in range(16)]
    packed = [game.layout.pack_step(step) for step in steps]
    refused = 0
    for number in range(STEPS):
        which = number % len(steps)
        try:
            step = game.layout.unpack_step(spoil(random, packed[which]), steps[which].sequence)
        except WireError as error:
            refused += 1
            assert_a_line(error)
        else:
            assert_sound(game.layout, step)
        beside(number)
    assert refused > STEPS / 2


def test_control_messages(beside: Callable[[int], None]) -> None:
    random = np.random.default_rng(11)
    messages = [
        PretendGame(Configure(3)).ready,
        Hello("dojo/1", "token", "tag", "4.6.3", "0.1.0"),
        Configure(3, 4, {"settings": {"speed": 1.5}, "arenas": ["yard"]}),
        Reset(3),
        HandshakeRejected("no"),
    ]
    refused = 0
    for number in range(CONTROLS):
        try:
            message = decode_control(spoil_message(random, messages[number % len(messages)]))
        except WireError as error:
            refused += 1
            assert_a_line(error)
        else:
            if isinstance(message, Ready):
                try:  # what is believed can be laid out, or is too big, and is never made
                    StepLayout(message)
                except WireError as error:
                    assert_a_line(error)
        beside(number)
    assert refused > CONTROLS / 4


def test_actions(beside: Callable[[int], None]) -> None:
    random = np.random.default_rng(12)
    game = PretendGame(Configure(3))
    packed = game.layout.pack_actions(9, [np.ones((3, role.agents, role.action_size)) for role in game.layout.roles])
    for number in range(ACTIONS):
        try:
            _, actions = game.layout.unpack_actions(spoil(random, packed))
            assert all(np.isfinite(action).all() for action in actions)
        except WireError as error:
            assert_a_line(error)
        beside(number)


def test_whole_conversations(beside: Callable[[int], None]) -> None:
    """Streams of bytes, cut anywhere, with something wrong in the request, in a frame or between frames."""
    random = np.random.default_rng(13)
    game = PretendGame(Configure(2), told=4)
    ends: dict[type, int] = {}
    for number in range(STREAMS):
        ending = converse(random, game)
        ends[ending] = ends.get(ending, 0) + 1
        beside(number)
    assert ends.get(WireError, 0) > STREAMS / 4, ends
    assert ends.get(ConnectionLost, 0) > STREAMS / 200, ends
    assert ends.get(GameRefused, 0) > STREAMS / 2000, ends


def converse(random: Random, game: PretendGame) -> type:
    """One conversation with something wrong in it; the kind of error it ended with."""
    session = DojoSession()
    frames = [
        REQUEST,
        Frame(Opcode.TEXT, encode_control(Hello("dojo/1"))).serialize(mask=True),
        Frame(Opcode.TEXT, encode_control(game.ready)).serialize(mask=True),
        Frame(Opcode.BINARY, game.layout.pack_step(game.reset(1))).serialize(mask=True),
    ]
    wrong_at = int(random.integers(0, len(frames)))
    for place, frame in enumerate(frames):
        data = wrong(random, frame, game) if place == wrong_at else frame
        cut = int(random.integers(0, len(data) + 1))
        session.feed(data[:cut])
        session.feed(data[cut:])
        session.take_outgoing()
        for event in session.events:
            assert isinstance(event, Hello | Ready | StepFrame | Visitor | Closed)
        if session.closed:
            break
        if place == 1 and isinstance(session.events[-1] if session.events else None, Hello):
            session.configure(Configure(2))
        if place == 2 and isinstance(session.events[-1] if session.events else None, Ready):
            session.reset(1)
    session.feed_end()
    last = session.events[-1]
    assert isinstance(last, Closed)
    assert [isinstance(event, Closed) for event in session.events].count(True) == 1
    assert_a_line(last.error)
    return type(last.error)


def wrong(random: Random, frame: bytes, game: PretendGame) -> bytes:
    match int(random.integers(0, 6)):
        case 0:
            return spoil(random, frame)
        case 1:
            return random.bytes(int(random.integers(0, 200)))
        case 2:
            message = spoil_message(random, game.ready)
            return Frame(Opcode.TEXT, message).serialize(mask=True)
        case 3:
            step = spoil(random, game.layout.pack_step(game.reset(1)))
            return Frame(Opcode.BINARY, step).serialize(mask=True)
        case 4:
            return Frame(Opcode.TEXT, encode_control(HandshakeRejected("I cannot"))).serialize(mask=True)
        case _:
            return frame + frame


def assert_a_line(error: Exception) -> None:
    said = str(error)
    assert said.isprintable(), said
    assert len(said) < 1200


def assert_sound(layout: StepLayout, step: StepFrame) -> None:
    assert ((step.ended[:, 0] >= 0) & (step.ended[:, 0] < layout.worlds)).all()
    for shape, role in zip(layout.roles, step.roles, strict=True):
        assert role.observation.shape == (layout.worlds, shape.agents, shape.observation_size)
        for numbers in (role.observation, role.terms, role.final_observation, role.final_terms, role.final_score):
            assert np.isfinite(numbers).all()
        ended = role.terminated | role.truncated
        ended[step.ended[:, 0]] = True
        assert sorted(role.final_rows.tolist()) == np.flatnonzero(ended).tolist()
