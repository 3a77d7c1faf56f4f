"""Frames that Godot draws, kept as motion JPEG until they are encoded, and films made of them.

Long films are drawn in pieces, each by an engine of its own: one piece is encoded while the next is drawn, and the disk
never holds more than a few.
"""

import itertools
import queue
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
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
from godojo.show.encoding import film_writer
from godojo.show.progress import Progress, frame_progress
from godojo.show.scratch import scratch
from godojo.show.shots import SCENE, Format, Shot, write_job

NOTE = "frames.json"
MJPEG = "mjpeg"
"""One JPEG after the other: what other programs know as raw motion JPEG."""
PIECE_FRAMES = 600
"""Drawn by one engine, unless a single scene has more."""
STALL_S = 240.0
"""An engine that takes longer for five frames is stuck."""
BYTES_PER_PIXEL = 0.4
"""Upper bound for motion JPEG of our scenes at quality 0.95; they were seen to take a third of it."""
SPARE_BYTES = 32 * 2**20
WINDOW = "320x180"
"""Of the engine's window, which stays empty: films are larger than many a screen."""
_POLL_S = 0.5

Paint = Callable[[int, Sequence[np.ndarray]], np.ndarray]
"""From the number of a frame and the pictures of its shots, uint8 [height, width, 3], to the film's picture."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A piece of a film: shots that run side by side, and how their pictures become the film's."""

    name: str
    frames: int
    shots: tuple[Shot, ...]
    """None, one, or several; each has as many frames as the scene."""
    format: Format
    """Of the shots."""
    paint: Paint

    def part(self, frames: range) -> "Scene":
        """Some consecutive frames of it."""
        shots = tuple(replace(shot, seconds=shot.seconds[frames.start : frames.stop]) for shot in self.shots)
        return Scene(self.name, len(frames), shots, self.format, lambda frame, drawn: self.paint(frames[frame], drawn))


def plain_scene(shot: Shot, film: Format) -> Scene:
    """A shot with nothing drawn over it."""
    return Scene("round", shot.frames, (shot,), film, lambda _, pictures: pictures[0])


class Piece(msgspec.Struct, frozen=True):
    """A file of frames."""

    file: str
    frames: int
    sha256: str = ""
    """Of the file; old notes have none."""


class Note(msgspec.Struct, frozen=True):
    """The format of a folder of frames."""

    pieces: tuple[Piece, ...]
    """Files of frames of an older version; none beside numbered pictures."""
    film: Format


def make_film(scenes: Sequence[Scene], path: Path, film: Format, *, fine: bool = False, progress: Progress) -> int:
    """Draws scenes, paints over them and encodes them; returns the number of frames."""
    progress("starting Godot", None)
    with scratch(path.parent) as folder, drawing(folder, fine=fine) as crew, film_writer(path, film) as writer:
        encoding = frame_progress(progress, "encoding", sum(scene.frames for scene in scenes))
        for _, picture in painted(crew, folder, scenes, progress):
            writer.write(picture)
            if crew.is_done:  # until then drawing takes the time
                encoding(writer.frames)
    return writer.frames


def painted(
    crew: "Drawing", folder: Path, scenes: Sequence[Scene], progress: Progress
) -> Iterator[tuple[Scene, np.ndarray]]:
    """Every picture of the film with its scene; frames that are no longer needed are removed."""
    for together, piece in draw_scenes(crew, scenes, progress):
        first = 0
        for scene in together:
            pictures = []
            for shot in scene.shots:
                assert piece is not None
                drawn = frames_in(folder / piece.file, piece.frames)
                pictures.append(itertools.islice(drawn, first, first + shot.frames))
                first += shot.frames
            for frame in range(scene.frames):
                yield scene, scene.paint(frame, [next(each) for each in pictures])
        if piece is not None:
            (folder / piece.file).unlink()


def draw_scenes(
    crew: "Drawing", scenes: Sequence[Scene], progress: Progress
) -> Iterator[tuple[list[Scene], Piece | None]]:
    """Consecutive scenes of one size, drawn by one engine into one piece; each as soon as it is there."""
    total = sum(shot.frames for scene in scenes for shot in scene.shots)
    orders: list[tuple[list[Scene], Future[Piece] | None]] = []
    before = 0
    for together in pieces_of(scenes):
        shots = [shot for scene in together for shot in scene.shots]
        report = frame_progress(progress, "drawing", total, before)
        name = f"piece_{len(orders):03d}"
        orders.append((together, crew.draw(shots, name, together[0].format, report) if shots else None))
        before += sum(shot.frames for shot in shots)
    for together, waiting in orders:
        yield together, arrived(waiting) if waiting is not None else None


