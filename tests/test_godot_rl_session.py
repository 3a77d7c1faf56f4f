"""The wire of godot_rl without a socket: what games of each generation say, in the words of the contract."""

import json
import socket
import struct
from typing import Any

import numpy as np
import pytest

from godojo.bridge.codec import ACTED, TERMINATED, TRUNCATED, StepFrame
from godojo.bridge.godot_rl import GodotRlSession
from godojo.bridge.listener import Listener, Wire
from godojo.bridge.messages import Configure, ConnectionLost, GameRefused, Hello, Limits, Ready, WireError
from godojo.bridge.session import Closed
from godojo.errors import GodojoError

BOX = {"obs": {"size": [2], "space": "box"}}
MOVE = {"move": {"size": 1, "action_type": "continuous"}}


def frame(message: Any) -> bytes:
    text = json.dumps(message).encode()
    return struct.pack("<I", len(text)) + text


def said(session: GodotRlSession) -> list[Any]:
    """What the trainer has said, in JSON."""
    data, messages = session.take_outgoing(), []
    while data:
        (length,) = struct.unpack_from("<I", data)
        messages.append(json.loads(data[4 : 4 + length]))
        data = data[4 + length :]
    return messages


def env_info(observation: Any = BOX, action: Any = MOVE, agents: Any = 1, **more: Any) -> dict[str, Any]:
    return {
        "type": "env_info",
        "observation_space": observation,
        "action_space": action,
        "n_agents": agents,
        **more,
    }


def opened(info: dict[str, Any], limits: Limits | None = None) -> tuple[GodotRlSession, Ready]:
    session = GodotRlSession(limits)
    session.begin()
    assert [message["type"] for message in said(session)] == ["handshake", "env_info"]
    session.feed(frame(info))
    session.configure(Configure(1))
    hello, ready = session.events
    session.events.clear()
    assert isinstance(hello, Hello)
    assert hello.protocol == "godot_rl"
    assert isinstance(ready, Ready), ready
    return session, ready


def begun(info: dict[str, Any], observations: list[Any]) -> tuple[GodotRlSession, Ready, StepFrame]:
    session, ready = opened(info)
    session.reset(1)
    assert said(session) == [{"type": "reset"}]
    session.feed(frame({"type": "reset", "obs": observations}))
    (idle,) = said(session)
    assert idle["type"] == "action"
    assert not session.events
    count = len(observations)
    session.feed(frame({"type": "step", "obs": observations, "reward": [7] * count, "done": [True] * count}))
    beginning = session.events.popleft()
    assert isinstance(beginning, StepFrame)
    return session, ready, beginning


def acts(session: GodotRlSession, ready: Ready, value: float = 0.0) -> Any:
    session.act([np.full((ready.worlds, role.agents, role.action_size), value, np.float32) for role in ready.roles])
    (message,) = said(session)
    return message


def complaint(session: GodotRlSession) -> str:
    """Why the game was sent away; it is told to close."""
    closed = session.events.pop()
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, WireError)
    assert session.closed
    assert said(session)[-1] == {"type": "close"}
    return closed.reason


def test_first_generation_one_space_for_all() -> None:
    space = {"a": {"size": [2.0], "space": "box"}, "level": {"size": 3.0, "space": "discrete"}}
    actions = {"jump": {"size": 2.0, "action_type": "discrete"}, "steer": {"size": 2, "action_type": "continuous"}}
    session, ready, beginning = begun(env_info(space, actions, 2.0), [{"level": 2, "a": [True, 0.5]}] * 2)
    (role,) = ready.roles
    assert (role.name, role.agents, role.observation_size, role.action_size) == ("shared_policy", 1, 3, 3)
    assert (ready.worlds, ready.independent_agents) == (2, False)
    assert [part.name for part in role.action] == ["jump", "steer"]
    np.testing.assert_array_equal(beginning.roles[0].observation, [[[1, 0.5, 2]]] * 2)
    message = acts(session, ready, 1.0)
    assert message == {"type": "action", "action": [{"jump": 1, "steer": [1.0, 1.0]}] * 2}


def test_the_decision_after_a_reset_is_nobodys() -> None:
    """The game goes on with stale actions before it listens: rewards and ends from then belong to no transition."""
    _, _, beginning = begun(env_info(), [{"obs": [1, 2]}])
    assert beginning.sequence == 0
    (role,) = beginning.roles
    assert not role.flags.any()
    assert not role.terms.any()
    assert not len(role.final_rows)
    assert not len(beginning.ended)


