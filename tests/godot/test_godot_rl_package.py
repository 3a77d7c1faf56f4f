"""The `godot-rl` package from PyPI drives scenes with a DojoSync as if they had its own plugin."""

import json
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import filelock
import numpy as np
import platformdirs
import pytest

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import prepared_project, problem_lines
from godojo.processes import finish

pytestmark = pytest.mark.engine
VERSION = "0.8.2"
COUNTING = "res://tests/dojo/counting.tscn"
FIRST_AGENT = "res://games/first_agent/first_agent.tscn"
MENU = "res://games/menu/menu.tscn"
PHYSICS_STRESS = "res://games/physics_stress/physics_stress.tscn"
TAG = "res://games/tag/training/training.tscn"
LANDING = "res://games/landing/training/training.tscn"
DRIVER = Path(__file__).with_name("godot_rl_driver.py")


@pytest.fixture(scope="module")
def package() -> Path:
    """The package alone, without what it would bring along; fetched once."""
    folder = platformdirs.user_cache_path("godojo") / "tests" / f"godot-rl-{VERSION}"
    with filelock.FileLock(folder.with_suffix(".lock"), timeout=110):
        if not (folder / "godot_rl/core/godot_env.py").is_file():
            words = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), f"godot-rl=={VERSION}"]
            done = finish([sys.executable, *words], timeout_s=100)
            if done.code:
                pytest.skip(f"godot-rl {VERSION} cannot be fetched: {done.output.strip()[-200:]}")
    return folder


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Driver:
    """Starts the package on a scene, in a Python of its own."""

    def __init__(self, engine: Engine, package: Path, port: int, folder: Path) -> None:
        self.engine, self.package, self.port, self.folder = engine, package, port, folder
        self.project = prepared_project(engine)

    def __call__(self, what: str, scene: str | None, **options: Any) -> dict[str, Any]:
        """What the driver said; the game itself must not have complained about anything."""
        file = ""
        if scene:
            game = self.folder / "game.x86_64"  # it starts nothing with another ending
            words = shlex.join([str(self.engine.program), "--path", str(self.project), scene])
            game.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
            game.chmod(0o755)
            file = str(game)
        done = finish(
            [sys.executable, DRIVER, what, file, str(self.port), json.dumps(options)],
            timeout_s=110,
            env={**os.environ, "PYTHONPATH": str(self.package)},
        )
        assert done.code == 0, done.output
        assert problem_lines(done.output) == []
        answer: dict[str, Any] = json.loads(done.output.splitlines()[_last_json(done.output)])
        return answer


def _last_json(output: str) -> int:
    return max(number for number, line in enumerate(output.splitlines()) if line.startswith("{"))


@pytest.fixture
def drive(engine: Engine, package: Path, port: int, tmp_path: Path) -> Driver:
    return Driver(engine, package, port, tmp_path)


def test_every_number_arrives(drive: Driver) -> None:
    """The counting worlds tell who they are, which decision it is, and the action they were given."""
    told = drive("play", COUNTING, framerate=60, worlds=2, seed=7)
    assert told["agents"] == 6
    assert told["policies"] == ["walker"] * 2 + ["flyer"] * 4
    assert told["spaces"] == [{"obs": [4]}] * 6
    assert told["actions"][5] == {"fly": "Box(-1.0, 1.0, (1,), float32)", "land": "Discrete(3)"}
    assert [each["obs"][:3] for each in told["first"]] == [
        [0, 0, 0],
        [1, 0, 0],
        [0, 0, 0],
        [0, 1, 0],
        [1, 0, 0],
        [1, 1, 0],
    ]
    assert {each["obs"][3] for each in told["first"]} == {7}  # the seed
    assert {each["obs"][3] for each in told["again"]} != {7}
    assert told["called"] == [None] * 6
    assert told["code"] == 0
    for number, step in enumerate(told["steps"], 1):
        assert [each["obs"][2] for each in step["seen"]] == [number] * 6
        firsts = [action[0][0] for action in step["action"]]
        np.testing.assert_allclose([each["obs"][3] for each in step["seen"]], firsts, rtol=1e-6)
        assert step["reward"] == [number - 1] * 6
        ends = number % 5 == 0
        assert step["done"] == [ends, False, ends, ends, False, False]
        for agent, info in enumerate(step["info"]):
            if step["done"][agent]:
                assert info["TimeLimit.truncated"] is False
                assert info["terminal_observation"]["obs"][2] == -number
            else:
                assert info == {}


