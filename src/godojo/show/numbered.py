"""Numbered pictures in a folder (`frame_00001.png`, …), as other programs leave them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from godojo.errors import GodojoError
from godojo.show.shots import Format

_NUMBERED = re.compile(r"(.*?)(\d+)\.png", re.IGNORECASE)


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
    """The film's format: as large as the first picture, whose last row or column is left out where their number is odd,
    since H.264 has colours for pairs only."""
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
