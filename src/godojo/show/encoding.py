"""H.264 films with PyAV: written under a temporary name, counted, and only then renamed; and numbered pictures."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace
from PIL import Image

from godojo.errors import GodojoError
from godojo.show.scratch import scratch
from godojo.show.shots import Format

QUALITY = "18"
"""x264's constant rate factor: most people cannot tell it from the original."""
_BT709 = 1
_NUMBERED = re.compile(r"(.*?)(\d+)\.png", re.IGNORECASE)
"""Pictures as other programs write them: `frame_00001.png`, …"""


class FilmWriter:
    """Encodes frames, uint8 [height, width, 3], one after the other; see `film_writer`."""

    def __init__(self, part: Path, path: Path, film: Format) -> None:
        self.path, self.film, self.frames = path, film, 0
        self._file = av.open(str(part), "w", format="mp4", options={"movflags": "+faststart"})
        self._stream = stream = self._file.add_stream("libx264", rate=film.fps)
        stream.width, stream.height, stream.pix_fmt = film.width, film.height, "yuv420p"
        stream.options = {"crf": QUALITY, "preset": "veryfast"}
        context = stream.codec_context
        stream.time_base = context.time_base = Fraction(1, film.fps)
        context.gop_size = 2 * film.fps
        context.colorspace = context.color_primaries = context.color_trc = _BT709
        context.color_range = ColorRange.MPEG

    def write(self, picture: np.ndarray) -> None:
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        frame = frame.reformat(
            format="yuv420p", dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG, interpolation="BICUBIC"
        )
        frame.pts, frame.time_base = self.frames, Fraction(1, self.film.fps)
        with _errors_named(self.path):
            self._file.mux(self._stream.encode(frame))
        self.frames += 1

    def close(self, *, flush: bool) -> None:
        if flush:
            self._file.mux(self._stream.encode(None))
        self._file.close()


@contextmanager
def film_writer(path: Path, film: Format) -> Iterator[FilmWriter]:
    """A writer; the film gets its name when the block ends without an error and all its frames are there."""
    with scratch(path.parent) as folder:
        part = folder / path.name
        with _errors_named(path):
            writer = FilmWriter(part, path, film)
        try:
            yield writer
        except BaseException:
            with suppress(OSError, av.FFmpegError):
                writer.close(flush=False)
            raise
        if not writer.frames:
            raise GodojoError(f"{path} would have no frames and was not made")
        with _errors_named(path):
            writer.close(flush=True)
            found = count_frames(part)
        if found != writer.frames:
            raise GodojoError(f"{path} got {found} frames instead of {writer.frames} and was not kept")
        part.replace(path)


@contextmanager
def _errors_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, av.FFmpegError) as error:
        why = getattr(error, "strerror", None) or str(error)
        cure = "make room or make it writable, and try again"
        raise GodojoError(f"{path} could not be written ({why}); {cure}") from None


def count_frames(path: Path) -> int:
    """The number of frames of a film."""
    with av.open(str(path)) as file:
        return sum(1 for packet in file.demux(video=0) if packet.size)


def numbered_pictures(folder: Path) -> list[Path]:
    """PNG files of one name, in the order of their numbers; GodojoError where there is none, or several names."""
    found: dict[str, list[tuple[int, Path]]] = {}
    try:
        for path in folder.iterdir():
            match = _NUMBERED.fullmatch(path.name)
            if match:
                found.setdefault(match[1], []).append((int(match[2]), path))
    except OSError as error:
        raise GodojoError(f"{folder} cannot be read ({error.strerror}); name a folder of frames") from None
    if not found:
        raise GodojoError(
            f"{folder} holds no frames: no numbered pictures such as frame_00001.png; draw some with: record --frames"
        )
    if len(found) > 1:
        names = ", ".join(f"{name}*.png" for name in sorted(found)[:3])
        raise GodojoError(f"{folder} holds pictures of several films ({names}); leave one in it")
    return [path for _, path in sorted(*found.values())]


def write_picture(path: Path, picture: np.ndarray) -> None:
    """A PNG of uint8 [height, width, 3]; fast rather than small."""
    try:
        Image.fromarray(picture).save(path, "PNG", compress_level=1)
    except OSError as error:
        raise GodojoError(f"{path} could not be written ({error.strerror}); make room, and try again") from None


def format_of(pictures: Sequence[Path], fps: int) -> Format:
    """As large as the first picture, without its last row or column where their number is odd: H.264 has colours for
    pairs only."""
    height, width = _read(pictures[0]).shape[:2]
    return Format(width // 2 * 2, height // 2 * 2, fps)


def read_pictures(pictures: Sequence[Path], film: Format) -> Iterator[np.ndarray]:
    """uint8 [height, width, 3] each; all must be as large as the first."""
    first = _read(pictures[0]).shape
    for path in pictures:
        picture = _read(path)
        if picture.shape != first:
            sizes = f"{picture.shape[1]}x{picture.shape[0]}, the first one {first[1]}x{first[0]}"
            raise GodojoError(f"{path} is of another size ({sizes}); all frames of a film are of one size")
        yield picture[: film.height, : film.width]


def _read(path: Path) -> np.ndarray:
    try:
        with Image.open(path) as picture:
            return np.asarray(picture.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise GodojoError(f"{path} is no picture that can be read ({error}); make it again") from None
