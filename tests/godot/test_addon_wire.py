"""The game's side of dojo/1 in the real engine: a scene whose every number can be foretold."""

import time
from pathlib import Path

import numpy as np
import pytest

from godojo.bridge.codec import StepFrame
from godojo.bridge.connection import Connection
from godojo.bridge.listener import Listener
from godojo.bridge.messages import Configure, ConnectionLost, GameRefused, Ready, WireError
from tests.addon_games import COUNTING, PATIENCE_S, TOKEN, connected, no_actions, playing

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]

WORLDS = 5


def configured(connection: Connection, worlds: int = WORLDS, **options: object) -> Ready:
    return connection.configure(Configure(worlds, None, options), PATIENCE_S)


def step(connection: Connection, actions: list[np.ndarray]) -> StepFrame:
    connection.send_actions(actions)
    return connection.receive_step(PATIENCE_S)


def foretold(role: int, decision: int, first: np.ndarray, padding: int = 0) -> np.ndarray:
    """What the counting worlds tell the agents of a role: world, agent, decision, first number of the action."""
    worlds, agents = first.shape
    seen = np.zeros((worlds, agents, 4 + padding), np.float32)
    seen[..., 0] = np.arange(worlds)[:, None]
    seen[..., 1] = np.arange(agents)[None, :]
    seen[..., 2] = decision
    seen[..., 3] = first
    assert agents == role + 1
    return seen


def test_what_the_worlds_are(tmp_path: Path) -> None:
    with connected(tmp_path / "log", COUNTING) as (game, connection):
        assert connection.hello.game == "Godojo"
        assert connection.hello.godot.startswith("4.")
        ready = configured(connection)
        assert [(role.name, role.agents) for role in ready.roles] == [("walker", 1), ("flyer", 2)]
        assert [(part.name, part.kind, part.size) for part in ready.roles[1].action] == [
            ("fly", "continuous", 1),
            ("land", "discrete", 3),
        ]
        assert (ready.worlds, ready.ticks_per_decision) == (WORLDS, 4)
        assert (ready.reward_terms, ready.winners) == (("count", "cost"), ("nobody", "walker", "flyer"))
        connection.close("seen enough")
        assert game.wait() == 0
        assert game.lines[-1] == "Godojo: the trainer is gone: seen enough"