def test_the_first_agent_scene(drive: Driver) -> None:
    told = drive("play", FIRST_AGENT, framerate=60, action_repeat=8, speedup=8)
    assert told["agents"] == 1
    (space,) = told["spaces"]
    assert len(told["first"][0]["obs"]) == space["obs"][0]
    assert any(step["done"][0] for step in told["steps"])
    assert told["code"] == 0


def test_the_menu_scene(drive: Driver) -> None:
    told = drive("play", MENU, framerate=60, action_repeat=8, worlds=2)
    assert told["policies"] == ["tester"] * 2
    assert told["actions"][0] == {
        "pointing": "Box(-1.0, 1.0, (2,), float32)",
        "trigger": "Discrete(2)",
        "grip": "Discrete(2)",
    }
    assert len(told["first"][0]["obs"]) == 71
    assert told["code"] == 0


def test_the_physics_stress_scene_reports_its_measures(drive: Driver) -> None:
    told = drive("play", PHYSICS_STRESS, framerate=60, action_repeat=3)
    assert (told["policies"], told["spaces"]) == (["stress"], [{"obs": [8]}])
    (info,) = (step["info"][0] for step in told["steps"] if step["done"][0])
    assert info["is_success"] is (info["frames over budget"] == 0)
    assert info["TimeLimit.truncated"] is True


@pytest.mark.parametrize(("name", "size"), [("voxel_stress", 4), ("bug_reproduction", 9)])
def test_the_voxel_scenes(drive: Driver, name: str, size: int) -> None:
    told = drive("play", f"res://games/{name}/{name}.tscn", framerate=60, action_repeat=8, speedup=8)
    assert told["spaces"] == [{"obs": [size]}]
    assert len(told["first"][0]["obs"]) == size
    assert told["code"] == 0


@pytest.mark.parametrize(("game", "agents", "actions"), [("locomotion", 1, 4), ("crowd", 8, 2)])
def test_the_vr_scenes(drive: Driver, game: str, agents: int, actions: int) -> None:
    told = drive("play", f"res://games/{game}/{game}.tscn", framerate=90, action_repeat=8, speedup=8)
    assert told["spaces"] == [{"obs": [12]}] * agents
    assert [sum(len(np.atleast_1d(part)) for part in each) for each in told["steps"][0]["action"]] == [actions] * agents
    assert told["code"] == 0


def test_the_tag_scene(drive: Driver) -> None:
    told = drive("play", TAG, framerate=60, worlds=4)
    assert told["policies"] == ["seeker"] * 4 + ["hider"] * 4
    ends = [info for step in told["steps"] for info in step["info"] if info]
    assert ends
    assert all(len(info["terminal_observation"]["obs"]) == told["spaces"][0]["obs"][0] for info in ends)


def test_the_landing_scene(drive: Driver) -> None:
    """90 ticks a second, by the clock and faster."""
    told = drive("play", LANDING, framerate=90, worlds=2, speedup=8, action_repeat=8)
    assert told["policies"] == ["pilot"] * 2
    assert told["spaces"] == [{"obs": [14]}] * 2
    assert list(told["actions"][0]) == ["thrust_x", "thrust_y", "thrust_z", "pitch", "roll"]
    altitudes = [1000 * step["seen"][0]["obs"][0] for step in told["steps"]]
    sinks = [50 * step["seen"][0]["obs"][2] for step in told["steps"]]
    fallen = altitudes[0] - altitudes[1]
    assert fallen == pytest.approx(-8 / 90 * (sinks[0] + sinks[1]) / 2, abs=0.05)