def test_a_reset_in_the_middle_leaves_no_action_standing() -> None:
    session, ready, _ = begun(env_info(), [{"obs": [1, 2]}])
    acts(session, ready, 1.0)
    step = frame({"type": "step", "obs": [{"obs": [1, 2]}], "reward": [5], "done": [True]})
    session.feed(step)
    session.events.clear()
    session.reset(1)
    still = [{"type": "action", "action": [{"move": [0.0]}]}]
    assert said(session) == still
    session.feed(step)
    assert said(session) == [{"type": "reset"}]
    session.feed(frame({"type": "reset", "obs": [{"obs": [1, 2]}]}))
    assert said(session) == still
    session.feed(step)
    beginning = session.events.popleft()
    assert isinstance(beginning, StepFrame)
    assert beginning.sequence == 0
    acts(session, ready)
    session.feed(step)
    step_after = session.events.popleft()
    assert isinstance(step_after, StepFrame)
    assert step_after.sequence == 1
    assert step_after.roles[0].final_score.tolist() == [5]


def test_roles_are_policies_in_the_games_order() -> None:
    info = env_info([BOX] * 3, [MOVE] * 3, 3, agent_policy_names=["runner", "guard", "runner"])
    session, ready, beginning = begun(info, [{"obs": [agent, agent]} for agent in range(3)])
    assert [(role.name, role.agents) for role in ready.roles] == [("runner", 2), ("guard", 1)]
    assert (ready.worlds, ready.independent_agents) == (1, True)
    assert beginning.roles[0].observation[0, :, 0].tolist() == [0, 2]
    session.act([np.array([[[0.25], [0.5]]], np.float32), np.array([[[0.75]]], np.float32)])
    (message,) = said(session)
    assert [action["move"] for action in message["action"]] == [[0.25], [0.75], [0.5]]


def test_agents_of_a_policy_that_differ_become_roles_of_their_own() -> None:
    other = {"obs": {"size": [5], "space": "box"}}
    names = ["a", "a", "a", "a_0"]
    _, ready = opened(env_info([BOX, other, BOX, BOX], [MOVE] * 4, 4, agent_policy_names=names))
    assert [(role.name, role.agents) for role in ready.roles] == [("a_1", 2), ("a_2", 1), ("a_0", 1)]


@pytest.mark.parametrize(
    ("size", "shape"),
    [([3.0, 2.0, 5.0], (2, 5, 3)), ([36, 40, 3], (40, 36, 3)), ([2, 5], (2, 5, 1)), ([4, 4, 4], (4, 4, 4))],
)
def test_images_are_rows_of_pixels_from_0_to_1(size: list[float], shape: tuple[int, ...]) -> None:
    space = {"camera_2d": {"size": size, "space": "box"}}
    count = int(np.prod(size))
    pixels = bytes(index % 256 for index in range(count))
    _, ready, beginning = begun(env_info(space), [{"camera_2d": pixels.hex()}])
    (part,) = ready.roles[0].observation
    assert (part.kind, part.shape, part.low, part.high) == ("image", shape, 0.0, 1.0)
    np.testing.assert_array_equal(beginning.roles[0].observation[0, 0] * 255, np.frombuffer(pixels, np.uint8))


def test_an_end_is_a_termination_unless_the_game_says_otherwise() -> None:
    info = env_info([BOX] * 3, [MOVE] * 3, 3)
    session, ready, _ = begun(info, [{"obs": [1, 1]}, {"obs": [2, 2]}, {"obs": [3, 3]}])
    acts(session, ready)
    cut = {"TimeLimit.truncated": True}
    infos = [cut | {"terminal_observation": {"obs": [8, 9]}, "is_success": False}, {"is_success": "maybe"}, cut]
    done = [True, True, False]
    session.feed(
        frame({"type": "step", "obs": [{"obs": [0, 0]}] * 3, "reward": [1, 2, 3], "done": done, "info": infos})
    )
    step = session.events.popleft()
    assert isinstance(step, StepFrame)
    (role,) = step.roles
    assert role.flags.tolist() == [[ACTED | TRUNCATED], [ACTED | TERMINATED], [ACTED]]
    assert role.final_rows.tolist() == [0, 1]
    assert role.final_observation.tolist() == [[8, 9], [2, 2]]
    assert role.final_score.tolist() == [1, 2]
    np.testing.assert_array_equal(role.final_measures[:, 0], [0, np.nan])
    assert role.terms[:, 0, 0].tolist() == [1, 2, 3]
    assert step.ended.tolist() == [[0, 0, 8, -1], [1, 0, 8, -1]]
    assert step.sequence == 1


