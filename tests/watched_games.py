"""Games that tests start, marked so that not one of them, nor a child of theirs, can be overlooked afterwards."""

import os
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path

from godojo.engines.godot.game_slots import LaunchedGame
from godojo.engines.godot.launch import Recipe
from godojo.engines.godot.worlds import GodotWorlds

PRETEND = Path(__file__).with_name("dojo_client.py")
_MARK = "GODOJO_TEST_MARK"


def pretend(*words: str) -> Recipe:
    """The game of `dojo_client.py`: a real process, the real wire, no engine."""
    return Recipe((sys.executable, str(PRETEND)), arguments=words)


class Marked:
    """A recipe whose processes can be found again, however they were left."""

    def __init__(self, recipe: Recipe) -> None:
        self.mark = uuid.uuid4().hex
        self.recipe = replace(recipe, env={**recipe.env, _MARK: self.mark})

    def running(self) -> list[int]:
        return marked_processes(self.mark)

    def all_gone(self, within_s: float = 5.0) -> bool:
        deadline = time.monotonic() + within_s
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self.running()


def marked_processes(mark: str) -> list[int]:
    """Everybody who has inherited the mark and lives."""
    wanted, found = f"{_MARK}={mark}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue  # it has just ended, or is not ours
    return [pid for pid in found if pid != os.getpid()]


def pid_of(worlds: GodotWorlds, game: int) -> int:
    """The process of one of the games."""
    seat = worlds.seats[game]
    assert isinstance(seat, LaunchedGame)
    assert seat.pid is not None
    return seat.pid