def pieces_of(scenes: Sequence[Scene]) -> list[list[Scene]]:
    """Consecutive scenes of one size, in pieces of about `PIECE_FRAMES`."""
    pieces: list[list[Scene]] = []
    for scene in scenes:
        frames = sum(one.frames for one in pieces[-1]) + scene.frames if pieces else 0
        if pieces and pieces[-1][0].format == scene.format and frames <= PIECE_FRAMES:
            pieces[-1].append(scene)
        else:
            pieces.append([scene])
    return pieces


@contextmanager
def drawing(folder: Path, *, fine: bool = False) -> Iterator["Drawing"]:
    """Draws into `folder`, with an engine and a display for as long as the block lasts.

    A virtual screen has no GPU, so edges are smoothed in the quick way there, unless `fine`.
    """
    engine = find()
    prepared_project(engine)
    with display() as env:
        crew = Drawing(engine, env, folder.absolute(), quick=not fine and not has_screen())
        try:
            yield crew
        finally:
            crew.stop()


class Drawing:
    """Draws pieces, one after the other, in the background."""

    def __init__(self, engine: Engine, env: Mapping[str, str], folder: Path, *, quick: bool) -> None:
        self._engine, self._env, self._folder, self._quick = engine, env, folder, quick
        # One engine at a time: without a GPU a single one keeps all cores busy.
        self._pool = ThreadPoolExecutor(1, "drawing")
        self._stopped = threading.Event()
        self._ordered: list[Future[Piece]] = []

    @property
    def is_done(self) -> bool:
        """Whether every ordered piece is drawn."""
        return all(piece.done() for piece in self._ordered)

    def stop(self) -> None:
        self._stopped.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def draw(self, shots: Sequence[Shot], name: str, film: Format, progress: Callable[[int], None]) -> "Future[Piece]":
        """Orders a piece, `NAME.mjpeg`; `arrived` waits for it."""
        self._ordered.append(self._pool.submit(self._draw, list(shots), name, film, progress))
        return self._ordered[-1]

    def _draw(self, shots: list[Shot], name: str, film: Format, progress: Callable[[int], None]) -> Piece:
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
        output = self._watch(words, progress)
        for left in (job, job.with_suffix(".bin")):
            left.unlink(missing_ok=True)
        check_piece(path, film, piece.frames, output)
        progress(piece.frames)
        return piece

    def _watch(self, words: Sequence[str | Path], progress: Callable[[int], None]) -> str:
        """Runs the engine to its end and returns its output; ends it when it draws nothing for long."""
        lines: queue.Queue[str | None] = queue.Queue()
        output: list[str] = []
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
                    output.append(line)
        return "".join(output)


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


def check_room(folder: Path, frames: int, film: Format, bytes_per_pixel: float = BYTES_PER_PIXEL) -> None:
    """Refuses to start drawing if the disk has too little room."""
    wanted = int(frames * film.width * film.height * bytes_per_pixel) + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise GodojoError(
            f"{folder} has {free >> 20} MB of room, and {frames} frames may take {wanted >> 20} MB; make room, or draw"
            " fewer or smaller ones (--episodes, --preset)"
        )


def check_piece(path: Path, film: Format, frames: int, output: str) -> None:
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
    complaints = "; ".join(problem_lines(output)[:3] or output.strip().splitlines()[-1:]) or "it printed no reason"
    if not count:
        cure = f"if drivers are missing: {command('engine install --rendering')}"
        raise GodojoError(f"Godot drew nothing ({complaints}); {cure}")
    raise GodojoError(f"Godot drew {count} frames instead of {frames} ({complaints}); try again")


def frames_in(path: Path, frames: int) -> Iterator[np.ndarray]:
    """The frames of a file, uint8 [height, width, 3]; GodojoError if their number is another."""
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
    """The contents of a folder of frames, checked against the files."""
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
