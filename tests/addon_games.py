"""Scenes of the Godot project that tests start as a trainer does, with everything they said."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from godojo.bridge.connection import Connection
from godojo.bridge.listener import Listener
from godojo.bridge.messages import Ready
from godojo.engines.godot import find, prepared_project
from godojo.engines.godot.project import problem_lines
from godojo.processes import GuardedProcess

COUNTING = "res://tests/dojo/counting.tscn"
FIRST_AGENT = "res://games/first_agent/first_agent.tscn"
TOKEN = "a-token-for-tests"
PATIENCE_S = 40.0


class Game:
    """A game that is running."""

    def __init__(self, ward: GuardedProcess, log: Path) -> None:
        self._ward, self._log = ward, log

    @property
    def output(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def lines(self) -> list[str]:
        return [line for line in self.output.splitlines() if line.strip()]

    def wait(self, timeout_s: float = PATIENCE_S) -> int:
        """Its exit status, once it has ended by itself."""
        deadline = time.monotonic() + timeout_s
        while (code := self._ward.status()) is None:
            assert time.monotonic() < deadline, f"the game did not end: {self.output}"
            time.sleep(0.02)
        return code

    def wait_for(self, words: str, after: int = 0) -> str:
        """What it has said since it had said so many letters, once these words are there in a whole line."""
        deadline = time.monotonic() + PATIENCE_S
        while words not in (said := self.output[after:]) or not said.endswith("\n"):
            assert time.monotonic() < deadline, f"the game did not say {words!r}: {self.output}"
            time.sleep(0.01)
        return said


@contextmanager
def playing(
    log: Path,
    scene: str,
    *words: str,
    port: int | None = None,
    window: bool = False,
    env: Mapping[str, str] | None = None,
) -> Iterator[Game]:
    """The scene in the real engine, launched for the trainer on `port` if there is one. No complaint of the engine's
    is forgiven."""
    engine = find()
    place = prepared_project(engine, strict=True)
    launch = {} if port is None else {"GODOJO_PORT": str(port), "GODOJO_TOKEN": TOKEN}
    screen = ["--audio-driver", "Dummy"] if window else ["--headless"]
    command: list[str | Path] = [
        engine.program,
        *screen,
        "--no-header",
        "--fixed-fps",
        "60",
        "--path",
        place,
        scene,
        "--",
        *words,
    ]
    with log.open("wb") as output:
        ward = GuardedProcess(command, env={**os.environ, **launch, **(env or {})}, output=output)
    game = Game(ward, log)
    try:
        yield game
    finally:
        ward.end()
    assert problem_lines(game.output) == [], game.output


@contextmanager
def connected(log: Path, scene: str, **env: str) -> Iterator[tuple[Game, Connection]]:
    """The scene, and the trainer's line to it."""
    with (
        Listener(port=0, token=TOKEN) as listener,
        playing(log, scene, port=listener.port, env=env) as game,
        listener.accept(PATIENCE_S) as connection,
    ):
        yield game, connection


def no_actions(ready: Ready) -> list[np.ndarray]:
    """Zeros for every agent."""
    return [np.zeros((ready.worlds, role.agents, role.action_size), np.float32) for role in ready.roles]
