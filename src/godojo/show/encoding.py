"""H.264 films with PyAV: written under a temporary name, counted, and only then renamed; and numbered pictures."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from fractions import Fraction
from pathlib import Path
from types import TracebackType

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
    """Takes frames, uint8 [height, width, 3]; the film gets its name when the block ends without an error."""

    def __init__(self, path: Path, film: Format) -> None:
        self.path, self.film, self.frames = path, film, 0
        self._stack = ExitStack()

    def __enter__(self) -> "FilmWriter":
        self._part = self._stack.enter_context(scratch(self.path.parent)) / self.path.name
        try:
            self._file = av.open(str(self._part), "w", format="mp4", options={"movflags": "+faststart"})
        except (OSError, av.FFmpegError) as error:
            self._stack.close()
            raise self._failed(error) from None
        stream = self._file.add_stream("libx264", rate=self.film.fps)
        stream.width, stream.height, stream.pix_fmt = self.film.width, self.film.height, "yuv420p"
        stream.options = {"crf": QUALITY, "preset": "veryfast"}
        stream.time_base = stream.codec_context.time_base = Fraction(1, self.film.fps)
        stream.codec_context.gop_size = 2 * self.film.fps
        context = stream.codec_context
        context.colorspace = context.color_primaries = context.color_trc = _BT709
        context.color_range = ColorRange.MPEG
        self._stream = stream
        return self

    def write(self, picture: np.ndarray) -> None:
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        frame = frame.reformat(
            format="yuv420p", dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG, interpolation="BICUBIC"
        )
        frame.pts, frame.time_base = self.frames, Fraction(1, self.film.fps)
        try:
            self._file.mux(self._stream.encode(frame))
        except (OSError, av.FFmpegError) as error:
            raise self._failed(error) from None
        self.frames += 1

    def write_all(self, pictures: Iterable[np.ndarray]) -> None:
        for picture in pictures:
            self.write(picture)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is not None:
                with suppress(OSError, av.FFmpegError):
                    self._file.close()
                return
            if not self.frames:
                raise GodojoError(f"{self.path} would have no frames and was not made")
            try:
                self._file.mux(self._stream.encode(None))
                self._file.close()
                found = count_frames(self._part)
            except (OSError, av.FFmpegError) as trouble:
                raise self._failed(trouble) from None
            if found != self.frames:
                raise GodojoError(f"{self.path} got {found} frames instead of {self.frames} and was not kept")
            self._part.replace(self.path)
        finally:
            self._stack.close()

    def _failed(self, error: Exception) -> GodojoError:
        why = getattr(error, "strerror", None) or str(error)
        return GodojoError(f"{self.path} could not be written ({why}); make room or make it writable, and try again")


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
            f"{folder} holds no frames: neither those of `record --frames` nor numbered ones such as frame_00001.png"
        )
    if len(found) > 1:
        names = ", ".join(f"{name}*.png" for name in sorted(found)[:3])
        raise GodojoError(f"{folder} holds pictures of several films ({names}); leave one in it")
    return [path for _, path in sorted(*found.values())]


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
