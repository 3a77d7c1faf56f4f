"""The demonstrations that godot_rl's own addon records (`RECORD_EXPERT_DEMOS`).

A JSON list of episodes, each `[observations, actions]`: rows of numbers, with one observation more than actions, that
of the end. Neither the game nor its spaces are named, so the file is read for the only role of the game.
"""

from pathlib import Path

import msgspec
import numpy as np

from godojo.demos.file import AGAIN, DemoEpisode, DemoHeader, DemoRole, Demos, check_rows, read_whole
from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.games.parts import action_size


def is_godot_rl(path: Path) -> bool:
    """Whether a file starts as a JSON list."""
    try:
        with path.open("rb") as file:
            return file.read(64).lstrip().startswith(b"[")
    except OSError:
        return False


def read_godot_rl(path: Path, worlds: Worlds) -> Demos:
    """Read and check such a file; the spaces are the game's."""
    if len(worlds.roles) != 1:
        raise GodojoError(
            f"{path} does not say which policy it demonstrates, and the game has {', '.join(worlds.roles)}: record it"
            " with DojoSync"
        )
    role = DemoRole.of(next(iter(worlds.roles.values())))
    episodes = []
    for number, (observation, action) in enumerate(_decoded(path)):
        if not action and len(observation) == 1:
            continue  # it was over when it began: the addon keeps the last observation and no action
        try:
            episodes.append(_episode(observation, action, role))
        except ValueError as error:
            raise GodojoError(f"{path}, episode {number}: {error}; remove it, or {AGAIN}") from None
    if not episodes:
        raise GodojoError(f"{path} has no finished episode; play one to its end")
    return Demos(path, DemoHeader("", (role,), "human"), episodes)


def _decoded(path: Path) -> list[tuple[list[list[float]], list[list[float]]]]:
    content = read_whole(path)
    try:
        # The addon's numbers may be true and false.
        return msgspec.json.decode(content, type=list[tuple[list[list[float | bool]], list[list[float | bool]]]])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise GodojoError(f"{path} is no list of [observations, actions] as godot_rl records them ({error})") from None


def _episode(observation: list[list[float]], action: list[list[float]], role: DemoRole) -> DemoEpisode:
    if len(observation) not in (len(action), len(action) + 1):
        raise ValueError(f"{len(observation)} observations and {len(action)} actions")
    rows = []
    for name, values, width in (
        ("observations", observation[: len(action)], role.observation_size),
        ("actions", action, action_size(role.action)),
    ):
        if wrong := next((len(row) for row in values if len(row) != width), 0):
            raise ValueError(f"{name} of {wrong} numbers, and the game's have {width}")
        rows.append(np.array(values, np.float32).reshape(len(action), width))
    return DemoEpisode(role.name, rows[0], check_rows(rows[0], rows[1], role))