def ends_of(info: dict[str, Any], dones: list[list[bool]]) -> list[StepFrame]:
    """The steps of a game whose agents earn 1 each time and are done like that."""
    count = len(dones[0])
    session, ready, _ = begun(info, [{"obs": [1, 1]}] * count)
    for done in dones:
        acts(session, ready)
        step = {"type": "step", "obs": [{"obs": [0, 0]}] * count, "reward": [1] * count, "done": done}
        session.feed(frame(step))
    steps = list(session.events)
    assert all(isinstance(step, StepFrame) for step in steps)
    return steps  # type: ignore[return-value]


def test_agents_of_one_policy_are_worlds_that_end_one_by_one() -> None:
    first, second = ends_of(env_info(agents=2), [[False, True], [True, True]])
    assert first.ended.tolist() == [[1, 0, 8, -1]]
    assert second.ended.tolist() == [[0, 0, 16, -1], [1, 0, 8, -1]]
    assert first.roles[0].final_score.tolist() == [1]
    assert second.roles[0].final_score.tolist() == [2, 1]


def test_a_world_of_several_policies_ends_when_everybody_does() -> None:
    info = env_info([BOX] * 2, [MOVE] * 2, 2, agent_policy_names=["runner", "guard"])
    first, second = ends_of(info, [[False, True], [True, True]])
    assert not len(first.ended)
    assert second.ended.tolist() == [[0, 0, 16, -1]]
    assert [role.final_score.tolist() for role in first.roles] == [[], [1]]
    assert [role.final_score.tolist() for role in second.roles] == [[2], [1]]


def test_what_is_not_declared_is_left_aside_and_any_info_will_do() -> None:
    session, ready, _ = begun(env_info(), [{"obs": [1, 2], "more": "x"}])
    infos: list[Any] = [None, "x", [None], [3], [{"terminal_observation": {}}], [{"terminal_observation": 7}], [[]] * 5]
    for info in infos:
        acts(session, ready)
        session.feed(frame({"type": "step", "obs": [{"obs": [1, 2]}], "reward": [0], "done": [1], "info": info}))
        step = session.events.popleft()
        assert isinstance(step, StepFrame)
        assert step.roles[0].final_observation.tolist() == [[1, 2]]


def test_bytes_may_come_one_by_one_and_messages_together() -> None:
    session = GodotRlSession()
    session.begin()
    session.configure(Configure(1, ticks_per_decision=3))
    for byte in frame(env_info()):
        session.feed(bytes([byte]))
    hello, ready = session.events
    assert isinstance(hello, Hello)
    assert isinstance(ready, Ready)
    assert (ready.worlds, ready.ticks_per_decision) == (1, 3)


def test_words_beyond_ascii_reach_the_game_as_it_reads_them() -> None:
    action = {"größe": {"size": 1, "action_type": "continuous"}}
    session, ready, _ = begun(env_info(action=action), [{"obs": [1, 2]}])
    session.act([np.zeros((1, 1, 1), np.float32)])
    assert session.take_outgoing()[4:].isascii()
    assert ready.roles[0].action[0].name == "größe"


def test_our_own_mistakes_are_told_at_once() -> None:
    session, _ = opened(env_info(action={"look": {"size": 3, "action_type": "discrete"}}))
    with pytest.raises(GodojoError, match="reset before"):
        session.act([np.zeros((1, 1, 1), np.float32)])
    session.reset(1)
    with pytest.raises(GodojoError, match="expected to say reset"):
        session.reset(1)
    session.feed(frame({"type": "reset", "obs": [{"obs": [1, 2]}]}))
    session.feed(frame({"type": "step", "obs": [{"obs": [1, 2]}], "reward": [0], "done": [False]}))
    session.events.clear()
    for wrong, words in (
        ([np.zeros((1, 1, 2), np.float32)], "must have the shape"),
        ([], "1 roles, and actions for 0"),
        ([np.full((1, 1, 1), np.nan, np.float32)], "not a finite number"),
        ([np.full((1, 1, 1), 3, np.float32)], "a choice from 0 to 2, not 3"),
    ):
        with pytest.raises(GodojoError, match=words):
            session.act(wrong)
    session.act([np.full((1, 1, 1), 2, np.float32)])
    assert said(session)[-1]["action"] == [{"look": 2}]
    session.close("enough")
    assert said(session) == [{"type": "close"}]
    with pytest.raises(ConnectionLost):
        session.reset(1)


