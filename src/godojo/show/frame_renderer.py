"""Footage: frames that Godot has drawn, kept as motion JPEG until they are encoded.

Long films are drawn in pieces, each by an engine of its own: while one is encoded the next is being drawn, and the disk
never holds more than a few.
"""

import queue
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import av
import msgspec
import numpy as np

from godojo.documents import read_document, write_document
from godojo.engines.godot.display import display, has_screen
from godojo.engines.godot.find import Engine, find
from godojo.engines.godot.project import prepared_project, problem_lines
from godojo.errors import GodojoError, command
from godojo.files import file_hash
from godojo.formats import FRAMES
from godojo.processes import started
from godojo.show.shots import SCENE, Format, Shot, write_job

NOTE = "frames.json"
MJPEG = "mjpeg"
"""One JPEG after the other: what other programs know as raw motion JPEG."""
PIECE_FRAMES = 900
"""So many are drawn by one engine, unless one shot alone has more."""
STALL_S = 240.0
"""An engine that draws five frames in no less time has got stuck."""
BYTES_PER_PIXEL = 0.4
"""What motion JPEG of our scenes takes at most, seen at quality 0.95: a third of it."""
SPARE_BYTES = 32 * 2**20
WINDOW = "320x180"
"""Of the engine's window, which stays empty: what is drawn is larger than many a screen."""
_POLL_S = 0.5

FramesDrawn = Callable[[int], None]
"""Told how many frames have been drawn."""


class Piece(msgspec.Struct, frozen=True):
    """A file of frames."""

    file: str
    frames: int
    sha256: str = ""
    """Of the file; old notes have none."""


class Note(msgspec.Struct, frozen=True):
    """What lies in a folder of frames; written last."""

    pieces: tuple[Piece, ...]
    film: Format


def pieces_of(shots: Sequence[Shot]) -> list[list[Shot]]:
    """Shots in their order, in pieces of about `PIECE_FRAMES`."""
    pieces: list[list[Shot]] = []
    for shot in shots:
        if pieces and sum(one.frames for one in pieces[-1]) + shot.frames <= PIECE_FRAMES:
            pieces[-1].append(shot)
        else:
            pieces.append([shot])
    return pieces


@contextmanager
def drawing(folder: Path, film: Format, *, fine: bool = False) -> Iterator["Drawing"]:
    """Something to draw with; the engine and its display are looked after. Frames are written into `folder`.

    On a virtual screen there is no GPU, so edges are smoothed in the quick way there, unless it is to be `fine`.
    """
    engine = find()
    prepared_project(engine)
    with display() as env:
        crew = Drawing(engine, env, folder.absolute(), film, quick=not fine and not has_screen())
        try:
            yield crew
        finally:
            crew.stop()


class Drawing:
    """Draws pieces, one after the other, in the background."""

    def __init__(self, engine: Engine, env: Mapping[str, str], folder: Path, film: Format, *, quick: bool) -> None:
        self._engine, self._env, self._folder, self._film, self._quick = engine, env, folder, film, quick
        # One engine at a time: without a GPU a single one keeps all cores busy.
        self._pool = ThreadPoolExecutor(1, "drawing")
        self._stopped = threading.Event()
        self._ordered: list[Future[Piece]] = []

    @property
    def is_done(self) -> bool:
        """Whether all that was ordered has been drawn."""
        return all(piece.done() for piece in self._ordered)

    def stop(self) -> None:
        self._stopped.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def draw(
        self, shots: Sequence[Shot], name: str, progress: FramesDrawn, film: Format | None = None
    ) -> "Future[Piece]":
        """Has a piece drawn into `NAME.mjpeg`, in another size where one is given. Wait with `arrived`."""
        self._ordered.append(self._pool.submit(self._draw, list(shots), name, progress, film or self._film))
        return self._ordered[-1]

    def _draw(self, shots: list[Shot], name: str, progress: FramesDrawn, film: Format) -> Piece:
        piece = Piece(f"{name}.mjpeg", sum(shot.frames for shot in shots))
        path = self._folder / piece.file
        check_room(self._folder, piece.frames, film)
        job = self._folder / f"{name}.json"
        write_job(job, shots, film, quick=self._quick)
        words: list[str | Path] = [
            self._engine.program,
            *("--audio-driver", "Dummy", "--resolution", WINDOW, "--fixed-fps", str(film.fps)),
            *("--path", prepared_project(self._engine), SCENE, "--", job, path),
        ]
        progress(0)
        said = self._watch(words, progress)
        for left in (job, job.with_suffix(".bin")):
            left.unlink(missing_ok=True)
        check_piece(path, film, piece.frames, said)
        progress(piece.frames)
        return piece

    def _watch(self, words: Sequence[str | Path], progress: FramesDrawn) -> str:
        """Runs the engine to its end; gives up when it draws nothing for long, or when nobody wants it any more."""
        lines: queue.Queue[str | None] = queue.Queue()
        said: list[str] = []
        waited_s = 0.0
        with started(words, env=self._env) as process:
            threading.Thread(target=_listen, args=(process, lines), daemon=True).start()
            while not self._stopped.is_set():
                try:
                    line = lines.get(timeout=_POLL_S)
                except queue.Empty:
                    waited_s += _POLL_S
                    if waited_s > STALL_S:
                        raise GodojoError(f"Godot drew nothing for {STALL_S:.0f} s and was ended; try again") from None
                    continue
                waited_s = 0.0
                if line is None:
                    break
                word, _, number = line.strip().partition(" ")
                if word == "frame" and number.isdigit():
                    progress(int(number))
                else:
                    said.append(line)
        return "".join(said)


