"""Games that a person has started: they are played by hand until a trainer answers, and again when it has gone."""

import time
from pathlib import Path

import numpy as np
import pytest

from godojo.bridge.connection import Connection
from godojo.bridge.listener import Listener
from godojo.bridge.messages import Configure
from godojo.engines.godot import display
from tests.addon_games import PATIENCE_S, no_actions, playing

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(200)]

BY_HAND = "res://tests/dojo/by_hand.tscn"
TICK_S = 1 / 60


def push(connection: Connection, decisions: int) -> list[np.ndarray]:
    """Plays one island with a push to the right, and thinks for long before the last decision."""
    ready = connection.configure(Configure(1, 4), PATIENCE_S)
    seen = [connection.reset(1, PATIENCE_S).roles[0].observation[0, 0].copy()]
    for decision in range(decisions):
        actions = no_actions(ready)
        actions[0][:] = [0.3, 0]
        if decision == decisions - 1:
            time.sleep(1.5)
        connection.send_actions(actions)
        seen.append(connection.receive_step(PATIENCE_S).roles[0].observation[0, 0].copy())
    return seen


@pytest.mark.rendering
def test_with_a_window_the_game_stands_still_while_the_trainer_thinks(tmp_path: Path) -> None:
    with (
        display("640x360") as env,
        Listener(port=0) as listener,
        playing(tmp_path / "log", BY_HAND, str(listener.port), window=True, env=env) as game,
    ):
        with listener.accept(PATIENCE_S) as connection:
            connection.notice("warming up")
            seen = push(connection, 6)
            game.wait_for("heard: warming up")
        speed_mps = seen[-2][2] * 10
        moved_m = (seen[-1][4] - seen[-2][4]) * 5
        assert 0.2 < speed_mps < 2
        assert moved_m == pytest.approx(4 * TICK_S * speed_mps, rel=0.3), "the ball rolled on while nobody decided"
        game.wait_for("Godojo: the trainer is gone")
        with listener.accept(PATIENCE_S) as connection:
            again = push(connection, 2)
        np.testing.assert_allclose(again[0], seen[0], atol=1e-5)


def test_a_headless_game_comes_back_to_another_trainer(tmp_path: Path) -> None:
    with Listener(port=0) as listener, playing(tmp_path / "log", BY_HAND, str(listener.port)) as game:
        for worlds in (3, 1, 7):
            with listener.accept(PATIENCE_S) as connection:
                ready = connection.configure(Configure(worlds), PATIENCE_S)
                assert connection.reset(0, PATIENCE_S).roles[0].observation.shape == (worlds, 1, 6)
                for _ in range(20):
                    connection.send_actions(no_actions(ready))
                    connection.receive_step(PATIENCE_S)
            time.sleep(0.3)
        game.wait_for("Godojo: the trainer is gone")
