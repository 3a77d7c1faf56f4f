"""Recordings: a run's policies play in the real Godot, and what they play is drawn and encoded."""

import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from godojo.errors import GodojoError
from godojo.games.tag.arenas import Arena
from godojo.show.encoding import FilmWriter
from godojo.show.footage import (
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
from godojo.show.lineup import Lineup
from godojo.show.recording import record_rounds
from godojo.show.replay import Replay
from godojo.show.stage import Format, Shot, steadily

PAUSE_S = 2.0
"""How long a round's end stays on screen."""

Progress = Callable[[str, float | None], None]


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
    lineup: Lineup, arenas: Sequence[Arena], rounds: int, *, seed: int, progress: Progress
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
    with scratch(path.parent) as folder, drawing(folder, film, fine=fine) as crew, FilmWriter(path, film) as writer:
        for piece in drawn(crew, shots, progress):
            writer.write_all(frames_in(folder / piece.file, piece.frames))
            (folder / piece.file).unlink()
    return writer.frames


def dump_shots(shots: Sequence[Shot], folder: Path, film: Format, *, fine: bool = False, progress: Progress) -> Note:
    """Draws shots and keeps their frames in a folder, to be encoded by `encode`. What it held before is replaced."""
    if folder.exists() and any(folder.iterdir()):
        read_note(folder)  # whatever else it holds is not ours to delete
        for file in [*folder.glob("piece_*.mjpeg"), folder / NOTE]:
            file.unlink()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GodojoError(f"{folder} cannot be made ({error.strerror}); name another with --frames") from None
    with drawing(folder, film, fine=fine) as crew:
        note = Note(tuple(drawn(crew, shots, progress)), film)
    write_note(folder, note)
    return note


def drawn(crew: Drawing, shots: Sequence[Shot], progress: Progress) -> Iterator[Piece]:
    """The pieces of a film in their order, each as soon as it has been drawn."""
    total = sum(shot.frames for shot in shots)
    pieces, before = [], 0

    def report(begun: int) -> Callable[[int], None]:
        return lambda frames: progress("drawing", min((begun + frames) / total, 1.0))

    for number, piece in enumerate(pieces_of(shots)):
        pieces.append(crew.draw(piece, f"piece_{number:03d}", report(before)))
        before += sum(shot.frames for shot in piece)
    for waiting in pieces:
        yield arrived(waiting)


def encode(folder: Path, path: Path, *, progress: Progress) -> int:
    """A film of a folder of frames; returns the number of frames."""
    note = read_note(folder)
    total = sum(piece.frames for piece in note.pieces)
    with FilmWriter(path, note.film) as writer:
        for piece in note.pieces:
            for picture in frames_in(folder / piece.file, piece.frames):
                writer.write(picture)
                progress("encoding", writer.frames / total)
    return writer.frames


@contextmanager
def scratch(beside: Path) -> Iterator[Path]:
    """A folder for frames that is gone afterwards."""
    folder = beside / f".frames.{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise GodojoError(f"{beside} cannot be written to ({error.strerror}); name another place with --out") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def film_path(folder: Path, stem: str, given: Path | None) -> Path:
    """Where a film goes: where the user says, or into the folder, called after the moment."""
    if given is None:
        return folder / f"{stem}-{datetime.now():%Y%m%d-%H%M%S}.mp4"
    if given.suffix != ".mp4":
        raise GodojoError(f"{given}: films are MP4; let the name end with .mp4")
    return given