def _listen(process: "subprocess.Popen[str]", lines: "queue.Queue[str | None]") -> None:
    assert process.stdout is not None
    with suppress(ValueError, OSError):  # closed from the other side
        for line in process.stdout:
            lines.put(line)
    lines.put(None)


def arrived(piece: "Future[Piece]") -> Piece:
    """Waits for a piece, and lets Ctrl-C through meanwhile."""
    while True:
        try:
            return piece.result(timeout=_POLL_S)
        except TimeoutError:
            if piece.done():
                raise


def check_room(folder: Path, frames: int, film: Format) -> None:
    """Refuses to begin what the disk has no room for."""
    wanted = int(frames * film.width * film.height * BYTES_PER_PIXEL) + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise GodojoError(
            f"{folder} has {free >> 20} MB of room, and {frames} frames may take {wanted >> 20} MB; make room, or draw"
            " fewer or smaller ones (--rounds, --preset)"
        )


def check_piece(path: Path, film: Format, frames: int, said: str) -> None:
    """Whether all frames are there; GodojoError says why not."""
    count, size = 0, ""
    with suppress(OSError, av.FFmpegError), av.open(str(path), format=MJPEG) as file:
        stream = file.streams.video[0]
        size = f"{stream.width}x{stream.height}"
        count = sum(1 for packet in file.demux(stream) if packet.size)
    if (count, size) == (frames, film.size):
        return
    if count and shutil.disk_usage(path.parent).free < SPARE_BYTES:
        raise GodojoError(f"the disk of {path.parent} is full after {count} of {frames} frames; make room")
    complaints = "; ".join(problem_lines(said)[:3] or said.strip().splitlines()[-1:]) or "no word of why"
    if not count:
        cure = f"if drivers are missing: {command('engine install --rendering')}"
        raise GodojoError(f"Godot drew nothing ({complaints}); {cure}")
    raise GodojoError(f"Godot drew {count} frames instead of {frames} ({complaints}); try again")


def frames_in(path: Path, frames: int) -> Iterator[np.ndarray]:
    """So many frames from a file, uint8 [height, width, 3]."""
    count = 0
    try:
        with av.open(str(path), format=MJPEG) as file:
            for frame in file.decode(video=0):
                count += 1
                yield frame.to_ndarray(format="rgb24")
    except (OSError, av.FFmpegError) as error:
        raise GodojoError(f"{path} cannot be read ({error}); draw it again") from None
    if count != frames:
        raise GodojoError(f"{path} has {count} frames instead of {frames}; draw it again")


def write_note(folder: Path, note: Note) -> None:
    pieces = [msgspec.structs.replace(piece, sha256=file_hash(folder / piece.file)) for piece in note.pieces]
    write_document(folder / NOTE, FRAMES, msgspec.structs.replace(note, pieces=tuple(pieces)))


def read_note(folder: Path) -> Note:
    """What lies in a folder of frames, which are those that were drawn."""
    path = folder / NOTE
    try:
        note = read_document(path, FRAMES, Note, "dump the frames again")
    except FileNotFoundError:
        raise GodojoError(f"{folder} holds no frames: there is no {NOTE}; dump some with: record --frames") from None
    for piece in note.pieces:
        if Path(piece.file).name != piece.file:
            raise GodojoError(f"{path}: {piece.file!r} is no file beside it")
        try:
            if piece.sha256 and piece.sha256 != file_hash(folder / piece.file):
                raise GodojoError(f"{folder / piece.file} is damaged; dump the frames again")
        except OSError as error:
            raise GodojoError(f"{folder / piece.file} cannot be read ({error}); dump the frames again") from None
    return note
