"""Recordings: a run's policies play in the real Godot; their rounds are drawn and encoded."""

import itertools
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from godojo.errors import GodojoError, option
from godojo.games.base import game_named
from godojo.show.encoding import film_writer, format_of, numbered_pictures, read_pictures, write_picture
from godojo.show.frame_renderer import (
    NOTE,
    Note,
    check_room,
    drawing,
    frames_in,
    make_film,
    painted,
    plain_scene,
    read_note,
    write_note,
)
from godojo.show.policies_to_show import PoliciesToShow
from godojo.show.progress import Progress, frame_progress
from godojo.show.replay import Replay
from godojo.show.scratch import PREFIX as SCRATCH
from godojo.show.scratch import scratch
from godojo.show.shots import Format, Shot, is_alone, steadily, usual_camera

PAUSE_S = 2.0
"""How long a round's end stays on screen."""
PNG_BYTES_PER_PIXEL = 2.0
"""Upper bound for our scenes; they were seen to take half of it."""
FPS, MAX_FPS = 30, 240
"""Default frames per second of numbered pictures, and the most that a film may have."""

PICTURE = "frame_{:05d}.png"
"""Numbered from 0, as `DojoRecorder` in Godot does."""
_OURS = re.compile(r"frame_\d{5,}\.png|piece_\d+\.(mjpeg|json|bin)|\..*\.part")
"""Files of a folder of frames, those of a killed recording and of older versions included."""


def shots_of(
    replays: Sequence[Replay], film: Format, camera: str | None = None, hero: str | None = None, *, names: bool = True
) -> list[Shot]:
    """Every round from its start to a moment after its end, with the score as it grows.

    By default the camera stays close to the agents, all of them in view (`usual_camera`).
    """
    wins: dict[str, int] = {}
    shots = []
    for replay in replays:
        followed = [role.first for role in replay.header.roles if role.name == hero]
        shots.append(
            Shot(
                replay,
                steadily(0.0, replay.seconds + PAUSE_S, film.fps),
                camera=camera or usual_camera(replay),
                hero=followed[0] if followed else 0,
                names=names and not is_alone(replay),
                wins=dict(wins),
            )
        )
        if replay.outcome is not None:
            wins[replay.outcome.winner] = wins.get(replay.outcome.winner, 0) + 1
    return shots


def played_in_godot(
    lineup: PoliciesToShow, arenas: Sequence[Any], rounds: int, *, seed: int, progress: Progress
) -> list[Replay]:
    """Rounds in the real physics, through the bridge."""
    game_named(lineup.game).require("in_godot", "record")

    def report(share: float) -> None:
        progress("playing in Godot", share)

    return lineup.record(rounds, arenas=arenas, seed=seed, engine="godot", progress=report)


def film_shots(shots: Sequence[Shot], path: Path, film: Format, *, fine: bool = False, progress: Progress) -> int:
    """Draws shots and encodes them; returns the number of frames, which is that of the shots."""
    return make_film([plain_scene(shot, film) for shot in shots], path, film, fine=fine, progress=progress)


def dump_shots(shots: Sequence[Shot], folder: Path, film: Format, *, fine: bool = False, progress: Progress) -> int:
    """Draws shots and keeps their frames in a folder as `frame_00000.png` and so on, in place of those that it held
    before. Returns their number."""
    clear_frames(folder)
    check_room(folder, sum(shot.frames for shot in shots), film, PNG_BYTES_PER_PIXEL)
    write_note(folder, Note((), film))  # first: pictures beside it are ours, also those of a killed recording
    progress("starting Godot", None)
    with scratch(folder) as room, drawing(room, fine=fine) as crew:
        count = 0
        for _, picture in painted(crew, room, [plain_scene(shot, film) for shot in shots], progress):
            write_picture(folder / PICTURE.format(count), picture)
            count += 1
    return count


def clear_frames(folder: Path) -> None:
    """Makes a folder for frames, or removes those that it holds, also what a killed recording left."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = [file for file in folder.iterdir() if not file.name.startswith(SCRATCH)]
        ours = [file for file in held if file.name == NOTE or _OURS.fullmatch(file.name)]
        is_foreign = len(held) > len(ours) or any(file.suffix == ".png" for file in ours)
        if is_foreign and not (folder / NOTE).exists():
            raise GodojoError(f"{folder} holds other files; choose an empty folder for {option('frames')}")
        for file in sorted(ours, key=lambda file: file.name == NOTE):  # the note last: it marks the others as ours
            file.unlink()
    except OSError as error:
        raise GodojoError(
            f"{folder} cannot be written to ({error.strerror}); choose another {option('frames')}"
        ) from None


def encode(folder: Path, path: Path, *, fps: int | None = None, progress: Progress) -> tuple[int, Format]:
    """A film of a folder of numbered PNG files, such as those of `dump_shots`. Returns their number and format."""
    if fps is not None and not 1 <= fps <= MAX_FPS:
        raise GodojoError(f"--fps must be from 1 to {MAX_FPS}, not {fps}")
    pictures: Iterable[np.ndarray]
    note = read_note(folder) if (folder / NOTE).exists() else None
    if note is not None and note.pieces:  # of an older version
        film, total = note.film, sum(piece.frames for piece in note.pieces)
        film = Format(film.width, film.height, fps or film.fps)
        pictures = itertools.chain.from_iterable(frames_in(folder / piece.file, piece.frames) for piece in note.pieces)
    else:
        files = numbered_pictures(folder)
        film, total = format_of(files, fps or (FPS if note is None else note.film.fps)), len(files)
        pictures = read_pictures(files, film)
    report = frame_progress(progress, "encoding", total)
    with film_writer(path, film) as writer:
        for picture in pictures:
            writer.write(picture)
            report(writer.frames)
    return writer.frames, film


def film_path(folder: Path, stem: str, given: Path | None) -> Path:
    """The film's file: as the user names it, or in the folder, named after the time."""
    if given is None:
        return folder / f"{stem}-{datetime.now():%Y%m%d-%H%M%S}.mp4"
    if given.suffix != ".mp4":
        raise GodojoError(f"{given}: films are MP4; let the name end with .mp4")
    return given
