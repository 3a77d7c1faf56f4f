"""Shots: which moments of which rounds are drawn, through which camera, and the job in which Godot is told so.

A shot is a replay and one moment of it for every frame, so that time runs at any speed and frames can be counted
beforehand. `godot/games/tag/replay` draws them, `footage` has it done.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from godojo.errors import GodojoError, known
from godojo.files import atomic_write
from godojo.games.tag.settings import TICK_S
from godojo.show.replay import Replay

CAMERAS = ("overview", "follow", "side")
SCENE = "res://games/tag/replay/draw_replay.tscn"


class Format(msgspec.Struct, frozen=True):
    """Size and speed of a film."""

    width: int
    height: int
    fps: int

    @property
    def size(self) -> str:
        return f"{self.width}x{self.height}"


PRESETS = {
    "1080p60": Format(1920, 1080, 60),
    "720p30": Format(1280, 720, 30),
    "portrait": Format(1080, 1920, 60),
    "portrait-720p30": Format(720, 1280, 30),
    "small": Format(480, 270, 15),
    "portrait-small": Format(270, 480, 15),
}


def preset(name: str) -> Format:
    if name not in PRESETS:
        raise GodojoError(f"there is no preset {name!r}; {known(name, PRESETS)}")
    return PRESETS[name]


@dataclass(frozen=True)
class Shot:
    """One uninterrupted piece of a round."""

    replay: Replay
    seconds: np.ndarray
    """float [frames]: which moment of the round each frame shows; beyond its end everybody stays where they are."""
    camera: str = "overview"
    zoom: float = 1.0
    """How much closer than usual `side` may come."""
    hero: int = 0
    """Index of the agent that `follow` follows."""
    names: bool = True
    """Whether roles are written above the agents."""
    hud: float = 1.0
    """How large clock and score are; 0 for none."""
    wins: dict[str, int] = field(default_factory=dict)
    """Rounds won before, by role."""
    announced: bool = True
    """Whether it is said in large letters who won."""

    def __post_init__(self) -> None:
        if self.camera not in CAMERAS:
            raise GodojoError(f"there is no camera {self.camera!r}; there is: {', '.join(CAMERAS)}")

    @property
    def frames(self) -> int:
        return len(self.seconds)


def steadily(begin_s: float, end_s: float, fps: int, speed: float = 1.0) -> np.ndarray:
    """Moments from one to another, at so many times the speed of the game."""
    return begin_s + np.arange(max(round((end_s - begin_s) / speed * fps), 1)) * (speed / fps)


def write_job(path: Path, shots: Sequence[Shot], film: Format, *, quick: bool = True) -> None:
    """What Godot is told (`show_job.gd` reads it): a text, and beside it the numbers.

    Without a GPU smoothing edges in the quick way takes less than half the time of the finer one.
    """
    told = [_told(shot) for shot in shots]
    size = [film.width, film.height]
    tree = {"frames_per_second": film.fps, "size": size, "is_quick": quick, "shots": told}
    atomic_write(path.with_suffix(".bin"), b"".join(_numbers(shot) for shot in shots))
    atomic_write(path, msgspec.json.encode(tree))


def _told(shot: Shot) -> dict[str, Any]:
    header, outcome = shot.replay.header, shot.replay.outcome
    scores = outcome.scores if outcome else ()
    best = [index for index, score in enumerate(scores) if score == max(scores)]
    return {
        "settings": msgspec.to_builtins(header.settings),
        "arena": msgspec.to_builtins(header.arena),
        "frames": shot.frames,
        "camera": shot.camera,
        "zoom": shot.zoom,
        "hero": shot.hero,
        "is_tagged_by_name": shot.names,
        "hud": shot.hud,
        "wins": shot.wins,
        "ending": {
            "seconds": outcome.seconds if outcome else 0.0,
            "winner": outcome.winner if outcome else "",
            "winner_index": best[0] if len(best) == 1 else -1,
            "is_announced": shot.announced,
        },
    }


def _numbers(shot: Shot) -> bytes:
    replay = shot.replay
    free_ticks = np.diff(replay.tick, prepend=0)[:, None] * ~replay.chases
    score = np.cumsum(free_ticks, axis=0) * TICK_S
    rows = []
    for second in shot.seconds.tolist():
        now = replay.at(second)
        flags = np.stack([now.heading_rad, now.grounded, now.active, now.chases], axis=1)
        frame = min(int(np.searchsorted(replay.tick, now.seconds / TICK_S)), len(replay.tick) - 1)
        everybody = np.concatenate(
            [now.position_m, now.velocity_mps, flags, now.action[:, :2], score[frame][:, None]], axis=1
        )
        rows.append(np.concatenate([[second], everybody.ravel()]))
    return np.asarray(rows, "<f4").tobytes()