def test_the_same_seed_gives_the_same_beginning(drive: Driver) -> None:
    one, two, other = (drive("play", TAG, framerate=60, seed=seed)["first"] for seed in (5, 5, 6))
    assert one == two
    assert one != other


@pytest.mark.slow
def test_stable_baselines_learns_through_the_packages_wrapper(drive: Driver) -> None:
    assert drive("learn", FIRST_AGENT, framerate=60) == {"agents": 1, "steps": 256}


def test_a_scene_started_by_hand_finds_the_waiting_package(drive: Driver) -> None:
    """As from the editor: the game was told nothing, and looks on both ports."""
    drive.port = 11008
    words: list[str | Path] = [drive.engine.program, "--headless", "--fixed-fps", "60", "--path", drive.project, TAG]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as game:
        try:
            assert drive("play", None)["policies"] == ["seeker", "hider"]
        finally:
            game.kill()  # nobody told it to end: it would look for the next trainer


@pytest.mark.parametrize(
    "message",
    [
        b"[]",
        b"nonsense",
        b'{"type": 5}',
        b'{"type": "dance"}',
        b'{"type": "action", "action": []}',
        b'{"type": "action", "action": [{"walk": [1, "x"]}, {}, {}]}',
        b'{"type": "action", "action": [{"walk": [1]}, {}, {}]}',
        b'{"type": "action", "action": [{"walk": [1e39, 0]}, {}, {}]}',
        b'{"type": "action", "action": [{"walk": [0, 0]}, {"fly": [0], "land": 3}, {}]}',
        b'{"type": "action", "action": [{"walk": [0, 0]}, {"fly": [0], "land": 0.5}, {}]}',
        b'{"type": "action", "action": [{"walk": [0, 0]}, {"fly": [0], "land": [1]}, {}]}',
        b'{"type": "action", "action": 7}',
        b'{"type": "\xff\xfe"}',
        b'{"type": "reset", "x": 1e9999}',
        b"[" * 5000,
        None,
    ],
)
def test_a_trainer_that_talks_nonsense_is_hung_up_on(engine: Engine, message: bytes | None) -> None:
    """In one sentence, without an error of the engine's, and the game ends since it was launched for that trainer."""
    with launched_game(engine) as (line, output):
        if message is None:
            line.sendall(b"\xff\xff\xff\xff")
        else:
            _send(line, message)
            answer = _receive(line)
            assert answer["type"] == "error"
            assert answer["message"]
        assert line.recv(10) == b""
    assert problem_lines(output[0]) == []
    assert "the trainer is gone" in output[0]


def test_a_game_whose_trainer_vanished_ends(engine: Engine) -> None:
    with launched_game(engine) as (line, output):
        line.close()
    assert problem_lines(output[0]) == []
    assert "the trainer is gone" in output[0]


@contextmanager
def launched_game(engine: Engine) -> Iterator[tuple[socket.socket, list[str]]]:
    """The line to a game that has been reset. It has to end by itself; then there is what it printed."""
    output: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        words = ["--headless", "--fixed-fps", "60", "--path", str(prepared_project(engine)), COUNTING]
        game = subprocess.Popen(
            [engine.program, *words, f"--port={server.getsockname()[1]}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            line, _ = server.accept()
            with line:
                line.settimeout(30)
                _send(line, b'{"type": "handshake", "major_version": "0", "minor_version": "7"}')
                _send(line, b'{"type": "env_info"}')
                assert _receive(line)["n_agents"] == 3
                _send(line, b'{"type": "reset"}')
                assert _receive(line)["type"] == "reset"
                yield line, output
            output.append(game.communicate(timeout=30)[0])
        finally:
            game.kill()
            game.communicate()


def _send(line: socket.socket, text: bytes) -> None:
    line.sendall(len(text).to_bytes(4, "little") + text)


def _receive(line: socket.socket) -> dict[str, Any]:
    head = line.recv(4, socket.MSG_WAITALL)
    answer: dict[str, Any] = json.loads(line.recv(int.from_bytes(head, "little"), socket.MSG_WAITALL))
    return answer