def test_every_number_arrives(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    with connected(tmp_path / "log", COUNTING) as (_, connection):
        ready = configured(connection)
        first = connection.reset(7, PATIENCE_S)
        for index, role in enumerate(first.roles):
            want = foretold(index, 0, np.full((WORLDS, index + 1), 7, np.float32))
            np.testing.assert_array_equal(role.observation, want)
            assert not role.acted.any()
            assert not role.terms.any()
        for decision in range(1, 13):
            actions = no_actions(ready)
            for action in actions:
                action[:] = random.random(action.shape)
            told = step(connection, actions)
            assert told.sequence == decision
            ends = decision % 5 == 0
            assert told.ended.tolist() == ([[world, 1, 20, 0] for world in (0, 2, 4)] if ends else [])
            for index, (role, action) in enumerate(zip(told.roles, actions, strict=True)):
                np.testing.assert_array_equal(role.observation, foretold(index, decision, action[..., 0]))
                np.testing.assert_array_equal(role.terms, np.broadcast_to([decision, -1], (WORLDS, index + 1, 2)))
                assert role.acted.all()
                assert not role.truncated.any()
                want_ended = np.zeros((WORLDS, index + 1), bool)
                want_ended[::2] = ends
                np.testing.assert_array_equal(role.terminated, want_ended)
                rows = np.flatnonzero(want_ended)
                np.testing.assert_array_equal(role.final_rows, rows)
                last = foretold(index, -decision, action[..., 0]).reshape(-1, 4)[rows]
                np.testing.assert_array_equal(role.final_observation, last)
                np.testing.assert_array_equal(role.final_score, rows // (index + 1))


def test_another_reset_begins_to_count_anew(tmp_path: Path) -> None:
    with connected(tmp_path / "log", COUNTING) as (_, connection):
        ready = configured(connection)
        for seed in (3, 4):
            assert connection.reset(seed, PATIENCE_S).roles[0].observation[0, 0, 3] == seed
            for decision in range(1, 4):
                assert step(connection, no_actions(ready)).sequence == decision


def test_large_steps_arrive_whole(tmp_path: Path) -> None:
    padding = 40_000
    with connected(tmp_path / "log", COUNTING) as (_, connection):
        ready = configured(connection, worlds=32, padding=padding)
        connection.reset(0, PATIENCE_S)
        for decision in range(1, 6):
            actions = no_actions(ready)
            actions[1][..., 0] = decision
            told = step(connection, actions)  # 15 MB, the fifth with as much again of final observations
            want = foretold(1, decision, actions[1][..., 0], padding)
            np.testing.assert_array_equal(told.roles[1].observation, want)
        assert told.roles[1].final_observation.shape == (32, 4 + padding)


def test_a_game_that_refuses_says_why(tmp_path: Path) -> None:
    with connected(tmp_path / "log", COUNTING) as (game, connection):
        with pytest.raises(GameRefused, match="were asked to refuse"):
            configured(connection, refuse=True)
        assert game.wait() == 1
        assert "asked to refuse" in game.lines[-1]


def test_a_launched_game_does_not_outlive_its_trainer(tmp_path: Path) -> None:
    with connected(tmp_path / "log", COUNTING) as (game, connection):
        ready = configured(connection)
        connection.reset(0, PATIENCE_S)
        step(connection, no_actions(ready))
        connection._socket.close()  # as when the trainer is killed
        assert game.wait(10) == 1
        assert "the trainer is gone" in game.lines[-1]


def test_a_silent_trainer_is_left(tmp_path: Path) -> None:
    with connected(tmp_path / "log", COUNTING, GODOJO_PATIENCE_S="1.5") as (game, connection):
        configured(connection)
        connection.reset(0, PATIENCE_S)
        assert game.wait(10) == 1
        with pytest.raises(ConnectionLost, match=r"silent for 1\.5 s"):
            connection.receive_step(5)


def test_a_launched_game_without_a_trainer_ends(tmp_path: Path) -> None:
    with Listener(port=0) as listener:
        port = listener.port
    with playing(tmp_path / "log", COUNTING, port=port, env={"GODOJO_PATIENCE_S": "1"}) as game:
        assert game.wait() == 1
        assert game.lines[-1].startswith(f"Godojo: no trainer answers at 127.0.0.1:{port}")


def test_a_game_with_a_wrong_token_is_told_so(tmp_path: Path) -> None:
    with Listener(port=0, token="another") as listener, playing(tmp_path / "log", COUNTING, port=listener.port) as game:
        deadline = time.monotonic() + PATIENCE_S
        while "gone" not in game.output and time.monotonic() < deadline:
            listener.poll(0.1)
        assert game.wait() == 1
        assert "the game's token is wrong" in game.lines[-1]
        assert "GODOJO_TOKEN" in game.lines[-1]
        assert TOKEN not in game.output


def test_a_lying_sequence_number_ends_the_game(tmp_path: Path) -> None:
    with connected(tmp_path / "log", COUNTING) as (game, connection):
        ready = configured(connection)
        connection.reset(0, PATIENCE_S)
        connection._session._sequence = 6
        with pytest.raises((ConnectionLost, WireError), match="number 7 came instead of 1"):
            step(connection, no_actions(ready))
        assert game.wait() == 1


def test_a_game_started_by_hand_comes_back_again_and_again(tmp_path: Path) -> None:
    with Listener(port=0) as listener, playing(tmp_path / "log", COUNTING, str(listener.port)) as game:
        for worlds in (1, 3, 2):
            with listener.accept(PATIENCE_S) as connection:
                ready = configured(connection, worlds=worlds)
                assert connection.reset(0, PATIENCE_S).roles[0].observation.shape == (worlds, 1, 4)
                assert step(connection, no_actions(ready)).sequence == 1
        game.wait_for("Godojo: the trainer is gone: the trainer is done")
