"""Whatever comes on the godot_rl wire, only documented errors come of it, and every step that passes is sound."""

import copy
import json
import random
import struct
from typing import Any

import numpy as np
import pytest

from godojo.bridge.codec import StepFrame
from godojo.bridge.godot_rl import GodotRlSession
from godojo.bridge.messages import Configure, Limits, Ready, WireError
from godojo.bridge.session import Closed
from tests.dojo_client import GameLayout
from tests.nightly import repeats

CONVERSATIONS = repeats(250, nightly=2500)
INFO = {
    "type": "env_info",
    "observation_space": [
        {"obs": {"size": [2], "space": "box"}, "eye_2d": {"size": [1.0, 2.0, 2.0], "space": "box"}},
        {"obs": {"size": [2, 2], "space": "box"}, "level": {"size": 3, "space": "discrete"}},
    ],
    "action_space": [
        {"move": {"size": 2, "action_type": "continuous"}},
        {"look": {"size": 3, "action_type": "discrete"}, "push": {"size": 1, "action_type": "continuous"}},
    ],
    "n_agents": 2,
    "agent_policy_names": ["runner", "guard"],
}
SEEN = [{"obs": [0.5, True], "eye_2d": "00ff7f01"}, {"obs": [[1, 2], [3, 4]], "level": 2}]
ENDS = {"TimeLimit.truncated": True, "terminal_observation": SEEN[0]}
STEP = {"type": "step", "obs": SEEN, "reward": [1.5, -1], "done": [True, False], "info": [ENDS, {}]}
RESET = {"type": "reset", "obs": SEEN, "info": [{}, {}]}
ODD: list[Any] = [
    None, True, -1, 0, 1.5, 36.0, 1e38, 1e39, -1e308, 2**63, 2**64, 10**30, "", "2d", "zz", "é", "\ud800", "0" * 9,
    [], [[]], [[1], [1, 2]], {}, {"obs": 1}, {"size": [1e9], "space": "box"}, [None] * 3, "step", "reset", "error",
]  # fmt: skip


def frame(text: bytes) -> bytes:
    return struct.pack("<I", len(text)) + text


def places(message: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a message, as the keys that lead there."""
    found = [path] if path else []
    items = message.items() if isinstance(message, dict) else enumerate(message) if isinstance(message, list) else []
    for key, value in items:
        found += places(value, (*path, key))
    return found


def spoilt(message: Any, chance: random.Random) -> bytes:
    """The message as bytes, with something wrong in it, or nothing."""
    message = json.loads(json.dumps(message))
    for _ in range(chance.choice((0, 1, 1, 2, 5))):
        if not (found := places(message)):
            break
        *way, last = chance.choice(found)
        inner = message
        for key in way:
            inner = inner[key]
        if chance.random() < 0.3:
            del inner[last]
        else:
            inner[last] = copy.deepcopy(chance.choice(ODD))
    text = bytearray(json.dumps(message).encode())
    kind = chance.random()
    if kind < 0.1:
        text = text[: chance.randrange(len(text))]
    elif kind < 0.3:
        for _ in range(chance.randint(1, 4)):
            text[chance.randrange(len(text))] = chance.choice(b'{}[]":,0e9.-\x00\xff\\nNiu')
    elif kind < 0.35:
        at = chance.randrange(len(text))
        text[at:at] = chance.choice((b"[" * 3000, b"NaN", b"1e99999", b'{"a":' * 2000, b"Infinity"))
    data = frame(bytes(text))
    if chance.random() < 0.05:
        data = struct.pack("<I", chance.choice((0, 1, 7, len(text) + 1, 2**31, 2**32 - 1))) + bytes(text)
    return data


def play(chance: random.Random) -> str:
    """One conversation in which the game goes wrong at some point; says how it ended."""
    session = GodotRlSession(Limits(message_bytes=1 << 20, control_bytes=1 << 20))
    session.begin()
    wrong_at = chance.randrange(6)
    layout: GameLayout | None = None
    ready: Ready | None = None
    for turn, message in enumerate([INFO, RESET, STEP, STEP, STEP, STEP]):
        data = frame(json.dumps(message).encode()) if turn != wrong_at else spoilt(message, chance)
        cut = chance.randrange(len(data) + 1)
        session.feed(data[:cut])
        session.feed(data[cut:])
        if turn == 0 and not session.closed:
            session.configure(Configure(1))
        while session.events:
            event = session.events.popleft()
            if isinstance(event, Ready):
                ready, layout = event, GameLayout(event)
            elif isinstance(event, StepFrame):
                assert layout is not None
                layout.unpack_step(layout.pack_step(event), event.sequence)  # what holds on the other wire holds here
            elif isinstance(event, Closed):
                assert session.closed
                assert not session.events
                assert isinstance(event.error, WireError) or event.reason.startswith("the game says")
                return "closed"
        if ready is None or session._turn.value != "nothing":
            if turn != 1:
                return "waits"  # the message was not whole: a deadline will end it
        elif turn == 0:
            session.reset(1)
        else:
            session.act([np.zeros((1, role.agents, role.action_size), np.float32) for role in ready.roles])
        session.take_outgoing()
    return "played"


@pytest.mark.parametrize("seed", range(4))
def test_generated_conversations(seed: int) -> None:
    chance = random.Random(seed)
    ends = [play(chance) for _ in range(CONVERSATIONS)]
    assert ends.count("closed") > CONVERSATIONS / 10
    assert ends.count("played") > CONVERSATIONS / 10


@pytest.mark.nightly
@pytest.mark.slow
def test_a_hundred_thousand_generated_messages() -> None:
    chance = random.Random(99)
    for _ in range(100_000 // 5):  # a conversation has about five
        play(chance)


def test_noise() -> None:
    chance = random.Random(5)
    for _ in range(2000):
        session = GodotRlSession()
        session.begin()
        session.feed(chance.randbytes(chance.randrange(200)))
        session.feed_end()
        assert isinstance(session.events[-1], Closed)
        assert session.closed