def test_a_game_that_goes_and_a_game_that_refuses() -> None:
    session, _ = opened(env_info())
    session.feed_end()
    closed = session.events.pop()
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, ConnectionLost)
    session, _ = opened(env_info())
    session.feed(frame({"type": "error", "message": "no\narena"}))
    closed = session.events.pop()
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, GameRefused)
    assert closed.reason == "the game says: no?arena"


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (env_info(agents=0), "no agents to train: set the control mode"),
        (env_info(agents=-1), "n_agents: -1"),
        (env_info(agents=1.5), "n_agents: 1.5"),
        (env_info(agents=10**9), "n_agents: 1000000000"),
        (env_info(agents="1"), "cannot be read"),
        (env_info(agents=5000), "worlds: there must be 1 to 4096"),
        (env_info([BOX]), None),
        (env_info([BOX, BOX]), "describes the observation_space of 2"),
        (env_info(action=[MOVE] * 3), "describes the action_space of 3"),
        (env_info(agent_policy_names=["a", "b"]), "names 2 policies"),
        (env_info(agent_policy_names=["a\nb"]), "printable"),
        (env_info(agent_policy_names=["a" * 65]), "printable"),
        (env_info({}), "observation parts: there must be 1"),
        (env_info(action={}), "action parts: there must be 1"),
        (env_info(7), "observation_space cannot be read"),
        (env_info({"obs": 7}), "observation_space cannot be read"),
        (env_info({"obs": {"size": [2]}}), "observation_space cannot be read"),
        (env_info({"obs": {"size": [], "space": "box"}}), "0 dimensions"),
        (env_info({"obs": {"size": [1] * 9, "space": "box"}}), "9 dimensions"),
        (env_info({"obs": {"size": [0], "space": "box"}}), "is not a whole number"),
        (env_info({"obs": {"size": [10**6, 10**6], "space": "box"}}), "is not a whole number"),
        (env_info({"obs": {"size": [2], "space": "ball"}}), "should be box or discrete"),
        (env_info({"obs": {"size": [True], "space": "box"}}), "cannot be read"),
        (env_info(action={"a": {"size": 2, "action_type": "odd"}}), "should be continuous or discrete"),
        (env_info(action={"a": {"size": 1e300, "action_type": "discrete"}}), "is not a whole number"),
    ],
)
def test_a_game_that_describes_itself_badly(info: dict[str, Any], words: str | None) -> None:
    session = GodotRlSession()
    session.begin()
    session.feed(frame(info))
    if not session.closed:
        session.configure(Configure(1))
    if words is None:
        assert isinstance(session.events.pop(), Ready)
    else:
        assert words in complaint(session)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"obs": []}, "sent 0 observations"),
        ({"obs": [{}]}, "lacks 'obs'"),
        ({"obs": [None]}, "should be a dict"),
        ({"obs": [{"obs": [1]}]}, "has 1 numbers, and 2 were declared"),
        ({"obs": [{"obs": [1, "2"]}]}, "holds '2', and should hold numbers"),
        ({"obs": [{"obs": [1, [2]]}]}, "different lengths"),
        ({"obs": [{"obs": {"x": 1}}]}, "holds a dict"),
        ({"obs": [{"obs": [1, 2**70]}]}, "should hold numbers"),
        ({"obs": "x"}, "cannot be read"),
        ({"reward": []}, "the reward must be a list of 1"),
        ({"reward": [[1]]}, "the reward must be a list of 1"),
        ({"done": ["x"]}, "done holds 'x'"),
        ({"done": [False, False]}, "done must be a list of 1"),
        ({"done": [True], "info": [{"terminal_observation": {"obs": [1]}}]}, "the last observation"),
        ({"type": "reset"}, "said 'reset', and was expected to say step"),
        ({"type": "dance"}, "said 'dance'"),
        ({"type": 5}, "cannot be read"),
    ],
)
def test_a_step_that_cannot_be(change: dict[str, Any], words: str) -> None:
    session, ready, _ = begun(env_info(), [{"obs": [1, 2]}])
    acts(session, ready)
    good = {"type": "step", "obs": [{"obs": [1, 2]}], "reward": [0], "done": [False]}
    session.feed(frame({**good, **change}))
    assert words in complaint(session)


