"""Shots: which moments of which rounds are drawn, through which camera, and the job that Godot draws.

A shot is a replay and a moment of it for every frame, so time runs at any speed and the number of frames is known
beforehand. `godot/show` draws shots; `frame_renderer` runs it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from godojo.errors import GodojoError, known, unknown
from godojo.files import atomic_write
from godojo.games.base import game_named
from godojo.show.camera import ALL, Area, CameraPath, plan
from godojo.show.colours import rgb
from godojo.show.replay import Replay, ReplayRole, can_replay, replay_spec

TRACKING = "tracking"
"""The camera whose path is planned here (`camera`); Godot knows the others."""
CAMERAS = (TRACKING, "overview", "follow", "side")
SCENE = "res://show/draw_replay.tscn"
SHOW = "res://show/replay_show.tscn"
"""The game-neutral scene; a game may bring its own (`Game.film_scene`)."""
PAPER = "#fff8ec"


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


def cameras_of(game: str) -> tuple[str, ...]:
    """Those of the game's own film scene, or of the neutral one."""
    return (replay_spec(game).cameras if can_replay(game) else ()) or CAMERAS


def check_camera(name: str | None, game: str) -> None:
    if name is not None and name not in cameras_of(game):
        raise unknown("camera", name, cameras_of(game))


@dataclass(frozen=True)
class Shot:
    """An uninterrupted piece of a round."""

    replay: Replay
    seconds: np.ndarray
    """float [frames]: the moment of the round that each frame shows; after its end, nothing moves."""
    camera: str = ""
    """One of `cameras_of` the game; the usual one by default."""
    area: Area = ALL
    """Where `tracking` keeps the agents."""
    zoom: float = 1.0
    """How much closer than usual `tracking` and `side` may come."""
    hero: int = 0
    """Index of the agent that `follow` follows."""
    names: bool = True
    """Whether roles are written above the agents."""
    hud: float = 1.0
    """Size of clock and score; 0 for none."""
    wins: dict[str, int] = field(default_factory=dict)
    """Rounds won before, by role."""
    announced: bool = True
    """Whether a banner announces the winner, and the score counts it."""

    def __post_init__(self) -> None:
        if not self.camera:
            object.__setattr__(self, "camera", usual_camera(self.replay))
        check_camera(self.camera, self.replay.header.game)

    @property
    def frames(self) -> int:
        return len(self.seconds)


def usual_camera(replay: Replay) -> str:
    """The first of the game's own cameras, if it has any. Otherwise close to the agents; over the shoulder of one that
    is alone, so that one sees where it goes."""
    own = replay.header.spec.cameras
    return own[0] if own else TRACKING if replay.header.agents > 1 else "follow"


def camera_path(shot: Shot, film: Format) -> CameraPath:
    """Of a shot with the `tracking` camera."""
    return plan(shot.replay, shot.seconds, film.width, film.height, area=shot.area, zoom=shot.zoom, fps=film.fps)


def steadily(begin_s: float, end_s: float, fps: int, speed: float = 1.0) -> np.ndarray:
    """Moments from one to another, at a multiple of the game's speed."""
    return begin_s + np.arange(max(round((end_s - begin_s) / speed * fps), 1)) * (speed / fps)


def write_job(path: Path, shots: Sequence[Shot], film: Format, *, quick: bool = True) -> None:
    """The job that `show_job.gd` reads: a JSON file, and beside it the numbers.

    Without a GPU, quick smoothing of edges takes less than half the time of the finer one.
    """
    tree = {
        "frames_per_second": film.fps,
        "size": [film.width, film.height],
        "is_quick": quick,
        "scene": game_named(shots[0].replay.header.game).film_scene or SHOW,
        "shots": [_described(shot) for shot in shots],
    }
    atomic_write(path.with_suffix(".bin"), b"".join(_numbers(shot, film) for shot in shots))
    atomic_write(path, msgspec.json.encode(tree))


def _described(shot: Shot) -> dict[str, Any]:
    replay, header = shot.replay, shot.replay.header
    names = agent_names(replay)
    colours = [header.teams[team].colour for team in replay.team[-1].tolist()]
    title, text, agent = result(replay) if shot.announced else ("", "", -1)
    return {
        "layout": msgspec.to_builtins(header.layout),
        "teams": msgspec.to_builtins(header.teams),
        "agents": names,
        "frames": shot.frames,
        "camera": shot.camera,
        "zoom": shot.zoom,
        "hero": shot.hero,
        "is_tagged_by_name": shot.names,
        "hud": shot.hud,
        "round_s": header.round_s,
        "parties": [
            {"title": title, "colour": colour, "before": before, "after": after, "agent": agent}
            for title, colour, before, after, agent in _parties(shot, names, colours)
        ],
        "end_s": replay.outcome.seconds if replay.outcome else -1.0,
        "end_title": title,
        "end_text": text,
        "end_colour": letter_colour(colours[agent]) if agent >= 0 else PAPER,
        "settings": msgspec.to_builtins(header.settings),
        "arena": header.arena,
        "tracks": _tracks(shot),
    }


