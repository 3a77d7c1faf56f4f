"""Control messages: what is understood, and what is refused in one line."""

import json
from typing import Any

import pytest

from godojo.bridge.messages import (
    Close,
    Configure,
    Control,
    HandshakeRejected,
    Hello,
    Notice,
    Ready,
    Reset,
    WireError,
    decode_control,
    encode_control,
    shown,
)

READY: dict[str, Any] = {
    "type": "ready",
    "worlds": 2,
    "ticks_per_decision": 4,
    "roles": [
        {
            "name": "seeker",
            "agents": 1,
            "observation": [
                {"name": "own", "shape": [13], "kind": "box", "low": -1, "high": 1},
                {"name": "eye", "shape": [4, 5, 3], "kind": "image", "low": 0, "high": 1},
            ],
            "action": [
                {"name": "move", "kind": "continuous", "size": 3},
                {"name": "jump", "kind": "discrete", "size": 2},
            ],
        }
    ],
    "reward_terms": ["distance"],
    "winners": ["nobody", "seeker"],
    "arenas": ["pillars"],
    "model": {"algorithm": "ppo"},
}


HEADING = {"forward": [6, 7], "observed": [[0, 2]], "acted": [[0, 1]]}


def role(**changes: Any) -> dict[str, Any]:
    return {**READY, "roles": [{**READY["roles"][0], **changes}]}


def part(**changes: Any) -> dict[str, Any]:
    return role(observation=[{"name": "own", "shape": [13], **changes}])


def test_ready_says_what_is_played() -> None:
    ready = decode_control(json.dumps(READY))
    assert isinstance(ready, Ready)
    assert ready.roles[0].observation_size == 13 + 60
    assert ready.roles[0].action_size == 4  # a choice is one number
    assert ready.model == {"algorithm": "ppo"}


def test_an_engine_without_integers_is_understood() -> None:
    ready = decode_control(json.dumps({**role(agents=1.0), "worlds": 2.0}))
    assert isinstance(ready, Ready)
    assert ready.worlds == 2


@pytest.mark.parametrize(
    "message",
    [
        Hello("dojo/1", "secret", "tag", "4.6.3", "0.1.0"),
        Configure(64, 4, {"settings": {"a": 1}}),
        Configure(1),
        Reset(7),
        Notice("learning"),
        Close("done"),
        HandshakeRejected("no agents in the scene"),
    ],
)
def test_what_is_written_is_read(message: Control) -> None:
    assert decode_control(encode_control(message)) == message


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({**READY, "worlds": 0}, ["worlds", "1 to 4096", "0"]),
        ({**READY, "worlds": 4097}, ["worlds", "4097"]),
        ({**READY, "worlds": 1.5}, ["worlds", "float"]),
        ({**READY, "worlds": 10**40}, ["worlds"]),
        ({**READY, "ticks_per_decision": 0}, ["ticks_per_decision"]),
        ({**READY, "roles": []}, ["roles", "1 to 64"]),
        ({**READY, "roles": READY["roles"] * 2}, ["role", "'seeker'", "twice"]),
        ({**READY, "reward_terms": []}, ["reward_terms"]),
        ({**READY, "reward_terms": ["a", "a"]}, ["reward term", "twice"]),
        ({**READY, "winners": [f"{n}" for n in range(128)]}, ["winners", "127"]),
        ({**READY, "model": 3}, ["model"]),
        (role(name="x" * 65), ["role", "64 printable"]),
        (role(name=""), ["role", "64 printable"]),
        (role(name="a\nb"), ["role", "a?b"]),
        (role(agents=1025), ["seeker", "agents", "1024"]),
        (role(agents=-1), ["seeker", "agents"]),
        (role(observation=[]), ["seeker", "observation parts"]),
        (role(heading={**HEADING, "forward": [6, 73]}), ["seeker", "heading", "observation"]),
        (role(heading={**HEADING, "acted": [[0, 4]]}), ["seeker", "heading", "action"]),
        (role(heading={**HEADING, "remembered": [[0, 1]]}), ["seeker", "heading", "remembered"]),
        (role(action=[]), ["seeker", "action parts"]),
        (role(action=[{"name": "move", "kind": "analogue", "size": 3}]), ["analogue"]),
        (role(action=[{"name": "move", "kind": "continuous", "size": 0}]), ["move", "size"]),
        (
            role(action=[{"name": f"{n}", "kind": "continuous", "size": 10**6} for n in (1, 2)]),
            ["numbers of an action"],
        ),
        (part(shape=[]), ["own", "dimensions"]),
        (part(shape=[1] * 9), ["own", "dimensions"]),
        (part(shape=[0]), ["own", "shape"]),
        (part(shape=[-5]), ["own", "shape"]),
        (part(shape=[1000, 1001]), ["numbers of an observation"]),
        (part(low=2.0, high=1.0), ["own", "low", "above"]),
        (part(colour="red"), ["colour"]),
        ({"type": "ready"}, ["worlds"]),
        ({"type": "dance"}, ["dance"]),
        ({}, ["type"]),
        ([], ["array"]),
        (7, ["int"]),
    ],
)
def test_what_cannot_be_played_is_refused(message: Any, words: list[str]) -> None:
    refused(json.dumps(message).encode(), *words)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"type":"hello","protocol":"\xff"}',
        b'{"type":"configure","worlds":1,"options":' + b'{"a":' * 100_000,
        b'{"type":"configure","worlds":1,"ticks_per_decision":NaN}',
        b'{"type":"reset","seed":' + b"9" * 10_000 + b"}",
        b'{"type":"hello","protocol":"\\ud800"}',
    ],
)
def test_no_text_breaks_the_reader(text: bytes) -> None:
    refused(text)


def test_what_a_stranger_wrote_fits_a_line() -> None:
    assert shown("a\x1b[31m\nb") == "a?[31m?b"
    assert len(shown("x" * 1000)) == 64


def refused(text: bytes, *words: str) -> None:
    with pytest.raises(WireError) as caught:
        decode_control(text)
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 400
    for word in words:
        assert word in said, said