@pytest.mark.parametrize(
    ("picture", "words"),
    [
        (None, "draws nothing; add window=True"),
        ("0", "not hexadecimal"),
        ("zz", "not hexadecimal"),
        ("ü", "not hexadecimal"),
        ("00", "has 1 numbers, and 4 were declared"),
        ([0, 0, 0, 256], "from 0 to 255"),
        ([[0, 0], [0, 255]], None),
    ],
)
def test_a_picture_that_cannot_be(picture: Any, words: str | None) -> None:
    session, _ = opened(env_info({"eye_2d": {"size": [1, 2, 2], "space": "box"}}))
    session.reset(1)
    session.feed(frame({"type": "reset"}))
    said(session)
    session.feed(frame({"type": "step", "obs": [{"eye_2d": picture}], "reward": [0], "done": [False]}))
    if words is None:
        assert not session.closed
    else:
        assert words in complaint(session)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "is announced"),
        (b"\x02\x00\x00\x00[]", "does not speak godot_rl"),
        (b"\x05\x00\x00\x00{abc}", "cannot be read"),
        (b"\x02\x00\x00\x00{}", "cannot be read"),
        (b"\xff\xff\xff\xff", "at most 4194304 are allowed"),
        (frame({"type": "step"}), "expected to say env_info"),
        (struct.pack("<I", 5 + 200_000) + b'{"a":' + b"[" * 200_000, "nested too deeply"),
        (struct.pack("<I", 17) + b'{"type":"\xff\xff\xff\xff\xff"}x', "not UTF-8"),
        (struct.pack("<I", 22) + b'{"type":"a","x":1e9999', "cannot be read"),
    ],
)
def test_bytes_that_no_game_sends(data: bytes, words: str) -> None:
    session = GodotRlSession()
    session.begin()
    session.feed(data)
    assert words in complaint(session)


def test_a_message_may_be_as_long_as_the_limit_and_no_longer() -> None:
    limits = Limits(message_bytes=1000, control_bytes=1000)
    session, _ = opened(env_info(), limits)
    session.reset(1)
    session.feed(struct.pack("<I", 1000) + b"{")
    assert not session.closed
    session, _ = opened(env_info(), limits)
    session.feed(struct.pack("<I", 1001))
    assert "1001 bytes is announced" in complaint(session)


def test_what_is_not_finite_is_replaced_and_counted() -> None:
    """The engine writes NaN as null, and an infinite number as 1e99999."""
    session, ready, _ = begun(env_info(), [{"obs": [1, 2]}])
    acts(session, ready)
    text = b'{"type":"step","obs":[{"obs":[null,-1e99999]}],"reward":[null],"done":[false]}'
    session.feed(struct.pack("<I", len(text)) + text)
    step = session.events.popleft()
    assert isinstance(step, StepFrame)
    assert step.roles[0].observation.tolist() == [[[0, -10]]]
    assert step.roles[0].terms.tolist() == [[[0]]]
    assert [repair.field for repair in step.repairs] == ["obs[0]", "obs[1]", "reward"]


@pytest.mark.parametrize("wire", ["godot_rl", "any"])
def test_a_listener_tells_why_a_game_was_sent_away(wire: Wire) -> None:
    with Listener(port=0, wire=wire) as listener, socket.create_connection(("127.0.0.1", listener.port)) as game:
        while not was_spoken_to(game):  # on wire "any", whoever waits for that is a game of godot_rl
            listener.poll(0.1)
        game.sendall(frame(env_info(agents=0)))
        connection = listener.accept(5)
        with pytest.raises(WireError, match="no agents to train"):
            connection.configure(Configure(1), 5)


def was_spoken_to(game: socket.socket) -> bool:
    game.settimeout(0.01)
    try:
        return bool(game.recv(1000))
    except TimeoutError:
        return False


def test_a_description_may_be_longer_than_a_newcomers_hello() -> None:
    space = {f"part {number}": {"size": [3], "space": "box"} for number in range(200)}
    info = frame(env_info([space] * 30, [MOVE] * 30, 30))
    assert len(info) > Limits().hello_bytes
    with Listener(port=0, wire="godot_rl") as listener, socket.create_connection(("127.0.0.1", listener.port)) as game:
        game.setblocking(False)
        sent = game.send(info)
        connection = listener.accept(5)
        game.setblocking(True)
        game.sendall(info[sent:])
        ready = connection.configure(Configure(1), 5)
        assert ready.worlds == 30
        connection.close()