def _tracks(shot: Shot) -> dict[str, list[float]]:
    """The hero's numbers from the start of the round to its end, at every decision (`ShowTracks`)."""
    replay = shot.replay
    if not replay.tracks:
        return {}
    frames = np.union1d(replay.decision_frame, len(replay.tick) - 1)
    x, y, z = replay.position_m[frames, shot.hero].T
    found = {"seconds": replay.tick[frames] * replay.tick_s, "x": x, "y": y, "z": z}
    found |= {name: numbers[frames, shot.hero] for name, numbers in replay.tracks.items()}
    return {name: [round(float(number), 4) for number in numbers] for name, numbers in found.items()}


def is_alone(replay: Replay) -> bool:
    """One agent: it succeeds or fails, and nobody opposes it."""
    return replay.header.agents == 1


def is_free_for_all(replay: Replay) -> bool:
    """One role, several agents: each has a score of its own."""
    return len(replay.header.roles) == 1 and replay.header.agents > 1


def _parties(shot: Shot, names: Sequence[str], colours: Sequence[str]) -> Iterable[tuple[str, str, str, str, int]]:
    """The lines of the score: agents with their own scores, or roles with the rounds they won.

    Title, colour, score before and after the end, and the agent whose score is among the numbers of every frame, or -1.
    """
    replay, outcome = shot.replay, shot.replay.outcome
    if is_free_for_all(replay):
        for index, name in enumerate(names):
            after = f"{outcome.scores[index]:.1f}" if outcome else ""
            yield name, colours[index], "", after, index if replay.header.spec.scores else -1
        return
    for role in replay.header.roles:
        won = shot.wins.get(role.name, 0)
        has_won = outcome is not None and outcome.winner == role.name
        before, after = (str(won), str(won + has_won)) if shot.announced else ("", "")
        yield "Success" if is_alone(replay) else _plural(role), colours[role.first], before, after, -1


def _plural(role: ReplayRole) -> str:
    return role.name.capitalize() + ("s" if role.agents > 1 else "")


def agent_names(replay: Replay) -> list[str]:
    """For people: `Seeker`, `Hider 1`, `Hider 2`."""
    return [
        role.name.capitalize() + (f" {number + 1}" if role.agents > 1 else "")
        for role in replay.header.roles
        for number in range(role.agents)
    ]


def result(replay: Replay) -> tuple[str, str, int]:
    """How the round ended, in large and in small letters, and the agent in whose colour; -1 for none."""
    outcome, roles, names = replay.outcome, replay.header.roles, agent_names(replay)
    if outcome is None:
        return "", "", -1
    if is_free_for_all(replay):
        best = [index for index, score in enumerate(outcome.scores) if score == max(outcome.scores)]
        if len(best) > 1:
            return "A draw", "", -1
        return f"{names[best[0]]} wins", f"with a score of {outcome.scores[best[0]]:.1f}", best[0]
    after = f"after {outcome.seconds:.1f} seconds"
    title = replay.header.spec.endings.get(outcome.winner, "")
    for role in roles:
        if role.name == outcome.winner:
            wins = f"{_plural(role)} {'win' if role.agents > 1 else 'wins'}"
            return title or ("Success" if len(roles) == 1 else wins), after, role.first
    return title or f"Ended by the {outcome.winner}", after, -1


def letter_colour(colour: str) -> str:
    """A team's colour for letters on a dark ground: dark ones are lightened, as `ShowStyle.letter_color` does."""
    red, green, blue = rgb(colour)
    if 0.2126 * red + 0.7152 * green + 0.0722 * blue >= 0.5 * 255:
        return colour
    return "#" + "".join(f"{(part + 255) // 2:02x}" for part in (red, green, blue))


def _numbers(shot: Shot, film: Format) -> bytes:
    """float32 [frames, 1 + 5 + 11 A]: the second, the planned camera, then `ShowJob.FIELDS` numbers of every agent."""
    replay = shot.replay
    camera = camera_path(shot, film).numbers() if shot.camera == TRACKING else np.zeros((shot.frames, 5))
    scores = replay.header.spec.scores
    score = np.zeros(replay.team.shape, np.float32) if scores is None else scores(replay)
    rows = []
    for second, seen_from in zip(shot.seconds.tolist(), camera, strict=True):
        now = replay.at(second)
        frame = min(int(np.searchsorted(replay.tick, now.seconds / replay.tick_s)), len(replay.tick) - 1)
        single = np.stack([now.heading_rad, now.grounded, now.active, now.team, score[frame]], axis=1)
        agents = np.concatenate([now.position_m, now.velocity_mps, single], axis=1)
        rows.append(np.concatenate([[second], seen_from, agents.ravel()]))
    return np.asarray(rows, "<f4").tobytes()
