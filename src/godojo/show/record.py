"""Recordings: a run's policies play in the real Godot, and what they play is drawn and encoded."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from godojo.errors import GodojoError
from godojo.games.tag.arenas import Arena
from godojo.show.encoding import FilmWriter
from godojo.show.frame_renderer import (
    NOTE,
    Drawing,
    Note,
    Piece,
    arrived,
    drawing,
    frames_in,
    pieces_of,
    read_note,
    write_note,
)
from godojo.show.numbered import format_of, numbered_pictures, read_pictures
from godojo.show.policies_to_show import PoliciesToShow
from godojo.show.progress import Progress, frame_progress
from godojo.show.recording import record_rounds
from godojo.show.replay import Replay
from godojo.show.scratch import scratch
from godojo.show.shots import Format, Shot, steadily

PAUSE_S = 2.0
"""How long a round's end stays on screen."""
FPS, MOST_FPS = 30, 240
"""Frames a second of numbered pictures, unless told otherwise."""

_OURS = re.compile(r"piece_\d+\.(mjpeg|json|bin)|\..*\.part")
"""Files of a folder of frames, those of a killed recording included."""


def shots_of(replays: Sequence[Replay], film: Format, camera: str, hero: str, *, names: bool) -> list[Shot]:
    """Every round from its start to a moment after its end, with the score as it grows."""
    wins: dict[str, int] = {}
    shots = []
    for replay in replays:
        followed = [role.first for role in replay.header.roles if role.name == hero]
        end_s = replay.seconds + PAUSE_S
        shots.append(
            Shot(
                replay,
                steadily(0.0, end_s, film.fps),
                camera=camera,
                hero=followed[0] if followed else 0,
                names=names,
                wins=dict(wins),
            )
        )
        if replay.outcome is not None:
            wins[replay.outcome.winner] = wins.get(replay.outcome.winner, 0) + 1
    return shots


def played_in_godot(
    lineup: PoliciesToShow, arenas: Sequence[Arena], rounds: int, *, seed: int, progress: Progress
) -> list[Replay]:
    """Rounds in the real physics, through the bridge."""
    return record_rounds(
        lineup.players,
        settings=lineup.settings,
        arenas=arenas,
        episodes=rounds,
        seed=seed,
        engine="godot",
        names=lineup.names,
        label=lineup.label,
        progress=lambda share: progress("playing in Godot", share),
    )


def film_shots(shots: Sequence[Shot], path: Path, film: Format, *, fine: bool = False, progress: Progress) -> int:
    """Draws shots and encodes them; returns the number of frames, which is that of the shots."""
    progress("starting Godot", None)
    with scratch(path.parent) as folder, drawing(folder, film, fine=fine) as crew, FilmWriter(path, film) as writer:
        encoding = frame_progress(progress, "encoding", sum(shot.frames for shot in shots))
        for piece in drawn(crew, shots, progress):
            for picture in frames_in(folder / piece.file, piece.frames):
                writer.write(picture)
                if crew.is_done:  # until then drawing is what takes the time
                    encoding(writer.frames)
            (folder / piece.file).unlink()
    return writer.frames


def dump_shots(shots: Sequence[Shot], folder: Path, film: Format, *, fine: bool = False, progress: Progress) -> Note:
    """Draws shots and keeps their frames in a folder, to be encoded by `encode`. What it held before is replaced."""
    clear_frames(folder)
    progress("starting Godot", None)
    with drawing(folder, film, fine=fine) as crew:
        note = Note(tuple(drawn(crew, shots, progress)), film)
    write_note(folder, note)
    return note


def clear_frames(folder: Path) -> None:
    """Makes a folder for frames, or removes those that it holds, also what a killed recording left."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = list(folder.iterdir())
        ours = [file for file in held if file.name == NOTE or _OURS.fullmatch(file.name)]
        if len(held) > len(ours):
            read_note(folder)  # a folder of somebody else's is not ours to write into
        for file in ours:
            file.unlink()
    except OSError as error:
        raise GodojoError(f"{folder} cannot be written to ({error.strerror}); name another with --frames") from None


def drawn(crew: Drawing, shots: Sequence[Shot], progress: Progress) -> Iterator[Piece]:
    """The pieces of a film in their order, each as soon as it has been drawn."""
    total = sum(shot.frames for shot in shots)
    pieces, before = [], 0
    for number, piece in enumerate(pieces_of(shots)):
        report = frame_progress(progress, "drawing", total, before)
        pieces.append(crew.draw(piece, f"piece_{number:03d}", report))
        before += sum(shot.frames for shot in piece)
    for waiting in pieces:
        yield arrived(waiting)


def encode(folder: Path, path: Path, *, fps: int | None = None, progress: Progress) -> tuple[int, Format]:
    """A film of a folder of frames: those of `dump_shots`, or numbered PNG files. Returns their number and format."""
    if fps is not None and not 1 <= fps <= MOST_FPS:
        raise GodojoError(f"--fps must be from 1 to {MOST_FPS}, not {fps}")
    pictures: Iterable[np.ndarray]
    if (folder / NOTE).exists():
        note = read_note(folder)
        film, total = note.film, sum(piece.frames for piece in note.pieces)
        film = Format(film.width, film.height, fps or film.fps)
        pictures = itertools.chain.from_iterable(frames_in(folder / piece.file, piece.frames) for piece in note.pieces)
    else:
        files = numbered_pictures(folder)
        film, total = format_of(files, fps or FPS), len(files)
        pictures = read_pictures(files, film)
    report = frame_progress(progress, "encoding", total)
    with FilmWriter(path, film) as writer:
        for picture in pictures:
            writer.write(picture)
            report(writer.frames)
    return writer.frames, film


def film_path(folder: Path, stem: str, given: Path | None) -> Path:
    """Where a film goes: where the user says, or into the folder, called after the moment."""
    if given is None:
        return folder / f"{stem}-{datetime.now():%Y%m%d-%H%M%S}.mp4"
    if given.suffix != ".mp4":
        raise GodojoError(f"{given}: films are MP4; let the name end with .mp4")
    return given
