"""Games of all three generations of godot_rl, in the real engine, through the front door: `open_game(project=…)`.

What happens in the three games can be worked out by hand, so that a transition torn by the wire's habits would show.
"""

import re
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from godojo.engines.base import Worlds
from godojo.engines.godot.find import Engine
from godojo.engines.godot.open import open_game
from godojo.errors import GodojoError
from godojo.processes import finish
from tests.conftest import ROOT

pytestmark = pytest.mark.engine
GAMES = ROOT / "tests/godot_rl_games"


@pytest.fixture(autouse=True)
def _has_engine(engine: Engine) -> None:
    """Without one there is nothing to play."""


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies, since the engine writes beside what it plays."""
    return shutil.copytree(GAMES, tmp_path_factory.mktemp("games") / "games")


@pytest.fixture
def first(games: Path) -> Iterator[Worlds]:
    with open_game(games / "first", ticks_per_decision=4) as worlds:
        yield worlds


def idle(worlds: Worlds) -> None:
    for role in worlds.roles.values():
        role.action[:] = 0


def test_first_generation(first: Worlds) -> None:
    role = first.roles["shared_policy"]
    assert [(part.name, part.kind, part.shape) for part in role.observation_parts] == [
        ("level", "discrete", (1,)),
        ("obs", "box", (4,)),
    ]
    assert [(part.name, part.kind, part.size) for part in role.action_parts] == [
        ("jump", "discrete", 2),
        ("steer", "continuous", 1),
    ]
    level, place, clock, is_right = 0, 1, 2, 3
    rng = np.random.default_rng(3)
    ends = 0
    for _ in range(100):
        before = role.observation.copy()
        role.action[..., 0] = rng.integers(0, 2, (2, 1))
        role.action[..., 1] = rng.uniform(-1, 1, (2, 1))
        first.step()
        done = role.terminated
        ticks = np.round((role.observation - before)[..., clock] * 100)
        # A decision is four ticks, each of which moves the walker by the action just given, and no other.
        assert (ticks[~done] == 4).all()
        moved = (role.observation - before)[..., place]
        np.testing.assert_allclose(moved[~done], 0.04 * role.action[..., 1][~done], atol=1e-6)
        np.testing.assert_allclose(role.reward, 0.4 + 4 * role.action[..., 0], rtol=1e-5)
        np.testing.assert_array_equal(role.observation[..., level], np.round(role.observation[..., clock] * 100) % 3)
        np.testing.assert_array_equal(role.observation[..., is_right], role.observation[..., place] > 0)
        np.testing.assert_array_equal(role.final_observation[done], before[done])
        assert not role.truncated.any()
        assert role.acted.all()
        np.testing.assert_array_equal(first.ended, done[:, 0])  # every agent is a world of its own
        # Forty ticks an episode, of which the first has spent a decision on the reset.
        assert (first.length_ticks[first.ended] == (40 if ends else 32)).all()
        ends += int(done.sum())
    assert ends == 20


def test_resets_leave_no_trace(first: Worlds) -> None:
    """Whatever was done before a reset, nothing of it is seen or earned after it."""
    role = first.roles["shared_policy"]
    for _ in range(3):
        role.action[:] = 1
        first.step()
        first.step()
        first.reset(1)
        assert (role.observation[..., 1] == 0).all()
        assert not role.reward.any()
        role.action[:] = 0
        first.step()
        np.testing.assert_allclose(role.reward, 0.4, rtol=1e-5)
        assert (role.observation[..., 1] == 0).all()


def test_second_generation(games: Path) -> None:
    with open_game(games / "second") as worlds:
        runner, guard = worlds.roles["runner"], worlds.roles["guard"]
        assert list(worlds.roles) == ["runner", "guard"]
        assert (runner.observation.shape, guard.observation.shape) == ((1, 2, 3), (1, 1, 7))
        assert worlds.independent_agents  # several policies share a world, and end on their own
        assert [(part.name, part.shape, part.low) for part in guard.observation_parts] == [
            ("obs", (2,), -5.0),
            ("grid", (2, 2), -1.0),
            ("way", (1,), 0.0),
        ]
        idle(worlds)
        for step in range(20):
            before = runner.observation.copy()
            runner.action[0, 0] = (0.5, 0)
            runner.action[0, 1] = (0, -0.25)
            look = step % 4
            guard.action[0, 0] = (look, 0.5, step % 2)
            worlds.step()
            assert guard.observation[0, 0, 0] == 0.5 + 2 * (step % 2)
            assert guard.observation[0, 0, 2:].tolist() == [*np.eye(4)[look], look]
            assert guard.reward[0, 0] == look
            assert not guard.terminated.any()
            for agent, moved in ((0, (0.2, 0)), (1, (0, -0.1))):
                if not runner.terminated[0, agent]:
                    np.testing.assert_allclose((runner.observation - before)[0, agent], (*moved, 8), atol=1e-5)
                else:
                    np.testing.assert_array_equal(runner.final_observation[0, agent], before[0, agent])
            np.testing.assert_allclose(runner.reward, [[4, 0]])
            assert not worlds.ended.any()


def test_third_generation(games: Path) -> None:
    with open_game(games / "third", ticks_per_decision=2) as worlds:
        eyes, blind = worlds.roles["shared_policy_0"], worlds.roles["shared_policy_1"]
        assert [(part.name, part.kind, part.shape) for part in eyes.observation_parts] == [
            ("obs", "box", (1,)),
            ("eye_2d", "image", (2, 3, 3)),
        ]
        idle(worlds)
        seen = {"terminated": 0, "truncated": 0}
        for _ in range(40):
            worlds.step()
            picture = np.round(eyes.observation[..., 1:] * 255).reshape(1, 2, 2, 3, 3)
            np.testing.assert_array_equal(picture[..., 0], np.broadcast_to([[0] * 3, [100] * 3], (1, 2, 2, 3)))
            np.testing.assert_array_equal(picture[..., 1], np.broadcast_to([0, 100, 200], (1, 2, 2, 3)))
            np.testing.assert_array_equal(
                picture[..., 2], np.broadcast_to(eyes.observation[..., :1, None], (1, 2, 2, 3))
            )
            if eyes.terminated[0, 0]:
                assert eyes.final_measures is not None
                assert eyes.final_measures[0, 0, 0] == 1
                assert eyes.final_observation[0, 0, 0] == 11
                assert blind.final_observation[0, 0, 0] == 11
                seen["terminated"] += 1
            if eyes.truncated[0, 1]:
                assert eyes.final_observation[0, 1, 0] == 15
                seen["truncated"] += 1
            assert not eyes.truncated[0, 0]
            assert not eyes.terminated[0, 1]
        assert min(seen.values()) > 3


def test_several_processes_play_side_by_side(games: Path) -> None:
    with open_game(games / "first", num_processes=2, ticks_per_decision=4) as worlds:
        role = worlds.roles["shared_policy"]
        assert role.observation.shape == (4, 1, 5)
        role.action[:] = 0
        role.action[2:, :, 1] = 1
        for _ in range(3):
            worlds.step()
        np.testing.assert_allclose(role.observation[..., 1], [[0.0], [0.0], [0.12], [0.12]], atol=1e-6)


def test_a_number_of_worlds_that_the_game_does_not_have_is_explained(games: Path) -> None:
    with pytest.raises(GodojoError, match="2 worlds in each process: 8 worlds need 4 processes"):
        open_game(games / "first", num_processes=2, num_worlds=8)
    with pytest.raises(GodojoError, match="2 worlds in each process: ask for a multiple of that, not for 5"):
        open_game(games / "first", num_processes=2, num_worlds=5)
    with open_game(games / "first", num_processes=2, num_worlds=4) as worlds:
        assert worlds.num_worlds == 4


def test_a_game_whose_wire_is_not_known_is_found_out(games: Path) -> None:
    with open_game(games / "third", wire="any") as worlds:
        idle(worlds)
        worlds.step()
        assert list(worlds.roles) == ["shared_policy_0", "shared_policy_1"]


def test_a_game_started_by_hand_is_waited_for(engine: Engine, games: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    said: list[str] = []

    def start(line: str) -> None:
        said.append(line)
        if line.startswith("waiting"):
            game.start()

    words: list[str | Path] = [
        engine.program,
        "--headless",
        "--fixed-fps",
        "60",
        "--path",
        games / "third",
        f"--port={port}",
    ]
    game = threading.Thread(target=lambda: finish(words, timeout_s=60))
    with open_game(wire="godot_rl", port=port, say=start, start_timeout_s=60) as worlds:
        idle(worlds)
        worlds.step()
    game.join(60)
    assert not game.is_alive()  # it was told to close, and did
    assert any("connected" in line for line in said)


def test_a_game_without_agents_to_train_never_calls(games: Path, tmp_path: Path) -> None:
    project = shutil.copytree(games / "first", tmp_path / "mute")
    sync = project / "addons/godot_rl_agents/sync.gd"
    sync.write_text("extends Node\n\n@export var action_repeat := 8\n", encoding="utf-8")
    with pytest.raises(GodojoError, match=r"did not connect within 4 s .*control mode of its Sync node"):
        open_game(project, start_timeout_s=4, max_restarts=0).close()


def test_the_pages_example_runs(games: Path) -> None:
    page = (ROOT / "docs/godot-rl.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(import numpy.*?)```", page, re.DOTALL)
    assert "path/to/project" in example
    known: dict[str, Worlds] = {}
    exec(example.replace("path/to/project", str(games / "second")).replace("range(1000)", "range(30)"), known)
    assert known["worlds"].roles["guard"].observation.shape == (2, 1, 7)
